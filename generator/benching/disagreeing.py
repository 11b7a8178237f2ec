# SPDX-License-Identifier: Apache-2.0
"""`weft check --live`: does today's machine agree with the measurements of the rows?

It runs the same bench for a short time and prints both figures. A ratio of another size is a warning: machines
differ. A contradiction is a winner that loses by more than noise in the middle four fifths of the turns: on this
machine the row chooses the wrong answer.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ..matrix.loader import Problem, Refused
from ..matrix.measured import LEAST, Measured, Won
from ..matrix.model import Fabric, Matrix
from .building import Absent, folder_for
from .combining import NotUnderstood
from .running import Plan
from .session import Asked, measure

AGREES, DIFFERS, CONTRADICTS, UNKNOWN = "agrees", "differs", "contradicts", "not measured"
_SIZE = {"small": 8, "medium": 4096, "large": 65536}
_TURNS = 5
Today = tuple[Decimal, Decimal, Decimal]  # median, 10th and 90th percentile


@dataclass(frozen=True)
class Judged:
    """One class of one family of one row, today."""

    fabric: str
    family: str
    won: Won
    line: int
    today: Today | None
    verdict: str
    sentence: str

    def problem(self, file: str) -> Problem:
        return Problem(file, self.line, self.sentence)

    def content(self) -> dict[str, Any]:
        return {"fabric": self.fabric, "family": self.family, "class": self.won.sizes, "operation": self.won.operation,
                "winner": self.won.winner, "than": self.won.than,
                "recorded": [str(each) for each in (self.won.times, self.won.low, self.won.high)],
                "today": None if self.today is None else [str(each) for each in self.today], "verdict": self.verdict,
                "sentence": self.sentence}


def judge(fabric: str, measured: Measured, won: Won, today: Today) -> Judged:
    """Compares the two spreads."""
    median, low, high = today
    figures = (f"{won.than} took {won.times} times as long as {won.winner} ({won.low} to {won.high}) on "
               f"{measured.date}, {median} times ({low} to {high}) today")
    name = f"{fabric}.measured.{measured.family}, {won.sizes}, {won.operation}"
    if high < 1 / LEAST:
        again = f"./weft bench --fabric {fabric} --vary {measured.family} --write"
        verdict, sentence = CONTRADICTS, f"{name}: {figures}: measure again here ({again})"
    elif high < won.low or low > won.high:
        verdict, sentence = DIFFERS, f"{name}: {figures}"
    else:
        verdict, sentence = AGREES, f"{name}: {figures}"
    return Judged(fabric, measured.family, won, measured.line, today, verdict, sentence)


def judged_today(matrix: Matrix, node: str, report: Callable[[str], None]) -> list[Judged]:
    """Each class that a row has measured; the others have the reason. Builds two programs per family, once."""
    return [one for fabric in matrix.fabrics for measured in fabric.measured.values()
            for one in _of_family(fabric, measured, node, report)]


def _of_family(fabric: Fabric, measured: Measured, node: str, report: Callable[[str], None]) -> list[Judged]:
    answers = dict.fromkeys(answer for won in measured.classes for answer in (won.winner, won.than))
    plan = Plan(tuple(dict.fromkeys(won.operation for won in measured.classes)),
                tuple(_SIZE[won.sizes] for won in measured.classes), (16,), 8, .005, _TURNS, limit=60)
    node = "" if node == "127.0.0.1" else node
    try:
        found = measure(Asked(fabric.name, tuple(f"{measured.family}={answer}" for answer in answers), plan,
                              folder_for(fabric.name, None), 2, node, adds_too=False), report)
    except (Absent, NotUnderstood, Refused) as why:
        return [_unknown(fabric, measured, won, str(why)) for won in measured.classes]
    return [_of_class(fabric, measured, won, found) for won in measured.classes]


def _of_class(fabric: Fabric, measured: Measured, won: Won, found: dict[str, Any]) -> Judged:
    places: list[dict[str, Any]] = next((each["places"] for each in found["ranking"]
                                         if (each["class"], each["operation"]) == (won.sizes, won.operation)), [])
    by_answer = {place["combination"][measured.family].split("<")[0]: place for place in places}
    today = ratio_of(by_answer.get(won.than), by_answer.get(won.winner))
    if today is None:
        return _unknown(fabric, measured, won, "no ratio came of it")
    return judge(fabric.name, measured, won, today)


def ratio_of(than: dict[str, Any] | None, winner: dict[str, Any] | None) -> Today | None:
    """How many times as long `than` takes. Each place has its ratio to the row's own answers."""
    if than is None or winner is None or min(winner["ratio"], winner["ratio_p10"]) <= 0:
        return None
    ratios = (than["ratio"] / winner["ratio"], than["ratio_p10"] / winner["ratio_p90"],
              than["ratio_p90"] / winner["ratio_p10"])
    median, low, high = (Decimal(f"{each:.2f}") for each in ratios)
    return median, low, high


def _unknown(fabric: Fabric, measured: Measured, won: Won, why: str) -> Judged:
    return Judged(fabric.name, measured.family, won, measured.line, None, UNKNOWN,
                  f"{fabric.name}.measured.{measured.family}, {won.sizes}, {won.operation}: not measured here: {why}")
