# SPDX-License-Identifier: Apache-2.0
"""What changed from one release to the next, cell by cell, and why: docs/tables/drift.yaml."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from ..matrix.facts import FACTS
from ..matrix.loader import Problem, Refused
from ..probing.compare import spelt
from .records import LOST, Release, RowSeen, Seen

ROOT = Path(__file__).resolve().parents[2]
EXPLANATIONS = "docs/tables/drift.yaml"
CLAIMED, SHOWN, PRESENT = "claimed", "shown", "present"
_KEYS = {"rows", "cells", "what", "to"}


@dataclass(frozen=True)
class Difference:
    """One thing that changed. `what`: CLAIMED, SHOWN, or PRESENT, which is about the row and has no cell."""

    row: str
    cell: str
    what: str
    before: Release
    after: Release
    was: str
    now: str


@dataclass(frozen=True)
class Explanation:
    """Why cells of rows changed with the release `to`. Without a `why` the question is open: `open` says what is asked.
    """

    rows: tuple[str, ...]
    cells: tuple[str, ...]
    what: str
    to: str
    why: str
    source: str
    open: str

    def fits(self, one: Difference) -> bool:
        return (one.row in self.rows and one.cell in self.cells and self.what in (one.what, "both")
                and self.to == one.after.library)


def differences(releases: Sequence[Release], rows: Iterable[str]) -> list[Difference]:
    """From each release to the next, row by row, in the order of the facts.

    A row that a release does not have is compared with the nearest release before that has it. So is a cell that came
    later than the observation of a release.
    """
    found = []
    for row in rows:
        have = [each for each in releases if row in each.rows]
        for before, after in zip(have, have[1:]):
            found += _presence(row, before, after)
        present = [each for each in have if not each.rows[row].absent]
        for number, after in enumerate(present):
            found += _since_before(row, present[:number], after)
    return found


def seen_with(cell: str, row: str, releases: Iterable[Release]) -> list[Release]:
    """The releases whose observation has the cell: it may have come later than the others."""
    return [each for each in releases if row in each.rows and cell in each.rows[row].cells]


def _presence(row: str, before: Release, after: Release) -> list[Difference]:
    was, now = (_there(each.rows[row]) for each in (before, after))
    return [Difference(row, "", PRESENT, before, after, was, now)] if was != now else []


def _there(seen: RowSeen) -> str:
    return "absent" if seen.absent else "present"


def _since_before(row: str, earlier: Sequence[Release], after: Release) -> list[Difference]:
    found = []
    for fact in FACTS:
        have = seen_with(fact.name, row, earlier)
        if not have or not seen_with(fact.name, row, [after]):
            continue
        before = have[-1]
        was, now = (each.rows[row].cells[fact.name] for each in (before, after))
        if was.claimed != now.claimed:
            found.append(Difference(row, fact.name, CLAIMED, before, after, spelt(was.claimed), spelt(now.claimed)))
        if told(was) != told(now):
            found.append(Difference(row, fact.name, SHOWN, before, after, told(was), told(now)))
    return found


def told(seen: Seen) -> str:
    """What two processes saw, as a page says it."""
    return spelt(seen.shown) if seen.shown is not None else "lost" if seen.unseen.startswith(LOST) else "-"


def read_explanations(root: Path = ROOT) -> tuple[Explanation, ...]:
    """Errors: Refused, where an entry is none."""
    entries = YAML(typ="safe").load((root / EXPLANATIONS).read_text("utf-8")) or []
    return tuple(_explanation(number, raw) for number, raw in enumerate(entries, 1))


def _explanation(number: int, raw: Mapping[str, Any]) -> Explanation:
    keys = set(raw)
    if keys not in (_KEYS | {"why", "source"}, _KEYS | {"open"}):
        raise Refused([Problem(EXPLANATIONS, 1, f"entry {number} has {', '.join(sorted(keys))}: it must have rows, "
                                                "cells, what, to, and either why and source, or open")])
    return Explanation(tuple(raw["rows"]), tuple(raw["cells"]), raw["what"], str(raw["to"]), str(raw.get("why", "")),
                       str(raw.get("source", "")), str(raw.get("open", "")))


def unused(explanations: Iterable[Explanation], found: Sequence[Difference]) -> list[str]:
    """The rows and cells that an explanation names, and that did not change so: a sentence each."""
    stale = []
    for each in explanations:
        fitting = [one for one in found if each.fits(one)]
        rows, cells = {one.row for one in fitting}, {one.cell for one in fitting}
        stale += [f"{EXPLANATIONS}: {name} did not change with {each.to} ({each.what}: {', '.join(each.cells)})"
                  for name in (*each.rows, *each.cells) if name not in rows | cells]
    return stale


def explained(one: Difference, explanations: Iterable[Explanation]) -> Explanation | None:
    return next((each for each in explanations if each.fits(one)), None)
