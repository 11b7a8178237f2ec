# SPDX-License-Identifier: Apache-2.0
"""Rows to demands, findings to verdicts: one row, or the cheap part of every row whose provider is here."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ..matrix.loader import Problem, Refused
from ..matrix.model import Cell, Fabric, Matrix, Range
from . import program as programs
from .cells import READINGS
from .compare import Verdict, compare, range_for
from .findings import Demands, Finding, Provenance
from .judging import Fault, faults
from .running import Unseen, observe, provenance_of, read_cells
from .seen import Seen


UNSEEN = 3  # the exit code where nothing differs, and something was lost


@dataclass(frozen=True)
class Probed:
    """One row, probed."""

    fabric: Fabric
    verdicts: tuple[Verdict, ...]
    found_by: Provenance
    release: str
    faults: tuple[Fault, ...] = ()
    seen: Seen = Seen({})

    @property
    def differs(self) -> bool:
        return bool(self.faults) or any(each.wrong for each in self.verdicts)

    @property
    def unseen(self) -> bool:
        return any(each.unseen for each in self.verdicts)

    @property
    def warning(self) -> str:
        """What programs cannot rely on with the running library, though the row is right; else empty."""
        span = range_for(self.fabric, self.release)
        if span is None or span.cells["refused_write"].value != "hidden":
            return ""
        return (f"{self.fabric.name}: libfabric {self.release} tells success of a write that the target refused: a "
                "stale or forged key stays unnoticed (cell refused_write)")

    @property
    def code(self) -> int:
        """The exit code of a probe."""
        return 1 if self.differs else UNSEEN if self.unseen else 0


def demands_of(fabric: Fabric, node: str, seconds: int = 10, span: Range | None = None) -> Demands:
    """What the row names: its provider and its kind of endpoint, and the settings that it wants. `span`: the range that
    names them; without one, the first."""
    cells = (span or fabric.ranges[0]).cells
    return Demands(str(cells["provider"].value), str(cells["endpoint_type"].value), str(cells["fabric_name"].value),
                   node,
                   {setting.name: setting.value for setting in fabric.settings}, seconds, fabric.backend,
                   str(fabric.ranges[-1].cells["write_immediate_setting"].value))


def answered(fabric: Fabric, node: str, seconds: int, ask: Callable[[Demands], Seen]) -> tuple[Demands, Seen]:
    """What the library answers to the demands of its own range, and these demands.

    A range may name another provider, and only an answer tells the release. So the ranges are asked in turn, the latest
    first, where their demands differ. Errors: Refused, as for the latest.
    """
    refused: Refused | None = None
    asked: set[str] = set()
    for span in reversed(fabric.ranges):
        demands = demands_of(fabric, node, seconds, span)
        if repr(demands) in asked:
            continue
        asked.add(repr(demands))
        try:
            seen = ask(demands)
        except Refused as why:
            refused = refused or why
            continue
        here = range_for(fabric, str(seen.claim("library")))
        if here is None or demands_of(fabric, node, seconds, here) == demands:
            return demands, seen
    assert refused is not None, "each range was asked, and one of them is the answer's"
    raise refused


def probe_row(matrix: Matrix, fabric: Fabric, *, node: str, program: Path | None = None,
              cells: Collection[str] | None = None, cheap: bool = False,
              seconds: int = 10, report: Callable[[Finding], None] | None = None, twice: bool = True) -> Probed:
    """`twice`: what a deadline explains is observed again, before it counts.

    Errors: Refused, where the row cannot be probed here.
    """
    if fabric.backend not in programs.TARGETS:
        raise Refused([Problem(matrix.file, fabric.line,
                               f"{fabric.name} is of backend {fabric.backend}: what is probed is libfabric's providers "
                               "and "
                                                         "rdma-core's devices")])
    demands, seen = answered(fabric, node, seconds, lambda asked: observe(asked, program=program, cells=cells,
                                                                          cheap=cheap, report=report))
    release = str(seen.claim("library"))
    span = range_for(fabric, release)
    if span is None:
        raise Refused([Problem(matrix.file, fabric.line,
                               f"{fabric.name} describes libfabric from {fabric.since} to before "
                               f"{fabric.until or 'any later'}, "
                                                         f"and {release} is here")])
    if twice:
        seen = settled(seen, fabric.name, span.cells, cells, lambda doubtful: observe(
            demands, program=program, cells=doubtful, cheap=cheap, report=report))
    verdicts = compare(fabric.name, span.cells, read_cells(seen, cells), release)
    return Probed(fabric, tuple(verdicts), provenance_of(seen), release, tuple(faults(seen)), seen)


def settled(seen: Seen, fabric: str, row: Mapping[str, Cell], cells: Collection[str] | None,
            again: Callable[[set[str]], Seen]) -> Seen:
    """What a deadline explains is observed again, before it counts: on a busy machine it passes without cause.

    `again` observes these cells once more.
    """
    verdicts = compare(fabric, row, read_cells(seen, cells), str(seen.claim("library")))
    beyond_doubt = cells_of(name for name, found in seen.findings.items() if certain(found))
    doubtful = {each.cell.name for each in verdicts if each.wrong or each.unseen} - beyond_doubt
    doubtful |= cells_of(fault.behaviour for fault in faults(seen) if not certain(seen.findings[fault.behaviour]))
    if cells is not None:
        doubtful &= set(cells)
    if not doubtful:
        return seen
    later = again(doubtful)
    return Seen({**seen.findings, **{name: found for name, found in later.findings.items()
                                     if name not in seen.findings or not certain(seen.findings[name])}})


def certain(found: Finding) -> bool:
    """Whether no busy machine explains the finding: a process ended by the library, or bytes that were wrong."""
    if found.ended == "crashed":
        return True
    return any(found.facts.get(name) not in (None, 0, False, [])
               for name in ("overtaken", "doubled", "wrong", "early", "torn", "ended_before_delivery"))


def cells_of(behaviours: Iterable[str]) -> set[str]:
    """The cells that any of these behaviours shows."""
    names = set(behaviours)
    return {reading.cell for reading in READINGS if names & set(reading.behaviours)}


@dataclass(frozen=True)
class Absent:
    """A row that was not probed. `lost`: the library ended the question itself, so nobody knows whether it is here."""

    fabric: Fabric
    why: str
    lost: bool = False


def probe_present(matrix: Matrix, *, node: str,
                  program: Path | None = None) -> tuple[list[Probed], list[Absent]]:
    """The cheap part for every row whose provider is here, two at a time; and the absent rows, each with the reason."""
    program = program or programs.built()
    rows = [fabric for fabric in matrix.fabrics if fabric.backend == "libfabric"]

    def one(fabric: Fabric) -> Probed | Absent:
        try:
            return probe_row(matrix, fabric, node=node, program=program, cheap=True)
        except Refused as refused:
            return Absent(fabric, refused.problems[0].sentence, isinstance(refused, Unseen))

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(one, rows))
    return ([each for each in found if isinstance(each, Probed)], [each for each in found if isinstance(each, Absent)])
