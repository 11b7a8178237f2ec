# SPDX-License-Identifier: Apache-2.0
"""What a row's facts refuse, each answer with the one sentence that the compiler prints to a program that selects it.

The same rules that chose the answers refuse the others. A later range inherits refusals, so it also lists what it
permits again.
"""
from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import Any

from .decided import Decided
from .matrix.model import Fabric, Range
from .rules import Choice, Family, chosen_anew, obstacle

_WIDTH = 130


@dataclass(frozen=True)
class Refusal:
    """One answer that a range of a row does not permit. `nearest`: the legal answer next to it in the order of the
    rules.
    """

    family: str
    answer: str
    nearest: str
    needs: str

    def sentence(self, fabric: str) -> str:
        return (f"weft: {self.family}: fabric {fabric} cannot answer {self.answer}: it needs {self.needs}; "
                f"the nearest legal answer is {self.family}::{self.nearest} [WEFT-C001]")


def refusals(fabric: Fabric, span: Range, choices: tuple[Choice, ...],
             families: tuple[Family, ...]) -> tuple[Refusal, ...]:
    """Every answer that this range refuses, in the order of the rules."""
    taken = {choice.family: choice for choice in choices}
    found: list[Refusal] = []
    for family in families:
        obstacles: dict[str, list[str | None]] = {}
        for rule in family.rules:
            obstacles.setdefault(rule.answer, []).append(obstacle(fabric, span, rule, taken))
        legal = [answer for answer, each in obstacles.items() if None in each]
        for place, (answer, each) in enumerate(obstacles.items()):
            if answer not in legal:
                found.append(Refusal(family.name, answer, _nearest(family.answers, legal, place),
                                     "; or ".join(dict.fromkeys(need for need in each if need))))
    return tuple(found)


def follow_ups(fabric: Fabric, span: Range, choices: tuple[Choice, ...],
               families: tuple[Family, ...]) -> dict[str, tuple[str, ...]]:
    """For each legal answer that was not taken: the rules' choices for later families with it, where these are not
    what they chose for the row.
    """
    found: dict[str, tuple[str, ...]] = {}
    for family in families:
        taken = {choice.family: choice for choice in choices}
        legal = dict.fromkeys(rule.answer for rule in family.rules if obstacle(fabric, span, rule, taken) is None)
        for answer in legal:
            asked = {**taken, family.name: replace(taken[family.name], answer=answer)}
            new = _replaced(fabric, span, taken, asked, families[families.index(family) + 1:])
            if new:
                found[f"{family.name}::{answer}"] = new
    return found


def _replaced(fabric: Fabric, span: Range, own: dict[str, Choice], asked: dict[str, Choice],
              later: tuple[Family, ...]) -> tuple[str, ...]:
    new = []
    for family in later:
        answer = chosen_anew(fabric, span, family, own, asked)
        if answer is not None:
            asked[family.name] = replace(asked[family.name], answer=answer)
            new.append(f"{family.name}::{answer}")
    return tuple(new)


def _nearest(answers: tuple[str, ...], legal: list[str], place: int) -> str:
    """The legal answer next to a place; of two at the same distance the later, which requires less."""
    return min(legal, key=lambda other: (abs(answers.index(other) - place), -answers.index(other)))


def literals(text: str, indent: str) -> list[str]:
    """Text as C++ literals that the compiler joins, in lines of the usual width."""
    parts = textwrap.wrap(text, _WIDTH, break_long_words=True, break_on_hyphens=False)
    # no quotation mark ends it, and no trigraph begins
    quoted = [part.replace('"', '\\"').replace("??", "?\\?") for part in parts]
    return [f'{indent}"{part}{" " if index + 1 < len(quoted) else ""}"' for index, part in enumerate(quoted)]


def _type(answer: str, templates: set[str]) -> dict[str, Any]:
    """An answer as the overload's argument, and the arguments of its template."""
    return {"answer": f"{answer}<Values...>",
            "pack": ", std::uint32_t... Values"} if answer in templates else {"answer": answer, "pack": ""}


def why_not(decided: Decided, names: tuple[str, ...], families: tuple[Family, ...]) -> dict[str, Any]:
    """The variables of templates/why_not.hpp.j2. `names`: the C++ name of each range, oldest first."""
    structs = []
    templates = {f"{family.name}::{answer}" for family in families for answer in family.templates}
    before: dict[str, Refusal] = {}
    followed: dict[str, tuple[str, ...]] = {}
    for name, span, choices in zip(names, decided.fabric.ranges, decided.choices):
        now = {f"{each.family}::{each.answer}": each for each in refusals(decided.fabric, span, choices, families)}
        entries: list[dict[str, Any]] = [{**_type(answer, templates),
                                       "lines": literals(each.sentence(decided.fabric.name), "      ")}
                for answer, each in now.items() if before.get(answer) != each]
        following = follow_ups(decided.fabric, span, choices, families)
        differing = {answer: following.get(answer, ()) for answer in dict.fromkeys((*following, *followed))
                     if following.get(answer) != followed.get(answer)}
        new: list[dict[str, Any]] = [{**_type(answer, templates), "answers": answers}
                                     for answer, answers in differing.items()]
        structs.append({"name": name, "refused": entries, "permitted": [_type(answer, templates) for answer in before
                                                                     if answer not in now], "follows": new})
        before, followed = now, following
    return {"fabric": decided.fabric.name, "structs": structs}
