# SPDX-License-Identifier: Apache-2.0
"""Runs weft-probe's behaviours and reads cells out of them."""
from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from .findings import CellFinding, Demands, Finding, Provenance


def probe(demands: Demands, *, program: Path | None = None, cells: Collection[str] | None = None, cheap: bool = False,
          told: Callable[[Finding], None] | None = None) -> list[CellFinding]:
    """One finding per cell (or per cell of `cells`), in the order of the facts.

    `program` is a built weft-probe; None builds it where it is missing. `cheap` leaves out the behaviours that take long. `told` hears each
    behaviour as it ends. A provider that hangs or crashes costs the cells of one behaviour. Errors: Refused, where weft-probe cannot be had or
    the library does not have the provider.
    """
    raise NotImplementedError


def provenance(demands: Demands, *, program: Path | None = None) -> Provenance:
    """Library, requested API version, kernel, device and date of a probe made now. Errors: as probe()."""
    raise NotImplementedError
