# SPDX-License-Identifier: Apache-2.0
"""From turns to figures: medians, ratios to the row's own answers in the same turn, and the winner per class of sizes.

A ratio compares two programs of one turn, never two runs. Less than three percent is noise.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .combining import Combination
from .running import Key, Turn

# Name, from, to (included); the last has no bound.
CLASSES: tuple[tuple[str, int, int | None], ...] = (("small", 0, 512), ("medium", 513, 16384), ("large", 16385, None))
NOISE = 0.97
LEAST_TURNS = 3  # for a win: two turns have no spread


def quantile(values: Sequence[float], share: float) -> float:
    """Between the two values next to the share, in proportion. Requires values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


@dataclass(frozen=True)
class Spread:
    """Median, and the middle four fifths."""

    median: float
    p10: float
    p90: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        return Spread(quantile(values, .5), quantile(values, .1), quantile(values, .9))

    def ratios(self) -> dict[str, float]:
        return {"ratio": round(self.median, 4), "ratio_p10": round(self.p10, 4), "ratio_p90": round(self.p90, 4)}


def _ratios(turns: Sequence[Turn], one: Combination, own: Combination, key: Key) -> list[float]:
    """One ratio per turn in which both have it."""
    return [turn[one][key].median / turn[own][key].median for turn in turns
            if one in turn and own in turn and key in turn[one] and key in turn[own] and turn[own][key].median > 0]


def operations(turns: Sequence[Turn], one: Combination, own: Combination) -> list[dict[str, Any]]:
    """The schema's operations, in the order of operation, size, window."""
    found = []
    for key in sorted({key for turn in turns for key in turn.get(one, {})}):
        samples = [turn[one][key] for turn in turns if key in turn.get(one, {})]
        ratios = _ratios(turns, one, own, key)
        if not ratios:
            continue
        times = Spread.of([sample.median for sample in samples])
        found.append({"operation": key.operation, "bytes": key.bytes, "window": key.window or None,
                      "median_ns": round(times.median, 1),
                      "p10_ns": round(times.p10, 1), "p90_ns": round(times.p90, 1), **Spread.of(ratios).ratios(),
                      "quantiles_ns": [round(quantile(each, .5), 1)
                                       for each in zip(*(sample.quantiles for sample in samples))]})
    return found


def results(combinations: Sequence[Combination], turns: Sequence[Turn],
            failed: Mapping[Combination, str]) -> list[dict[str, Any]]:
    """The row's own answers first, then the legal, then the illegal ones with the reason."""
    own = next(each for each in combinations if each.baseline)
    return [{"combination": dict(each.answers), "followed": dict(each.followed), "legal": each.legal,
             "baseline": each.baseline, "reason": each.reason or failed.get(each, ""),
             "operations": operations(turns, each, own) if each.legal and each not in failed else []}
            for each in combinations]


def ranking(combinations: Sequence[Combination], turns: Sequence[Turn],
            failed: Mapping[Combination, str]) -> list[dict[str, Any]]:
    """Per class of sizes and operation, best first."""
    own = next(each for each in combinations if each.baseline)
    keys = sorted({key for turn in turns for samples in turn.values() for key in samples})
    found = []
    for name, low, high in CLASSES:
        for operation in dict.fromkeys(key.operation for key in keys):
            inside = [key for key in keys if key.operation == operation and key.bytes >= low
                      and (high is None or key.bytes <= high)]
            places = _places([each for each in combinations if each.legal and each not in failed], turns, own, inside)
            if places:
                found.append({"class": name, "from_bytes": low, "to_bytes": high, "operation": operation,
                              "places": places})
    return found


def _places(measured: Sequence[Combination], turns: Sequence[Turn], own: Combination,
            keys: Sequence[Key]) -> list[dict[str, Any]]:
    """Of several sizes or windows the median in each turn."""
    spreads = []
    for each in measured:
        per_turn = [[turn[each][key].median / turn[own][key].median for key in keys
                     if each in turn and own in turn and key in turn[each] and key in turn[own]
                     and turn[own][key].median > 0] for turn in turns]
        medians = [quantile(ratios, .5) for ratios in per_turn if ratios]
        if medians:
            spreads.append((each, Spread.of(medians)))
    spreads.sort(key=lambda found: (found[1].median, not found[0].baseline))
    return [{"combination": dict(each.answers), "baseline": each.baseline, **spread.ratios(),
             "wins": place == 0 and not each.baseline and spread.p90 < NOISE and len(turns) >= LEAST_TURNS}
            for place, (each, spread) in enumerate(spreads)]
