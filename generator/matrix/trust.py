# SPDX-License-Identifier: Apache-2.0
"""How far a cell is believed: observed by us, claimed by a source, or copied (taken over or assumed).

An observation becomes stale after some days, or if it was made with a release before the newest range of its row.
"""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from .loader import Problem
from .model import Cell, Evidence, Fabric, Matrix, Range, Version

LEVELS = ("observed", "claimed", "copied")
MARKS = {"observed": "✓", "claimed": "·", "copied": "?"}
DIFFERS = "≠"
LEGEND = (f"{MARKS['observed']} observed by us, {MARKS['claimed']} claimed by a source only, {MARKS['copied']} copied "
          f"or assumed, "
          f"{DIFFERS} observed to differ from what the library claims")
STALE_DAYS = 365

_SEEN = re.compile(r"(\d{4}-\d{2}-\d{2}) (?:([a-z-]+) (\d+)\.(\d+)(?:\.\d+)*)?")


@dataclass(frozen=True)
class Observation:
    """When, and with which release of the backend's library (none where the evidence does not begin with it)."""

    day: date
    release: Version | None


@dataclass(frozen=True)
class Count:
    """The cells of a row, or of all rows, by level."""

    observed: int
    claimed: int
    copied: int
    differ: int

    @property
    def cells(self) -> int:
        return self.observed + self.claimed + self.copied

    @property
    def as_text(self) -> str:
        """In words: 21 observed, 16 claimed, 0 copied of 37 cells; 2 behave otherwise than the library claims."""
        tail = f"; {self.differ} behave otherwise than the library claims" if self.differ else ""
        return f"{self.observed} observed, {self.claimed} claimed, {self.copied} copied of {self.cells} cells{tail}"


def level_of(evidence: Evidence) -> str:
    """The best that is known."""
    return "observed" if evidence.observed else "claimed" if evidence.claimed else "copied"


def weakest(cells: Iterable[Cell]) -> str | None:
    """The lowest level among these cells; None without cells."""
    levels = [level_of(cell.evidence) for cell in cells]
    return max(levels, key=LEVELS.index) if levels else None


def mark_of(cell: Cell) -> str:
    return MARKS[level_of(cell.evidence)] + (DIFFERS if cell.claimed_value is not None else "")


def observation_of(cell: Cell) -> Observation | None:
    """Errors: ValueError, for a day that no calendar has (the loader refuses it before)."""
    found = _SEEN.match(cell.evidence.observed or "")
    if not found:
        return None
    release = Version(int(found[3]), int(found[4])) if found[3] else None
    return Observation(date.fromisoformat(found[1]), release)


def cells_of(fabric: Fabric) -> list[Cell]:
    """Every cell that somebody wrote: those of the row, and those that its ranges restate."""
    first = list(fabric.ranges[0].cells.values())
    return first + [span.cells[name] for span in fabric.ranges[1:] for name in span.changed]


def count(cells: Iterable[Cell]) -> Count:
    cells = list(cells)
    levels = Counter(level_of(cell.evidence) for cell in cells)
    return Count(levels["observed"], levels["claimed"], levels["copied"],
                 sum(cell.claimed_value is not None for cell in cells))


def seen_by_nobody(fabric: Fabric) -> bool:
    """No cell was observed: the hardware is not here. A backend of weft's own needs none."""
    return fabric.backend != "loopback" and count(cells_of(fabric)).observed == 0


def stale(matrix: Matrix, today: date, days: int = STALE_DAYS) -> list[Problem]:
    """One warning per row and reason, at the line of the first cell: the reason, how many cells, and which."""
    warnings = []
    for fabric in matrix.fabrics:
        by_reason: dict[str, list[Cell]] = {}
        for cell in cells_of(fabric):
            why = _why_stale(fabric.ranges[-1], cell, today, days)
            if why:
                by_reason.setdefault(why, []).append(cell)
        warnings += [Problem(matrix.file, cells[0].line, f"{_few(fabric, cells)} {why}: observe again")
                     for why, cells in by_reason.items()]
    return warnings


def _few(fabric: Fabric, cells: list[Cell]) -> str:
    if len(cells) == 1:
        return f"{fabric.name}.{cells[0].name} was"
    names = ", ".join(cell.name for cell in cells[:3]) + (", ..." if len(cells) > 3 else "")
    return f"{len(cells)} cells of {fabric.name} ({names}) were"


def _why_stale(newest: Range, cell: Cell, today: date, days: int) -> str:
    seen = observation_of(cell)
    if seen is None:
        return ""
    age = (today - seen.day).days
    if age > days:
        return f"observed on {seen.day}, {age} days ago (more than {days})"
    # Only cells that still hold in the newest range can be too old for it.
    holds = newest.changed and newest.cells.get(cell.name) == cell
    if holds and seen.release is not None and seen.release < newest.since:
        return f"observed with release {seen.release}, before the row's newest range (since {newest.since})"
    return ""
