# SPDX-License-Identifier: Apache-2.0
"""Atomics: from what the library lists and what two processes saw, by value, to the two cells that say which work."""
from __future__ import annotations

from ..matrix import atomics
from ..matrix.facts import Value
from .reading import choice
from .seen import Seen


def atomics_claimed(seen: Seen) -> Value | None:
    return choice(seen.claim("atomics"), "provider", "none")


def atomics_shown(seen: Seen) -> Value | None:
    if seen.claim("atomics") is False:
        return "none"
    if seen.crashed("first_atomic") or seen.crashed("atomics"):
        return "none"
    right = [seen.fact("atomics", name) for name in ("fetch_add", "compare_swap")] + [seen.fact("first_atomic", "all")]
    if None in right:
        known = [*right, *(seen.told("atomics", name) for name in ("fetch_add", "compare_swap")),
                 seen.told("first_atomic", "first")]
        return "none" if any(each not in (None, "right") for each in known) else None
    return "provider" if all(each == "right" for each in right) else "none"


def atomics_test(seen: Seen) -> str:
    if seen.claim("atomics") is False:
        return "a request for them finds nothing"
    for name in ("first_atomic", "atomics"):
        if seen.crashed(name):
            return seen.why_not((name,))
    wrong = seen.fact("atomics", "wrong") or []
    right = seen.fact("atomics", "right") or []
    return f"{len(right)} of {len(right) + len(wrong)} kinds right by value" + (f"; wrong: {', '.join(wrong)[:80]}"
                                                                                if wrong else "")


def listed_atomics(found: object) -> Value | None:
    """The cell's spelling of a list as ["add int32", ...]."""
    if not isinstance(found, list):
        return None
    pairs = {(operation, kind) for operation, _, kind in (str(each).partition(" ") for each in found)}
    return atomics.spelled(pairs)


def operations_claimed(seen: Seen) -> Value | None:
    return atomics.NONE if seen.claim("atomics") is False else listed_atomics(seen.claim("atomic_operations"))


def operations_shown(seen: Seen) -> Value | None:
    """Nothing unless all were tried: a probe of an earlier build tried two operations."""
    if atomics_shown(seen) == "none":
        return atomics.NONE
    return listed_atomics(seen.fact("atomics", "right")) if seen.fact("atomics",
                                                                      "operations") == len(atomics.OPERATIONS) else None
