# SPDX-License-Identifier: Apache-2.0
"""What each operation becomes on each fabric: from providers.yaml, the rules, and the answers in policies/.

The rows and the rules say which fabric takes which answer. An answer's own text says what it does: the posts of the
initiator that it calls, or the constants that it sets.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .drawing import KINDS, Drawing, lines_of

# The operation, and the family that decides what it becomes.
_OPERATIONS = (("put", "write_fault"), ("put_notify", "notify"), ("atomics", "atomics"), ("flush", "flush"),
               ("send", "framing"))
_WIDTH, _MARGIN, _LINE, _RIGHT = 640, 16, 18, 340
_INITIATOR, _TARGET = 40, 300


@dataclass(frozen=True)
class _Answer:
    """`posts`: the steps of each way to post, the usual way last. `constants`: what else its type says."""

    name: str
    posts: tuple[tuple[str, ...], ...]
    constants: tuple[str, ...]
    fabrics: tuple[str, ...]


def picture(root: Path) -> str:
    drawing = Drawing(_WIDTH)
    y = 26.0
    said = []
    for operation, (question, answers) in _lowered(root).items():
        drawing.words(_MARGIN, y, operation, "bold", "start")
        said.append(f"{operation}: {question}")
        for line in lines_of(question, _WIDTH - 150):
            drawing.words(130, y, line, "faint", "start")
            y += _LINE
        for number, answer in enumerate(answers):
            y = _draw(drawing, y - 4, answer, KINDS[number % len(KINDS)])
            does = ", ".join([" then ".join(steps) for steps in answer.posts] + list(answer.constants))
            said.append(f"{operation} by {answer.name}{f' ({does})' if does else ''}: {_named(answer)}")
        y += 22
    return drawing.svg(y - 18, "What operations become on each fabric", "; ".join(said) + ".")


def _draw(drawing: Drawing, y: float, answer: _Answer, kind: str) -> float:
    """One answer: its name, its posts as arrows to the target, and its fabrics. Returns where the next one begins."""
    fabrics = lines_of(_named(answer), _WIDTH - _RIGHT - 2 * _MARGIN)
    rows = sum(1.5 * len(steps) for steps in answer.posts) + len(answer.constants)
    height = max(24 + rows * _LINE + 10, 24 + (len(fabrics) - 1) * _LINE + 10)
    drawing.box(_MARGIN, y, _WIDTH - 2 * _MARGIN, height, kind)
    drawing.words(_MARGIN + 12, y + 19, answer.name, "", "start")
    for number, line in enumerate(fabrics):
        drawing.words(_RIGHT, y + 19 + number * _LINE, line, "small", "start")
    at = y + 24
    for steps in answer.posts:
        for step in steps:
            at += 1.5 * _LINE
            drawing.words((_INITIATOR + _TARGET) / 2, at - 8, step, "small")
            drawing.arrow([(_INITIATOR, at - 2), (_TARGET, at - 2)])
    for constant in answer.constants:
        at += _LINE
        drawing.words(_MARGIN + 24, at - 2, constant, "small", "start")
    return y + height + 12


def _named(answer: _Answer) -> str:
    return ", ".join(answer.fabrics) or "no fabric; by hand only"


def _lowered(root: Path) -> dict[str, tuple[str, list[_Answer]]]:
    """For each operation the question of its family, and the answers that the family has."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root))
    model, rules, rows = (importlib.import_module(f"generator.{name}") for name in ("matrix.model", "rules", "decided"))
    families = rules.read_rules(root / "generator" / "rules.yaml")
    decided = rows.decide_all(model.read_matrix(root / "providers.yaml"), families)
    found = {}
    for operation, name in _OPERATIONS:
        family = next((each for each in families if each.name == name), None)
        if family is None:
            raise SystemExit(f"generator/rules.yaml has no family {name}, which decides what {operation} becomes")
        takers: dict[str, list[str]] = {answer: [] for answer in family.answers}
        for row in decided:
            for fabric, answer in _taken(row.fabric, row.choices, name):
                takers[answer].append(fabric)
        found[operation] = (family.question, [_answer(root, name, answer, tuple(fabrics))
                                              for answer, fabrics in takers.items()])
    return found


def _taken(fabric: Any, choices: Any, family: str) -> Iterator[tuple[str, str]]:
    """The fabric with its answer, or with each answer and the releases in which it holds."""
    changes: list[tuple[str, str]] = []
    for span, each in zip(fabric.ranges, choices):
        answer = next(choice.answer for choice in each if choice.family == family)
        if not changes or answer != changes[-1][1]:
            changes.append((str(span.since), answer))
    for number, (since, answer) in enumerate(changes):
        when = f" since {since}" if number else f" before {changes[1][0]}" if len(changes) > 1 else ""
        yield f"{fabric.name}{when}", answer


def _answer(root: Path, family: str, name: str, fabrics: tuple[str, ...]) -> _Answer:
    """What the type in policies/ says."""
    path = f"policies/{family}.hpp"
    body = re.search(rf"^(?:struct|class) {name} \{{\n(.*?)^\}};", (root / path).read_text("utf-8"),
                     re.MULTILINE | re.DOTALL)
    if body is None:
        raise SystemExit(f"{path} has no type {name}, which generator/rules.yaml names")
    posts: tuple[tuple[str, ...], ...] = ()
    for condition, call in re.findall(r"(?:if \(initiator\.(\w+)\(w\)\)[^;]*)?return initiator\.(\w+)\(", body[1]):
        first, *later = call.replace("_", " ").split(" then ")
        when = f"if it {condition.replace('_', ' ')}: " if condition else "otherwise: " if posts else ""
        posts += ((when + first, *later),)
    constants = () if posts else tuple(
        label.replace("_", " ") if value == "true" else f"{label}: {value.split('::')[-1]}".replace("_", " ")
        for label, value in re.findall(r"static constexpr [\w:]+ (\w+) = ([\w:]+);", body[1]) if value != "false")
    return _Answer(name, posts, constants, fabrics)
