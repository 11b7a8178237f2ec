# SPDX-License-Identifier: Apache-2.0
"""From facts to answers: for each family the first answer whose requirements hold, and the sentence that says why.

The rules themselves are data (rules.yaml). A row without a legal answer to a family is refused; so is an override that
the rules do not allow.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .matrix.facts import FACT, Fact, Value
from .matrix.loader import Document, Problem, Refused, Where, load
from .matrix.model import Cell, Fabric, Matrix, Range
from .matrix.refusing import did_you_mean, require
from .matrix.schema import rules_schema

_AT_LEAST = re.compile(r">= (0|[1-9][0-9]{0,9})")


@dataclass(frozen=True)
class Requirement:
    """A cell and what it must be: a value, or a number that is at least `at_least`."""

    fact: str
    value: Value | None
    at_least: int | None = None

    def holds(self, cell: Cell) -> bool:
        if self.at_least is not None:
            return isinstance(cell.value, int) and cell.value >= self.at_least
        return cell.value == self.value

    def __str__(self) -> str:
        if self.at_least is not None:
            return f"{self.fact} to be at least {self.at_least}"
        text = {True: "true", False: "false"}[self.value] if isinstance(self.value, bool) else self.value
        return f"{self.fact} to be {text}"


@dataclass(frozen=True)
class Rule:
    """One answer and what it requires."""

    answer: str
    when: tuple[Requirement, ...]
    unless: tuple[tuple[str, tuple[str, ...]], ...]
    because: str | None
    parameters: bool = False
    by_measurement: bool = False


@dataclass(frozen=True)
class Family:
    """One question and its answers, in the order in which they are tried."""

    name: str
    question: str
    wire: bool
    rules: tuple[Rule, ...]

    @property
    def answers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(rule.answer for rule in self.rules))

    @property
    def templates(self) -> frozenset[str]:
        """Answers that are class templates of numbers."""
        return frozenset(rule.answer for rule in self.rules if rule.parameters)


@dataclass(frozen=True)
class Choice:
    """The answer of one range of a row to one family. `others`: each answer that was not taken, and why."""

    family: str
    answer: str
    cells: tuple[Cell, ...]
    parts: tuple[str, ...]  # each fact with its evidence, then what the facts do not say
    short: str
    others: tuple[tuple[str, str], ...]

    @property
    def reason(self) -> str:
        return "; ".join(self.parts)


def read_rules(path: Path, name: str | None = None) -> tuple[Family, ...]:
    """Errors: Refused."""
    document = load(path, name)
    require(document, rules_schema())
    problems: list[Problem] = []
    families: list[Family] = []
    for key, raw in document.data.items():
        earlier = {family.name: family.answers for family in families}
        rules = tuple(_rule(document, (key, "answers", i), answer, earlier, problems)
                      for i, answer in enumerate(raw["answers"]))
        families.append(Family(key, raw["question"], raw["wire"], rules))
    if problems:
        raise Refused(problems)
    return tuple(families)


def _rule(document: Document, where: Where, raw: Mapping[str, Any], earlier: Mapping[str, tuple[str, ...]],
          problems: list[Problem]) -> Rule:
    when = [_requirement(document, (*where, "when", name), name, value, problems)
            for name, value in raw.get("when", {}).items()]
    unless = []
    for family, answers in raw.get("unless", {}).items():
        known = earlier.get(family, ())
        problems.extend(document.problem((*where, "unless", family),
                                         f"{family}: {answer} is not an answer of an earlier family"
                                         + did_you_mean(answer, known)) for answer in answers if answer not in known)
        unless.append((family, tuple(answers)))
    return Rule(raw["answer"], tuple(r for r in when if r), tuple(unless), raw.get("because"),
                raw.get("parameters", False), raw.get("by_measurement", False))


def _requirement(document: Document, where: Where, name: str, value: Value,
                 problems: list[Problem]) -> Requirement | None:
    fact = FACT.get(name)
    if fact is None:
        problems.append(document.problem(where, f"unknown cell '{name}'{did_you_mean(name, FACT)}"))
        return None
    bound = _AT_LEAST.fullmatch(value) if isinstance(value, str) else None
    if bound and fact.is_number:
        return Requirement(name, None, int(bound.group(1)))
    if not fact.fits(value):
        problems.append(document.problem(where, f"{name} cannot be {value!r}: expected {fact.expects()}"
                                         + (', or ">= n"' if fact.is_number else "")))
        return None
    return Requirement(name, value)


def decide(matrix: Matrix, fabric: Fabric, span: Range, families: tuple[Family, ...]) -> tuple[Choice, ...]:
    """The answers of one range of a row. Errors: Refused, where a family has no legal answer or an override is illegal.
    """
    problems: list[Problem] = []
    if any(family.name == fabric.name for family in families):
        problems.append(Problem(matrix.file, fabric.line,
                                f"row '{fabric.name}' has the name of a family: choose another"))
    _check_override(matrix, fabric, families, problems)
    taken: dict[str, Choice] = {}
    for family in families:
        choice = _choose(matrix, fabric, span, family, taken, problems)
        if choice is not None:
            taken[family.name] = choice
    if problems:
        raise Refused(problems)
    return tuple(taken.values())


def _check_override(matrix: Matrix, fabric: Fabric, families: tuple[Family, ...], problems: list[Problem]) -> None:
    known = {family.name: family.answers for family in families}
    for name, (answer, line) in (fabric.override.answers.items() if fabric.override else ()):
        if name not in known:
            problems.append(Problem(matrix.file, line,
                                    f"{fabric.name}: override of an unknown family '{name}'"
                                    + did_you_mean(name, known)))
        elif answer not in known[name]:
            problems.append(Problem(matrix.file, line,
                                    f"{fabric.name}: {name} has no answer '{answer}'; its answers are "
                                    f"{', '.join(known[name])}"
                                    + did_you_mean(answer, known[name])))
    for name, measured in fabric.measured.items():
        if name not in known:
            problems.append(Problem(matrix.file, measured.line,
                                    f"{fabric.name}: measured is an unknown family '{name}'"
                                    + did_you_mean(name, known)))
            continue
        answers = dict.fromkeys((measured.winner, *(answer for each in measured.classes
                                                 for answer in (each.winner, each.than))))
        problems.extend(Problem(matrix.file, measured.line,
                                f"{fabric.name}.measured.{name}: {name} has no answer '{answer}'; its answers are "
                                f"{', '.join(known[name])}{did_you_mean(answer, known[name])}") for answer in answers
                        if answer not in known[name])


def _choose(matrix: Matrix, fabric: Fabric, span: Range, family: Family, taken: Mapping[str, Choice],
            problems: list[Problem]) -> Choice | None:
    by_hand = fabric.override.answers.get(family.name) if fabric.override else None
    verdicts = [(rule, obstacle(fabric, span, rule, taken)) for rule in family.rules]
    legal = [rule for rule, obstacle in verdicts if obstacle is None]
    wanted = [rule for rule in legal if by_hand is None or rule.answer == by_hand[0]]
    if not wanted:
        obstacles = "; ".join(dict.fromkeys(f"{rule.answer} needs {obstacle}" for rule, obstacle in verdicts
                                            if obstacle and (by_hand is None or rule.answer == by_hand[0])))
        if by_hand is None:
            sentence = f"row {fabric.name} has no legal answer to {family.name} ({family.question}): {obstacles}"
            problems.append(Problem(matrix.file, span.line, sentence))
        elif by_hand[0] in family.answers:
            nearest = f"; legal here: {', '.join(dict.fromkeys(rule.answer for rule in legal))}" if legal else ""
            problems.append(Problem(matrix.file, by_hand[1],
                                    f"{fabric.name} cannot answer {family.name} with {by_hand[0]}: "
                                    f"{obstacles}{nearest}"))
        return None
    if by_hand is None:
        wanted = _by_measurement(matrix, fabric, family, verdicts, problems) or wanted
    return _made(fabric, span, family, wanted[0], verdicts, fabric.override.reason if fabric.override and by_hand
                 else None)


def _by_measurement(matrix: Matrix, fabric: Fabric, family: Family, verdicts: list[tuple[Rule, str | None]],
                    problems: list[Problem]) -> list[Rule]:
    """What a bench found fastest, where a measurement may choose it; a problem where the facts forbid it."""
    measured = fabric.measured.get(family.name)
    if measured is None or measured.winner not in family.answers:
        return []
    found = [(rule, why) for rule, why in verdicts if rule.answer == measured.winner]
    if all(why for _, why in found):
        needs = "; ".join(dict.fromkeys(why for _, why in found if why))
        problems.append(Problem(matrix.file, measured.line,
                                f"{fabric.name}.measured.{family.name}: {measured.winner} was measured fastest, and "
                                f"the facts forbid it: it needs {needs}; "
                                f"measure again (./weft bench --fabric {fabric.name} --vary {family.name} --write), or "
                                "mend the facts"))
    return [rule for rule, why in found if why is None and rule.by_measurement]


def obstacle(fabric: Fabric, span: Range, rule: Rule, taken: Mapping[str, Choice]) -> str | None:
    """The first requirement that does not hold, or none."""
    for need in rule.when:
        cell = span.cells[need.fact]
        if not need.holds(cell):
            return f"{need}, and {fabric.name}.{cell.name} is {cell.as_text} ({cell.evidence})"
    for family, answers in rule.unless:
        if family in taken and taken[family].answer in answers:
            return f"{family} to be another than {taken[family].answer}"
    return None


def chosen_anew(fabric: Fabric, span: Range, family: Family, own: Mapping[str, Choice],
                asked: Mapping[str, Choice]) -> str | None:
    """What the rules choose for a family instead of the row's own answer when other answers are asked for: where these
    make it illegal, or permit one that comes before it. None: it stays. A choice by hand or by measurement stays while
    it is legal.
    """
    answer = asked[family.name].answer
    legal = [rule.answer for rule in family.rules if obstacle(fabric, span, rule, asked) is None]
    if not legal:
        return None
    if answer not in legal:
        return legal[0]
    fixed = family.name in fabric.measured or (fabric.override is not None and family.name in fabric.override.answers)
    new = not fixed and answer == own[family.name].answer and all(obstacle(fabric, span, rule, own)
                                                                  for rule in family.rules if rule.answer == legal[0])
    return legal[0] if new and legal[0] != answer else None


def _made(fabric: Fabric, span: Range, family: Family, rule: Rule, verdicts: list[tuple[Rule, str | None]],
          by_hand: str | None) -> Choice:
    cells = tuple(span.cells[need.fact] for need in rule.when)
    brief = [f"{fabric.name}.{cell.name} is {cell.as_text}" for cell in cells]
    full = [f"{said} ({cell.evidence})" for said, cell in zip(brief, cells)]
    extra = [rule.because] if rule.because else []
    if not rule.when:  # always legal: the cells that ruled the earlier answers out are the reason
        for other, obstacle in verdicts:
            if other is rule:
                break
            failed = next((span.cells[need.fact] for need in other.when if not need.holds(span.cells[need.fact])), None)
            if failed is not None:
                cells += (failed,)
                brief.append(f"{fabric.name}.{failed.name} is {failed.as_text}")
                full.append(f"{brief[-1]} ({failed.evidence})")
            elif obstacle:
                extra.append(f"{other.answer} needs {obstacle}")
        full, brief = list(dict.fromkeys(full)), list(dict.fromkeys(brief))
    if by_hand:
        extra.append(f"chosen by hand: {by_hand}")
    measured = fabric.measured.get(family.name)
    faster = rule.answer if measured is None or by_hand else measured.winner
    if measured is not None:
        full.append(f"measured: {measured.as_text}")
        brief.append(measured.brief)
    if faster != rule.answer:
        extra.append(f"{faster} was measured faster, and is for those who ask for it (weft::with): programs can tell "
                     "the two apart")
    others = []
    legal = {other.answer for other, obstacle in verdicts if obstacle is None}
    for other, obstacle in verdicts:
        if other.answer != rule.answer and not (obstacle and other.answer in legal):
            others.append((other.answer, f"needs {obstacle}" if obstacle else "legal too, and tried later"
                           if not by_hand else "legal too"))
    return Choice(family.name, rule.answer, tuple(dict.fromkeys(cells)), tuple(full + extra), "; ".join(brief + extra),
                  tuple(dict.fromkeys(others)))
