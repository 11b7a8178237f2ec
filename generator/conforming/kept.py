# SPDX-License-Identifier: Apache-2.0
"""The cells of docs/conformance.md with the day of their results, docs/tables/conformance.json, and which are stale.

Fabrics of this machine run often, so their cells are of the present tree and few days old. Guests, the emulator and
answers that are asked for by hand take hours, so their cells may be older. The page marks each cell whose promise, row
or suites changed since.
"""
from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from .freshness import CTESTS
from .judging import BROKEN, NOT_RUN, Cell
from .promises import HERE, Column, Promise, Promises
from .record import Record, digest_of
from .results import Results

DAYS = 14  # of a cell that every run of scripts/test can make
DAYS_OF_LONG_RUNS = 120
Key = tuple[str, str]  # promise, fabric


@dataclass(frozen=True)
class KeptCell:
    """A cell, the day of its oldest result (empty: it needs none), and the digest of what it was made from (empty:
    nobody knows).
    """

    cell: Cell
    day: str
    made_from: str


@dataclass
class Table:
    """Every cell of the page, and the library of each fabric."""

    cells: dict[Key, KeptCell] = field(default_factory=dict)
    libraries: dict[str, str] = field(default_factory=dict)


def read(path: Path) -> Table:
    """A missing file has no cells."""
    raw = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"libraries": {}, "notes": [],
                                                                               "cells": []}
    cells = {(promise, fabric): KeptCell(Cell(verdict, kind, answers, tuple(raw["notes"][each] for each in notes)),
                                         day, made_from)
             for promise, fabric, verdict, kind, answers, notes, day, made_from in raw["cells"]}
    return Table(cells, raw["libraries"])


def text_of(table: Table) -> str:
    """The file's text: a line for each cell, so that a difference can be read."""
    notes: dict[str, int] = {}
    lines = []
    for (promise, fabric), kept in table.cells.items():
        numbers = [notes.setdefault(note, len(notes)) for note in kept.cell.notes]
        lines.append(json.dumps([promise, fabric, kept.cell.verdict, kept.cell.kind, kept.cell.answers, numbers,
                                 kept.day, kept.made_from]))
    libraries = json.dumps(dict(sorted(table.libraries.items())), indent=1)
    return (f'{{"libraries": {libraries},\n"notes": {json.dumps(list(notes), indent=1)},\n"cells": [\n'
            + ",\n".join(lines) + "\n]}\n")


def sources_of_cells(promises: Promises, now: Record) -> dict[Key, str]:
    """For each cell the digest of its promise, its row and its suites, as the tree holds them."""
    return {(promise.name, column.fabric): digest_of(
        [now.promises[promise.name], now.fabrics[column.fabric],
         {name: now.suites.get(name, "") for name in sorted({test.split(".")[0] for test in promise.tests})}])
        for promise in promises.promises for column in promises.columns}


def merged(before: Table, promises: Promises, cells: Mapping[Key, Cell], results: Results, old: Mapping[str, str],
           made_from: Mapping[Key, str], old_too: bool = False) -> Table:
    """The table after these results. A cell that they do not show, or show by outdated results, stays as it was.

    With `old_too` outdated results count too, and their cells are marked as such.
    """
    after = Table({}, {**before.libraries, **{fabric: library for fabric, library in results.libraries.items()
                                              if old_too or fabric not in old}})
    for promise in promises.promises:
        for column in promises.columns:
            key = promise.name, column.fabric
            outdated = _is_outdated(promise, column, old)
            if cells[key].verdict == NOT_RUN or (outdated and not old_too):
                after.cells[key] = before.cells.get(key, KeptCell(Cell(NOT_RUN, "", "", cells[key].notes), "", ""))
            else:
                after.cells[key] = KeptCell(cells[key], _day(promise, column.fabric, results),
                                            "" if outdated else made_from[key])
    return after


def _is_outdated(promise: Promise, column: Column, old: Mapping[str, str]) -> bool:
    return ((bool(promise.tests) and column.fabric in old)
            or (bool(promise.everywhere or promise.live) and CTESTS in old))


def _day(promise: Promise, fabric: str, results: Results) -> str:
    """The day of the oldest result; empty for a cell that needs none, as where the row refuses."""
    days = {day for day in results.days.get(fabric, set()) if day} if promise.tests else set()
    named = [*promise.everywhere, *(name.replace("{fabric}", fabric) for names in promise.live for name in names)]
    days |= {date.fromtimestamp(results.ctests_ran[name]).isoformat() for name in named if name in results.ctests_ran}
    return min(days, default="")


def runs_often(promise: Promise, column: Column) -> bool:
    """Whether scripts/test makes the cell. Answers that are asked for by hand run on a few fabrics there."""
    return column.where == HERE and promise.section != "answer" and not promise.long_runs


def stale(table: Table, promises: Promises, made_from: Mapping[Key, str], today: date | None) -> list[str]:
    """Why the table is stale, a sentence for each column and reason. Without `today` no cell is too old."""
    why: dict[tuple[str, str], list[str]] = {}
    for column in promises.columns:
        for promise in promises.promises:
            reason = _why(promise, column, table.cells.get((promise.name, column.fabric)),
                          made_from[promise.name, column.fabric], today)
            if reason:
                why.setdefault((column.fabric, reason), []).append(promise.name)
    known = set(made_from)
    gone = sorted({" on ".join(key) for key in table.cells if key not in known})
    sentences = [f"{fabric}: {reason}: {_some(names)}" for (fabric, reason), names in why.items()]
    return sentences + ([f"it still has {_some(gone)}"] if gone else [])


def _why(promise: Promise, column: Column, kept: KeptCell | None, made_from: str, today: date | None) -> str:
    often = runs_often(promise, column)
    if kept is None:
        return "it lacks cells"
    if kept.cell.verdict == BROKEN:
        return "failed"
    if kept.cell.verdict == NOT_RUN:
        return "did not run" if often else ""  # the page counts these
    if often and kept.made_from != made_from:
        return "older than a change of the promise, the row or a suite"
    most = DAYS if often else DAYS_OF_LONG_RUNS
    if today and kept.day and (today - date.fromisoformat(kept.day)).days > most:
        return f"results of more than {most} days ago"
    return ""


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
