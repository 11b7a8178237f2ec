# SPDX-License-Identifier: Apache-2.0
"""A bench's result in a row: read, refused where it is wrong, chosen by the rules, and written by `weft bench --write`.
"""
from __future__ import annotations

import copy
import re
import shutil
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from generator.benching.decisions import decided_classes
from generator.benching.disagreeing import judge, ratio_of
from generator.benching.winners import write_winners
from generator.matrix.loader import Refused
from generator.matrix.model import Fabric, Matrix, Override, read_matrix
from generator.rules import Choice, Family, decide
from generator.why_not import follow_ups
from tests.generator.conftest import Run

ROOT = Path(__file__).resolve().parents[2]
TINY = (Path(__file__).parent / "cases" / "valid_tiny.yaml").read_text("utf-8")
ENTRY = """  measured:
    atomics:
      winner: target
      classes:
        small: {winner: target, than: provider, operation: fetch_add, times: "1.20", spread: ["1.10", "1.30"]}
      command: "./weft bench"
      machine: "a machine"
      library: "libfabric 1.17.0"
      date: "2026-11-21"
"""


def _row(tmp_path: Path, entry: str = ENTRY, **cells: str) -> Matrix:
    text = TINY.replace("  facts:\n", entry + "  facts:\n", 1)
    for name, value in cells.items():
        start = text.index(f"    {name}: {{is: ")
        text = text[:start] + f"    {name}: {{is: {value}, claimed: \"[c]\"}}" + text[text.index("\n", start):]
    (tmp_path / "m.yaml").write_text(text, "utf-8")
    return read_matrix(tmp_path / "m.yaml", "m.yaml")


def _choice(matrix: Matrix, families: tuple[Family, ...], family: str) -> Choice:
    fabric = matrix.fabrics[0]
    return next(each for each in decide(matrix, fabric, fabric.ranges[0], families) if each.family == family)


def test_the_measured_winner_is_taken_before_its_turn_and_says_so(tmp_path: Path, families: tuple[Family, ...]) -> None:
    choice = _choice(_row(tmp_path, atomics="provider"), families, "atomics")
    assert choice.answer == "target"
    assert ("measured: 2026-11-21 libfabric 1.17.0, a machine, ./weft bench: small: provider takes 1.20 times as long "
            "as target (1.10 to 1.30, fetch_add)") in choice.reason


def test_a_winner_that_programs_can_tell_apart_is_said_and_not_taken(tmp_path: Path,
                                                                     families: tuple[Family, ...]) -> None:
    entry = ENTRY.replace("atomics", "receive_buffers").replace("target", "multi_receive").replace("provider", "slots")
    choice = _choice(_row(tmp_path, entry, multi_receive="true"), families, "receive_buffers")
    assert choice.answer == "slots"
    assert "multi_receive was measured faster, and is for those who ask for it" in choice.reason


@pytest.mark.parametrize("old, new, sentence", [
    ("winner: target\n", "winner: provider\n",
     "m.yaml:8: tiny.measured.atomics: provider wins in no class: the winner is one of target"),
    ('["1.10", "1.30"]', '["1.01", "1.30"]', "m.yaml:10: tiny.measured.atomics.small: from 1.01 times on nobody won: "
                                             "less than 1.03 is noise; leave the class out"),
    ('["1.10", "1.30"]', '["1.25", "1.30"]',
     "m.yaml:10: tiny.measured.atomics.small: 1.20 does not lie between 1.25 and 1.30"),
    ('times: "1.20"', "times: 1.20", "1.20 is read as a fraction or an odd number"),
    ("than: provider", "than: target", "m.yaml:10: tiny.measured.atomics.small: target is compared with itself"),
    ("2026-11-21", "2026-11-31", "m.yaml:14: tiny.measured.atomics was measured on 2026-11-31, which is no day"),
    ("2026-11-21", "2099-11-21", "m.yaml:14: tiny.measured.atomics was measured on 2099-11-21, which is after today"),
    ("operation: fetch_add, ", "", "m.yaml:10: tiny.measured.atomics.classes.small lacks operation"),
    ("than: provider", "than: providers", "tiny.measured.atomics: atomics has no answer 'providers'; its answers are "
                                          "provider, target; did you mean 'provider'?"),
    ("    atomics:", "    atomic:", "tiny: measured is an unknown family 'atomic'; did you mean 'atomics'?"),
])
def test_a_wrong_entry_is_refused_with_its_line(tmp_path: Path, families: tuple[Family, ...], old: str, new: str,
                                                sentence: str) -> None:
    with pytest.raises(Refused) as refused:
        matrix = _row(tmp_path, ENTRY.replace(old, new, 1))
        decide(matrix, matrix.fabrics[0], matrix.fabrics[0].ranges[0], families)
    assert sentence in str(refused.value)


def test_a_winner_that_the_facts_forbid_is_refused(tmp_path: Path, families: tuple[Family, ...]) -> None:
    entry = ENTRY.replace("winner: target", "winner: provider").replace("than: provider", "than: target")
    with pytest.raises(Refused) as refused:
        _choice(_row(tmp_path, entry, atomics="none"), families, "atomics")
    assert ("m.yaml:8: tiny.measured.atomics: provider was measured fastest, and the facts forbid it: it needs atomics "
            "to be provider") in str(refused.value)


def test_what_an_answer_by_hand_makes_illegal_is_replaced(families: tuple[Family, ...]) -> None:
    matrix = read_matrix(ROOT / "providers.yaml", "providers.yaml")
    shm = matrix.fabric("shm")
    assert shm is not None
    follows = follow_ups(shm, shm.ranges[0], decide(matrix, shm, shm.ranges[0], families), families)
    assert follows["region_address::virtual_address"] == ("flush::tracked_writes",)


def test_an_answer_that_frees_one_that_the_rules_prefer_brings_it_along(families: tuple[Family, ...]) -> None:
    """Atomics of the provider cost verbs_rxm the order that a flush by message needs.
    
    A program that gives these atomics up gets that flush, as a header would.
    """
    row = read_matrix(ROOT / "providers.yaml", "providers.yaml").fabric("verbs_rxm")
    assert row is not None

    def following(fabric: Fabric) -> dict[str, tuple[str, ...]]:
        span = fabric.ranges[0]
        return follow_ups(fabric, span, decide(Matrix("m.yaml", (fabric,)), fabric, span, families), families)

    assert following(row)["atomics::target"] == ("flush::message_behind_writes",)
    by_hand = replace(row, override=Override({"flush": ("refused", 1)}, "a test"))
    assert "atomics::target" not in following(by_hand)


def _place(answer: str, baseline: bool, ratio: float, p10: float, p90: float) -> dict[str, Any]:
    return {"combination": {"region_address": answer}, "baseline": baseline, "ratio": ratio, "ratio_p10": p10,
            "ratio_p90": p90, "wins": False}


def _answer(*ranking: tuple[str, str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {"fabric": "shm", "varied": ["region_address"], "turns": 8, "date": "2026-11-21T02:00:00+00:00",
            "results": [],
            "machine": {"processor": 'An "odd" one', "cores": 2, "kernel": "Linux 6"},
            "versions": {"weft": "0", "library": "libfabric 1.17.0", "compiler": "c++"},
            "ranking": [{"class": sizes, "operation": operation,
                         "places": sorted(places, key=lambda each: float(each["ratio"]))}
                        for sizes, operation, places in ranking]}


OWN = _place("offset", True, 1, 1, 1)


def test_a_class_is_decided_beyond_noise_only_and_where_no_operation_says_otherwise() -> None:
    slower, faster, near = (_place("virtual_address", False, *each)
                            for each in ((5.8, 5.1, 6.2), (.5, .4, .625), (1.1, 1.0, 1.2)))
    found, undecided = decided_classes(_answer(("small", "put", [OWN, slower]), ("medium", "put", [OWN, near]),
                                               ("large", "put", [OWN, faster])), "region_address")
    assert [(each.sizes, each.winner, each.than, str(each.times), str(each.low), str(each.high)) for each in found] == [
        ("small", "offset", "virtual_address", "5.80", "5.10", "6.20"),
        ("large", "virtual_address", "offset", "2.00", "1.60", "2.50")]
    assert not undecided
    found, undecided = decided_classes(_answer(("small", "put", [OWN, slower]), ("small", "send", [OWN, faster])),
                                       "region_address")
    assert not found and undecided == ["small: not decided: put says offset; send says virtual_address"]


def test_winners_are_written_once_and_comments_stay(tmp_path: Path) -> None:
    path = tmp_path / "providers.yaml"
    shutil.copy(ROOT / "providers.yaml", path)
    before = path.read_text("utf-8")
    answer = _answer(("small", "put", [OWN, _place("virtual_address", False, 5.8, 5.1, 6.2)]))
    write_winners(answer, path)
    once = path.read_text("utf-8")
    row = read_matrix(path, "providers.yaml").fabric("shm")
    assert row is not None and str(row.measured["region_address"].classes[0].times) == "5.80"
    assert row.measured["region_address"].machine == "An 'odd' one, 2 cores, Linux 6"
    assert max(len(line) for line in once.splitlines()) <= 120
    assert [line for line in once.splitlines() if "#" in line] == [line for line in before.splitlines() if "#" in line]
    write_winners(answer, path)
    assert path.read_text("utf-8") == once
    again = copy.deepcopy(answer)
    again["ranking"][0]["places"][1]["ratio"] = 6.0
    write_winners(again, path)
    assert path.read_text("utf-8") == once.replace('"5.80"', '"6.00"')


def test_nothing_is_written_that_was_not_decided(tmp_path: Path) -> None:
    path = tmp_path / "providers.yaml"
    shutil.copy(ROOT / "providers.yaml", path)
    before = path.read_bytes()
    write_winners(_answer(("small", "put", [OWN, _place("virtual_address", False, 1.1, .9, 1.2)])), path)
    assert path.read_bytes() == before


def test_today_contradicts_only_where_the_winner_is_behind_beyond_noise(tmp_path: Path) -> None:
    measured = _row(tmp_path).fabrics[0].measured["atomics"]
    for figures, verdict in ((("1.15", "1.05", "1.25"), "agrees"), (("2.00", "1.80", "2.20"), "differs"),
                             (("0.99", "0.90", "1.08"), "differs"),
                             (("0.90", "0.80", "0.99"), "differs"), (("0.80", "0.70", "0.90"), "contradicts")):
        median, low, high = map(Decimal, figures)
        found = judge("tiny", measured, measured.classes[0], (median, low, high))
        assert found.verdict == verdict, figures
        today = f"1.20 times as long as target (1.10 to 1.30) on 2026-11-21, {median} times ({low} to {high}) today"
        assert today in found.sentence


def test_a_ratio_is_that_of_the_other_answer_to_the_winner() -> None:
    faster = _place("virtual_address", False, .5, .4, .8)
    assert ratio_of(OWN, faster) == (Decimal("2.00"), Decimal("1.25"), Decimal("2.50"))
    assert ratio_of(faster, OWN) == (Decimal("0.50"), Decimal("0.40"), Decimal("0.80"))
    assert ratio_of(None, OWN) is None


def _without_measurements(text: str, fabric: str) -> str:
    row = text.index(f"\n{fabric}:")
    begins = text.find("  measured:\n", row)
    facts = text.index("  facts:\n", row)
    return text if begins < 0 or begins > facts else text[:begins] + text[facts:]


@pytest.mark.parametrize("family, winner, than, operation, before", [
    # the row's own already: the figure is new
    ("region_address", "offset", "virtual_address", "put", "region_address=offset"),
    ("atomics", "target", "provider", "fetch_add", "atomics=provider"),
])
def test_a_run_becomes_a_row_and_then_a_header(tmp_path: Path, weft: Run, family: str, winner: str, than: str,
                                               operation: str, before: str) -> None:
    """The whole way of a winner, from the output of a run to the answers of compiled programs."""
    path, out = tmp_path / "providers.yaml", tmp_path / "out"
    path.write_text(_without_measurements((ROOT / "providers.yaml").read_text("utf-8"), "shm"), "utf-8")
    assert weft("generate", "--matrix", path, "--output", out).returncode == 0
    header = out / "generated" / "shm.hpp"
    plain = header.read_text("utf-8")
    assert before in plain and "measured:" not in plain
    own = before.split("=")[1]
    other = {winner, than}.difference({own}).pop()
    ratios = (2.5, 2.2, 2.8) if own == winner else (.4, .36, .45)
    places = [_place(own, True, 1, 1, 1), _place(other, False, *ratios)]
    for place in places:
        place["combination"] = {family: place["combination"]["region_address"]}
    answer = _answer(("small", operation, places))
    answer["varied"] = [family]
    write_winners(answer, path)
    assert weft("generate", "--matrix", path, "--output", out).returncode == 0
    made = header.read_text("utf-8")
    assert f"{family}={winner} " in made and f"{family}::{winner}," in made
    assert f"small: {than} takes 2.50 times as long as {winner} (" in re.sub(r"\n *// +", " ", made)


def test_a_measurement_that_is_todays_opposite_is_told_with_both_figures_and_what_to_do(tmp_path: Path) -> None:
    measured = _row(tmp_path).fabrics[0].measured["atomics"]
    found = judge("tiny", measured, measured.classes[0], (Decimal("0.40"), Decimal("0.36"), Decimal("0.45")))
    assert found.verdict == "contradicts"
    assert found.sentence.endswith("0.40 times (0.36 to 0.45) today: measure again here (./weft bench --fabric tiny "
                                   "--vary atomics --write)")
