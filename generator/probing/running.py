# SPDX-License-Identifier: Apache-2.0
"""Runs weft-probe's behaviours and reads cells out of them."""
from __future__ import annotations

import platform
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path

from ..matrix.facts import FACT, Value
from ..matrix.loader import Problem, Refused
from . import program as programs
from .cells import READINGS, Reading
from .findings import CellFinding, Demands, Finding, Provenance
from .seen import CLAIMS, Seen

# The cheap part, for a second or two: the behaviours that end at once and show most.
CHEAP = frozenset({"meeting", "addressing", "keys", "write_immediate", "many_write_immediates", "counter", "progress",
                   "progress@automatic"})
# Other requests than the least one: what the library claims then, cell by cell.
REQUESTS = ("automatic", "atomics", "pointers", programs.SETTING)


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
    if claimed.ended in ("hung", "missing"):  # a busy machine explains that once
        claimed = programs.claims(program, demands)
    if claimed.ended != "shown":
        raise absent(demands, claimed)
    if demands.immediate_setting:
        claimed = replace(claimed, facts={**claimed.facts, "immediate_setting": demands.immediate_setting})
    findings = {CLAIMS: claimed}
    if not cheap:
        findings |= {f"{CLAIMS}@{each}": programs.claims(program, demands, each)
                     for each in _other_requests(Seen(findings), demands)}
    for found in programs.shown(program, demands, _behaviours(Seen(findings), _wanted(cells), cheap, demands)):
        findings[found.behaviour] = found
        if report:
            report(found)
    return Seen(findings)


class Unseen(Refused):
    """The library ended the question itself, or did not answer: nothing is known, not even whether it has the provider.
    """


def absent(demands: Demands, claimed: Finding) -> Refused:
    """The library does not have it, or not here. Unseen, where that is not known."""
    if claimed.ended != "refused":
        return Unseen([Problem("libfabric" if demands.backend == "libfabric" else "rdma-core", 1,
                               f'was asked what provider "{demands.provider}" claims, and {claimed.ended}: '
                               f"{claimed.why}")])
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


def _other_requests(claimed: Seen, demands: Demands) -> tuple[str, ...]:
    """Those that the library grants. A device is not asked for more or less."""
    granted = {"automatic": claimed.claim("progress_if_automatic") == "automatic",
               "atomics": claimed.claim("atomics"),
               "pointers": claimed.claim("returns_pointers_if_offered") and not claimed.claim("needs_pointers"),
               programs.SETTING: demands.immediate_setting != "" and claimed.claim("returns_provider_keys_if_offered")}
    return tuple(each for each in REQUESTS
                 if granted[each] and (demands.backend == "libfabric" or each == "automatic"))


def _behaviours(claimed: Seen, readings: Iterable[Reading], cheap: bool, demands: Demands) -> tuple[str, ...]:
    """Those that the cells need, each once; not those about what the library does not even claim to have."""
    names = dict.fromkeys(name for reading in readings for name in reading.behaviours)
    skipped = set()
    if claimed.claim("atomics") is False:
        skipped |= {"atomics", "first_atomic"}
    if claimed.claim("wait_descriptor") != "granted":
        skipped.add("waiting")
    if claimed.claim("endpoint_type") == "connected":
        skipped.add("forgetting")
    for name in ("multi_receive", "shared_receives"):
        if not claimed.claim(name):
            skipped.add(name)
    granted = _other_requests(claimed, demands)
    for name in names:
        behaviour, _, request = name.partition("@")
        ordered = behaviour in ("send_after_write", "write_after_write")
        if request and (request not in granted or (ordered and not claimed.claim(behaviour))):
            skipped.add(name)
    lacking = programs.LACKING.get(demands.backend, frozenset())
    return tuple(name for name in names if name not in skipped and name.split("@")[0] not in lacking
                 and (not cheap or name in CHEAP))


def _read(reading: Reading, seen: Seen) -> CellFinding:
    shown = reading.shown(seen)
    test = reading.test(seen) if shown is not None else ""
    lost = shown is None and seen.lost(reading.behaviours)
    ran = any(seen.ran(name) for name in reading.behaviours)
    gone = shown is None and not lost and ran and reading.provable(seen)
    why_not = ""
    if shown is None:
        why_not = (seen.why_not(reading.behaviours) or reading.never
                   or f"seen: {reading.test(seen)}, which proves nothing")
    return CellFinding(reading.cell, reading.claimed(seen), reading.claim(seen), shown, test, why_not, reading.tried,
                       lost, gone, reading.one_sided, _elsewhere(reading, seen))


def _elsewhere(reading: Reading, seen: Seen) -> tuple[tuple[str, Value], ...]:
    """What the library claims for the cell under other requests, where that is not the same."""
    least, found = reading.claimed(seen), []
    for request in REQUESTS:
        claimed = seen.findings.get(f"{CLAIMS}@{request}")
        if claimed is None or claimed.ended != "shown" or request in FACT[reading.cell].request:
            continue
        there = reading.claimed(Seen({CLAIMS: claimed}))
        if there is not None and there != least:
            found.append((request, there))
    return tuple(found)
