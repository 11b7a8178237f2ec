# SPDX-License-Identifier: Apache-2.0
"""What a provider claims, and what two processes see it do, cell by cell. No row is believed.

    findings = probe(Demands(provider="sockets", endpoint_type="addressed"))   # list[CellFinding], one per cell

A finding holds the library's claim, the result of the test, and `value`: what a row should say. `value` is the result,
else the claim, else None. The work is weft-probe's (probe/, C++); program.py builds and runs it.
"""
from .findings import CellFinding, Demands, Finding, Provenance
from .running import probe, provenance

__all__ = ["CellFinding", "Demands", "Finding", "Provenance", "probe", "provenance"]
