# SPDX-License-Identifier: Apache-2.0
"""Runs weft-probe's behaviours and reads cells out of them."""
from __future__ import annotations

import platform
from collections.abc import Callable, Collection, Iterable
from datetime import date
from pathlib import Path

from ..matrix.loader import Problem, Refused
from . import program as programs
from .cells import READINGS, Reading
from .findings import CellFinding, Demands, Finding, Provenance
from .seen import CLAIMS, Seen

# The cheap part, for a second or two: the behaviours that end at once and show most.
CHEAP = frozenset({"meeting", "addressing", "keys", "write_immediate", "counter", "progress", "progress@automatic"})


def probe(demands: Demands, *, program: Path | None = None, cells: Collection[str] | None = None, cheap: bool = False,
          report: Callable[[Finding], None] | None = None) -> list[CellFinding]:
    """One finding per cell (or per cell of `cells`), in the order of the facts.

    `program` is a built weft-probe; None builds it where it is missing. `cheap` leaves out slow behaviours. `report` is
    called for each behaviour as it ends. A provider that hangs or crashes costs the cells of one behaviour. Errors:
    Refused, if weft-probe is not available or the library does not have the provider.
    """
    return read_cells(observe(demands, program=program, cells=cells, cheap=cheap, report=report), cells)


def observe(demands: Demands, *, program: Path | None = None, cells: Collection[str] | None = None, cheap: bool = False,
            report: Callable[[Finding], None] | None = None) -> Seen:
    """The findings themselves. Errors: as probe()."""
    program = program or programs.built(demands.backend)
    claimed = programs.claims(program, demands)
    if claimed.ended != "shown":
        raise absent(demands, claimed)
    findings = {CLAIMS: claimed}
    for found in programs.shown(program, demands, _behaviours(Seen(findings), _wanted(cells), cheap)):
        findings[found.behaviour] = found
        if report:
            report(found)
    return Seen(findings)


def absent(demands: Demands, claimed: Finding) -> Refused:
    """The library does not have it, or not here."""
    if demands.backend == "verbs":
        return Refused([Problem("rdma-core", 1, f"has no device with the address {demands.node} here ({claimed.why}): "
                                                "rdma link lists devices, --node names "
                                                "an address of one; scripts/vm makes a soft one")])
    return Refused([Problem("libfabric", 1, f'has no provider "{demands.provider}" with {demands.endpoint_type} '
                                            f'endpoints here ({claimed.why}): fi_info -l lists what it has; '
                                            "a device or a later release may be missing")])


def read_cells(seen: Seen, cells: Collection[str] | None = None) -> list[CellFinding]:
    """Cells out of findings, without a program: recorded findings do as well."""
    return [_read(reading, seen) for reading in _wanted(cells)]


def provenance(demands: Demands, *, program: Path | None = None) -> Provenance:
    """Library, requested API version, kernel, device and date of a probe made now. Errors: as probe()."""
    claimed = programs.claims(program or programs.built(demands.backend), demands)
    if claimed.ended != "shown":
        raise absent(demands, claimed)
    return provenance_of(Seen({CLAIMS: claimed}))


def provenance_of(seen: Seen) -> Provenance:
    """The same for existing findings; the day is today's."""
    return Provenance(f"{seen.claim('library_name') or 'libfabric'} "
                      f"{seen.claim('library_release') or seen.claim('library')}", str(seen.claim("api")),
                      platform.release(),
                      f"device {seen.claim('device')}", date.today().isoformat())


def _wanted(cells: Collection[str] | None) -> tuple[Reading, ...]:
    return tuple(reading for reading in READINGS if cells is None or reading.cell in cells)


def _behaviours(claimed: Seen, readings: Iterable[Reading], cheap: bool) -> tuple[str, ...]:
    """Those that the cells need, each once; not those about what the library does not even claim to have."""
    names = dict.fromkeys(name for reading in readings for name in reading.behaviours)
    skipped = set()
    if claimed.claim("atomics") is False:
        skipped |= {"atomics", "first_atomic"}
    if claimed.claim("progress_if_automatic") != "automatic":
        skipped.add("progress@automatic")
    if claimed.claim("wait_descriptor") != "granted":
        skipped.add("waiting")
    if claimed.claim("endpoint_type") == "connected":
        skipped.add("forgetting")
    return tuple(name for name in names if name not in skipped and (not cheap or name in CHEAP))


def _read(reading: Reading, seen: Seen) -> CellFinding:
    shown = reading.shown(seen)
    test = reading.test(seen) if shown is not None else ""
    lost = seen.why_not(reading.behaviours) if shown is None else ""
    why_not = ""
    if shown is None:
        why_not = lost or reading.never or f"seen: {reading.test(seen)}, which proves nothing"
    return CellFinding(reading.cell, reading.claimed(seen), reading.claim(seen), shown, test, why_not, reading.tried,
                       bool(lost))
