# SPDX-License-Identifier: Apache-2.0
"""The points where a program can fail: a call of calls.yaml, its number, and an error."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML

CALLS = Path(__file__).resolve().parent / "calls.yaml"
_NUMBERS = {"FI_ENODATA": 61, "EAI_MEMORY": 10, "EAI_AGAIN": 3}
FROM = ("weft", "all")


class WrongCall(Exception):
    """A name that calls.yaml has not."""


@dataclass(frozen=True)
class Call:
    """A call that can fail. `polls`: its number of calls depends on the time."""

    name: str
    kind: str
    errors: tuple[str, ...]
    polls: bool


@dataclass(frozen=True)
class Point:
    """The n-th call of one process of a program on a row, and what happens there. `error` of a kill: KILL."""

    program: str
    row: str
    role: str
    callers: str
    call: str
    at: int
    error: str

    @property
    def kills(self) -> bool:
        return self.error == KILL

    def name(self) -> str:
        return ".".join((self.program, self.row, self.role, self.callers, self.call, str(self.at), self.error))


KILL = "KILL"


def number_of(error: str) -> int:
    """The number of an error's name."""
    number = _NUMBERS.get(error) or getattr(errno, error, None)
    if number is None:
        raise WrongCall(f"{error} is no error of errno(3)")
    return int(number)


def read_calls(path: Path = CALLS) -> dict[str, Call]:
    """The calls of calls.yaml by name."""
    tree = YAML(typ="safe").load(path.read_text("utf-8"))
    calls = {name: Call(name, said["kind"], tuple(said["errors"]), bool(said.get("polls")))
             for name, said in tree.items()}
    for call in calls.values():
        for error in call.errors:
            number_of(error)
    return calls


def numbers(seen: int, polls: bool, every: int) -> Iterator[int]:
    """Which calls fail of `seen`: each `every`-th, and of calls that poll the powers of two."""
    if not polls:
        yield from range(1, seen + 1, every)
        return
    at = 1
    while at <= seen:
        yield at
        at *= 2 * every


def points_of(program: str, row: str, role: str, callers: str, seen: Mapping[str, int], calls: Mapping[str, Call],
              every: int, kill: bool) -> list[Point]:
    """The points of a process that made `seen` calls. A killed process dies at every n-th of any call, once."""
    points = []
    for name, count in sorted(seen.items()):
        if name not in calls:
            raise WrongCall(f"{name} is interposed, but tests/faults/calls.yaml has no errors for it")
        call = calls[name]
        for at in numbers(count, call.polls, every):
            points += [Point(program, row, role, callers, name, at, error)
                       for error in ((KILL,) if kill else call.errors)]
    return points
