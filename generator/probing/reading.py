# SPDX-License-Identifier: Apache-2.0
"""How claims and facts become the value of a cell, and the words for it. A missing result is None, never a guess."""
from __future__ import annotations

from collections.abc import Callable

from ..matrix.facts import Value
from .seen import Seen

Read = Callable[[Seen], Value | None]
Words = Callable[[Seen], str]


def claim(name: str, words: str = "") -> tuple[Read, Words]:
    return (lambda seen: value(seen.claim(name))), (lambda seen: f"{words or name} {said(seen.claim(name))}")


def value(found: object) -> Value | None:
    return found if isinstance(found, (bool, int, str)) else None


def said(found: object) -> str:
    if isinstance(found, list):
        return ", ".join(str(each) for each in found) or "none"
    if found is None:
        return "not known"
    return {True: "yes", False: "no"}[found] if isinstance(found, bool) else str(found)


def facts(behaviour: str, *names: str) -> Words:
    def words(seen: Seen) -> str:
        return ", ".join(f"{name} {said(seen.told(behaviour, name))}" for name in names
                         if seen.told(behaviour, name) is not None)

    return words


def choice(found: object, yes: str, no: str) -> str | None:
    return None if found is None else yes if found else no


def both(*read: Value | None) -> bool | None:
    """True if all are, false if one is not, None if one is unknown."""
    return None if any(each is None for each in read) else all(read)


def fabric_claimed(seen: Seen) -> Value | None:
    names = seen.claim("fabric_names")
    return None if names is None else "" if len(names) <= 1 else ", ".join(names)


def immediates(form: str, many: str) -> Read:
    """The width of one, if every immediate of many came once, unchanged, and after the bytes of its write."""

    def read(seen: Seen) -> Value | None:
        width = value(seen.fact(form, "bytes"))
        few = [seen.fact(form, name) for name in ("events", "values_right")]
        if width is None:
            return None
        if few not in ([None, None], [4, True]):
            return 0
        if not seen.ran(many):
            return width
        posted, arrived = seen.fact(many, "posted"), seen.fact(many, "arrived")
        if posted is None or arrived is None:
            return None
        faults = [seen.fact(many, name) for name in ("doubled", "wrong", "early")]
        return width if arrived == posted and not any(faults) else 0

    return read


def immediates_test(form: str, many: str) -> Words:
    def words(seen: Seen) -> str:
        told = [facts(form, "bytes", "events", "values_right", "event_context", "event_length")(seen),
                facts(many, "posted", "arrived", "doubled", "wrong", "early")(seen)]
        return "; many: ".join(each for each in told if each)

    return words


def counted(seen: Seen) -> Value | None:
    if seen.refused("counter"):
        return False
    plain = seen.fact("counter", "plain_writes_counted")
    return None if plain is None else plain == seen.fact("counter", "writes")


def all_whole(behaviour: str) -> Read:
    """Every message came once and unchanged; a multi-receive buffer came back too."""

    def read(seen: Seen) -> Value | None:
        if seen.claim(behaviour) is False:
            return False
        arrived = seen.fact(behaviour, "arrived")
        if arrived is None:
            return None
        return bool(arrived == seen.fact(behaviour, "messages") and seen.fact(behaviour, "wrong") == 0
                    and seen.fact(behaviour, "buffers_returned") != 0
                    and seen.fact(behaviour, "immediates_arrived") == seen.fact(behaviour, "immediates"))

    return read


def whole_test(behaviour: str) -> Words:
    def words(seen: Seen) -> str:
        if seen.claim(behaviour) is False:
            return "a request for it finds nothing"
        return facts(behaviour, "messages", "arrived", "wrong", "buffers_returned", "immediates",
                     "immediates_arrived")(seen)

    return words


def consumed(seen: Seen) -> Value | None:
    if seen.fact("write_immediate", "bytes") == 0 and seen.fact("write_immediate", "events") is None:
        return False
    used = seen.fact("write_immediate", "receives_used_up")
    return None if used is None else used > 0


def moves_alone(seen: Seen, behaviour: str) -> bool | None:
    return both(seen.fact(behaviour, "small_landed_while_asleep"), seen.fact(behaviour, "large_landed_while_asleep"))


def progress_shown(seen: Seen) -> Value | None:
    """Manual progress is requested, as a row with polling requests it."""
    alone = moves_alone(seen, "progress")
    if alone is None:
        return None
    if not alone:
        return "polling"
    return "thread" if seen.fact("progress", "library_threads") else "hardware"


def progress_claimed(seen: Seen) -> Value | None:
    """FI_PROGRESS_AUTO is a claim; where it was kept, asking for manual progress is the row's choice and no difference.
    """
    answer = seen.claim("progress_if_automatic")
    if answer is None:
        return None
    if answer != "automatic":
        return "polling"
    alone = moves_alone(seen, "progress@automatic")
    shown = progress_shown(seen)
    return shown if alone or alone is None else "thread"


def progress_test(seen: Seen) -> str:
    words = []
    for name, asked in (("progress", "manual"), ("progress@automatic", "automatic")):
        alone = moves_alone(seen, name)
        if alone is not None:
            ended = seen.fact(name, "ended_while_target_slept")
            words.append(f"asked for {asked}: bytes "
                         f"{'arrived while the target slept' if alone else 'arrived only when the target polled'}, "
                         f"writes ended {'before' if ended else 'after'} that")
    return "; ".join(words)


def wait_claimed(seen: Seen) -> Value | None:
    granted = seen.claim("wait_descriptor")
    return None if granted is None else "descriptor" if granted == "granted" else "yield"


def wait_shown(seen: Seen) -> Value | None:
    if seen.fact("waiting", "descriptor") is False or seen.claim("wait_descriptor") not in (None, "granted"):
        return "yield"
    lost, messages = seen.fact("waiting", "lost_wake_ups"), seen.fact("waiting", "messages")
    if lost is None or messages is None:
        return None
    return "descriptor" if lost == 0 and messages == 40 else "yield"


def refused_shown(seen: Seen) -> Value | None:
    ends = [seen.fact(name, "plain") for name in ("wrong_key", "out_of_range")]
    if None in ends:
        return None
    confirmed = [seen.fact(name, "delivered") for name in ("wrong_key", "out_of_range")]
    if seen.claim("delivery_complete") and "success" in confirmed:
        return "hidden"
    return "reported" if all(end in ("error", "connection ended") or end.startswith("refused")
                             for end in ends) else "silent"


def refused_test(seen: Seen) -> str:
    texts = []
    for name, words in (("wrong_key", "wrong key"), ("out_of_range", "out of range")):
        end, code = seen.fact(name, "plain"), seen.fact(name, "plain_error")
        confirmed = seen.fact(name, "delivered_error") or seen.fact(name, "delivered")
        texts.append(f"{words}: {code or end}" + (f" ({confirmed} with delivery completion)" if confirmed
                                                 and confirmed != code else ""))
    return "; ".join(texts)


def silent(seen: Seen) -> Value | None:
    unsignalled, signalled = seen.fact("completions", "unsignalled_told"), seen.fact("completions", "signalled_told")
    return None if unsignalled is None or not signalled else unsignalled == 0


def contexts(seen: Seen) -> Value | None:
    changed = seen.fact("completions", "context_bytes_changed")
    return None if changed is None else 0 if changed == 0 else 32 if changed <= 32 else 64


def injected(seen: Seen) -> Value | None:
    free = seen.fact("inject", "buffer_free_at_once")
    return None if free is None else seen.fact("inject", "bytes") if free else 0


def depth(seen: Seen) -> Value | None:
    taken = [seen.fact("full_queue", "posts_taken"), seen.fact("full_queue", "receives_taken")]
    return None if None in taken or not seen.fact("full_queue", "all_ended") else min(taken)


def depth_claimed(seen: Seen) -> Value | None:
    depths = [seen.claim("transmit_depth"), seen.claim("receive_depth")]
    return None if None in depths else min(depths)


def delivered(seen: Seen) -> Value | None:
    if seen.refused("delivery") and seen.told("delivery", "offered") is False:
        return False
    if seen.claim("delivery_complete") is False:
        return None  # the library accepted the flag; an order without a promise was kept this time
    ended, early = seen.fact("delivery", "ended"), seen.fact("delivery", "ended_before_delivery")
    return None if ended is None or early is None else bool(ended and not early)


def forgotten(seen: Seen) -> Value | None:
    if seen.claim("endpoint_type") == "connected":
        return True
    if seen.crashed("forgetting"):
        return False
    return both(seen.fact("forgetting", "taken_out"), seen.fact("forgetting", "reached_again"))


def nothing(_: Seen) -> None:
    return None


def silence(_: Seen) -> str:
    return ""
