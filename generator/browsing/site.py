# SPDX-License-Identifier: Apache-2.0
"""What docs/reference/matrix.html shows: each fact and each answer with the releases in which it holds.

The page filters by what its rows say. So it is decided here which releases a reader can ask for, and which rows hold
in each of them.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..decided import Decided, library_of, releases
from ..matrix.facts import FACTS, GROUPS
from ..matrix.model import Cell, Fabric, Version
from ..matrix.trust import DIFFERS, LEGEND, MARKS, cells_of, count, level_of, mark_of, observation_of, weakest
from ..rules import Choice, Family

ANSWERS = "answers"
_LEVELS = {"observed": "observed by us", "claimed": "claimed by a source only", "copied": "copied or assumed",
           "fixed": "an answer that rests on no fact"}
Numbers = dict[tuple[str, Version], int]


@dataclass(frozen=True)
class Entry:
    """A fact or an answer: its value, how far it is believed, and why. `claim`: what the library claims instead."""

    group: str
    name: str
    value: str
    level: str
    mark: str
    claim: str
    why: str


def site(decided: tuple[Decided, ...], families: tuple[Family, ...]) -> dict[str, Any]:
    """The variables of templates/matrix_site/matrix.html.j2."""
    numbers = _numbers([each.fabric for each in decided])
    return {
        "legend": LEGEND,
        "total": count(cell for each in decided for cell in cells_of(each.fabric)).as_text,
        "fabrics": [{"name": fabric.name, "summary": fabric.summary, "backend": fabric.backend,
                     "releases": releases(fabric), "counts": count(cells_of(fabric)).as_text}
                    for fabric in (each.fabric for each in decided)],
        "groups": [ANSWERS, *GROUPS],
        "names": [{"name": family.name, "group": ANSWERS, "meaning": family.question} for family in families]
        + [{"name": fact.name, "group": fact.group, "meaning": fact.meaning} for fact in FACTS],
        "releases": [{"number": number, "text": f"{library} {version}"}
                     for (library, version), number in numbers.items()],
        "levels": [{"name": name, "meaning": meaning, "mark": MARKS.get(name, "")}
                   for name, meaning in _LEVELS.items()],
        "rows": [row for each in decided for row in _rows(each, families, numbers)],
    }


def _numbers(fabrics: Sequence[Fabric]) -> Numbers:
    """Every release at which a row begins, changes or ends, or with which somebody observed a cell; oldest first."""
    found: set[tuple[str, Version]] = set()
    for fabric in fabrics:
        ends = [*(span.since for span in fabric.ranges), *([fabric.until] if fabric.until else [])]
        seen = [observation_of(cell) for cell in cells_of(fabric)]
        observed = [each.release for each in seen if each and each.release and each.release >= fabric.since]
        found |= {(library_of(fabric), version) for version in (*ends, *observed)}
    libraries = list(dict.fromkeys(library_of(fabric) for fabric in fabrics))
    ordered = sorted(found, key=lambda each: (libraries.index(each[0]), each[1]))
    return {each: number for number, each in enumerate(ordered)}


def _rows(decided: Decided, families: tuple[Family, ...], numbers: Numbers) -> Iterator[dict[str, Any]]:
    """The rows of a fabric. Neighbouring ranges that say the same are one row."""
    fabric = decided.fabric
    spans = fabric.ranges
    named = [[_of_answer(next(choice for choice in choices if choice.family == family.name))
              for choices in decided.choices] for family in families]
    named += [[_of_cell(fact.group, span.cells[fact.name]) for span in spans] for fact in FACTS]
    for entries in named:
        first = 0
        for last, entry in enumerate(entries):
            if last + 1 < len(entries) and entries[last + 1] == entry:
                continue
            since, until = spans[first].since, spans[last].until
            holds = [str(number) for (library, version), number in numbers.items()
                     if library == library_of(fabric) and since <= version and (until is None or version < until)]
            text = f"{library_of(fabric)} {since} " + (f"to before {until}" if until else "and later")
            yield {"fabric": fabric.name, "group": entry.group, "name": entry.name, "value": entry.value,
                   "level": entry.level, "mark": entry.mark, "differs": DIFFERS in entry.mark, "claim": entry.claim,
                   "why": entry.why, "kind": " (answer)" if entry.group == ANSWERS else "", "span": text,
                   "releases": " ".join(holds)}
            first = last + 1


def _of_cell(group: str, cell: Cell) -> Entry:
    return Entry(group, cell.name, cell.as_text, level_of(cell.evidence), mark_of(cell), cell.told_claim,
                 str(cell.evidence))


def _of_answer(choice: Choice) -> Entry:
    level = weakest(choice.cells)
    differs = DIFFERS if any(cell.claimed_value is not None for cell in choice.cells) else ""
    why = ", ".join(f"{cell.name} is {cell.as_text}" for cell in choice.cells)
    return Entry(ANSWERS, choice.family, choice.answer, level or "fixed", MARKS[level] + differs if level else "", "",
                 why)
