# SPDX-License-Identifier: Apache-2.0
"""Rows to demands, findings to verdicts: one row, or the cheap part of every row whose provider is here."""
from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ..matrix.loader import Problem, Refused
from ..matrix.model import Fabric, Matrix
from . import program as programs
from .compare import Verdict, compare, range_for
from .findings import Demands, Finding, Provenance
from .running import observe, provenance_of, read_cells


@dataclass(frozen=True)
class Probed:
    """One row, probed."""

    fabric: Fabric
    verdicts: tuple[Verdict, ...]
    found_by: Provenance
    release: str


def demands_of(fabric: Fabric, node: str, seconds: int = 10) -> Demands:
    """What the row names: its provider and its kind of endpoint, and the settings that it wants."""
    cells = fabric.ranges[0].cells
    return Demands(str(cells["provider"].value), str(cells["endpoint_type"].value), str(cells["fabric_name"].value),
                   node,
                   {setting.name: setting.value for setting in fabric.settings}, seconds, fabric.backend)


def probe_row(matrix: Matrix, fabric: Fabric, *, node: str, program: Path | None = None,
              cells: Collection[str] | None = None, cheap: bool = False,
              seconds: int = 10, report: Callable[[Finding], None] | None = None) -> Probed:
    """Errors: Refused, where the row cannot be probed here."""
    if fabric.backend not in programs.TARGETS:
        raise Refused([Problem(matrix.file, fabric.line,
                               f"{fabric.name} is of backend {fabric.backend}: what is probed is libfabric's providers "
                               "and "
                                                         "rdma-core's devices")])
    seen = observe(demands_of(fabric, node, seconds), program=program, cells=cells, cheap=cheap, report=report)
    release = str(seen.claim("library"))
    span = range_for(fabric, release)
    if span is None:
        raise Refused([Problem(matrix.file, fabric.line,
                               f"{fabric.name} describes libfabric from {fabric.since} to before "
                               f"{fabric.until or 'any later'}, "
                                                         f"and {release} is here")])
    verdicts = compare(fabric.name, span.cells, read_cells(seen, cells))
    wrong = {each.cell.name for each in verdicts if each.wrong}
    if wrong:  # on a busy machine a deadline may pass without cause: a difference counts if it is seen twice
        again = observe(demands_of(fabric, node, seconds), program=program, cells=wrong, cheap=cheap, report=report)
        second = {each.cell.name: each for each in compare(fabric.name, span.cells, read_cells(again, wrong))}
        verdicts = [second.get(each.cell.name, each) for each in verdicts]
    return Probed(fabric, tuple(verdicts), provenance_of(seen), release)


def probe_present(matrix: Matrix, *, node: str,
                  program: Path | None = None) -> tuple[list[Probed], list[tuple[Fabric, str]]]:
    """The cheap part for every row whose provider is here, two at a time; and the absent rows, each with the reason."""
    program = program or programs.built()
    rows = [fabric for fabric in matrix.fabrics if fabric.backend == "libfabric"]

    def one(fabric: Fabric) -> Probed | str:
        try:
            return probe_row(matrix, fabric, node=node, program=program, cheap=True)
        except Refused as refused:
            return refused.problems[0].sentence

    with ThreadPoolExecutor(2) as pool:
        found = list(zip(rows, pool.map(one, rows)))
    return [each for _, each in found if isinstance(each, Probed)], [(row, each) for row, each in found
                                                                     if isinstance(each, str)]
