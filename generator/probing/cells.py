# SPDX-License-Identifier: Apache-2.0
"""From findings to cells, as data: for each cell its claim, the behaviours that show it, and how to read both.

A cell with no behaviour says why nothing here can show it. Cells with `tried` are lower bounds: the test goes that far
and no further.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .atomics import atomics_claimed, atomics_shown, atomics_test, operations_claimed, operations_shown
from .orders import (WITH_ATOMICS, WITH_POINTERS, atomics_cost, atomics_cost_shown, optional_pointers,
                     optional_pointers_shown, optional_pointers_test, order, order_lost_test, pointers_cost,
                     pointers_cost_shown, pointers_shown, untorn)
from .paths import formats_claimed, formats_shown, setting_shown, setting_test, small_queue
from .program import SETTING
from .reading import (Read, Words, all_whole, both, choice, claim, consumed, contexts, counted, delivered, depth,
                      depth_claimed, fabric_claimed, facts, forgotten, immediates, immediates_test, injected, nothing,
                      progress_claimed, progress_shown, progress_test, refused_shown, refused_test, said, silence,
                      silent, value, wait_claimed, wait_shown, whole_test)
from .seen import CLAIMS, Seen


def always(_: Seen) -> bool:
    return True


def claimed(name: str, value: object = True) -> Callable[[Seen], bool]:
    return lambda seen: bool(seen.claim(name) == value)


@dataclass(frozen=True)
class Reading:
    """How one cell is read. `claim` and `test` put the same into words.

    - `provable`: whether the behaviours can show the cell, by what the library claims. If so and they do not, an
      observed cell is not shown any more.
    - `one_sided`: a violation that was seen makes the cell false. None seen only leaves it as the row says.
    """

    cell: str
    claimed: Read
    claim: Words
    shown: Read
    test: Words
    behaviours: tuple[str, ...] = ()
    never: str = ""
    tried: int | None = None
    provable: Callable[[Seen], bool] = always
    one_sided: bool = False


READINGS: tuple[Reading, ...] = (
    Reading("provider", *claim("provider", "answers to the name"), lambda seen: value(seen.fact("meeting", "provider")),
            facts("meeting", "provider", "met"), ("meeting",)),
    Reading("fabric_name", fabric_claimed,
            lambda seen: f"fabrics of this provider here: {said(seen.claim('fabric_names'))}", nothing, silence,
            never="the name is the library's word alone"),
    Reading("endpoint_type", *claim("endpoint_type", "grants"),
            lambda seen: value(seen.fact("meeting", "endpoint_type")),
            facts("meeting", "endpoint_type", "met"), ("meeting",)),
    Reading("address_resolution", lambda seen: choice(seen.claim("socket_addresses"), "socket", "opaque"),
            lambda seen: f"addresses of sockets: {said(seen.claim('socket_addresses'))}",
            lambda seen: choice(seen.fact("meeting", "found_by_host_and_service"), "socket", "opaque"),
            facts("meeting", "found_by_host_and_service"), ("meeting",)),
    Reading("connects_lazily", nothing, silence,
            lambda seen: None if seen.fact("first_post", "taken_while_target_slept") is None
            else not seen.fact("first_post", "taken_while_target_slept"),
            facts("first_post", "said", "ended_once_target_polled"), ("first_post",)),
    Reading("forgets_peers", nothing, silence, forgotten,
            lambda seen: "a connection is closed with its endpoint" if seen.claim("endpoint_type") == "connected"
            else seen.why_not(("forgetting",)) or facts("forgetting", "taken_out", "reached_again")(seen),
            ("forgetting",)),
    Reading("address_formats", formats_claimed, lambda seen: f"addr_format: {formats_claimed(seen) or 'none'}",
            formats_shown, facts("formats", "has_ipv6", "met"), ("formats",)),
    Reading("own_node_path", nothing, silence,
            lambda seen: choice(seen.fact("own_node", "files_of_shared_memory"), "shared_memory", "fabric"),
            facts("own_node", "exchanged", "files_of_shared_memory"), ("own_node",)),
    Reading("virtual_addressing", *claim("needs_pointers", "FI_MR_VIRT_ADDR needed:"), pointers_shown,
            facts("addressing", "returned_pointers", "returned_form_landed", "other_form_landed"), ("addressing",)),
    Reading("virtual_addressing_optional", optional_pointers,
            lambda seen: f"FI_MR_VIRT_ADDR offered: {said(seen.claim('returns_pointers_if_offered'))}",
            optional_pointers_shown, optional_pointers_test, ("addressing@pointers",)),
    Reading("virtual_addressing_costs_order", pointers_cost,
            lambda seen: f"FI_MR_VIRT_ADDR with FI_ORDER_SAW and FI_ORDER_WAW: "
                         f"{said(seen.claim('pointers_with_orders'))}",
            pointers_cost_shown, order_lost_test(WITH_POINTERS), WITH_POINTERS),
    Reading("key_owner", lambda seen: choice(seen.claim("needs_provider_keys"), "provider", "application"),
            lambda seen: f"FI_MR_PROV_KEY needed: {said(seen.claim('needs_provider_keys'))}",
            lambda seen: choice(seen.fact("keys", "requested_key_used"), "application", "provider"),
            facts("keys", "requested_key_used", "same_key_twice", "key_zero", "key_too_wide"), ("keys",)),
    Reading("key_bytes", *claim("key_bytes", "mr_key_size"),
            lambda seen: None if not seen.fact("keys", "widest_key_landed")
            or not seen.fact("keys", "requested_key_used")
            else value(seen.fact("keys", "widest_key_bytes")),
            facts("keys", "widest_key_bytes", "widest_key_landed"), ("keys",),
            provable=claimed("needs_provider_keys", False)),
    Reading("local_registration", *claim("needs_local_registration", "FI_MR_LOCAL needed:"),
            lambda seen: False if seen.claim("needs_local_registration") is False and seen.fact("meeting", "met")
            else None,
            lambda seen: "writes and messages went without a descriptor", ("meeting",),
            never="an unregistered buffer where registration is demanded is undefined",
            provable=claimed("needs_local_registration", False)),
    Reading("region_endpoint_binding", *claim("needs_endpoint_binding", "FI_MR_ENDPOINT needed:"),
            lambda seen: False if seen.claim("needs_endpoint_binding") is False and seen.fact("meeting", "met")
            else None,
            lambda seen: "an unbound region was written to", ("meeting",),
            never="an unbound region where binding is demanded is undefined",
            provable=claimed("needs_endpoint_binding", False)),
    Reading("write_immediate_bytes", *claim("immediate_bytes", "cq_data_size"),
            immediates("write_immediate", "many_write_immediates"),
            immediates_test("write_immediate", "many_write_immediates"),
            ("write_immediate", "many_write_immediates")),
    Reading("write_immediate_consumes_receive", *claim("needs_receives_for_immediates", "FI_RX_CQ_DATA needed:"),
            consumed,
            facts("write_immediate", "receives_used_up", "event_flags"), ("write_immediate",)),
    Reading("write_immediate_setting", nothing, silence, setting_shown, setting_test,
            ("write_immediate", f"write_immediate@{SETTING}"), provable=lambda seen: seen.ran(f"{CLAIMS}@{SETTING}")),
    Reading("send_immediate_bytes", *claim("immediate_bytes", "cq_data_size"),
            immediates("send_immediate", "many_send_immediates"),
            immediates_test("send_immediate", "many_send_immediates"),
            ("send_immediate", "many_send_immediates")),
    Reading("remote_counter_counts_writes", lambda seen: both(seen.claim("counts_remote_writes"),
                                                              seen.claim("counter") == "granted"),
            lambda seen: f"FI_RMA_EVENT {said(seen.claim('counts_remote_writes'))}, counter "
                         f"{said(seen.claim('counter'))}",
            counted,
            lambda seen: seen.why_not(("counter",)) or facts("counter", "writes", "plain_writes_counted",
                                                             "immediate_writes_counted")(seen), ("counter",)),
    Reading("order_send_after_write", *claim("send_after_write", "FI_ORDER_SAW"),
            order("send_after_write", "send_after_write"),
            facts("send_after_write", "overtaken", "pairs"), ("send_after_write",),
            provable=claimed("send_after_write")),
    Reading("order_write_after_write", *claim("write_after_write", "FI_ORDER_WAW"),
            order("write_after_write", "write_after_write"),
            facts("write_after_write", "overtaken", "pairs"), ("write_after_write",),
            provable=claimed("write_after_write")),
    Reading("bytes_visible_in_order", nothing, silence, untorn, facts("last_byte", "torn", "writes"), ("last_byte",),
            one_sided=True),
    Reading("order_send_after_send", *claim("send_after_send", "FI_ORDER_SAS"),
            order("send_after_send", "send_after_send"),
            facts("send_after_send", "overtaken", "pairs"), ("send_after_send",),
            provable=claimed("send_after_send")),
    Reading("delivery_complete", *claim("delivery_complete", "FI_DELIVERY_COMPLETE"), delivered,
            facts("delivery", "ended_while_target_slept", "ended", "ended_before_delivery"), ("delivery",),
            provable=claimed("delivery_complete")),
    Reading("refused_write", nothing, silence, refused_shown, refused_test, ("wrong_key", "out_of_range")),
    Reading("selective_completion", nothing, silence, silent, facts("completions", "unsignalled_told",
                                                                    "signalled_told"), ("completions",)),
    Reading("atomics", atomics_claimed,
            lambda seen: f"FI_ATOMIC {said(seen.claim('atomics'))}, fetch_add {seen.claim('fetch_add')}, compare_swap "
                         f"{seen.claim('compare_swap')}",
            atomics_shown, atomics_test, ("atomics", "first_atomic")),
    Reading("atomic_operations", operations_claimed, lambda seen: f"fi_query_atomic grants {operations_claimed(seen)}",
            operations_shown,
            atomics_test, ("atomics", "first_atomic"),
            provable=lambda seen: seen.claim("atomic_operations") is not None),
    Reading("atomics_cost_order", atomics_cost,
            lambda seen: f"FI_ATOMIC with FI_ORDER_SAW: {said(seen.claim('atomics_with_send_after_write'))}",
            atomics_cost_shown, order_lost_test(WITH_ATOMICS), ("atomics", "first_atomic", *WITH_ATOMICS),
            provable=lambda seen: seen.ran(WITH_ATOMICS[0])),
    Reading("data_progress", progress_claimed,
            lambda seen: f"FI_PROGRESS_AUTO: {said(seen.claim('progress_if_automatic'))}, unasked: "
                         f"{said(seen.claim('progress_if_unsaid'))}",
            progress_shown, progress_test, ("progress", "progress@automatic")),
    Reading("completion_wait", wait_claimed, lambda seen: f"FI_WAIT_FD: {said(seen.claim('wait_descriptor'))}",
            wait_shown,
            lambda seen: facts("waiting", "descriptor", "said", "messages", "lost_wake_ups")(seen)
            or f"FI_WAIT_FD: {said(seen.claim('wait_descriptor'))}",
            ("waiting",)),
    Reading("reports_killed_peer", nothing, silence, lambda seen: value(seen.fact("killed_peer", "waiter_learned")),
            facts("killed_peer", "waiter_learned", "waiter_ms", "post_afterwards"), ("killed_peer",)),
    Reading("same_host", lambda seen: None if not seen.claim("claims_own_host") and not seen.claim("claims_other_hosts")
            else not seen.claim("claims_other_hosts"),
            lambda seen: f"FI_REMOTE_COMM {said(seen.claim('claims_other_hosts'))}", nothing, silence,
            never="it takes two hosts"),
    Reading("context_bytes", *claim("needs_context_bytes", "FI_CONTEXT needed, bytes:"), contexts,
            facts("completions", "context_bytes_changed"),
            ("completions",)),
    Reading("inject_bytes", *claim("inject_bytes", "inject_size"), injected,
            facts("inject", "bytes", "buffer_free_at_once", "one_byte_more"),
            ("inject",), tried=32768),
    Reading("gather_limit", *claim("pieces", "iov_limit"), lambda seen: value(seen.fact("gather", "message_pieces")),
            facts("gather", "message_pieces"), ("gather",), tried=64),
    Reading("rma_gather_limit", *claim("write_places", "rma_iov_limit"),
            lambda seen: value(seen.fact("gather", "write_places")),
            facts("gather", "write_places"), ("gather",), tried=64),
    Reading("queue_depth", depth_claimed,
            lambda seen: f"tx_attr size {seen.claim('transmit_depth')}, rx_attr size {seen.claim('receive_depth')}",
            depth, facts("full_queue", "posts_taken", "receives_taken", "said", "all_ended"), ("full_queue",),
            tried=4096),
    Reading("largest_message", *claim("largest", "max_msg_size"),
            lambda seen: value(seen.fact("largest", "message_bytes")),
            facts("largest", "message_bytes"), ("largest",), tried=1 << 22),
    Reading("largest_write", *claim("largest", "max_msg_size"), lambda seen: value(seen.fact("largest", "write_bytes")),
            facts("largest", "write_bytes"), ("largest",), tried=1 << 22),
    Reading("fused_bytes", nothing, silence, nothing, silence, never="it is a matter of speed, not of behaviour"),
    Reading("multi_receive", *claim("multi_receive", "FI_MULTI_RECV"), all_whole("multi_receive"),
            whole_test("multi_receive"), ("multi_receive",)),
    Reading("shared_receives", *claim("shared_receives", "fi_srx_context"), all_whole("shared_receives"),
            whole_test("shared_receives"), ("shared_receives",)),
    Reading("extended_posting", nothing, silence, nothing, silence,
            never="it is chosen by the row, and attested when a transport is opened"),
    Reading("split_queues", nothing, silence, nothing, silence,
            never="the conformance suites bind two queues; the probe has one"),
    Reading("thread_levels", nothing, silence, nothing, silence,
            never="a library that is asked for locks behaves as before"),
    Reading("full_queue", nothing, silence, nothing, silence,
            never="the conformance suites fill the queue; the probe never does"),
    Reading("full_completion_queue", nothing, silence, small_queue,
            facts("small_queue", "entries", "wanted", "taken_unread", "ended"), ("small_queue",)),
)
