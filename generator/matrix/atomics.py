# SPDX-License-Identifier: Apache-2.0
"""How the provider executes each atomic operation on each type of word: the cell `atomic_operations`.

The first rule that holds is taken:
- native: the cell lists the operation and the type;
- loop: compare-swaps of the word, where the cell lists compare_swap of its width;
- wide_loop: compare-swaps of the aligned 8 bytes around a word of 4.

A row whose answer to atomics is `target` has none of these: its target executes all operations, by messages.
Every other answer means that add and compare_swap of uint64 work, also if the cell does not list them.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .refusing import did_you_mean

OPERATIONS = ("add", "compare_swap", "swap", "and", "or", "xor", "min", "max", "read")
TYPES = ("int32", "uint32", "int64", "uint64", "float", "double")
_NARROW = ("int32", "uint32", "float")
_FLOATING = ("float", "double")
_OF_FLOATING = ("add", "swap", "min", "max",
                "read")  # some providers compare floating-point words by value, some by bits
NONE = "none"
EXPECTS = 'operations and types, as "add compare_swap: int64 uint64; add: double", or none'


@dataclass(frozen=True)
class Listed:
    """What a cell lists, and what is wrong with it."""

    pairs: frozenset[tuple[str, str]]
    wrong: tuple[str, ...]


def read(cell: str) -> Listed:
    """The pairs of operation and type; a sentence for each word that is neither."""
    pairs: set[tuple[str, str]] = set()
    wrong: list[str] = []
    if cell == NONE:
        return Listed(frozenset(), ())
    for group in cell.split(";"):
        operations, colon, types = group.partition(":")
        if not colon or not operations.split() or not types.split():
            wrong.append(f"'{group.strip()}' names no operations and types: expected {EXPECTS}")
            continue
        wrong += _unknown(operations.split(), OPERATIONS, "an operation") + _unknown(types.split(), TYPES, "a type")
        for operation in operations.split():
            for kind in types.split():
                if kind in _FLOATING and operation in OPERATIONS and operation not in _OF_FLOATING:
                    wrong.append(f"{operation} of {kind} is never asked for: words of float and double have "
                                 f"{', '.join(_OF_FLOATING)}")
                elif (operation, kind) in pairs:
                    wrong.append(f"{operation} of {kind} is listed twice")
                pairs.add((operation, kind))
    if not wrong and cell != spelled(pairs):
        wrong.append(f"has another spelling than all others: write '{spelled(pairs)}'")
    return Listed(frozenset(pairs), tuple(dict.fromkeys(wrong)))


def spelled(pairs: Iterable[tuple[str, str]]) -> str:
    """The one spelling of a list: types with the same operations together, in the order of OPERATIONS and TYPES."""
    of: dict[str, list[str]] = {kind: [] for kind in TYPES}
    for operation, kind in sorted(pairs, key=lambda pair: OPERATIONS.index(pair[0])):
        of[kind].append(operation)
    groups: dict[str, list[str]] = {}
    for kind in TYPES:
        if of[kind]:
            groups.setdefault(" ".join(of[kind]), []).append(kind)
    return "; ".join(f"{operations}: {' '.join(kinds)}" for operations, kinds in groups.items()) or NONE


def _unknown(words: Iterable[str], known: tuple[str, ...], what: str) -> list[str]:
    return [f"'{word}' is not {what}{did_you_mean(word, known) or '; known are ' + ', '.join(known)}" for word in words
            if word not in known]


def lowering(listed: frozenset[tuple[str, str]], operation: str, kind: str) -> str | None:
    """native, loop or wide_loop; none if the type has no such operation, or if nothing listed can execute it."""
    if kind in _FLOATING and operation not in _OF_FLOATING:
        return None
    if (operation, kind) in listed:
        return "native"
    narrow = kind in _NARROW
    if ("compare_swap", "uint32" if narrow else "uint64") in listed:
        return "loop"
    return "wide_loop" if narrow and ("compare_swap", "uint64") in listed else None


def table(cell: str, executor: str) -> tuple[str, ...]:
    """One word per operation, one letter per type: n native, l loop, w wide_loop, t target, - not offered.

    `executor` is the value of the fact atomics. If another answer makes the target execute, the table is not used.
    """
    listed = read(cell).pairs | {("add", "uint64"), ("compare_swap", "uint64")}
    letters = {"native": "n", "loop": "l", "wide_loop": "w"}

    def letter(operation: str, kind: str) -> str:
        if kind in _FLOATING and operation not in _OF_FLOATING:
            return "-"
        how = lowering(listed, operation, kind)
        return "t" if executor != "provider" or how is None else letters[how]

    return tuple("".join(letter(operation, kind) for kind in TYPES) for operation in OPERATIONS)
