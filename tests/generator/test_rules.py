# SPDX-License-Identifier: Apache-2.0
"""The rules: answers and reasons for small rows, and for the real matrix family by family."""
from __future__ import annotations

from pathlib import Path

import pytest

from generator import decided as rows
from generator.matrix.model import Fabric, Matrix, read_matrix
from generator.rules import Choice, Family, decide

TINY = (Path(__file__).parent / "cases" / "valid_tiny.yaml").read_text("utf-8")
POLICIES = Path(__file__).resolve().parents[2] / "policies"


def _tiny(tmp_path: Path, **cells: str) -> tuple[Matrix, Fabric]:
    text = TINY
    for name, value in cells.items():
        start = text.index(f"    {name}: {{is: ")
        text = text[:start] + f'    {name}: {{is: {value}, claimed: "[c]"}}' + text[text.index("\n", start) :]
    (tmp_path / "m.yaml").write_text(text, "utf-8")
    matrix = read_matrix(tmp_path / "m.yaml", "m.yaml")
    return matrix, matrix.fabrics[0]


def _answer(tmp_path: Path, families: tuple[Family, ...], family: str, **cells: str) -> Choice:
    matrix, fabric = _tiny(tmp_path, **cells)
    return next(choice for choice in decide(matrix, fabric, fabric.ranges[0], families) if choice.family == family)


@pytest.mark.parametrize(
    "family, cells, answer",
    [
        ("endpoint", {"endpoint_type": "addressed"}, "addressed"),
        ("bootstrap", {"address_resolution": "opaque"}, "exchange"),
        ("framing", {"send_immediate_bytes": "4", "gather_limit": "1"}, "immediate"),
        ("framing", {"send_immediate_bytes": "3", "gather_limit": "2"}, "header"),
        ("framing", {"send_immediate_bytes": "3", "gather_limit": "4", "bytes_visible_in_order": "true"}, "header"),
        ("region_address", {"virtual_addressing": "true"}, "virtual_address"),
        ("region_key", {"key_owner": "provider"}, "provider"),
        ("local_descriptor", {"local_registration": "true"}, "required"),
        ("region_binding", {"region_endpoint_binding": "true"}, "endpoint"),
        ("notify", {"write_immediate_bytes": "4"}, "immediate"),
        ("notify", {"write_immediate_consumes_receive": "true"}, "immediate_consumes_receive"),
        (
            "notify",
            {
                "write_immediate_bytes": "0",
                "remote_counter_counts_writes": "true",
                "order_write_after_write": "true",
                "order_send_after_write": "true",
            },
            "remote_counter",
        ),
        (
            "notify",
            {"write_immediate_bytes": "3", "remote_counter_counts_writes": "true", "order_send_after_write": "true"},
            "message_after_ordered_write",
        ),
        ("notify", {"write_immediate_bytes": "0"}, "message_after_delivery"),
        ("write_fault", {"refused_write": "silent"}, "delivery_confirmed"),
        ("write_fault", {"refused_write": "hidden"}, "undetected"),
        ("atomics", {"atomics": "provider"}, "provider"),
        ("atomics", {"atomics": "provider", "atomics_cost_order": "true"}, "provider"),
        (
            "atomics",
            {
                "atomics": "provider",
                "atomics_cost_order": "true",
                "write_immediate_bytes": "0",
                "order_send_after_write": "true",
            },
            "target",
        ),
        ("atomics", {"atomics": "none"}, "target"),
        ("progress", {"data_progress": "thread"}, "thread"),
        ("progress", {"data_progress": "hardware"}, "hardware"),
        ("wait", {"completion_wait": '"yield"'}, "yield"),
        ("wait", {"completion_wait": "none"}, "spin"),
        ("completion", {"selective_completion": "false"}, "every_operation"),
        ("liveness", {"reports_killed_peer": "true", "same_host": "true"}, "provider"),
        ("liveness", {"same_host": "true"}, "process"),
        ("liveness", {}, "heartbeat"),
    ],
)
def test_the_first_answer_whose_facts_hold_is_taken(
    tmp_path: Path, families: tuple[Family, ...], family: str, cells: dict[str, str], answer: str
) -> None:
    assert _answer(tmp_path, families, family, **cells).answer == answer


def test_a_reason_quotes_cell_value_and_evidence(tmp_path: Path, families: tuple[Family, ...]) -> None:
    assert _answer(tmp_path, families, "endpoint").reason == "tiny.endpoint_type is connected (claimed: c)"
    target = _answer(tmp_path, families, "atomics")
    assert target.reason == "tiny.atomics is none (claimed: c); the target's progress can execute them on any fabric"
    assert target.others == (("provider", "needs atomics to be provider, and tiny.atomics is none (claimed: c)"),)
    lost = _answer(
        tmp_path,
        families,
        "atomics",
        atomics="provider",
        atomics_cost_order="true",
        write_immediate_bytes="0",
        order_send_after_write="true",
    )
    assert "provider needs notify to be another than message_after_ordered_write" in lost.reason


def test_a_legal_override_is_taken_and_says_so(tmp_path: Path, families: tuple[Family, ...]) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(
        TINY.replace("  facts:\n", '  override: {notify: message_after_delivery, reason: "to try it"}\n  facts:\n'),
        "utf-8",
    )
    matrix = read_matrix(file, "m.yaml")
    choices = {
        choice.family: choice for choice in decide(matrix, matrix.fabrics[0], matrix.fabrics[0].ranges[0], families)
    }
    assert choices["notify"].answer == "message_after_delivery"
    assert choices["notify"].reason == "tiny.delivery_complete is true (claimed: c); chosen by hand: to try it"


def test_every_row_has_exactly_one_answer_per_family(
    decided: dict[str, rows.Decided], families: tuple[Family, ...]
) -> None:
    assert len(decided) >= 18
    for name, row in decided.items():
        for choices in row.choices:
            assert [choice.family for choice in choices] == [family.name for family in families], name


def test_every_answer_is_a_policy(families: tuple[Family, ...]) -> None:
    for family in families:
        (file,) = POLICIES.rglob(f"{family.name}.hpp")
        text = file.read_text("utf-8")
        for answer in family.answers:
            assert (
                f"struct {answer} " in text or f"struct {answer}\n" in text
            ), f"{file} has no {answer}"


# The answers of an ordinary machine's fabrics, and of the fabrics that made the families necessary. A change of these
# is a decision, not an accident.
@pytest.mark.parametrize(
    "fabric, family, answer",
    [
        ("tcp", "write_fault", "delivery_confirmed"),
        ("tcp", "atomics", "target"),
        ("tcp", "progress", "polling"),
        ("tcp", "liveness", "provider"),
        ("tcp_rxm", "atomics", "target"),
        ("tcp_rxm", "notify", "immediate"),
        ("sockets", "progress", "polling"),
        ("sockets", "write_fault", "reported"),
        ("shm", "bootstrap", "exchange"),
        ("shm", "wait", "yield"),
        ("shm", "region_address", "offset"),
        ("shm", "liveness", "process"),
        ("udp_rxd", "atomics", "target, provider since 2.5"),
        ("verbs", "notify", "immediate_consumes_receive"),
        ("verbs", "atomics", "target, provider since 2.2"),
        ("cxi", "notify", "remote_counter"),
        ("cxi", "region_binding", "endpoint"),
        ("opx", "notify", "message_after_delivery, immediate since 2.1"),
        ("efa", "region_address", "virtual_address"),
        ("ibverbs_iwarp", "framing", "header"),
        ("ibverbs_iwarp", "notify", "message_after_ordered_write"),
    ],
)
def test_known_answers(decided: dict[str, rows.Decided], fabric: str, family: str, answer: str) -> None:
    assert rows.answer_of(decided[fabric], family) == answer
