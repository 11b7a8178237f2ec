# SPDX-License-Identifier: Apache-2.0
"""What a provider claims and what two processes see it do, cell by cell, without belief in any row.

    from generator.probing import Demands, probe
    findings = probe(Demands(provider="sockets", endpoint_type="addressed"))   # list[CellFinding], one per cell of a row

A finding holds what the library claims, what the test shows, and `value`: what a row should say (shown, else claimed, else None).
The program that does it is weft-probe (probe/, C++); program.py builds and runs it.
"""
from .findings import CellFinding, Demands, Finding, Provenance
from .running import probe, provenance

__all__ = ["CellFinding", "Demands", "Finding", "Provenance", "probe", "provenance"]
