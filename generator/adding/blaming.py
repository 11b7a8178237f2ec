# SPDX-License-Identifier: Apache-2.0
"""Which cells a failed suite rests on, and the row with the safe value of those that were only claimed."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from ..decided import Decided
from ..matrix.facts import FACT
from ..matrix.layout import LONGEST, sentence
from .row import SAFE, NewCell, spelt

# Each suite of tests/conformance by the subject in its test's name: the families whose answers it uses, and the facts
# that code asks for itself. All transports meet, register memory and poll; so do all suites.
_ALWAYS = "endpoint bootstrap framing region_address region_key local_descriptor region_binding progress"
_WRITES = "notify write_fault rma_gather_limit largest_write bytes_visible_in_order"
_MESSAGES = "receive_buffers receive_pool order_send_after_send largest_message gather_limit full_queue"
_POSTS = "completion inject queue_depth full_queue context_bytes"
_NAMED: Mapping[str, str] = {
    "allocations": f"{_WRITES} {_MESSAGES} {_POSTS} atomics",
    "atomics": f"atomics atomic_operations {_POSTS}",
    "batches": f"{_WRITES} {_MESSAGES} {_POSTS} extended_posting",
    "closing": f"{_MESSAGES} {_POSTS} liveness connects_lazily forgets_peers",
    "completions": f"{_POSTS} write_fault delivery_complete wait",
    "composed_allocations": f"{_WRITES} {_MESSAGES} {_POSTS} atomics atomic_operations flush multi_receive "
                            "shared_receives",
    "connecting": "liveness connects_lazily forgets_peers",
    "coroutines": f"{_WRITES} {_MESSAGES} {_POSTS} wait",
    "counting": f"{_WRITES} {_POSTS}",
    "device_memory": f"{_WRITES} {_POSTS}",
    "endings": f"{_WRITES} {_MESSAGES} {_POSTS} liveness atomics",
    "forged_requests": f"{_MESSAGES} write_fault",
    "gather_lists": f"{_WRITES} {_MESSAGES} {_POSTS}",
    "liveness": f"{_POSTS} liveness reports_killed_peer same_host forgets_peers wait",
    "many_initiators": f"atomics atomic_operations {_POSTS}",
    "memory": f"{_WRITES} write_fault",
    "messages": f"{_MESSAGES} {_POSTS}",
    "multi_receive": f"multi_receive {_MESSAGES} {_POSTS}",
    "ordering": f"{_WRITES} {_POSTS} flush order_send_after_write order_write_after_write",
    "put_get": f"{_WRITES} {_POSTS} fused_bytes",
    "put_notify": f"{_WRITES} {_MESSAGES} {_POSTS} fused_bytes",
    "regions": f"{_WRITES} write_fault",
    "shared_receives": f"shared_receives {_MESSAGES} {_POSTS}",
    "states": f"{_WRITES} {_POSTS} flush delivery_complete",
    "strangers": f"{_MESSAGES} liveness connects_lazily",
    "striped_rails": f"{_WRITES} {_POSTS} liveness",
    "unsignalled": f"{_WRITES} {_POSTS} selective_completion",
    "waiting": f"{_POSTS} wait data_progress",
    "words": f"atomics atomic_operations {_WRITES} {_POSTS}",
    "wrong_posts": f"{_WRITES} {_POSTS} write_fault",
}
RESTS_ON: Mapping[str, frozenset[str]] = {suite: frozenset(f"{_ALWAYS} {words}".split())
                                          for suite, words in _NAMED.items()}


def subject_of(test: str) -> str:
    """The subject of conformance.<subject>.<fabric>."""
    return test.split(".")[1] if test.count(".") >= 2 else test


def rests_on(test: str, row: Decided) -> list[str]:
    """The cells behind a suite, in the order of the facts: of the answers that it uses, and those that code asks for.

    A suite that nobody knows rests on every cell.
    """
    words = RESTS_ON.get(subject_of(test), frozenset(FACT))
    found = {cell.name for choice in row.choices[-1] if choice.family in words for cell in choice.cells}
    return [name for name in FACT if name in words or name in found]


def suspects(failed: Iterable[str], row: Decided, cells: Sequence[NewCell]) -> dict[str, list[str]]:
    """Cells that are only claimed, and that another value would make safe: each with the failed suites that rest on it.
    """
    found: dict[str, list[str]] = {}
    for test in failed:
        names = rests_on(test, row)
        for cell in cells:
            if cell.name in names and cell.level == "claimed" and SAFE.get(cell.name, cell.value) != cell.value:
                found.setdefault(cell.name, []).append(test)
    return found


def fewest(found: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Few suspects that explain every failed suite that has one: those behind most suites first, all of a tie."""
    left = {test for tests in found.values() for test in tests}
    taken: dict[str, list[str]] = {}
    while left:
        most = max(len(left & set(tests)) for tests in found.values())
        best = {name: list(tests) for name, tests in found.items() if len(left & set(tests)) == most}
        taken |= best
        left -= {test for tests in best.values() for test in tests}
    return taken


def made_safe(cells: Sequence[NewCell], wrong: Mapping[str, Sequence[str]]) -> list[NewCell]:
    """The row's cells with the safe value of these, and with what failed as their reason."""
    return [_safe(cell, wrong[cell.name]) if cell.name in wrong else cell for cell in cells]


def _safe(cell: NewCell, failed: Sequence[str]) -> NewCell:
    suites = ", ".join(dict.fromkeys(subject_of(test) for test in failed))
    why = f"{spelt(cell.name, cell.value)} is claimed ({cell.claimed}), and with it failed: {suites}"
    return dataclasses.replace(cell, value=SAFE[cell.name], claimed="", copied=sentence(why, LONGEST - 40))
