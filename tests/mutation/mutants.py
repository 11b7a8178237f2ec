# SPDX-License-Identifier: Apache-2.0
"""The list of mutants, lists/*.yaml: one changed place each, the narrowest tests, and the test that must fail.

A list has `area` and `sets`. A set has a file, its tests and its mutants:

    file       path from the tree's root
    ctest      names of ctests; `targets` are the programs to build (default: the same names)
    pytest     files of pytest, instead of `ctest`
    mutants    id, line, becomes, class, killed_by; where needed nth, survives, and own ctest, targets or pytest

`line` is the text of one whole line without its indentation. `nth` says which of several equal lines (from 1).
`becomes` takes its place; an empty text removes the line. `killed_by` is the test that is expected to fail, as
suite.test or as test_function. `survives` is the reason why a survivor is permitted.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import]
from ruamel.yaml import YAML

LISTS = "tests/mutation/lists"
LEAST = 150  # mutants of the list
MOST_SURVIVORS = 0.05

# Classes of mistakes. Those of `UNNOTICED` were noticed by no test once.
UNNOTICED = (
    "bounds_of_gather_lists",
    "rights_of_batch_members",
    "tokens_of_invocation",
    "drain_of_close",
    "goodbye_of_destructor",
    "attestation",
    "lost_wake_up",
    "sleep_that_never_sleeps",
    "late_deadline",
    "slower_hot_path",
    "blind_checker",
)
CLASSES = (
    *UNNOTICED,
    "answer",
    "bounds",
    "rights",
    "parsing",
    "encoding",
    "counting",
    "ordering",
    "state",
    "error",
    "timing",
    "identity",
    "rule",
    "evidence",
    "accounting",
)

_NAMES = {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1}
_TESTS = {"ctest": _NAMES, "targets": _NAMES, "pytest": _NAMES}
_MUTANT = {
    "type": "object",
    "required": ["id", "line", "becomes", "class", "killed_by"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "pattern": "^[a-z0-9_]+$"},
        "line": {"type": "string", "minLength": 1},
        "becomes": {"type": "string"},
        "nth": {"type": "integer", "minimum": 1},
        "class": {"enum": list(CLASSES)},
        "killed_by": {"type": "string", "minLength": 1},
        "survives": {"type": "string", "minLength": 20},
        **_TESTS,
    },
}
_SET = {
    "type": "object",
    "required": ["file", "mutants"],
    "additionalProperties": False,
    "properties": {"file": {"type": "string"}, "mutants": {"type": "array", "items": _MUTANT, "minItems": 1}, **_TESTS},
}
_SCHEMA = {
    "type": "object",
    "required": ["area", "sets"],
    "additionalProperties": False,
    "properties": {"area": {"type": "string", "pattern": "^[a-z]+$"}, "sets": {"type": "array", "items": _SET}},
}


class WrongList(Exception):
    """A list or a mutant cannot be used; the text says why."""


@dataclass(frozen=True)
class Mutant:
    """One changed place, and how it is judged."""

    id: str  # area.id
    file: str
    line: str
    becomes: str
    nth: int  # 0: the line is the only one
    kind: str  # its class
    killed_by: str
    survives: str
    ctest: tuple[str, ...]
    targets: tuple[str, ...]
    pytest: tuple[str, ...]

    @property
    def area(self) -> str:
        return self.id.split(".")[0]

    def key(self) -> str:
        """Changes when the changed place or its tests change. Reasons and expectations are no part of it."""
        parts = asdict(self)
        for name in ("survives", "killed_by", "kind"):
            del parts[name]
        return hashlib.sha256(repr(sorted(parts.items())).encode()).hexdigest()[:16]

    def applied(self, text: str) -> str:
        """The file's text with this change. Errors: WrongList."""
        lines = text.split("\n")
        found = [number for number, each in enumerate(lines) if each.strip() == self.line]
        if not found:
            raise WrongList(f"{self.id}: {self.file} has no line `{self.line}`")
        if self.nth == 0 and len(found) > 1:
            raise WrongList(f"{self.id}: {self.file} has {len(found)} lines `{self.line}`; say `nth`")
        if self.nth > len(found):
            raise WrongList(f"{self.id}: {self.file} has {len(found)} lines `{self.line}`, not {self.nth}")
        at = found[max(self.nth - 1, 0)]
        indentation = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        changed = "\n".join(indentation + each if each else each for each in self.becomes.split("\n"))
        if changed == lines[at]:
            raise WrongList(f"{self.id}: the change changes nothing")
        return "\n".join([*lines[:at], changed, *lines[at + 1 :]])


def read_mutants(root: Path) -> list[Mutant]:
    """Every mutant of the lists. Errors: WrongList."""
    found: list[Mutant] = []
    for path in sorted((root / LISTS).glob("*.yaml")):
        tree = YAML(typ="safe").load(path.read_text("utf-8"))
        try:
            jsonschema.validate(tree, _SCHEMA)
        except jsonschema.ValidationError as error:
            place = "/".join(map(str, error.absolute_path))
            raise WrongList(f"{path.name}: {place}: {error.message}") from None
        found += [_mutant(tree["area"], each, one) for each in tree["sets"] for one in each["mutants"]]
    return found


def _mutant(area: str, around: dict[str, Any], one: dict[str, Any]) -> Mutant:
    tests = one if {"ctest", "pytest"} & set(one) else around
    ctest = tuple(tests.get("ctest", ()))
    pytest = tuple(tests.get("pytest", ()))
    name = f"{area}.{one['id']}"
    if bool(ctest) == bool(pytest):
        raise WrongList(f"{name}: needs either ctest or pytest")
    return Mutant(
        name, around["file"], one["line"].strip(), one["becomes"], one.get("nth", 0), one["class"], one["killed_by"],
        one.get("survives", ""), ctest, tuple(tests.get("targets", ctest)), pytest,
    )  # fmt: skip
