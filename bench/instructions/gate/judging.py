# SPDX-License-Identifier: Apache-2.0
"""Judges counted instructions: weft compared with its contender, and every column with its committed counts.

Nothing here runs a program, so tests/bench judges planted rows. A figure of each side is the least of all its own
visits and runs. The least is taken per side, so a run in which weft is slow cannot hide the contender's best run.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ratchet import COLUMNS, TOLERANCE, Count

ROUNDING = 0.05
TRUSTED = "-trusted"  # ends the name of a fabric whose program trusts its caller: it is compared with bare
MOST_ABOVE_BARE = 4.0
REPEATS = 2  # more runs of an operation with a problem


@dataclass(frozen=True)
class Side:
    """What one operation costs one side: instructions, and what its functions are made of."""

    instructions: float
    library: float = 0.0
    branches: float = 0.0
    indirect: float = 0.0
    bytes: int = 0
    allocating: int = 0


@dataclass(frozen=True)
class Row:
    """One operation on one fabric. A side that was not counted is None."""

    fabric: str
    operation: str
    weft: Side | None = None
    by_hand: Side | None = None  # with the same checks
    bare: Side | None = None  # one peer, no checks

    def of_column(self, column: str) -> Side | None:
        """A column of counts.yaml."""
        return {"weft": self.weft, "same_checks": self.by_hand, "bare": self.bare}[column]


WHO = {"weft": "weft", "same_checks": "the contender", "bare": "the bare program"}


Limits = dict[str, dict[str, float]]
Judge = Callable[[Row], list[str]]


def read_limits(path: Path) -> Limits:
    """Per fabric and operation: how many instructions more than the contender's are allowed. More than 0 needs a
    reason: {"more": number, "because": reason}. For a trusted caller: how many more than bare, if more than 4.
    """
    return {fabric: {operation: allowed(entry, f"{path.name}, {fabric}, {operation}")
                     for operation, entry in operations.items()}
            for fabric, operations in json.loads(path.read_text("utf-8")).items()}


def allowed(entry: object, where: str) -> float:
    """0, or a number with its reason."""
    if isinstance(entry, dict) and set(entry) == {"more", "because"} and str(entry["because"]).strip():
        return float(entry["more"])
    if isinstance(entry, (int, float)) and entry <= 0:
        return float(entry)
    raise ValueError(f'{where}: {entry}: 0, or {{"more": number, "because": reason}}')


def lower(one: Side | None, other: Side | None) -> Side | None:
    """The side with fewer instructions; a side that was counted wins over one that was not."""
    if one is None or other is None:
        return one or other
    return one if one.instructions <= other.instructions else other


def least(one: Row, other: Row) -> Row:
    """Both sides at their own least, whichever run it comes from."""
    return Row(one.fabric, one.operation, lower(one.weft, other.weft), lower(one.by_hand, other.by_hand),
               lower(one.bare, other.bare))


def compared(row: Row, limits: dict[str, float], name: str) -> list[str]:
    """One sentence for each way in which weft exceeds its contender. A row with a limit has both sides."""
    if row.operation not in limits or row.fabric.endswith(TRUSTED):
        return []
    where, most = f"{row.fabric} {row.operation}", limits[row.operation]
    if row.weft is None or row.by_hand is None:
        side = "weft" if row.weft is None else "the contender"
        return [f"{where}: {side} was not counted, and {name} has a limit"]
    sentences = []
    more = row.weft.instructions - row.by_hand.instructions
    if more > most + ROUNDING:
        sentences.append(f"{where}: {more:+.1f} instructions more than the contender; {name} allows {most:+}")
    if row.weft.indirect > row.by_hand.indirect + ROUNDING:
        sentences.append(f"{where}: {row.weft.indirect:.1f} calls through a pointer; the library's own are "
                         f"{row.by_hand.indirect:.1f}")
    if row.weft.allocating > 0:
        sentences.append(f"{where}: its functions call the allocator in {row.weft.allocating} places; 0 is right")
    return sentences


def above_bare(row: Row, limits: dict[str, float], name: str) -> list[str]:
    """A sentence if a trusted caller's operation needs more than 4 above bare, or than its limit."""
    if not row.fabric.endswith(TRUSTED) or row.weft is None or row.bare is None:
        return []
    most = max(limits.get(row.operation, 0.0), MOST_ABOVE_BARE)
    more = row.weft.instructions - row.bare.instructions
    if more <= most + ROUNDING:
        return []
    return [f"{row.fabric} {row.operation}: {more:+.1f} instructions more than bare; {name} allows {most:+}"]


def risen(row: Row, counts: dict[str, Count]) -> list[str]:
    """A sentence for each column above its committed count, whatever the others need. A padded contender is one."""
    sentences = []
    for column in COLUMNS:
        committed = counts[row.operation].of(column) if row.operation in counts else None
        if committed is None:
            continue
        where, side = f"{row.fabric} {row.operation}", row.of_column(column)
        if side is None:
            sentences.append(f"{where}: {WHO[column]} was not counted, and its committed count is {committed}")
        elif round(side.instructions, 1) > round(committed + TOLERANCE, 1):  # as counts.yaml keeps it
            whose = "" if column == "weft" else f"{WHO[column]}: "
            sentences.append(f"{where}: {whose}{side.instructions:.1f} instructions; the committed count is "
                             f"{committed}. A wanted rise: --write --because REASON")
    return sentences


def measured(rows: list[Row]) -> dict[str, Count]:
    """What counts.yaml keeps of these rows."""
    def rounded(side: Side | None) -> float | None:
        return None if side is None else round(side.instructions, 1)

    return {row.operation: Count(round(row.weft.instructions, 1), "", rounded(row.by_hand), rounded(row.bare))
            for row in rows if row.weft is not None}


def upside_down(row: Row) -> list[str]:
    """A sentence if the bare program needs more than the one with checks: a floor that is no floor."""
    if row.bare is None or row.by_hand is None or row.bare.instructions <= row.by_hand.instructions + ROUNDING:
        return []
    return [f"{row.fabric} {row.operation}: bare needs {row.bare.instructions:.1f} instructions, and with the same "
            f"checks {row.by_hand.instructions:.1f}"]


def judge(limits: dict[str, float], name: str, counts: dict[str, Count]) -> Judge:
    """All problems of a row."""
    return lambda row: (compared(row, limits, name) + above_bare(row, limits, name) + risen(row, counts)
                        + upside_down(row))


def missing(fabric: str, rows: list[Row], limits: dict[str, float], counts: dict[str, Count]) -> list[str]:
    """One sentence for each operation that is in a file and has no row, or has a limit and no committed count."""
    found = {row.operation for row in rows if row.fabric == fabric}
    expected = dict.fromkeys((*limits, *counts))
    return ([f"{fabric} {operation}: no row" for operation in expected if operation not in found]
            + [f"{fabric} {operation}: no committed count" for operation in limits
               if counts and operation not in counts])


def at_their_least(count: Callable[[tuple[str, ...]], list[Row]], operations: tuple[str, ...],
                   judge_row: Judge) -> list[Row]:
    """Counts all operations, and those with a problem again. A busy machine adds work to a visit, never removes any."""
    rows = count(operations)
    for _ in range(REPEATS):
        again = {row.operation for row in rows if judge_row(row)}
        if not again:
            break
        repeated = {row.operation: row for row in count(tuple(each for each in operations if each in again))}
        rows = [least(row, repeated[row.operation]) if row.operation in repeated else row for row in rows]
    return rows
