# SPDX-License-Identifier: Apache-2.0
"""What docs/conformance.md shows: a table of cells with numbered notes, and the tests that show each promise."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..page import markdown
from .judging import BROKEN, ELSEWHERE, NOT_APPLICABLE, NOT_RUN, NOT_SHOWN, REFUSED, SHOWN, VERDICTS, Cell
from .kept import DAYS, DAYS_OF_LONG_RUNS, Key, KeptCell, Table
from .promises import EMULATOR, GUEST, HERE, PLACES, Promise, Promises
from .results import Results

_MARKS = {HERE: "", GUEST: " *(guest)*", EMULATOR: " *(emulated)*"}
_WORDS = {NOT_SHOWN: "not shown", REFUSED: "refused", NOT_APPLICABLE: "n/a", BROKEN: "**failed**",
          NOT_RUN: "**not run**"}
_TITLES = {"contract": "The contract", "capability": "Capabilities", "answer": "Answers asked for by hand",
           "layer": "Layers above"}


def shown(cell: Cell) -> str:
    """A cell without its notes, in words."""
    if cell.verdict != SHOWN:
        return _WORDS[cell.verdict]
    if cell.kind == ELSEWHERE:
        return "(✓)"
    return f"✓ {cell.kind}" if cell.kind else "✓"


def sources_of(promises: Promises, results: Results, old: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Each folder of results: its fabrics, whether its results are there and fresh, and the commands that make them."""
    rows: list[tuple[str, ...]] = []
    for source in promises.sources:
        absent = [fabric for fabric in source.fabrics if fabric not in results.libraries]
        aged = [fabric for fabric in source.fabrics if fabric in old]
        state = "; ".join([*([f"none of {', '.join(absent)}"] if absent else []),
                           *([f"older than the sources: {', '.join(aged)}"] if aged else [])])
        state = state or ("there" if source.fabrics else "tests without a fabric")
        rows.append((source.folder, ", ".join(source.fabrics), state, "\n".join(source.made_by)))
    return rows


def page(promises: Promises, table: Table, made_from: Mapping[Key, str]) -> dict[str, Any]:
    """The variables of templates/conformance.md.j2."""
    notes: dict[str, int] = {}
    absent = KeptCell(Cell(NOT_RUN, "", "", ()), "", "")
    every = {(promise.name, column.fabric): table.cells.get((promise.name, column.fabric), absent)
             for promise in promises.promises for column in promises.columns}
    cells = {key: each.cell for key, each in every.items()}
    sections = []
    for section, title in _TITLES.items():
        rows = []
        for promise in sorted((each for each in promises.promises if each.section == section),
                              key=lambda each: each.number):
            keys = [(promise.name, column.fabric) for column in promises.columns]
            rows.append({"number": promise.number, "name": markdown(promise.name.replace("_", " ")),
                         "says": markdown(promise.says), "tests": _tests(promise),
                         "cells": [_with_notes(cells[key], notes, _is_older(every[key], made_from[key]))
                                   for key in keys]})
        sections.append({"title": title, "rows": rows})
    columns = [{"fabric": markdown(column.fabric) + _MARKS[column.where],
                "library": markdown(table.libraries.get(column.fabric, "") or "not run"),
                "runs": markdown(column.runs),
                "days": _days(every[promise.name, column.fabric] for promise in promises.promises)}
               for column in promises.columns]
    kinds = {kind: sum(cell.kind == kind and cell.verdict == SHOWN for cell in cells.values())
             for kind in ("native", "emulated")}
    return {"columns": columns, "sections": sections, "notes": [{"number": number, "sentence": markdown(note)}
                                                                for note, number in notes.items()],
            "counts": counted(promises, every, made_from), "kinds": kinds, "cells": len(cells),
            "sources": promises.sources, "days": DAYS, "days_of_long_runs": DAYS_OF_LONG_RUNS}


def _is_older(kept: KeptCell, made_from: str) -> bool:
    """Whether its promise, its row or a suite changed since."""
    return kept.cell.verdict != NOT_RUN and kept.made_from != made_from


def counted(promises: Promises, cells: Mapping[Key, KeptCell], made_from: Mapping[Key, str]) -> list[dict[str, Any]]:
    """The counts of each place. A cell that is shown elsewhere is in no other count of shown cells. `older` counts
    cells of the other counts again: those of an earlier form of their promise, row or suites.
    """
    lines = []
    for where in PLACES.values():
        fabrics = [column.fabric for column in promises.columns if column.where == where]
        there = {key: kept for key, kept in cells.items() if key[1] in fabrics}
        of = [kept.cell for kept in there.values()]
        lines.append({"where": where, "fabrics": ", ".join(map(markdown, fabrics)), "cells": len(there),
                      "older": sum(_is_older(kept, made_from[key]) for key, kept in there.items()),
                      "elsewhere": sum(cell.verdict == SHOWN and cell.kind == ELSEWHERE for cell in of),
                      **{verdict.replace(" ", "_"): sum(cell.verdict == verdict and cell.kind != ELSEWHERE
                                                        for cell in of) for verdict in VERDICTS}})
    return lines


def _with_notes(cell: Cell, notes: dict[str, int], older: bool) -> str:
    told = [f"is {cell.answers}"] if cell.kind == "emulated" else []
    numbers = [notes.setdefault(note, len(notes) + 1) for note in (*told, *cell.notes)]
    return " ".join([shown(cell) + (" °" if older else ""), *(f"[{number}](#n{number})" for number in numbers)])


def _tests(promise: Promise) -> str:
    live = [" or ".join(each) for each in promise.live]
    return markdown("; ".join([*promise.tests, *promise.everywhere, *live]) or promise.not_applicable
                    or promise.refused)


def _days(cells: Iterable[KeptCell]) -> str:
    """From the oldest to the newest day of a column's cells."""
    days = sorted({kept.day for kept in cells if kept.day})
    return "never" if not days else days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
