# SPDX-License-Identifier: Apache-2.0
"""Lies that a provider can tell, and the cell or behaviour of the probe that finds each by name.

`python3 -B -m tests.probe.lies` writes docs/reference/generated/lies.md from this list. test_lies.py lets a wrapped
provider tell each lie (tests/probe/liar/), and proves its line.
"""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "generated" / "lies.md"
WAYS = {
    "differs": "the cell of the row differs from what was seen; exit code 1",
    "fault": "a behaviour told what no provider may do; exit code 1",
    "lost": "the behaviour was lost, so its cells are not shown; exit code 3",
    "unasked": "the library did not survive the question what it claims; exit code 3",
    "no": "the probe does not find it",
}


@dataclass(frozen=True)
class Lie:
    """One lie, told over the provider of a row.

    - `cells`: what is probed, and `finds` the cell or the behaviour that names the lie.
    - `way`: how it is found. `says`: part of the sentence, or the reason why it is not found.
    """

    name: str
    does: str
    row: str
    finds: str
    way: str
    says: str
    cells: tuple[str, ...]


def _of(way: str, *lies: tuple[str, ...]) -> list[Lie]:
    return [Lie(name, does, row, finds, way, says, tuple(cells) or (finds,))
            for name, does, row, finds, says, *cells in lies]


LIES: list[Lie] = [
    *_of("differs",
         ("drops_tenth_immediate", "each tenth immediate of a write does not arrive", "tcp", "write_immediate_bytes",
          "posted 512, arrived 461"),
         ("drops_in_bursts", "the twentieth immediate of a burst does not arrive", "tcp", "write_immediate_bytes",
          "posted 512, arrived 5"),
         ("corrupts_an_immediate", "one bit of each hundredth immediate changes", "shm", "write_immediate_bytes",
          "wrong 5"),
         ("doubles_an_immediate", "each hundredth immediate arrives twice", "tcp", "write_immediate_bytes", "doubled "),
         ("halves_immediates", "the upper four bytes of an immediate are lost", "shm", "write_immediate_bytes",
          "bytes 4"),
         ("tells_before_the_bytes", "an immediate arrives before the bytes of its write", "tcp",
          "write_immediate_bytes", "early "),
         ("drops_message_immediates", "each fiftieth immediate of a message does not arrive", "tcp",
          "send_immediate_bytes", "posted 512, arrived 502"),
         ("eats_receives", "each write with an immediate uses up a receive", "tcp", "write_immediate_consumes_receive",
          "the test shows true"),
         ("counts_nine_of_ten", "the counter leaves out each tenth write", "shm", "remote_counter_counts_writes",
          "plain_writes_counted 9"),
         ("message_overtakes_write", "a message arrives before the bytes of the write before it", "tcp",
          "order_send_after_write", "overtaken "),
         ("write_overtakes_write", "each second write waits for the next one", "shm", "order_write_after_write",
          "overtaken "),
         ("message_overtakes_message", "each third message waits for the next one", "tcp", "order_send_after_send",
          "overtaken "),
         ("flips_a_byte", "one bit of each hundredth large write changes", "shm", "order_write_after_write",
          "overtaken "),
         ("shows_the_last_byte_first", "the second half of a write arrives before the first", "tcp",
          "bytes_visible_in_order", "torn "),
         ("delivers_early", "a delivery-complete completion comes before the bytes", "tcp", "delivery_complete",
          "ended_before_delivery yes"),
         ("hides_refusals", "a refused write ends with success", "sockets", "refused_write", "the test shows hidden"),
         ("delivers_refused_writes", "a refused delivery-complete write ends with success", "tcp", "refused_write",
          "the test shows hidden"),
         ("tells_every_end", "an unsignalled operation gets a completion", "tcp", "selective_completion",
          "unsignalled_told 16"),
         ("writes_into_contexts", "a post overwrites 32 bytes of its context", "tcp", "context_bytes",
          "context_bytes_changed 32"),
         ("claims_atomics", "atomics are claimed, and each is refused", "tcp", "atomics", "the library claims provider",
          "atomics", "atomic_operations"),
         ("adds_wrongly", "an addition stores the operand", "sockets", "atomics", "the test shows none"),
         ("adds_wrongly_to_floats", "an addition to a float stores the operand", "shm", "atomic_operations",
          "wrong: add float"),
         ("swaps_always", "a compare-swap swaps though the values differ", "sockets", "atomics", "the test shows none"),
         ("grants_order_with_atomics", "send-after-write is granted with atomics, and not kept", "tcp_rxm",
          "atomics_cost_order", "the test shows false"),
         ("claims_manual_progress", "progress by the library's own threads is not claimed any more", "tcp",
          "data_progress", "this release claims polling"),
         ("wakes_nobody", "the descriptor of a queue is never signalled", "tcp", "completion_wait", "lost_wake_ups "),
         ("hides_deaths", "a killed peer is not reported", "tcp", "reports_killed_peer", "the test shows false"),
         ("forgets_hundred_peers", "the address vector gives back a hundred places, and no more", "tcp_rxm",
          "forgets_peers", "taken_out no"),
         ("takes_no_first_post", "the first posts to a sleeping peer are refused", "tcp", "connects_lazily",
          "the test shows true"),
         ("makes_its_own_keys", "a region gets another key than the requested one", "tcp", "key_owner",
          "the test shows provider"),
         ("claims_narrow_keys", "keys of 4 bytes are claimed instead of 8", "tcp", "key_bytes", "the test shows 4"),
         ("injects_later", "an injected buffer is read after the call", "tcp", "inject_bytes",
          "buffer_free_at_once no"),
         ("claims_more_pieces", "32 pieces of a message are claimed, and 4 are sent", "tcp", "gather_limit",
          "the test shows 0"),
         ("claims_more_places", "32 places of a write are claimed, and 4 are written", "tcp", "rma_gather_limit",
          "the test shows 0"),
         ("loses_late_entries", "a read of more than 4 entries of a queue of 8 loses the later ones", "tcp",
          "full_completion_queue", "the test shows loses"),
         ("takes_few_posts", "the queue takes a hundred posts", "tcp", "queue_depth", "posts_taken 100"),
         ("cuts_large_messages", "the last byte of a message above 1 MiB is lost", "tcp", "largest_message",
          "the test shows 0"),
         ("cuts_large_writes", "the last byte of a write above 1 MiB is lost", "tcp", "largest_write",
          "the test shows 0"),
         ("buffer_keeps_messages", "a multi-receive buffer loses each fiftieth message", "shm", "multi_receive",
          "messages 200, arrived 196"),
         ("claims_multi_receive", "multi-receive is claimed, and a buffer takes one message", "tcp", "multi_receive",
          "the library claims true"),
         ("pool_keeps_messages", "a pool of receives loses each seventh message", "tcp", "shared_receives",
          "messages 200, arrived 172")),
    *_of("fault",
         ("takes_a_key_twice", "a key that is in use is accepted for a second region", "tcp", "keys",
          "keys told same_key_twice accepted", "key_bytes"),
         ("names_no_immediate", "the entry of an immediate lacks FI_REMOTE_CQ_DATA", "shm", "write_immediate",
          "write_immediate told event_flags", "write_immediate_consumes_receive")),
    *_of("lost",
         ("loses_a_message", "each fiftieth message is lost", "tcp", "order_send_after_send",
          "send_after_send refused: messages of a burst at the target"),
         ("refuses_wide_keys", "keys above 4 bytes are refused, though 8 are claimed", "tcp", "key_bytes",
          "keys refused: fi_mr_reg at the target"),
         ("hangs", "the 200th post does not return", "tcp", "order_write_after_write", "write_after_write hung"),
         ("crashes", "the 200th post ends in a segmentation fault", "tcp", "order_write_after_write",
          "write_after_write crashed: the initiator ended by signal 11"),
         ("exits", "the 200th post ends the process with exit code 0", "tcp", "order_write_after_write",
          "write_after_write crashed: the initiator ended by itself with exit code 0")),
    *_of("unasked",
         ("crashes_when_asked", "a request for atomics ends in a segmentation fault", "tcp", "claims",
          "crashed: the asker ended by signal 11", "key_bytes"),
         ("hangs_when_asked", "a request for atomics does not return", "tcp", "claims",
          "hung: the asker did not end within", "key_bytes")),
    *_of("no",
         ("drops_one_in_100000", "one immediate of 100,000 does not arrive", "tcp", "write_immediate_bytes",
          "a probe posts some hundred; `./weft bench` and the soak programs post millions"),
         ("lies_after_a_minute", "each immediate is wrong after a minute", "tcp", "write_immediate_bytes",
          "a behaviour takes a second, in processes of its own"),
         ("lies_to_others", "immediates are wrong in every program but the probe", "tcp", "write_immediate_bytes",
          "the conformance suites are other programs, and find it")),
]


def page() -> str:
    """docs/reference/generated/lies.md."""
    lines = ["<!-- Written by tests/probe/lies.py: do not edit. After a change there: "
             "python3 -B -m tests.probe.lies -->",
             "# Which lies of a provider the probe finds", "",
             "A provider may claim what it does not do. Each line is a lie that a wrapped provider tells.",
             "`./weft probe` finds it by the cell or the behaviour that the line names.",
             "`tests/probe/test_lies.py` lets it tell each lie.", "",
             "| lie | what the provider does | over | found by | how |", "|---|---|---|---|---|"]
    lines += [f"| {lie.name} | {lie.does} | {lie.row} | `{lie.finds}` | {lie.way} |" for lie in LIES if lie.way != "no"]
    lines += ["", *(f"- **{way}**: {meaning}." for way, meaning in WAYS.items() if way != "no"), "",
              "A difference that a deadline explains counts if it is seen twice: machines are busy.",
              "Wrong bytes and ended processes count at once.", "", "## Lies that the probe cannot find", "",
              "| lie | what the provider does | why the probe does not find it |", "|---|---|---|"]
    lines += [f"| {lie.name} | {lie.does} | {lie.says} |" for lie in LIES if lie.way == "no"]
    lines += [f"| - | {does} | {why} |" for does, why in UNTOLD]
    return "\n".join([*lines, ""])


# What no test can tell on one host.
UNTOLD = [
    ("it behaves otherwise between two hosts", "the probe sees one host"),
    ("it loses posts behind a full queue", "cell `full_queue` has no behaviour; the conformance suites fill queues"),
    ("it is slow, or unfair between peers", "the probe measures no time, and has one peer"),
    ("it writes from an unregistered buffer, or into one", "cells `local_registration` and `region_endpoint_binding`: "
     "what a demanded registration prevents is undefined without it"),
]

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
