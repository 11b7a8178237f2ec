# SPDX-License-Identifier: Apache-2.0
"""Rows with their answers, two hashes of each row, and both in words for people.

`fingerprint` is what peers must share; `identity` is what the objects of one program must share. Both are the same on
every machine and in every release of Python.
"""
from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .matrix.facts import FACT
from .matrix.loader import Problem, Refused
from .matrix.model import Fabric, Matrix, Range
from .rules import Choice, Family, decide
from .matrix.trust import DIFFERS, MARKS, mark_of, weakest

_LIBRARY = {"libfabric": "libfabric", "verbs": "rdma-core", "mapped": "linux", "streams": "linux",
            "loopback": "weft"}


@dataclass(frozen=True)
class Decided:
    """One row with its answers, one tuple of choices per range."""

    fabric: Fabric
    choices: tuple[tuple[Choice, ...], ...]


def decide_all(matrix: Matrix, families: tuple[Family, ...]) -> tuple[Decided, ...]:
    """Errors: Refused, with every row that has no legal answer."""
    problems: list[Problem] = []
    decided: list[Decided] = []
    for fabric in matrix.fabrics:
        try:
            decided.append(Decided(fabric, tuple(decide(matrix, fabric, span, families) for span in fabric.ranges)))
        except Refused as refused:
            problems.extend(refused.problems)
    if problems:
        raise Refused(problems)
    return tuple(decided)


def _hash(parts: Iterable[Any]) -> str:
    text = json.dumps(list(parts), separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def fingerprint(fabric: Fabric, span: Range, choices: tuple[Choice, ...], families: tuple[Family, ...]) -> str:
    """What two peers must share: the name, and the answers and facts that both sides see. 16 hexadecimal digits."""
    wire = {family.name for family in families if family.wire}
    answers = sorted((choice.family, choice.answer) for choice in choices if choice.family in wire)
    facts = sorted((name, cell.value) for name, cell in span.cells.items() if FACT[name].wire)
    return _hash(["peers", fabric.name, answers, facts])


def identity(fabric: Fabric, span: Range, choices: tuple[Choice, ...], families: tuple[Family, ...]) -> str:
    """What two objects of one program must share: everything that the struct says, and the rules. 8 hexadecimal digits.
    """
    answers = [(choice.family, choice.answer) for choice in choices]
    facts = [(name, cell.value) for name, cell in span.cells.items()]
    settings = [(setting.name, setting.value) for setting in fabric.settings]
    spans = [(str(each.since), str(each.until)) for each in (span,)]
    return _hash(["objects", fabric.name, fabric.backend, _rules(families), answers, facts, settings, spans])[:8]


def shared(span: Range, choices: tuple[Choice, ...], families: tuple[Family, ...]) -> str:
    """What two peers must have alike, in the words that they exchange: `family=answer`, then the widths that both sides
    see.
    """
    wire = {family.name for family in families if family.wire}
    words = [f"{choice.family}={choice.answer}" for choice in choices if choice.family in wire]
    return " ".join(words + [f"{name}={cell.as_text}" for name, cell in span.cells.items() if FACT[name].wire
                             and FACT[name].is_number])


def made_from(fabric: Fabric, span: Range, choices: tuple[Choice, ...], families: tuple[Family, ...]) -> str:
    """The hashes of the rules and of the row with its answers, as `weft inspect` shows them."""
    answers = [(choice.family, choice.answer) for choice in choices]
    facts = [(name, cell.value) for name, cell in span.cells.items()]
    row = _hash(["row", fabric.name, fabric.backend, answers, facts,
                 [(each.name, each.value) for each in fabric.settings], str(span.since), str(span.until)])
    return f"rules {_hash(_rules(families))[:8]}, row {row[:8]}"


def library_of(fabric: Fabric) -> str:
    """The library that the backend calls."""
    return _LIBRARY[fabric.backend]


def _rules(families: tuple[Family, ...]) -> list[Any]:
    return [(f.name, f.wire, [(r.answer, [str(n) for n in r.when], r.unless) for r in f.rules]) for f in families]


def releases(fabric: Fabric, span: Range | None = None) -> str:
    """The releases of a range, or of the whole row, in words."""
    library = _LIBRARY[fabric.backend]
    since, until = (span.since, span.until) if span else (fabric.since, fabric.until)
    return f"{library} {since} to before {until}" if until else f"{library} {since} and later"


def marked_fact_of(fabric: Fabric, fact: str) -> str:
    """A cell's value in words with the mark of its level, with the releases where they differ."""
    cells = [span.cells[fact] for span in fabric.ranges]
    return _over_ranges([f"{cell.as_text} {mark_of(cell)}" for cell in cells], fabric.ranges)


def marked_answer_of(decided: Decided, family: str) -> str:
    """The answer in words with the mark of its weakest cell, and whether a cell differs from its claim.

    None where the answer rests on no fact.
    """
    texts = []
    for choices in decided.choices:
        choice = next(each for each in choices if each.family == family)
        level = weakest(choice.cells)
        differs = DIFFERS if any(cell.claimed_value is not None for cell in choice.cells) else ""
        texts.append(f"{choice.answer} {MARKS[level]}{differs}" if level else choice.answer)
    return _over_ranges(texts, decided.fabric.ranges)


def _over_ranges(texts: list[str], spans: tuple[Range, ...]) -> str:
    """One value, or each value with the release from which it holds."""
    parts = [texts[0]]
    parts += [f"{new} since {span.since}" for old, new, span in zip(texts, texts[1:], spans[1:]) if new != old]
    return ", ".join(parts)


def answer_of(decided: Decided, family: str) -> str:
    """The answer to a family in words, with the releases where they differ."""
    texts = [next(choice.answer for choice in choices if choice.family == family) for choices in decided.choices]
    return _over_ranges(texts, decided.fabric.ranges)


def fact_of(fabric: Fabric, fact: str) -> str:
    """A cell's value in words, with the releases where they differ."""
    return _over_ranges([span.cells[fact].as_text for span in fabric.ranges], fabric.ranges)
