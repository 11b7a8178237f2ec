# SPDX-License-Identifier: Apache-2.0
"""Who judges each fact that a behaviour tells: a cell that is made of it, a rule that holds for every provider, or
nobody, with the reason.

A fact that this list does not name is itself a fault, as is a fact of the list that a behaviour does not tell.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .findings import Finding
from .reading import said
from .seen import CLAIMS, Seen

Holds = Callable[[Any, Seen], object]


@dataclass(frozen=True)
class Judged:
    """How one fact is judged. `cells` are made of it; `rule` says in words what `holds` demands; `why` says why nobody
    can judge it. `sometimes`: the behaviour may leave it out. `least`: the rule is for the least request alone.
    """

    cells: tuple[str, ...] = ()
    rule: str = ""
    holds: Holds | None = None
    why: str = ""
    sometimes: bool = False
    least: bool = False


@dataclass(frozen=True)
class Fault:
    """A fact that breaks its rule, that nobody judges, or that is missing; or another request that was not answered."""

    behaviour: str
    sentence: str


def _of(*cells: str, sometimes: bool = False) -> Judged:
    return Judged(cells=cells, sometimes=sometimes)


def _must(expected: object, *cells: str, sometimes: bool = False) -> Judged:
    return Judged(cells, f"must be {said(expected)}", lambda found, _: bool(found == expected), sometimes=sometimes)


def _rule(rule: str, holds: Holds, *cells: str, sometimes: bool = False) -> Judged:
    return Judged(cells, rule, holds, sometimes=sometimes)


def _told(why: str) -> Judged:
    return Judged(why=why, sometimes=True)


_TIME = _told("a time: it depends on the machine")
_WORD = _told("the word for the fact beside it")
_REFUSAL = {
    "plain": _of("refused_write"), "plain_error": _WORD, "plain_ms": _TIME,
    "delivered": _of("refused_write", sometimes=True),
    "delivered_error": _WORD, "delivered_ms": _TIME,
}


def _order(cell: str, *pairs: int) -> dict[str, Judged]:
    """A device makes fewer pairs."""
    return {"pairs": _rule(f"must be {' or '.join(map(str, pairs))}", lambda found, _: found in pairs),
            "overtaken": _of(cell),
            "promised": Judged(("atomics_cost_order", "virtual_addressing_costs_order"),
                               "must be yes: the library granted the request",
                               lambda found, seen: found or not seen.claim(cell.removeprefix("order_")),
                               sometimes=True, least=True)}


def _many(cell: str) -> dict[str, Judged]:
    return {name: _of(cell) for name in ("posted", "arrived", "doubled", "wrong", "early")}


FACTS_OF: dict[str, dict[str, Judged]] = {
    "meeting": {
        "provider": _of("provider"),
        "fabric": _rule("must be one of the names that the library lists",
                        lambda found, seen: found in (seen.claim("fabric_names") or [found]), sometimes=True),
        "endpoint_type": _of("endpoint_type"), "found_by_host_and_service": _of("address_resolution"),
        "met": _must(True)},
    "first_post": {
        "taken_while_target_slept": _of("connects_lazily"),
        "said": _rule("must be success or again", lambda found, _: found in ("success", "FI_EAGAIN"), sometimes=True),
        "ended_once_target_polled": _must(True, sometimes=True)},
    "forgetting": {"taken_out": _of("forgets_peers"), "reached_again": _of("forgets_peers")},
    "addressing": {name: _of("virtual_addressing", "virtual_addressing_optional")
                   for name in ("returned_pointers", "returned_form_landed", "other_form_landed")},
    "keys": {
        "requested_key_used": _of("key_owner"),
        "same_key_twice": _rule("must not be accepted: the second region would answer for the first",
                                lambda found, _: found != "accepted", sometimes=True),
        "key_zero": _told("zero is a key like others; a provider may refuse it"),
        "key_too_wide": _rule("must not be accepted: the peer would use another key",
                              lambda found, _: found != "accepted", sometimes=True),
        "widest_key_bytes": _of("key_bytes", sometimes=True), "widest_key_landed": _of("key_bytes", sometimes=True),
        "made_by_device_landed": _must(True, sometimes=True)},
    "write_immediate": {
        "bytes": _of("write_immediate_bytes"), "events": _of("write_immediate_bytes", sometimes=True),
        "values_right": _of("write_immediate_bytes", sometimes=True),
        "receives_used_up": _of("write_immediate_consumes_receive", sometimes=True),
        "event_context": _rule("must be null, or that of the receive that was used up",
                               lambda found, seen: found == "null" or bool(seen.claim("needs_receives_for_immediates")),
                               sometimes=True),
        "event_length": _rule("must be 8, or 0 of a provider that does not know", lambda found, _: found in (0, 8),
                              sometimes=True),
        "event_flags": _rule("must have FI_REMOTE_CQ_DATA", lambda found, _: "FI_REMOTE_CQ_DATA" in found.split(),
                             sometimes=True)},
    "many_write_immediates": _many("write_immediate_bytes"),
    "send_immediate": {"bytes": _of("send_immediate_bytes", sometimes=True)},
    "many_send_immediates": _many("send_immediate_bytes"),
    "counter": {
        "writes": _of("remote_counter_counts_writes"), "plain_writes_counted": _of("remote_counter_counts_writes"),
        "immediate_writes_counted": _rule(
            "must be all or none, and all where plain writes are counted",
            lambda found, seen: found == seen.fact("counter", "writes")
            or (found == 0 and seen.fact("counter", "plain_writes_counted") == 0), sometimes=True)},
    "send_after_write": _order("order_send_after_write", 480, 160),
    "write_after_write": _order("order_write_after_write", 480, 160),
    "send_after_send": _order("order_send_after_send", 512),
    "last_byte": {"writes": _must(400), "torn": _of("bytes_visible_in_order")},
    "delivery": {
        "offered": _of("delivery_complete"),
        "ended_while_target_slept": _told("both are right: a device, or a thread of the library, may deliver"),
        "ended": _of("delivery_complete"), "ended_before_delivery": _of("delivery_complete")},
    "wrong_key": _REFUSAL,
    "out_of_range": _REFUSAL,
    "completions": {
        "signalled_told": _must(1, "selective_completion"), "unsignalled_told": _of("selective_completion"),
        "context_bytes_changed": _of("context_bytes")},
    "first_atomic": {"first": _of("atomics"), "all": _of("atomics", sometimes=True)},
    "atomics": {
        "granted": _must(True, "atomics"), "fetch_add": _of("atomics"), "compare_swap": _of("atomics"),
        "operations": _of("atomic_operations", sometimes=True), "right": _of("atomic_operations"),
        "wrong": _of("atomic_operations")},
    "progress": {
        "reply": _told("a library may progress by itself though nobody asked"),
        "small_landed_while_asleep": _of("data_progress"), "large_landed_while_asleep": _of("data_progress"),
        "library_threads": _of("data_progress"),
        "ended_while_target_slept": _told("a completion without delivery proves little"),
        "ended_once_target_polled": _must(True, sometimes=True), "landed_once_polled": _must(True, sometimes=True)},
    "waiting": {"descriptor": _of("completion_wait"), "said": _WORD,
                "messages": _of("completion_wait", sometimes=True),
                "lost_wake_ups": _of("completion_wait", sometimes=True)},
    "killed_peer": {
        "waiter_learned": _of("reports_killed_peer"), "waiter_ms": _TIME,
        "post_afterwards": _rule("must not be success after the death was reported",
                                 lambda found, seen: found != "success"
                                 or not seen.fact("killed_peer", "waiter_learned"), sometimes=True)},
    "inject": {
        "bytes": _of("inject_bytes"), "buffer_free_at_once": _of("inject_bytes"),
        "arrived": _rule("must be 12 where anything is injected",
                         lambda found, seen: found == (12 if seen.fact("inject", "bytes") else 0), sometimes=True),
        "one_byte_more": _told("the limit is a lower bound")},
    "gather": {"message_pieces": _of("gather_limit"), "write_places": _of("rma_gather_limit")},
    "full_queue": {
        "receives_taken": _of("queue_depth"), "posts_taken": _of("queue_depth"),
        "all_ended": _must(True, "queue_depth"),
        "depth": _rule("must be the claimed depth",
                       lambda found, seen: found == min(seen.claim("transmit_depth"), seen.claim("receive_depth")),
                       sometimes=True),
        "said": _rule("must be again, or that more is taken",
                      lambda found, _: found in ("FI_EAGAIN", "more is taken", "ENOMEM"), sometimes=True)},
    "formats": {"has_ipv6": _told("of the host: without it nobody meets under such an address"),
                "met": _of("address_formats")},
    "own_node": {"exchanged": _must(True, "own_node_path"), "files_of_shared_memory": _of("own_node_path")},
    "small_queue": {"entries": _must(8, "full_completion_queue"),
                    **{name: _of("full_completion_queue") for name in ("wanted", "taken_unread", "ended")}},
    "largest": {"message_bytes": _of("largest_message"), "write_bytes": _of("largest_write")},
    "multi_receive": {name: _of("multi_receive") for name in ("messages", "arrived", "wrong", "buffers_returned")},
    "shared_receives": {name: _of("shared_receives") for name in ("messages", "arrived", "wrong", "immediates",
                                                                        "immediates_arrived")},
}


def faults(seen: Seen) -> list[Fault]:
    """Every fact that is not as every provider's must be, in the order of the findings."""
    return [fault for name, found in seen.findings.items() for fault in _faults(name, found, seen)]


def _faults(name: str, found: Finding, seen: Seen) -> Iterable[Fault]:
    behaviour, _, request = name.partition("@")
    if behaviour == CLAIMS:
        if found.ended != "shown":
            yield Fault(name, f"what the library claims with {request} {found.ended}: {found.why}")
        return
    if found.ended != "shown":
        return
    listed = FACTS_OF.get(behaviour, {})
    for fact, value in found.facts.items():
        judged = listed.get(fact)
        if judged is None:
            yield Fault(name, f"{name} told {fact} {said(value)}, and nobody judges it: generator/probing/judging.py")
        elif judged.holds is not None and not (judged.least and request) and not judged.holds(value, seen):
            yield Fault(name, f"{name} told {fact} {said(value)}: it {judged.rule}")
    for fact, judged in listed.items():
        if not judged.sometimes and fact not in found.facts:
            yield Fault(name, f"{name} ended well, and did not tell {fact}")
