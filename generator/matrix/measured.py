# SPDX-License-Identifier: Apache-2.0
"""What a bench found, as a row holds it: the winning answer of a family, and how much longer another answer takes.

A measurement chooses among answers that the facts permit, where programs cannot tell the answers apart
(`by_measurement` in rules.yaml). A measurement never makes an answer legal.
A ratio whose spread comes within three percent of 1 says nothing, and is refused.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .days import wrong_day
from .loader import Document, Problem, Where

CLASSES: dict[str, str] = {"small": "transfers up to 512 bytes", "medium": "transfers up to 16 KiB",
                           "large": "larger transfers"}
LEAST = Decimal("1.03")


@dataclass(frozen=True)
class Won:
    """One class of sizes: `than` takes `times` as long as the winner; four fifths of the turns are in the spread."""

    sizes: str
    winner: str
    than: str
    operation: str
    times: Decimal
    low: Decimal
    high: Decimal

    @property
    def as_text(self) -> str:
        return (f"{self.sizes}: {self.than} takes {self.times} times as long as {self.winner} "
                f"({self.low} to {self.high}, {self.operation})")


@dataclass(frozen=True)
class Measured:
    """One family of one row, and where the figures come from."""

    family: str
    winner: str
    classes: tuple[Won, ...]
    command: str
    machine: str
    library: str
    date: str
    line: int

    @property
    def as_text(self) -> str:
        classes = "; ".join(each.as_text for each in self.classes)
        return f"{self.date} {self.library}, {self.machine}, {self.command}: {classes}"

    @property
    def brief(self) -> str:
        first = next((each for each in self.classes if each.winner == self.winner), self.classes[0])
        return f"measured: {first.than} takes {first.times} times as long"


def read_measured(document: Document, fabric: str, raw: Mapping[str, Any],
                  problems: list[Problem]) -> dict[str, Measured]:
    """Of one row, by family. What the rules know is checked with them."""
    return {family: _one(document, (fabric, "measured", family), family, each, problems)
            for family, each in raw.items()}


def _one(document: Document, where: Where, family: str, raw: Mapping[str, Any], problems: list[Problem]) -> Measured:
    name = f"{where[0]}.measured.{family}"
    classes = tuple(_class(document, (*where, "classes", sizes), f"{name}.{sizes}", sizes, raw["classes"][sizes],
                           problems)
                    for sizes in CLASSES if sizes in raw["classes"])
    if raw["winner"] not in {each.winner for each in classes}:
        problems.append(document.problem((*where, "winner"),
                                         f"{name}: {raw['winner']} wins in no class: the winner is one of "
                                         f"{', '.join(dict.fromkeys(each.winner for each in classes))}"))
    if wrong := wrong_day(raw["date"]):
        problems.append(document.problem((*where, "date"), f"{name} was measured on {wrong}: write the day of the run"))
    return Measured(family, raw["winner"], classes, raw["command"], raw["machine"], raw["library"], raw["date"],
                    document.line((*where, "winner")))


def _class(document: Document, where: Where, name: str, sizes: str, raw: Mapping[str, Any],
           problems: list[Problem]) -> Won:
    won = Won(sizes, raw["winner"], raw["than"], raw["operation"], Decimal(raw["times"]), *map(Decimal, raw["spread"]))
    if not won.low <= won.times <= won.high:
        problems.append(document.problem((*where, "spread"),
                                         f"{name}: {won.times} does not lie between {won.low} and {won.high}: spread "
                                         f"is the 10th and the 90th percentile"))
    elif won.low < LEAST:
        problems.append(document.problem((*where, "spread"),
                                         f"{name}: from {won.low} times on nobody won: less than {LEAST} is noise; "
                                         f"leave the class out"))
    if won.winner == won.than:
        problems.append(document.problem((*where, "than"),
                                         f"{name}: {won.winner} is compared with itself: than is the other answer"))
    return won
