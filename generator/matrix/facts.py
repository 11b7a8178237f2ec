# SPDX-License-Identifier: Apache-2.0
"""The cells of a row: name, kind of value, what it means, and whether both peers must agree on it.

Each name is a member of `fabric_facts` in core/facts.hpp, in the order of its declaration. check.py compares the two.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

UNLIMITED = 2**64 - 1
# wire/fused.hpp, largest_fused: the room in a control message. rdma/fabric.h: fi_context2 has 64 bytes, fi_context 32.
_MOST = {"fused_bytes": 740, "context_bytes": 64}
_STEP = {"context_bytes": 32}
_LEAST_ONE = frozenset({"key_bytes", "gather_limit", "rma_gather_limit", "queue_depth", "largest_message",
                        "largest_write"})  # a fabric with none of these carries nothing
Value = bool | int | str
LEAST = "the least"
_REQUESTS = {
    "virtual_addressing_optional": "with pointers",
    "virtual_addressing_costs_order": "with pointers, and the least",
    "remote_counter_counts_writes": "with a counter of remote writes",
    "delivery_complete": "with delivery completion",
    "atomics": "with atomics",
    "atomic_operations": "with atomics",
    "atomics_cost_order": "with atomics, and the least",
    "completion_wait": "with a wait object",
    "multi_receive": "with multi-receive",
    "shared_receives": "with a shared receive context",
    "write_immediate_setting": "with keys of the provider, and that variable",
}


@dataclass(frozen=True)
class Fact:
    """One kind of cell. `cpp` is bool, an unsigned integer type, text, or the enumeration that lists `values`."""

    name: str
    cpp: str
    meaning: str
    group: str
    wire: bool = False
    values: tuple[str, ...] = ()

    @property
    def largest(self) -> int:
        """The largest number that the C++ member holds, or that weft can use."""
        return _MOST.get(self.name) or (1 << int(self.cpp.removeprefix("std::uint").removesuffix("_t"))) - 1

    @property
    def least(self) -> int:
        return 1 if self.name in _LEAST_ONE else 0

    @property
    def step(self) -> int:
        """The numbers that are right are its multiples."""
        return _STEP.get(self.name, 1)

    def fits(self, value: Value) -> bool:
        """Of the right kind, and within its bounds. The words of a text are judged elsewhere."""
        if self.is_number:
            return isinstance(value, int) and not isinstance(value, bool) \
                and self.least <= value <= self.largest and value % self.step == 0
        return value in self.values if self.values else isinstance(value, bool if self.cpp == "bool" else str)

    @property
    def request(self) -> str:
        """Under which request the fact holds.

        The least one asks for messages, remote writes, immediates and every order that is granted, with manual
        progress, without atomics and without pointers.
        """
        return _REQUESTS.get(self.name, LEAST)

    @property
    def is_number(self) -> bool:
        return self.cpp.startswith("std::uint")

    def expects(self) -> str:
        """The values that are right here, in words."""
        if self.values:
            return "one of " + ", ".join(self.values)
        if self.cpp == "bool":
            return "true or false"
        if self.cpp == "text":
            return "text in quotes, with no quotation mark and no two question marks in a row inside"
        if self.step > 1:
            return "one of " + ", ".join(map(str, range(self.least, self.largest + 1, self.step)))
        return f"a number from {self.least} to {self.largest}" + (", or unlimited" if self.largest == UNLIMITED else "")


def _group(group: str, *cells: tuple[Any, ...]) -> list[Fact]:
    """Cells as (name, C++ type, meaning[, wire[, values]])."""
    return [Fact(name, cpp, meaning, group, *more) for name, cpp, meaning, *more in cells]


_U8, _U32, _U64 = "std::uint8_t", "std::uint32_t", "std::uint64_t"

FACTS: tuple[Fact, ...] = tuple(
    _group(
        "identity",
        ("provider", "text",
         "the library's name for the provider, as fi_info prints it; empty for backends without providers"),
        ("fabric_name", "text", "fabric_attr->name, only where a provider offers several; else empty"),
    )
    + _group(
        "connection",
        ("endpoint_type", "endpoint_type", "connected (listen, connect) or addressed (address vector)", True,
         ("connected", "addressed")),
        ("address_resolution", "address_resolution",
         "how a listener's address is found: socket (host and service) or opaque", True,
         ("socket", "opaque")),
        ("connects_lazily", "bool", "the first posts to a peer may return `again` until the peer progresses"),
        ("forgets_peers", "bool", "the library can remove a peer from the address vector, and use its place again"),
        ("address_formats", "text",
         'formats of addresses that the provider answers, in words of fi_info\'s addr_format, as "in in6" for '
         'FI_SOCKADDR_IN and FI_SOCKADDR_IN6'),
        ("own_node_path", "own_node_path",
         "the path between processes of one node: the fabric's own, or shared memory with limits, order and waits of "
         "its own", False, ("fabric", "shared_memory")),
    )
    + _group(
        "memory",
        ("virtual_addressing", "bool",
         "remote addresses are pointers of the target; otherwise offsets from the region's start", True),
        ("virtual_addressing_optional", "bool", "on request the provider also takes pointers of the target"),
        ("virtual_addressing_costs_order", "bool",
         "a request for pointers removes the order of writes, and of messages after writes"),
        ("key_owner", "key_owner", "the side that makes a region's key", True, ("application", "provider")),
        ("key_bytes", _U8, "width of a region's key", True),
        ("local_registration", "bool", "local buffers of every transfer must be registered"),
        ("region_endpoint_binding", "bool", "a region is bound to an endpoint and enabled before use"),
    )
    + _group(
        "notification",
        ("write_immediate_bytes", _U8,
         "width of the immediate that a write carries to the target; 0: none, or not by default", True),
        ("write_immediate_consumes_receive", "bool",
         "each write with an immediate uses up a posted receive of the target", True),
        ("write_immediate_setting", "text",
         'the variable of the library with which a write carries an immediate, as "NAME=VALUE", where the target\'s '
         'provider makes keys; empty: none is needed, or nothing helps'),
        ("send_immediate_bytes", _U8, "width of the immediate that a message carries", True),
        ("remote_counter_counts_writes", "bool", "a counter at the target counts plain writes", True),
    )
    + _group(
        "order",
        ("order_send_after_write", "bool", "a message arrives only after the bytes of earlier writes are visible"),
        ("order_write_after_write", "bool",
         "the bytes of a write are visible only after the bytes of earlier writes"),
        ("bytes_visible_in_order", "bool",
         "a polling thread sees a write's last bytes only after all other bytes of the write"),
        ("order_send_after_send", "bool", "messages arrive in the order of their sends"),
        ("delivery_complete", "bool", 'the library offers a completion that means "the target has the bytes"'),
        ("refused_write", "refusal",
         "what the initiator gets when the target refuses a write: an error; no error, but no success of a "
         "completion that means delivery; or a success of that too (hidden)", False,
         ("reported", "silent", "hidden")),
        ("selective_completion", "bool", "a successful operation can be posted without a completion"),
    )
    + _group(
        "atomics",
        ("atomics", "atomic_execution",
         "64-bit fetch-add and compare-swap, right by value: by the provider (or card), or none", True,
         ("none", "provider")),
        ("atomic_operations", "text",
         'operations that the provider executes in addition to add and compare_swap of uint64, as "add compare_swap: '
         'int64 uint64; add: double", or none', True),
        ("atomics_cost_order", "bool", "a request for atomics removes send-after-write order"),
    )
    + _group(
        "progress",
        ("data_progress", "data_progress",
         "the agent that moves incoming data if manual progress is requested, as observed and not as claimed", False,
         ("hardware", "thread", "polling")),
        ("completion_wait", "completion_wait", "how a thread may sleep until a completion", False,
         ("descriptor", "yield", "none")),
        ("reports_killed_peer", "bool", "the provider reports a killed peer, also to a process that only waits"),
        ("same_host", "bool", "both ends are processes of one host"),
    )
    + _group(
        "sizes",
        ("context_bytes", _U8, "space that the library overwrites in each operation's context: 0, 32 or 64"),
        ("inject_bytes", _U32, "a transfer of this size may be injected: a lower bound"),
        ("gather_limit", _U8, "pieces of memory in one message: a lower bound"),
        ("rma_gather_limit", _U8, "pieces of memory in one write or read: a lower bound"),
        ("queue_depth", _U32, "operations in a transmit or receive queue: a lower bound"),
        ("largest_message", _U64, "bytes in one message: a lower bound"),
        ("largest_write", _U64, "bytes in one write or read: a lower bound"),
        ("fused_bytes", _U32,
         "up to this size a payload inside of a notice is cheaper than a write; 0: never"),
    )
    + _group(
        "receiving",
        ("multi_receive", "bool", "one posted buffer can take many messages"),
        ("shared_receives", "bool", "connected endpoints can take their receives from one pool"),
    )
    + _group(
        "posting",
        ("extended_posting", "bool",
         "posts are built in the device's own queue (ibv_wr_*); false: posts are requests, or the library "
         "has one way"),
        ("split_queues", "bool",
         "completions and received messages can have separate queues; false: the backend or the library has one "
         "queue for both"),
        ("thread_levels", "bool",
         "the library can lock for more threads than one owner; false: the library has no such setting"),
        ("full_queue", "full_queue",
         "a post that finds the transmit queue full: the library refuses the post, or a write with an immediate "
         "overruns queued posts, or the library accepts and loses a message that is not injected", False,
         ("refuses", "overruns", "loses")),
        ("full_completion_queue", "full_completion_queue",
         "posts with more entries than the completion queue was opened for: the library keeps the entries, or refuses "
         "the posts, or loses entries", False, ("keeps", "refuses", "loses")),
    )
)
FACT: dict[str, Fact] = {fact.name: fact for fact in FACTS}
GROUPS: tuple[str, ...] = tuple(dict.fromkeys(fact.group for fact in FACTS))
BACKENDS: tuple[str, ...] = ("libfabric", "verbs", "mapped", "streams", "loopback")
