# SPDX-License-Identifier: Apache-2.0
"""Runs contenders in turns, and keeps what they measured in each turn.

Who begins alternates. A contender that fails twice takes no further part. No turn begins after the deadline.
"""
from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .contenders import Contender, Plan
from .outputs import NotUnderstood
from .processes import Failed

Key = tuple[str, str, int]
"""Contender, operation, bytes."""


@dataclass(frozen=True)
class Spread:
    """The median of turns, with the 10th and the 90th percentile."""

    median: float
    low: float
    high: float
    turns: int


def spread(values: Sequence[float]) -> Spread | None:
    """None without values."""
    if not values:
        return None
    ordered = sorted(values)
    last = len(ordered) - 1
    return Spread(statistics.median(ordered), ordered[round(.1 * last)], ordered[round(.9 * last)], len(ordered))


@dataclass
class Measured:
    """Readings by key and turn."""

    turns: int = 0
    by_turn: dict[Key, dict[int, float]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def value(self, key: Key) -> Spread | None:
        """Over the turns."""
        return spread(list(self.by_turn.get(key, {}).values()))

    def ratio(self, ours: Key, theirs: Key) -> Spread | None:
        """One quotient per turn in which both were measured; none where no turn has both."""
        mine, other = self.by_turn.get(ours, {}), self.by_turn.get(theirs, {})
        return spread([mine[turn] / other[turn] for turn in mine if other.get(turn)])

    def lowest(self, keys: Sequence[Key]) -> Key | None:
        """The key with the lowest median."""
        found = {key: value.median for key in keys if (value := self.value(key))}
        return min(found, key=lambda key: found[key]) if found else None


def measure(contenders: Sequence[Contender], plan: Plan, report: Callable[[str], None],
            clock: Callable[[], float] = time.monotonic) -> Measured:
    """Runs all contenders in turns."""
    found = Measured(absent={each.name: each.absent for each in contenders if each.absent})
    present = [each for each in contenders if not each.absent]
    failures: dict[str, int] = {}
    began = clock()
    for turn in range(plan.turns):
        if turn > 0 and clock() - began > plan.seconds - (clock() - began) / turn:
            report(f"{turn} of {plan.turns} turns, as the time for more is up")
            break
        for each in present if turn % 2 == 0 else reversed(present):
            if turn >= each.at_most or failures.get(each.label, 0) >= 2:
                continue
            try:
                for (operation, size), value in each.once(plan).items():
                    found.by_turn.setdefault((each.name, operation, size), {})[turn] = value
                found.failed.pop(each.label, None)
            except (Failed, NotUnderstood, KeyError, ValueError, TypeError, OSError,
                    subprocess.SubprocessError) as error:
                failures[each.label] = failures.get(each.label, 0) + 1
                found.failed[each.label] = f"failed: {error}"
                report(f"{each.label}: {error}")
        found.turns = turn + 1
        report(f"turn {turn + 1} of {plan.turns}: {clock() - began:.0f} s")
    return found
