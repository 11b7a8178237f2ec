# SPDX-License-Identifier: Apache-2.0
"""The probe fails closed: every fact is judged, a lost behaviour shows nothing, and a claim is of one release."""
from __future__ import annotations

from dataclasses import replace

import pytest
from recorded_findings import recorded
from test_cells import FABRICS, cell, changed, ended

from generator.matrix.facts import FACT
from generator.matrix.loader import Problem, Refused
from generator.matrix.model import Fabric, Matrix, Version
from generator.probing.cells import READINGS
from generator.probing.compare import Verdict, compare, range_for
from generator.probing.findings import Demands, Finding
from generator.probing.judging import FACTS_OF, faults
from generator.probing.rows import answered, certain
from generator.probing.running import read_cells
from generator.probing.seen import Seen


def judged(matrix: Matrix, fabric: str, seen: Seen, name: str) -> Verdict:
    row = matrix.fabric(fabric)
    assert row is not None
    span = range_for(row, "1.17")
    assert span is not None
    return compare(fabric, span.cells, read_cells(seen, [name]))[0]


@pytest.mark.parametrize("fabric", FABRICS)
def test_what_was_recorded_has_no_fault(fabric: str) -> None:
    assert faults(recorded(fabric)) == []


def test_each_fact_of_the_list_is_judged_by_something() -> None:
    for behaviour, facts in FACTS_OF.items():
        for name, each in facts.items():
            assert bool(each.cells or each.rule) != bool(each.why), f"{behaviour}.{name}"
            assert set(each.cells) <= set(FACT), f"{behaviour}.{name}"


def test_each_behaviour_of_a_cell_is_in_the_list() -> None:
    assert {name.split("@")[0] for reading in READINGS for name in reading.behaviours} == set(FACTS_OF)


def test_a_fact_that_nobody_judges_is_a_fault() -> None:
    assert [each.sentence for each in faults(changed(recorded("tcp"), "gather", colour="red"))] == [
        "gather told colour red, and nobody judges it: generator/probing/judging.py"
    ]


def test_a_fact_that_is_missing_is_a_fault() -> None:
    seen = recorded("tcp")
    gather = seen.findings["gather"]
    less = Seen({**seen.findings, "gather": replace(gather, facts={"message_pieces": 4})})
    assert [each.sentence for each in faults(less)] == ["gather ended well, and did not tell write_places"]


@pytest.mark.parametrize(
    ("fabric", "behaviour", "facts"),
    [
        ("tcp", "meeting", {"met": False}),
        ("tcp", "meeting", {"fabric": "another"}),
        ("tcp", "first_post", {"said": "FI_EIO"}),
        ("tcp", "first_post", {"ended_once_target_polled": False}),
        ("tcp", "keys", {"same_key_twice": "accepted"}),
        ("tcp", "write_immediate", {"event_context": "other"}),
        ("tcp", "write_immediate", {"event_length": 7}),
        ("tcp", "write_immediate", {"event_flags": "FI_REMOTE_WRITE"}),
        ("tcp", "counter", {"immediate_writes_counted": 99}),
        ("shm", "counter", {"immediate_writes_counted": 0}),
        ("tcp", "send_after_write", {"pairs": 479}),
        ("tcp", "send_after_write", {"promised": False}),
        ("tcp", "last_byte", {"writes": 399}),
        ("tcp", "completions", {"signalled_told": 2}),
        ("shm", "atomics", {"granted": False}),
        ("tcp", "progress", {"landed_once_polled": False}),
        ("tcp", "killed_peer", {"post_afterwards": "success"}),
        ("tcp", "inject", {"arrived": 11}),
        ("tcp", "full_queue", {"all_ended": False}),
        ("tcp", "full_queue", {"depth": 7}),
        ("tcp", "full_queue", {"said": "FI_EIO"}),
    ],
)
def test_a_fact_that_breaks_its_rule_is_a_fault(fabric: str, behaviour: str, facts: dict[str, object]) -> None:
    found = faults(changed(recorded(fabric), behaviour, **facts))
    assert [each.behaviour for each in found] == [behaviour]
    assert f"{behaviour} told {next(iter(facts))} " in found[0].sentence


def test_another_request_that_was_not_answered_is_a_fault() -> None:
    found = faults(ended(recorded("shm"), "claims@atomics", "crashed"))
    assert [each.behaviour for each in found] == ["claims@atomics"]


@pytest.mark.parametrize("how", ["crashed", "hung", "missing", "refused"])
def test_what_a_lost_behaviour_told_proves_nothing(how: str, matrix: Matrix) -> None:
    seen = recorded("tcp")
    lost = Seen({**seen.findings, "keys": replace(seen.findings["keys"], ended=how, why="a test says so")})
    assert cell(lost, "key_bytes").shown is None
    assert judged(matrix, "tcp", lost, "key_bytes").verdict == "lost"


def test_an_observed_cell_that_is_not_shown_any_more_is_unseen(matrix: Matrix) -> None:
    seen = changed(recorded("tcp"), "keys", widest_key_landed=False)
    verdict = judged(matrix, "tcp", seen, "key_bytes")
    assert (verdict.verdict, verdict.unseen) == ("not shown any more", True)
    assert "was observed, and is not shown any more" in verdict.sentence


def test_a_cell_that_this_library_cannot_show_is_not_missed(matrix: Matrix) -> None:
    """A provider that makes the keys shows no width, as its claim says."""
    seen = changed(changed(recorded("tcp"), "claims", needs_provider_keys=True), "keys", requested_key_used=False)
    assert judged(matrix, "tcp", seen, "key_bytes").verdict == "claim agrees"


def test_a_claimed_value_that_is_not_claimed_any_more_is_wrong(matrix: Matrix) -> None:
    verdict = judged(matrix, "tcp", changed(recorded("tcp"), "claims", progress_if_automatic="manual"), "data_progress")
    assert (verdict.verdict, verdict.wrong) == ("claim changed", True)
    assert "this release claims polling" in verdict.sentence


def test_a_claimed_value_that_is_kept_now_is_wrong(matrix: Matrix) -> None:
    verdict = judged(matrix, "shm", changed(recorded("shm"), "full_queue", posts_taken=1024), "queue_depth")
    assert (verdict.verdict, verdict.wrong) == ("claim changed", True)
    assert "this release keeps that claim" in verdict.sentence


def test_a_claim_that_has_ended_is_judged_no_more(matrix: Matrix) -> None:
    """tcp_rxm does not claim progress of its own from 1.18 on; a release that claims it again is marked again."""
    row = matrix.fabric("tcp_rxm")
    assert row is not None and str(row.ranges[0].cells["data_progress"].claimed_until) == "1.18"
    ended_claim = read_cells(changed(recorded("tcp_rxm"), "claims", progress_if_automatic="manual"), ["data_progress"])
    made_claim = read_cells(recorded("tcp_rxm"), ["data_progress"])
    verdicts = [
        compare("tcp_rxm", row.ranges[0].cells, found, release)[0].verdict
        for release in ("1.17", "1.18", "2.1")
        for found in (made_claim, ended_claim)
    ]
    assert verdicts == ["agrees", "claim changed", *["not marked", "agrees"] * 2]


def test_a_busy_machine_explains_a_deadline_and_no_wrong_bytes() -> None:
    seen = recorded("tcp")
    assert not certain(seen.findings["many_write_immediates"])
    assert not certain(changed(seen, "many_write_immediates", arrived=500).findings["many_write_immediates"])
    assert certain(changed(seen, "many_write_immediates", wrong=1).findings["many_write_immediates"])
    assert not certain(ended(seen, "gather", "hung").findings["gather"])
    assert certain(ended(seen, "gather", "crashed").findings["gather"])


def _renamed(matrix: Matrix, since: str) -> Fabric:
    """tcp, with another provider's name before this release."""
    row = matrix.fabric("tcp")
    assert row is not None
    first = row.ranges[0]
    earlier = replace(first, until=Version.of(since),
                      cells={**first.cells, "provider": replace(first.cells["provider"], value="old_name")})
    return replace(row, ranges=(earlier, replace(first, since=Version.of(since))))


@pytest.mark.parametrize(("since", "release", "provider"), [("1.16", "1.17", "tcp"), ("2.0", "1.17", "old_name")])
@pytest.mark.parametrize("has_both", [False, True])
def test_a_row_whose_provider_was_renamed_is_asked_by_the_name_of_its_release(
        matrix: Matrix, since: str, release: str, provider: str, has_both: bool) -> None:
    names: list[str] = []

    def ask(demands: Demands) -> Seen:
        names.append(demands.provider)
        if demands.provider != provider and not has_both:
            raise Refused([Problem("providers.yaml", 1, f"no provider {demands.provider}")])
        return Seen({"claims": Finding("claims", "shown", {"library": release}, "", 0.0)})

    demands, seen = answered(_renamed(matrix, since), "127.0.0.1", 10, ask)
    assert demands.provider == provider == names[-1] and seen.claim("library") == release
    assert len(names) == (1 if provider == "tcp" else 2)


def test_a_row_whose_provider_is_absent_is_refused_as_the_latest_range_is(matrix: Matrix) -> None:
    def ask(demands: Demands) -> Seen:
        raise Refused([Problem("providers.yaml", 1, f"no provider {demands.provider}")])

    with pytest.raises(Refused) as refused:
        answered(_renamed(matrix, "2.0"), "127.0.0.1", 10, ask)
    assert refused.value.problems[0].sentence == "no provider tcp"
