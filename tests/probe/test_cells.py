# SPDX-License-Identifier: Apache-2.0
"""Findings to cells: every cell is read, recorded rows agree, and a changed finding changes its cell."""
from __future__ import annotations

from dataclasses import replace

import pytest
from recorded_findings import recorded

from generator.matrix.facts import FACTS
from generator.matrix.model import Matrix
from generator.probing import CellFinding
from generator.probing.cells import READINGS
from generator.probing.compare import compare, range_for
from generator.probing.running import read_cells
from generator.probing.seen import Seen

RECORDED = "1.17"  # the release of libfabric under which the findings were recorded
FABRICS = ("tcp", "tcp_rxm", "sockets", "shm", "udp_rxd")


def cell(seen: Seen, name: str) -> CellFinding:
    return read_cells(seen, [name])[0]


def changed(seen: Seen, behaviour: str, **facts: object) -> Seen:
    """The same findings, except some facts of one behaviour."""
    before = seen.findings[behaviour]
    return Seen({**seen.findings, behaviour: replace(before, facts={**before.facts, **facts})})


def ended(seen: Seen, behaviour: str, how: str) -> Seen:
    return Seen(
        {**seen.findings, behaviour: replace(seen.findings[behaviour], ended=how, facts={}, why="a test says so")}
    )


def test_every_cell_is_read_in_the_order_of_the_facts() -> None:
    assert [reading.cell for reading in READINGS] == [fact.name for fact in FACTS]


@pytest.mark.parametrize("fabric", FABRICS)
def test_recorded_findings_agree_with_the_row(fabric: str, matrix: Matrix) -> None:
    row = matrix.fabric(fabric)
    assert row is not None
    span = range_for(row, RECORDED)
    assert span is not None
    assert [each.sentence for each in compare(fabric, span.cells, read_cells(recorded(fabric))) if each.wrong] == []


@pytest.mark.parametrize(
    ("fabric", "name", "claimed", "shown"),
    [
        ("tcp", "remote_counter_counts_writes", True, False),
        ("tcp", "data_progress", "thread", "polling"),
        ("tcp_rxm", "data_progress", "thread", "polling"),
        ("udp_rxd", "atomics", "provider", "none"),
        ("sockets", "completion_wait", "descriptor", "yield"),
        ("shm", "queue_depth", 1024, 512),
    ],
)
def test_claims_that_behaviour_refutes(fabric: str, name: str, claimed: object, shown: object) -> None:
    found = cell(recorded(fabric), name)
    assert (found.claimed, found.shown, found.value, found.differs) == (claimed, shown, shown, True)


@pytest.mark.parametrize(
    ("name", "behaviour", "facts", "value"),
    [
        ("connects_lazily", "first_post", {"taken_while_target_slept": False}, True),
        ("address_formats", "formats", {"met": [2]}, "in"),
        ("own_node_path", "own_node", {"files_of_shared_memory": 1}, "shared_memory"),
        ("full_completion_queue", "small_queue", {"taken_unread": 8, "ended": 8}, "refuses"),
        ("full_completion_queue", "small_queue", {"ended": 95}, "loses"),
        ("virtual_addressing", "addressing", {"returned_form_landed": False, "other_form_landed": True}, True),
        ("key_owner", "keys", {"requested_key_used": False}, "provider"),
        ("key_bytes", "keys", {"widest_key_bytes": 4}, 4),
        ("write_immediate_bytes", "write_immediate", {"bytes": 4}, 4),
        ("write_immediate_bytes", "write_immediate", {"events": 2}, 0),
        ("write_immediate_bytes", "write_immediate", {"values_right": False}, 0),
        ("write_immediate_bytes", "many_write_immediates", {"arrived": 511}, 0),
        ("write_immediate_bytes", "many_write_immediates", {"wrong": 1}, 0),
        ("write_immediate_bytes", "many_write_immediates", {"doubled": 1}, 0),
        ("write_immediate_bytes", "many_write_immediates", {"early": 1}, 0),
        ("send_immediate_bytes", "many_send_immediates", {"arrived": 511}, 0),
        ("bytes_visible_in_order", "last_byte", {"torn": 1}, False),
        ("shared_receives", "shared_receives", {"arrived": 199}, False),
        ("shared_receives", "shared_receives", {"wrong": 1}, False),
        ("shared_receives", "shared_receives", {"immediates_arrived": 39}, False),
        ("write_immediate_consumes_receive", "write_immediate", {"receives_used_up": 4}, True),
        ("send_immediate_bytes", "send_immediate", {"bytes": 0}, 0),
        ("remote_counter_counts_writes", "counter", {"plain_writes_counted": 100}, True),
        ("order_send_after_write", "send_after_write", {"overtaken": 1}, False),
        ("order_write_after_write", "write_after_write", {"overtaken": 7}, False),
        ("order_send_after_send", "send_after_send", {"overtaken": 2}, False),
        ("delivery_complete", "delivery", {"ended_before_delivery": True}, False),
        # an access out of range is still reported as a success
        ("refused_write", "wrong_key", {"plain": "error"}, "silent"),
        ("refused_write", "out_of_range", {"delivered": "success"}, "hidden"),
        ("selective_completion", "completions", {"unsignalled_told": 16}, False),
        (
            "data_progress",
            "progress",
            {"small_landed_while_asleep": True, "large_landed_while_asleep": True},
            "hardware",
        ),
        ("completion_wait", "waiting", {"lost_wake_ups": 1}, "yield"),
        ("reports_killed_peer", "killed_peer", {"waiter_learned": False}, False),
        ("context_bytes", "completions", {"context_bytes_changed": 40}, 64),
        ("inject_bytes", "inject", {"buffer_free_at_once": False}, 0),
        ("gather_limit", "gather", {"message_pieces": 2}, 2),
        ("rma_gather_limit", "gather", {"write_places": 1}, 1),
        ("queue_depth", "full_queue", {"posts_taken": 17}, 17),
        ("largest_message", "largest", {"message_bytes": 0}, 0),
        ("largest_write", "largest", {"write_bytes": 0}, 0),
    ],
)
def test_a_finding_that_changes_changes_its_cell(
    name: str, behaviour: str, facts: dict[str, object], value: object, matrix: Matrix
) -> None:
    seen = changed(recorded("tcp"), behaviour, **facts)
    assert cell(seen, name).value == value
    row = matrix.fabric("tcp")
    assert row is not None
    wrong = [each for each in compare("tcp", row.ranges[0].cells, read_cells(seen)) if each.wrong]
    agrees = row.ranges[0].cells[name].value == value
    assert [each.cell.name for each in wrong] == ([] if agrees else [name])
    assert agrees or f"tcp.{name} is " in wrong[0].sentence


def test_a_format_that_nobody_could_try_is_not_shown() -> None:
    found = cell(changed(recorded("tcp"), "formats", met=[2], has_ipv6=False), "address_formats")
    assert (found.claimed, found.shown) == ("in in6", None)


@pytest.mark.parametrize(("events", "right", "shown"), [(4, True, "FI_A_B=1"), (4, False, None), (0, True, None)])
def test_a_setting_is_shown_where_writes_carry_immediates_with_it_alone(events: int, right: bool,
                                                                        shown: str | None) -> None:
    """Like cxi of libfabric 2.5: without the setting a write with an immediate is refused."""
    seen = changed(recorded("tcp"), "claims", immediate_setting="FI_A_B=1")
    with_it = replace(seen.findings["write_immediate"], facts={"events": events, "values_right": right})
    seen = Seen({**ended(seen, "write_immediate", "refused").findings, "write_immediate@setting": with_it})
    assert cell(seen, "write_immediate_setting").shown == shown


def test_atomics_that_are_listed_and_refused_are_none() -> None:
    """Like a provider of libfabric 1.17: it grants FI_ATOMIC, and each atomic ends in FI_ENOSYS."""
    seen = changed(
        recorded("sockets"),
        "atomics",
        fetch_add="FI_ENOSYS",
        compare_swap="FI_ENOSYS",
        right=[],
        wrong=["fetch_add uint64: FI_ENOSYS"],
    )
    found = cell(changed(seen, "first_atomic", first="FI_ENOSYS", all=None), "atomics")
    assert (found.claimed, found.value, found.differs) == ("provider", "none", True)
    assert "FI_ENOSYS" in found.test


@pytest.mark.parametrize("how", ["crashed", "hung", "missing", "refused"])
def test_a_behaviour_that_is_lost_costs_its_cells_and_no_other(how: str, matrix: Matrix) -> None:
    row = matrix.fabric("tcp")
    assert row is not None
    judged = compare("tcp", row.ranges[0].cells, read_cells(ended(recorded("tcp"), "gather", how)))
    assert {each.cell.name for each in judged if each.unseen} == {"gather_limit", "rma_gather_limit"}
    assert {each.cell.name for each in judged if each.verdict == "not shown"} == {
        "same_host",
        "fused_bytes",
        "extended_posting",
        "split_queues",
        "thread_levels",
        "full_queue",
    }
    assert not any(each.wrong for each in judged)
    lost = next(each for each in judged if each.cell.name == "gather_limit")
    assert f"gather {how}: a test says so" in lost.sentence and lost.verdict == "lost"


@pytest.mark.parametrize(
    ("fabric", "name", "behaviour", "facts", "value"),
    [
        ("shm", "multi_receive", "multi_receive", {"arrived": 199}, False),
        ("shm", "multi_receive", "multi_receive", {"buffers_returned": 0}, False),
        ("shm", "virtual_addressing_optional", "addressing@pointers", {"returned_form_landed": False}, False),
        ("shm", "atomics_cost_order", "send_after_write@atomics", {"promised": False}, True),
        ("shm", "atomics_cost_order", "send_after_write@atomics", {"overtaken": 3}, True),
        ("tcp_rxm", "atomics_cost_order", "send_after_write@atomics", {"promised": True}, False),
    ],
)
def test_a_finding_under_another_request_changes_its_cell(
    fabric: str, name: str, behaviour: str, facts: dict[str, object], value: object, matrix: Matrix
) -> None:
    row = matrix.fabric(fabric)
    span = range_for(row, RECORDED) if row is not None else None
    assert span is not None and span.cells[name].value is not value
    seen = changed(recorded(fabric), behaviour, **facts)
    assert cell(seen, name).value is value
    assert [each.cell.name for each in compare(fabric, span.cells, read_cells(seen)) if each.wrong] == [name]


def test_bytes_that_were_never_torn_leave_the_row_as_it_is(matrix: Matrix) -> None:
    found = cell(recorded("sockets"), "bytes_visible_in_order")
    assert found.shown is True
    row = matrix.fabric("sockets")
    assert row is not None and row.ranges[0].cells["bytes_visible_in_order"].value is False
    assert not compare("sockets", row.ranges[0].cells, [found])[0].wrong


def test_a_cell_says_what_is_claimed_under_other_requests() -> None:
    assert cell(recorded("tcp_rxm"), "order_send_after_write").elsewhere == (("atomics", False),)
    assert cell(recorded("shm"), "order_write_after_write").elsewhere == (("pointers", False),)
    assert cell(recorded("tcp"), "order_send_after_write").elsewhere == ()


def test_no_overtaking_proves_nothing_where_nothing_is_promised() -> None:
    found = cell(changed(recorded("tcp"), "claims", send_after_write=False), "order_send_after_write")
    assert (found.claimed, found.shown, found.value) == (False, None, False)
    assert "proves nothing" in found.why_not


def test_a_completion_that_nobody_promised_to_be_delivery_proves_nothing() -> None:
    """Devices accept FI_DELIVERY_COMPLETE without offering it, and this time the bytes are there in time."""
    found = cell(changed(recorded("tcp"), "claims", delivery_complete=False), "delivery_complete")
    assert (found.claimed, found.shown, found.value) == (False, None, False)


@pytest.mark.parametrize(("further", "wrong"), [(-1, False), (0, False), (1, True)])
def test_a_bound_holds_where_the_library_goes_as_far(further: int, wrong: bool, matrix: Matrix) -> None:
    row = matrix.fabric("tcp")
    assert row is not None
    span = range_for(row, RECORDED)
    assert span is not None
    finding = cell(recorded("tcp"), "inject_bytes")
    assert isinstance(finding.value, int)
    said = {"inject_bytes": replace(span.cells["inject_bytes"], value=finding.value + further)}
    assert [each.wrong for each in compare("tcp", said, [finding])] == [wrong]
