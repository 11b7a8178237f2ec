# SPDX-License-Identifier: Apache-2.0
"""What a run of `weft bench` decided about one family: the winner per class of sizes, and its lead over the next
answer.
"""
from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from ..matrix.measured import CLASSES, LEAST, Won

_CENT = Decimal("0.01")


def decided_classes(answer: dict[str, Any], family: str) -> tuple[list[Won], list[str]]:
    """Classes in the order of sizes, each with its clearest operation; and a sentence for each class without a
    decision.
    """
    found: list[Won] = []
    undecided: list[str] = []
    for sizes in CLASSES:
        ahead = [won for ranked in answer["ranking"] if ranked["class"] == sizes
                 if (won := _ahead(answer, family, ranked)) is not None]
        winners = dict.fromkeys(won.winner for won in ahead)
        if len(winners) == 1:
            found.append(max(ahead, key=lambda won: won.low))
        elif winners:
            undecided.append(f"{sizes}: not decided: " + "; ".join(f"{won.operation} says {won.winner}"
                                                                   for won in ahead))
    return found, undecided


def _ahead(answer: dict[str, Any], family: str, ranked: dict[str, Any]) -> Won | None:
    """The leader of one class and operation, among combinations that change this family alone.

    None where no answer leads by more than noise.
    """
    own = next((place["combination"] for place in ranked["places"] if place["baseline"]), None)
    if own is None:
        return None
    places = [place for place in ranked["places"] if all(each == own[name]
                                                         for name, each in place["combination"].items()
                                                         if name != family)]
    if len(places) < 2:
        return None
    first, second = places[0], places[1]
    if first["baseline"]:
        ratios = [second["ratio"], second["ratio_p10"], second["ratio_p90"]]
        than = second
    else:  # ratios are known to the row's own answers alone
        ratios = [1 / first[key] if first[key] > 0 else 0 for key in ("ratio", "ratio_p90", "ratio_p10")]
        than = next(place for place in places if place["baseline"])
    times, low, high = (Decimal(str(each)).quantize(_CENT, ROUND_HALF_UP) for each in ratios)
    if low < LEAST:
        return None
    name = [place["combination"][family].split("<")[0].strip() for place in (first, than)]
    return Won(ranked["class"], name[0], name[1], ranked["operation"], times, low, high)
