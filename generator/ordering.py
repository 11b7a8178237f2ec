# SPDX-License-Identifier: Apache-2.0
"""What is ordered with what on a fabric: the content of `weft explain FABRIC ordering`.

The same sentences as compose/ordering.hpp, whose constants programs read. A test compiles and compares them.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import click

from .decided import Decided
from .matrix.model import Range
from .report import show_table

NEVER = {
    "write_after_send": "messages wait until their target polls",
    "read_after_write": "no cell of a row says so: wait for the end of the first",
    "write_after_read": "no cell of a row says so: wait for the end of the first",
}
_ON_WRITES = ("immediate", "immediate_consumes_receive")
_BY_MESSAGE = ("message_after_ordered_write", "message_after_delivery")


@dataclass(frozen=True)
class Kept:
    """One order. `asked`: the row has it, and programs request it by type (ordered<F, order::...>)."""

    name: str
    holds: bool
    asked: bool
    because: str


def orders(fabric: str, span: Range, answers: Mapping[str, str]) -> tuple[Kept, ...]:
    """Every order of a range of a row, in the order of compose/ordering.hpp."""
    fact = {name: cell.value for name, cell in span.cells.items()}
    texts = {name: f"{fabric}.{name} is {cell.as_text} ({cell.evidence})" for name, cell in span.cells.items()
            if name.startswith("order_")}
    notify = answers["notify"]
    by_target = answers["atomics"] == "target"
    costs = fact["atomics_cost_order"] is True and not by_target
    pointers = fact["virtual_addressing_costs_order"] is True and answers["region_address"] == "virtual_address"
    fused = notify in _BY_MESSAGE and fact["fused_bytes"] != 0
    sends = fact["order_send_after_send"] is True
    behind_writes = fact["order_send_after_write"] is True
    of_writes = fact["order_write_after_write"] is True
    flushed = answers["flush"] == "message_behind_writes"
    watched = notify == "watched_word"
    on_sends = "flush is message_behind_writes" if flushed else ""
    if notify == "message_after_ordered_write":
        on_sends = f"notify is {notify}"
    on_writes = f"notify is {notify}" if notify == "remote_counter" or watched else ""
    send_after_write = behind_writes and on_sends != "" and not costs
    copied = f"payloads up to {fact['fused_bytes']} bytes travel in notices, which the target copies later"
    if watched:
        copied = "small payloads lie in the target's ring, and it copies them later"
    write_after_write = of_writes and on_writes != "" and not fused and not watched

    def provided(name: str, has: bool, relies: str) -> str:
        if not has:
            return texts[name]
        if not relies:
            return "the row has it, and no answer relies on it: it is not asked for"
        return f"{relies}, which relies on it"

    after_puts = send_after_write if notify in _BY_MESSAGE else of_writes if watched else write_after_write
    by_order = send_after_write and sends if notify == "message_after_ordered_write" else (
        write_after_write if notify in _ON_WRITES else False)
    after_notices = notify == "remote_counter" or (watched and int(fact["write_immediate_bytes"]) < 8) or by_order
    delivered = answers["write_fault"] == "delivery_confirmed"
    atomics = "the provider executes them: no cell of a row says so"
    if by_target:
        atomics = "the target executes them as messages"
    return (
        Kept("send_after_send", sends, False, texts["order_send_after_send"]),
        Kept("send_after_write", send_after_write, behind_writes and not costs and not pointers
             and not send_after_write,
             "asking for atomics takes it away" if behind_writes and costs
             else provided("order_send_after_write", behind_writes, on_sends)),
        Kept("write_after_write", write_after_write, of_writes and not fused and not watched and not pointers
             and not write_after_write,
             copied if of_writes and (fused or watched)
             else provided("order_write_after_write", of_writes, on_writes)),
        *(Kept(name, False, False, why) for name, why in NEVER.items()),
        Kept("atomic_after_atomic", by_target and sends, False, atomics),
        Kept("atomic_after_write", by_target and send_after_write, False, atomics),
        Kept("notice_after_its_bytes", True, False, "weft's promise on every fabric"),
        Kept("notice_after_puts", after_puts, False, f"notify is {notify}"
             + ("" if after_puts else ": count notices, do not trust the last one")),
        Kept("notice_after_notice", after_notices, False, f"notify is {notify}"),
        Kept("end_is_delivery", delivered, False, f"write_fault is {answers['write_fault']}"),
    )


def ordering_of(row: Decided) -> list[dict[str, str]]:
    """As `weft explain` answers a family: one entry per order; a later range only where it differs."""
    found: list[dict[str, str]] = []
    before: tuple[Kept, ...] = ()
    for span, choices in zip(row.fabric.ranges, row.choices):
        now = orders(row.fabric.name, span, {choice.family: choice.answer for choice in choices})
        found += [{"order": each.name, "since": str(span.since),
                   "answer": "yes" if each.holds else "if asked" if each.asked else "no",
                   "reason": each.because} for each in now if each not in before]
        before = now
    return found


def show_ordering(row: Decided, found: list[dict[str, str]]) -> None:
    """For people: B after A means that B, posted later to the same peer, is not seen before A is whole."""
    click.echo(f"{row.fabric.name}, ordering: what is ordered with what? \"B after A\": B, posted later to the same "
               "peer, is not seen before A is whole.")
    several = len(row.fabric.ranges) > 1
    show_table(("order", "kept", "because"),
               [(each["order"] + (f" (since {each['since']})" if several else ""), each["answer"], each["reason"])
                for each in found])
    if any(each["answer"] == "if asked" for each in found):
        click.echo(f"If asked: weft::ordered<weft::fabrics::{row.fabric.name}, weft::order::...> "
                   "(compose/ordering.hpp)")
