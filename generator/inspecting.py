# SPDX-License-Identifier: Apache-2.0
"""What a binary was built for, read from its bytes: the text of compose/built_for.hpp among the constants. Nothing is
run.
"""
from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .decided import Decided, made_from
from .matrix.loader import Problem, Refused
from .rules import Family

_TEXT = re.compile(rb"weft-built-for (\d{1,4})\n((?:[a-z_]+=[^\n\0]*\n){1,40})\0")
KEYS = ("fabric", "provider", "library", "since", "until", "headers", "wire", "fingerprint", "made_from", "shared",
        "answers")
VERSION = 1
_SET = re.compile(rb"weft-set 1\nfabrics=([a-z0-9_ ;]{1,900})\n\0")
_TIERS = {"same_host": "for peers on the same host and of the same user", "hardware": "the hardware moves the bytes",
          "software": "the library moves the bytes"}


@dataclass(frozen=True)
class BuiltFor:
    """One fabric that a binary can open. The members are the keys of the text."""

    fabric: str
    provider: str
    library: str
    since: str
    until: str
    headers: str
    wire: str
    fingerprint: str
    made_from: str
    shared: str
    answers: str

    @property
    def releases(self) -> str:
        """As "libfabric 1.15 and later, compiled with 1.17"."""
        until = "and later" if self.until == "later" else f"to before {self.until}"
        return f"{self.library} {self.since} {until}" + (f", compiled with {self.headers}" if self.headers != "0.0"
                                                         else "")


@dataclass(frozen=True)
class Preference:
    """A fabric of a set, and why it stands where it stands (compose/sets/choice.hpp)."""

    fabric: str
    why: str


def sets_of(path: Path) -> tuple[tuple[Preference, ...], ...]:
    """Each set of fabrics of a binary: its fabrics, the preferred first. A text of another form is none."""
    found: dict[tuple[Preference, ...], None] = {}
    for match in _SET.finditer(path.read_bytes()):
        words = [entry.split(" ") for entry in match[1].decode("ascii").split(";")]
        if all(len(each) == 3 and each[1] in _TIERS and each[2].isdigit() for each in words):
            order = tuple(Preference(fabric, f"{_TIERS[tier]}, {_half_round_trip(int(ns))}")
                          for fabric, tier, ns in words)
            found[order] = None
    return tuple(found)


def _half_round_trip(ns: int) -> str:
    return f"half round trip {ns / 1000:.2f} us" if ns else "half round trip not measured"


def inspect(path: Path, shown: str) -> tuple[BuiltFor, ...]:
    """Every fabric of a binary, each once. Errors: Refused, for what is no binary of weft."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Refused([Problem(shown, 1, f"cannot be read ({error.strerror})")]) from None
    if not data.startswith(b"\x7fELF"):
        raise Refused([Problem(shown, 1, "is no ELF file: give a program or a shared object")])
    found: dict[BuiltFor, None] = {}
    for match in _TEXT.finditer(data):
        if int(match[1]) != VERSION:
            raise Refused([Problem(shown, 1, f"tells what it was built for in version {int(match[1])} of that text; "
                                             f"this command reads version {VERSION}")])
        # Not splitlines(): it also ends a line at other characters, which a hostile binary may hold.
        lines = dict(line.split("=", 1) for line in match[2].decode("utf-8", "replace").split("\n")[:-1])
        if set(lines) != set(KEYS) or not all(value.isprintable() for value in lines.values()):
            raise Refused([Problem(shown, 1, "holds a damaged text of what it was built for: build it anew")])
        found[BuiltFor(**lines)] = None
    if not found:
        raise Refused([Problem(shown, 1, "does not say what it was built for: it opens no transport of weft, or was "
                                         "built before binaries said so")])
    return tuple(found)


def against_tree(one: BuiltFor, decided: Iterable[Decided], families: tuple[Family, ...]) -> str:
    """How a binary's row compares with the tree that this command belongs to, in words."""
    row = next((each for each in decided if each.fabric.name == one.fabric), None)
    if row is None:
        return "this tree has no such row"
    if any(made_from(row.fabric, span, choices, families) == one.made_from
           for span, choices in zip(row.fabric.ranges, row.choices)):
        return "as in this tree"
    rules = {made_from(row.fabric, span, choices, families).split(",")[0]
             for span, choices in zip(row.fabric.ranges, row.choices)}
    return "this tree has another row" if one.made_from.split(",")[0] in rules else "this tree has other rules"


def incompatibility(caller: BuiltFor, listener: BuiltFor) -> str:
    """Why two builds cannot talk, in one sentence; empty where they can.

    The same comparisons as compose/connecting/compatibility.hpp, in the same order.
    """
    def apart(a: str, b: str) -> str:
        return f"the one was built for {a}, the other for {b}"

    if caller.wire != listener.wire:
        return apart(f"wire version {caller.wire}", f"wire version {listener.wire}")
    if caller.fingerprint == listener.fingerprint:
        return ""
    if caller.fabric != listener.fabric:
        return apart(f"fabric {caller.fabric}", f"fabric {listener.fabric}")
    different = next(((a, b) for a, b in zip(caller.shared.split(" "), listener.shared.split(" ")) if a != b), None)
    return f"fabric {caller.fabric}: " + (apart(*different) if different else "they were built for other rules: "
                                                                              "generate both from one matrix")
