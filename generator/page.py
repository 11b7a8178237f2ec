# SPDX-License-Identifier: Apache-2.0
"""What docs/matrix.md shows: answers, facts and the evidence of each cell, as text without Markdown's own signs."""
from __future__ import annotations

from typing import Any

from .decided import Decided, marked_answer_of, marked_fact_of, releases
from .matrix.facts import FACTS, GROUPS
from .matrix.model import Cell
from .rules import Family
from .matrix.trust import LEGEND, cells_of, count, level_of, mark_of, seen_by_nobody

_SHORT = ("notify", "atomics", "progress")


def markdown(text: str) -> str:
    for special in "\\`*[]<>|#~":
        text = text.replace(special, "\\" + special if special not in "<>" else {"<": "&lt;", ">": "&gt;"}[special])
    return text


def page(decided: tuple[Decided, ...], families: tuple[Family, ...]) -> dict[str, Any]:
    """The variables of templates/matrix.md.j2."""
    names = [family.name for family in families]
    thirds = [names[i:i + 6] for i in range(0, len(names), 6)]
    answers = [{"families": [markdown(n) for n in part],
                "rows": [{"fabric": markdown(each.fabric.name),
                          "cells": [markdown(marked_answer_of(each, name)) for name in part]} for each in decided]}
               for part in thirds]
    groups = [{"name": group, "facts": [markdown(fact.name) for fact in FACTS if fact.group == group],
               "rows": [{"fabric": markdown(each.fabric.name),
                         "cells": [markdown(marked_fact_of(each.fabric, fact.name)) for fact in FACTS
                                   if fact.group == group]} for each in decided]}
              for group in GROUPS if group != "identity"]
    every = count(cell for each in decided for cell in cells_of(each.fabric))
    return {"legend": LEGEND, "total": every.as_text, "fabrics": [_page_row(each) for each in decided],
            "answers": answers,
            "groups": groups,
            "families": [{"name": markdown(f.name), "question": markdown(f.question),
                          "answers": markdown(", ".join(f.answers))} for f in families],
            "facts": [{"name": markdown(f.name), "meaning": markdown(f.meaning), "request": f.request} for f in FACTS]}


def short_table(decided: tuple[Decided, ...]) -> dict[str, Any]:
    """The variables of templates/readme_matrix.md.j2: the answers that differ most, and each row's number of observed
    cells.
    """
    rows = []
    for each in decided:
        counted = count(cells_of(each.fabric))
        rows.append({"fabric": markdown(each.fabric.name), "cells": [markdown(marked_answer_of(each, name))
                                                                     for name in _SHORT],
                     "seen": f"{counted.observed} of {counted.cells}"})
    return {"families": [markdown(name) for name in _SHORT], "rows": rows, "legend": LEGEND}


def _page_row(decided: Decided) -> dict[str, Any]:
    fabric = decided.fabric
    cells = []
    for span in fabric.ranges:
        names = span.changed or tuple(span.cells)
        cells += [{"level": _level(span.cells[name]), "name": markdown(name)
                   + (f" (since {span.since})" if span.changed else ""), "value": markdown(span.cells[name].as_text),
                   "evidence": markdown(str(span.cells[name].evidence))} for name in names]
    return {"name": fabric.name, "title": markdown(fabric.name), "summary": markdown(fabric.summary),
            "backend": fabric.backend,
            "releases": releases(fabric), "counts": count(cells_of(fabric)).as_text,
            "seen_by_nobody": seen_by_nobody(fabric),
            "settings": [{"name": markdown(s.name), "value": markdown(s.value), "reason": markdown(s.reason)}
                         for s in fabric.settings],
            "cells": cells}


def _level(cell: Cell) -> str:
    """The level with its mark; where behaviour differs, what the library claims."""
    differs = f", claimed {markdown(cell.told_claim)}" if cell.claimed_value is not None else ""
    return f"{mark_of(cell)} {level_of(cell.evidence)}{differs}"
