# SPDX-License-Identifier: Apache-2.0
"""Orders and forms of addresses: which the least request has, and which a request for atomics or pointers takes away.
"""
from __future__ import annotations

from ..matrix.facts import Value
from .atomics import atomics_shown
from .reading import Read, Words, both, facts
from .seen import Seen

WITH_ATOMICS = ("send_after_write@atomics",)
WITH_POINTERS = ("send_after_write@pointers", "write_after_write@pointers")


def order(behaviour: str, claim: str) -> Read:
    """An overtaking that was seen is certain. No overtaking proves nothing where the library promises nothing."""

    def read(seen: Seen) -> Value | None:
        overtaken = seen.fact(behaviour, "overtaken")
        if overtaken is None:
            return None
        return False if overtaken else (True if seen.claim(claim) else None)

    return read


def untorn(seen: Seen) -> Value | None:
    torn = seen.fact("last_byte", "torn")
    return None if torn is None else torn == 0


def pointers_shown(seen: Seen) -> Value | None:
    returned, landed = seen.fact("addressing", "returned_pointers"), seen.fact("addressing", "returned_form_landed")
    other = seen.fact("addressing", "other_form_landed")
    if returned is None or landed is None:
        return None
    return bool(returned) if landed else (not returned if other else None)


def optional_pointers(seen: Seen) -> Value | None:
    needed, returned = seen.claim("needs_pointers"), seen.claim("returns_pointers_if_offered")
    return None if needed is None or returned is None else bool(returned and not needed)


def optional_pointers_shown(seen: Seen) -> Value | None:
    if optional_pointers(seen) is False:
        return False
    returned = seen.fact("addressing@pointers", "returned_pointers")
    landed = seen.fact("addressing@pointers", "returned_form_landed")
    return both(returned, landed)


def optional_pointers_test(seen: Seen) -> str:
    if optional_pointers(seen) is False:
        return "pointers are the only form" if seen.claim("needs_pointers") else "a request for them finds nothing"
    return facts("addressing@pointers", "returned_pointers", "returned_form_landed")(seen)


def ordered_writes(seen: Seen) -> bool:
    return bool(seen.claim("send_after_write") or seen.claim("write_after_write"))


def pointers_cost(seen: Seen) -> Value | None:
    if optional_pointers(seen) is False:
        return False
    granted = seen.claim("pointers_with_orders")
    return None if granted is None else ordered_writes(seen) and not granted


def order_lost(seen: Seen, behaviours: tuple[str, ...]) -> bool | None:
    """Whether a request takes an order away that the least request has: no longer promised, or seen overtaken."""
    lost = []
    for name in behaviours:
        if not seen.claim(name.split("@")[0]):
            continue  # nothing to lose
        promised, overtaken = seen.fact(name, "promised"), seen.fact(name, "overtaken")
        if promised is None or overtaken is None:
            return None
        lost.append(not promised or overtaken > 0)
    return any(lost)


def order_lost_test(behaviours: tuple[str, ...]) -> Words:
    def words(seen: Seen) -> str:
        told = [f"{name}: {facts(name, 'promised', 'overtaken', 'pairs')(seen)}" for name in behaviours
                if seen.ran(name)]
        return "; ".join(told) or "there is nothing to lose"

    return words


def pointers_cost_shown(seen: Seen) -> Value | None:
    return False if optional_pointers(seen) is False else order_lost(seen, WITH_POINTERS)


def atomics_cost(seen: Seen) -> Value | None:
    """Only where there is something to lose: atomics, and an order without them."""
    if not seen.claim("atomics") or not seen.claim("send_after_write"):
        return None if seen.claim("atomics") is None else False
    with_both = seen.claim("atomics_with_send_after_write")
    return None if with_both is None else not with_both


def atomics_cost_shown(seen: Seen) -> Value | None:
    works = atomics_shown(seen)
    if works is None:
        return None
    return False if works != "provider" else order_lost(seen, WITH_ATOMICS)
