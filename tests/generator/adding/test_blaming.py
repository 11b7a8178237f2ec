# SPDX-License-Identifier: Apache-2.0
"""Failed suites are mapped to the cells that they rest on, and what was only claimed gets its safe value."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from generator.adding.blaming import RESTS_ON, fewest, made_safe, rests_on, subject_of, suspects
from generator.adding.row import SAFE, NewCell
from generator.conforming.promises import read_promises
from generator.decided import Decided
from generator.matrix.facts import FACT, Value
from generator.rules import Family


def _cell(name: str, value: Value, level: str) -> NewCell:
    said = {"claimed": (f"claim of {name}", "", ""), "observed": ("", f"test of {name}", ""), "assumed": ("", "", "?")}
    return NewCell(name, value, *said[level], None)


def _suites(root: Path) -> set[str]:
    text = (root / "tests" / "conformance" / "CMakeLists.txt").read_text("utf-8")
    found = re.search(r"set\(weft_suites\n([^)]*)\)", text)
    assert found
    return {re.sub(r"_of_(peers|notices|writes)", "", suite) for suite in found[1].split()}


def test_every_suite_has_its_words_and_each_word_is_known(root: Path, families: tuple[Family, ...]) -> None:
    assert set(RESTS_ON) == _suites(root)
    words = frozenset().union(*RESTS_ON.values())
    assert sorted(words - set(FACT) - {family.name for family in families}) == []


def test_families_of_promises_are_among_the_words(root: Path, families: tuple[Family, ...]) -> None:
    """promises.yaml says by which families a promise applies, and which suites show it: these suites rest on them."""
    promises = read_promises(root / "tests" / "conformance" / "promises.yaml", "promises.yaml", families).promises
    assert promises
    for promise in promises:
        asked = {family for family in (*promise.applies, *promise.native) if family not in promise.asks}
        for test in promise.tests:
            suite = re.sub(r"_of_(peers|notices|writes)", "", test.split(".")[0])
            if suite in RESTS_ON and asked:
                assert asked & RESTS_ON[suite], f"{promise.name}: {suite} rests on none of {sorted(asked)}"


@pytest.mark.parametrize("fabric", ["tcp", "shm", "cxi", "opx", "gni", "ibverbs_iwarp"])
def test_each_cell_that_may_be_wrong_is_behind_some_suite(fabric: str, decided: dict[str, Decided]) -> None:
    row = decided[fabric]
    used = {cell.name for choice in row.choices[-1] for cell in choice.cells}
    reached = {name for suite in RESTS_ON for name in rests_on(f"conformance.{suite}.{fabric}", row)}
    assert sorted(used & set(SAFE) - reached) == []


def test_the_subject_of_a_test() -> None:
    assert subject_of("conformance.put_notify.net_rxm") == "put_notify"
    assert subject_of("odd") == "odd"


def test_only_claims_with_another_safe_value_are_suspects(decided: dict[str, Decided]) -> None:
    row = decided["shm"]
    cells = [_cell("multi_receive", True, "claimed"), _cell("shared_receives", True, "claimed"),
             _cell("selective_completion", True, "observed"), _cell("full_queue", "loses", "claimed"),
             _cell("key_bytes", 8, "claimed"), _cell("order_send_after_send", False, "assumed")]
    failed = ["conformance.multi_receive.shm", "conformance.messages.shm"]
    assert suspects(failed, row, cells) == {"multi_receive": ["conformance.multi_receive.shm"]}
    assert suspects(["conformance.unheard_of.shm"], row, cells) == {
        "multi_receive": ["conformance.unheard_of.shm"], "shared_receives": ["conformance.unheard_of.shm"]}
    assert suspects([], row, cells) == {}


def test_few_cells_explain_all_failures() -> None:
    assert fewest({"a": ["x"], "b": ["x", "y"], "c": ["y"]}) == {"b": ["x", "y"]}
    assert fewest({"a": ["x", "y"], "b": ["y", "x"], "c": ["z"], "d": ["z", "x"]}) == {
        "a": ["x", "y"], "b": ["y", "x"], "d": ["z", "x"]}
    assert fewest({"a": ["x", "y"], "c": ["z"]}) == {"a": ["x", "y"], "c": ["z"]}
    assert fewest({}) == {}


def test_answers_lead_to_their_cells(decided: dict[str, Decided]) -> None:
    assert {"write_immediate_bytes", "write_immediate_consumes_receive"} <= set(
        rests_on("conformance.put_notify.tcp", decided["tcp"]))
    assert {"remote_counter_counts_writes", "order_write_after_write"} <= set(
        rests_on("conformance.put_notify.cxi", decided["cxi"]))
    assert "remote_counter_counts_writes" not in rests_on("conformance.put_notify.tcp", decided["tcp"])


def test_a_safe_value_says_what_failed() -> None:
    cells = [_cell("multi_receive", True, "claimed"), _cell("key_bytes", 8, "observed")]
    safe = made_safe(cells, {"multi_receive": ["conformance.multi_receive.net", "conformance.messages.net"]})
    assert safe[1] is cells[1]
    assert (safe[0].value, safe[0].level) == (False, "assumed")
    assert safe[0].copied == ("true is claimed (claim of multi_receive), and with it failed: multi_receive, messages")
