# SPDX-License-Identifier: Apache-2.0
"""What docs/conformance.md shows: a table of cells with numbered notes, and the tests that show each promise."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..page import markdown
from .judging import BROKEN, ELSEWHERE, NOT_APPLICABLE, NOT_RUN, NOT_SHOWN, REFUSED, SHOWN, VERDICTS, Cell
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
        rows.append((source.folder, ", ".join(source.fabrics), state or "there", "\n".join(source.made_by)))
    return rows


def page(promises: Promises, cells: dict[tuple[str, str], Cell], results: Results,
         old: Mapping[str, str]) -> dict[str, Any]:
    """The variables of templates/conformance.md.j2."""
    notes: dict[str, int] = {}
    sections = []
    for section, title in _TITLES.items():
        rows = []
        for promise in sorted((each for each in promises.promises if each.section == section),
                              key=lambda each: each.number):
            row = [cells[promise.name, column.fabric] for column in promises.columns]
            rows.append({"number": promise.number, "name": markdown(promise.name.replace("_", " ")),
                         "says": markdown(promise.says),
                         "cells": [_with_notes(cell, notes) for cell in row], "tests": _tests(promise)})
        sections.append({"title": title, "rows": rows})
    columns = [{"fabric": markdown(column.fabric) + _MARKS[column.where],
                "library": markdown(results.libraries.get(column.fabric, "") or "not run"),
                "runs": markdown(column.runs), "days": _days(results, column.fabric)
                + (f"; **older than {old[column.fabric]}**" if column.fabric in old else "")}
               for column in promises.columns]
    kinds = {kind: sum(cell.kind == kind and cell.verdict == SHOWN for cell in cells.values())
             for kind in ("native", "emulated")}
    return {"columns": columns, "sections": sections, "notes": [{"number": number, "sentence": markdown(note)}
                                                                for note, number in notes.items()],
            "counts": counted(promises, cells), "kinds": kinds, "cells": len(cells), "sources": promises.sources}


def counted(promises: Promises, cells: Mapping[tuple[str, str], Cell]) -> list[dict[str, Any]]:
    """The counts of each place. A cell that is shown elsewhere is in no other count of shown cells."""
    lines = []
    for where in PLACES.values():
        fabrics = [column.fabric for column in promises.columns if column.where == where]
        there = [cell for (_, fabric), cell in cells.items() if fabric in fabrics]
        lines.append({"where": where, "fabrics": ", ".join(map(markdown, fabrics)), "cells": len(there),
                      "elsewhere": sum(cell.verdict == SHOWN and cell.kind == ELSEWHERE for cell in there),
                      **{verdict.replace(" ", "_"): sum(cell.verdict == verdict and cell.kind != ELSEWHERE
                                                        for cell in there) for verdict in VERDICTS}})
    return lines


def _with_notes(cell: Cell, notes: dict[str, int]) -> str:
    told = [f"is {cell.answers}"] if cell.kind == "emulated" else []
    numbers = [notes.setdefault(note, len(notes) + 1) for note in (*told, *cell.notes)]
    return " ".join([shown(cell), *(f"[{number}](#n{number})" for number in numbers)])


def _tests(promise: Promise) -> str:
    live = [" or ".join(each) for each in promise.live]
    return markdown("; ".join([*promise.tests, *promise.everywhere, *live]) or promise.not_applicable
                    or promise.refused)


def _days(results: Results, fabric: str) -> str:
    days = sorted(day for day in results.days.get(fabric, set()) if day)
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}" if days else "never"
