# SPDX-License-Identifier: Apache-2.0
"""From findings to cells, as data: for each cell what is a claim, which behaviours show it, and how to read both.

A cell with no behaviour says why nothing here can show it. Cells with `tried` are lower
bounds: the test goes that far and no further.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..facts import Value
from .seen import Seen

Read = Callable[[Seen], Value | None]
Words = Callable[[Seen], str]


@dataclass(frozen=True)
class Reading:
    """How one cell is read. `claim` and `test` put the same into words."""

    cell: str
    claimed: Read
    claim: Words
    shown: Read
    test: Words
    behaviours: tuple[str, ...] = ()
    never: str = ""
    tried: int | None = None


def _claim(name: str, words: str = "") -> tuple[Read, Words]:
    return (lambda seen: _value(seen.claim(name))), (lambda seen: f"{words or name} {_said(seen.claim(name))}")


def _value(found: object) -> Value | None:
    return found if isinstance(found, (bool, int, str)) else None


def _said(found: object) -> str:
    if isinstance(found, list):
        return ", ".join(str(each) for each in found) or "none"
    return {True: "yes", False: "no", None: "not known"}.get(found, str(found)) if isinstance(found, bool) or found is None else str(found)


def _facts(behaviour: str, *names: str) -> Words:
    def words(seen: Seen) -> str:
        return ", ".join(f"{name} {_said(seen.fact(behaviour, name))}" for name in names if seen.fact(behaviour, name) is not None)

    return words


def _choice(found: object, yes: str, no: str) -> str | None:
    return None if found is None else yes if found else no


def _both(*read: Value | None) -> bool | None:
    """True if all are, false if one is not, nothing if one is not known."""
    return None if any(each is None for each in read) else all(read)


def _fabric_claimed(seen: Seen) -> Value | None:
    names = seen.claim("fabric_names")
    return None if names is None else "" if len(names) <= 1 else ", ".join(names)


def _pointers_shown(seen: Seen) -> Value | None:
    returned, landed = seen.fact("addressing", "returned_pointers"), seen.fact("addressing", "returned_form_landed")
    other = seen.fact("addressing", "other_form_landed")
    if returned is None or landed is None:
        return None
    return bool(returned) if landed else (not returned if other else None)


def _order(behaviour: str, claim: str) -> Read:
    """An overtaking that was seen is certain; none seen is what a promise looks like, and where nothing is promised it proves nothing."""

    def read(seen: Seen) -> Value | None:
        overtaken = seen.fact(behaviour, "overtaken")
        if overtaken is None:
            return None
        return False if overtaken else (True if seen.claim(claim) else None)

    return read


def _consumed(seen: Seen) -> Value | None:
    if seen.fact("write_immediate", "bytes") == 0:
        return False
    used = seen.fact("write_immediate", "receives_used_up")
    return None if used is None else used > 0


def _atomics_claimed(seen: Seen) -> Value | None:
    return _choice(seen.claim("atomics"), "provider", "none")


def _atomics_shown(seen: Seen) -> Value | None:
    if seen.claim("atomics") is False:
        return "none"
    if seen.crashed("first_atomic") or seen.crashed("atomics"):
        return "none"
    right = [seen.fact("atomics", name) for name in ("fetch_add", "compare_swap")] + [seen.fact("first_atomic", "all")]
    if None in right:
        return "none" if any(each not in (None, "right") for each in right) or seen.fact("first_atomic", "first") not in (None, "right") else None
    return "provider" if all(each == "right" for each in right) else "none"


def _atomics_test(seen: Seen) -> str:
    if seen.claim("atomics") is False:
        return "asking for them finds nothing"
    for name in ("first_atomic", "atomics"):
        if seen.crashed(name):
            return seen.why_not((name,))
    wrong = seen.fact("atomics", "wrong") or []
    right = seen.fact("atomics", "right") or []
    return f"{len(right)} of {len(right) + len(wrong)} kinds right by value" + (f"; wrong: {', '.join(wrong)[:80]}" if wrong else "")


def _cost_order(seen: Seen) -> Value | None:
    """Only where there is something to lose: atomics that work, and an order without them."""
    works = _atomics_shown(seen)
    if works is None:
        return None
    if works != "provider" or not seen.claim("send_after_write"):
        return False
    with_both = seen.claim("atomics_with_send_after_write")
    return None if with_both is None else not with_both


def _moves_alone(seen: Seen, behaviour: str) -> bool | None:
    return _both(seen.fact(behaviour, "small_landed_while_asleep"), seen.fact(behaviour, "large_landed_while_asleep"))


def _progress_shown(seen: Seen) -> Value | None:
    """Asked for manual progress, as a row asks that says polling."""
    alone = _moves_alone(seen, "progress")
    if alone is None:
        return None
    if not alone:
        return "polling"
    return "thread" if seen.fact("progress", "library_threads") else "hardware"


def _progress_claimed(seen: Seen) -> Value | None:
    """FI_PROGRESS_AUTO is a claim; where it was kept, asking for manual progress is the row's choice and no difference."""
    answer = seen.claim("progress_if_automatic")
    if answer is None:
        return None
    if answer != "automatic":
        return "polling"
    alone = _moves_alone(seen, "progress@automatic")
    shown = _progress_shown(seen)
    return shown if alone or alone is None else "thread"


def _progress_test(seen: Seen) -> str:
    words = []
    for name, asked in (("progress", "manual"), ("progress@automatic", "automatic")):
        alone = _moves_alone(seen, name)
        if alone is not None:
            ended = seen.fact(name, "ended_while_target_slept")
            words.append(f"asked for {asked}: bytes {'landed while the target slept' if alone else 'landed only once it polled'}, "
                         f"writes ended {'before' if ended else 'after'} that")
    return "; ".join(words)


def _wait_claimed(seen: Seen) -> Value | None:
    granted = seen.claim("wait_descriptor")
    return None if granted is None else "descriptor" if granted == "granted" else "yield"


def _wait_shown(seen: Seen) -> Value | None:
    if seen.fact("waiting", "descriptor") is False or seen.claim("wait_descriptor") not in (None, "granted"):
        return "yield"
    lost, messages = seen.fact("waiting", "lost_wake_ups"), seen.fact("waiting", "messages")
    if lost is None or messages is None:
        return None
    return "descriptor" if lost == 0 and messages == 40 else "yield"


def _refused_shown(seen: Seen) -> Value | None:
    ends = [seen.fact(name, "plain") for name in ("wrong_key", "out_of_range")]
    if None in ends:
        return None
    return "reported" if all(end in ("error", "connection ended") or end.startswith("refused") for end in ends) else "silent"


def _refused_test(seen: Seen) -> str:
    told = []
    for name, words in (("wrong_key", "wrong key"), ("out_of_range", "out of range")):
        end, code = seen.fact(name, "plain"), seen.fact(name, "plain_error")
        confirmed = seen.fact(name, "delivered_error") or seen.fact(name, "delivered")
        told.append(f"{words}: {code or end}" + (f" ({confirmed} with delivery completion)" if confirmed and confirmed != code else ""))
    return "; ".join(told)


def _silent(seen: Seen) -> Value | None:
    told, signalled = seen.fact("completions", "unsignalled_told"), seen.fact("completions", "signalled_told")
    return None if told is None or not signalled else told == 0


def _contexts(seen: Seen) -> Value | None:
    changed = seen.fact("completions", "context_bytes_changed")
    return None if changed is None else 0 if changed == 0 else 32 if changed <= 32 else 64


def _injected(seen: Seen) -> Value | None:
    free = seen.fact("inject", "buffer_free_at_once")
    return None if free is None else seen.fact("inject", "bytes") if free else 0


def _depth(seen: Seen) -> Value | None:
    taken = [seen.fact("full_queue", "posts_taken"), seen.fact("full_queue", "receives_taken")]
    return None if None in taken or not seen.fact("full_queue", "all_ended") else min(taken)


def _depth_claimed(seen: Seen) -> Value | None:
    depths = [seen.claim("transmit_depth"), seen.claim("receive_depth")]
    return None if None in depths else min(depths)


def _delivered(seen: Seen) -> Value | None:
    if seen.refused("delivery") and seen.fact("delivery", "offered") is False:
        return False
    ended, early = seen.fact("delivery", "ended"), seen.fact("delivery", "ended_before_delivery")
    return None if ended is None or early is None else bool(ended and not early)


def _forgotten(seen: Seen) -> Value | None:
    if seen.claim("endpoint_type") == "connected":
        return True
    if seen.crashed("forgetting"):
        return False
    return _both(seen.fact("forgetting", "taken_out"), seen.fact("forgetting", "reached_again"))


def _nothing(_: Seen) -> None:
    return None


def _silence(_: Seen) -> str:
    return ""


READINGS: tuple[Reading, ...] = (
    Reading("provider", *_claim("provider", "answers to the name"), lambda seen: _value(seen.fact("meeting", "provider")),
            _facts("meeting", "provider", "met"), ("meeting",)),
    Reading("fabric_name", _fabric_claimed, lambda seen: f"fabrics of this provider here: {_said(seen.claim('fabric_names'))}", _nothing, _silence,
            never="the name is the library's word alone"),
    Reading("endpoint_type", *_claim("endpoint_type", "grants"), lambda seen: _value(seen.fact("meeting", "endpoint_type")),
            _facts("meeting", "endpoint_type", "met"), ("meeting",)),
    Reading("address_resolution", lambda seen: _choice(seen.claim("socket_addresses"), "socket", "opaque"),
            lambda seen: f"addresses of sockets: {_said(seen.claim('socket_addresses'))}",
            lambda seen: _choice(seen.fact("meeting", "found_by_host_and_service"), "socket", "opaque"),
            _facts("meeting", "found_by_host_and_service"), ("meeting",)),
    Reading("connects_lazily", _nothing, _silence,
            lambda seen: None if seen.fact("first_post", "taken_while_target_slept") is None else not seen.fact("first_post", "taken_while_target_slept"),
            _facts("first_post", "said", "ended_once_target_polled"), ("first_post",)),
    Reading("forgets_peers", _nothing, _silence, _forgotten,
            lambda seen: "a connection is closed with its endpoint" if seen.claim("endpoint_type") == "connected"
            else seen.why_not(("forgetting",)) or _facts("forgetting", "taken_out", "reached_again")(seen), ("forgetting",)),
    Reading("virtual_addressing", *_claim("needs_pointers", "FI_MR_VIRT_ADDR needed:"), _pointers_shown,
            _facts("addressing", "returned_pointers", "returned_form_landed", "other_form_landed"), ("addressing",)),
    Reading("key_owner", lambda seen: _choice(seen.claim("needs_provider_keys"), "provider", "application"),
            lambda seen: f"FI_MR_PROV_KEY needed: {_said(seen.claim('needs_provider_keys'))}",
            lambda seen: _choice(seen.fact("keys", "requested_key_used"), "application", "provider"),
            _facts("keys", "requested_key_used", "same_key_twice", "key_zero", "key_too_wide"), ("keys",)),
    Reading("key_bytes", *_claim("key_bytes", "mr_key_size"),
            lambda seen: None if not seen.fact("keys", "widest_key_landed") or not seen.fact("keys", "requested_key_used")
            else _value(seen.fact("keys", "widest_key_bytes")),
            _facts("keys", "widest_key_bytes", "widest_key_landed"), ("keys",)),
    Reading("local_registration", *_claim("needs_local_registration", "FI_MR_LOCAL needed:"),
            lambda seen: False if seen.claim("needs_local_registration") is False and seen.fact("meeting", "met") else None,
            lambda seen: "writes and messages went without a descriptor", ("meeting",),
            never="an unregistered buffer where registration is demanded is undefined"),
    Reading("region_endpoint_binding", *_claim("needs_endpoint_binding", "FI_MR_ENDPOINT needed:"),
            lambda seen: False if seen.claim("needs_endpoint_binding") is False and seen.fact("meeting", "met") else None,
            lambda seen: "an unbound region was written to", ("meeting",), never="an unbound region where binding is demanded is undefined"),
    Reading("write_immediate_bytes", *_claim("immediate_bytes", "cq_data_size"), lambda seen: _value(seen.fact("write_immediate", "bytes")),
            _facts("write_immediate", "bytes", "events", "values_right", "event_context", "event_length"), ("write_immediate",)),
    Reading("write_immediate_consumes_receive", *_claim("needs_receives_for_immediates", "FI_RX_CQ_DATA needed:"), _consumed,
            _facts("write_immediate", "receives_used_up", "event_flags"), ("write_immediate",)),
    Reading("send_immediate_bytes", *_claim("immediate_bytes", "cq_data_size"), lambda seen: _value(seen.fact("send_immediate", "bytes")),
            _facts("send_immediate", "bytes"), ("send_immediate",)),
    Reading("remote_counter_counts_writes", lambda seen: _both(seen.claim("counts_remote_writes"), seen.claim("counter") == "granted"),
            lambda seen: f"FI_RMA_EVENT {_said(seen.claim('counts_remote_writes'))}, counter {_said(seen.claim('counter'))}",
            lambda seen: False if seen.refused("counter") else None if seen.fact("counter", "plain_writes_counted") is None
            else seen.fact("counter", "plain_writes_counted") == 4,
            lambda seen: seen.why_not(("counter",)) or _facts("counter", "plain_writes_counted", "immediate_writes_counted")(seen), ("counter",)),
    Reading("order_send_after_write", *_claim("send_after_write", "FI_ORDER_SAW"), _order("send_after_write", "send_after_write"),
            _facts("send_after_write", "overtaken", "pairs"), ("send_after_write",)),
    Reading("order_write_after_write", *_claim("write_after_write", "FI_ORDER_WAW"), _order("write_after_write", "write_after_write"),
            _facts("write_after_write", "overtaken", "pairs"), ("write_after_write",)),
    Reading("order_send_after_send", *_claim("send_after_send", "FI_ORDER_SAS"), _order("send_after_send", "send_after_send"),
            _facts("send_after_send", "overtaken", "pairs"), ("send_after_send",)),
    Reading("delivery_complete", *_claim("delivery_complete", "FI_DELIVERY_COMPLETE"), _delivered,
            _facts("delivery", "ended_while_target_slept", "ended", "ended_before_delivery"), ("delivery",)),
    Reading("refused_write", _nothing, _silence, _refused_shown, _refused_test, ("wrong_key", "out_of_range")),
    Reading("selective_completion", _nothing, _silence, _silent, _facts("completions", "unsignalled_told", "signalled_told"), ("completions",)),
    Reading("atomics", _atomics_claimed,
            lambda seen: f"FI_ATOMIC {_said(seen.claim('atomics'))}, fetch_add {seen.claim('fetch_add')}, compare_swap {seen.claim('compare_swap')}",
            _atomics_shown, _atomics_test, ("atomics", "first_atomic")),
    Reading("atomics_cost_order", _cost_order, lambda seen: f"FI_ATOMIC with FI_ORDER_SAW: {_said(seen.claim('atomics_with_send_after_write'))}",
            _nothing, _silence, never="what is granted is the library's word alone"),
    Reading("data_progress", _progress_claimed,
            lambda seen: f"FI_PROGRESS_AUTO: {_said(seen.claim('progress_if_automatic'))}, unasked: {_said(seen.claim('progress_if_unsaid'))}",
            _progress_shown, _progress_test, ("progress", "progress@automatic")),
    Reading("completion_wait", _wait_claimed, lambda seen: f"FI_WAIT_FD: {_said(seen.claim('wait_descriptor'))}", _wait_shown,
            lambda seen: _facts("waiting", "descriptor", "said", "messages", "lost_wake_ups")(seen) or f"FI_WAIT_FD: {_said(seen.claim('wait_descriptor'))}",
            ("waiting",)),
    Reading("reports_killed_peer", _nothing, _silence, lambda seen: _value(seen.fact("killed_peer", "waiter_learned")),
            _facts("killed_peer", "waiter_learned", "waiter_ms", "post_afterwards"), ("killed_peer",)),
    Reading("same_host", lambda seen: None if not seen.claim("claims_own_host") and not seen.claim("claims_other_hosts")
            else not seen.claim("claims_other_hosts"), lambda seen: f"FI_REMOTE_COMM {_said(seen.claim('claims_other_hosts'))}", _nothing, _silence,
            never="it takes two hosts"),
    Reading("context_bytes", *_claim("needs_context_bytes", "FI_CONTEXT needed, bytes:"), _contexts, _facts("completions", "context_bytes_changed"),
            ("completions",)),
    Reading("inject_bytes", *_claim("inject_bytes", "inject_size"), _injected, _facts("inject", "bytes", "buffer_free_at_once", "one_byte_more"),
            ("inject",), tried=32768),
    Reading("gather_limit", *_claim("pieces", "iov_limit"), lambda seen: _value(seen.fact("gather", "message_pieces")),
            _facts("gather", "message_pieces"), ("gather",), tried=64),
    Reading("rma_gather_limit", *_claim("write_places", "rma_iov_limit"), lambda seen: _value(seen.fact("gather", "write_places")),
            _facts("gather", "write_places"), ("gather",), tried=64),
    Reading("queue_depth", _depth_claimed, lambda seen: f"tx_attr size {seen.claim('transmit_depth')}, rx_attr size {seen.claim('receive_depth')}",
            _depth, _facts("full_queue", "posts_taken", "receives_taken", "said", "all_ended"), ("full_queue",), tried=4096),
    Reading("largest_message", *_claim("largest", "max_msg_size"), lambda seen: _value(seen.fact("largest", "message_bytes")),
            _facts("largest", "message_bytes"), ("largest",), tried=1 << 22),
    Reading("largest_write", *_claim("largest", "max_msg_size"), lambda seen: _value(seen.fact("largest", "write_bytes")),
            _facts("largest", "write_bytes"), ("largest",), tried=1 << 22),
)
