# SPDX-License-Identifier: Apache-2.0
"""From findings to a row: each cell has evidence, unseen facts get safe values, and the row reads back unchanged."""
from __future__ import annotations

from pathlib import Path

import pytest

from generator.adding.row import added, cells_of
from generator.matrix.facts import FACTS, UNLIMITED, Value
from generator.matrix.loader import Refused
from generator.matrix.model import Fabric, read_matrix
from generator.probing import CellFinding, Demands, Provenance
from generator.matrix.trust import level_of

DEMANDS = Demands(provider="made;up", endpoint_type="addressed", settings={"FI_MADE_UP": "1"})
MADE = Provenance(library="libfabric 1.17.0", api="1.17", kernel="6.1.0", device="lo", date="2026-11-20")
CLAIMED: dict[str, Value] = {
    "address_resolution": "socket",
    "virtual_addressing": False,
    "key_owner": "application",
    "key_bytes": 8,
    "local_registration": False,
    "region_endpoint_binding": False,
    "context_bytes": 0,
    "queue_depth": 256,
    "largest_message": UNLIMITED,
    "largest_write": UNLIMITED,
    "send_immediate_bytes": 8,
    "atomics": "provider",
    "delivery_complete": True,
}


def _found(**shown: Value) -> list[CellFinding]:
    return [
        CellFinding(
            name,
            CLAIMED.get(name),
            f"claim of {name}" if name in CLAIMED else "",
            shown.get(name),
            f"test of {name}",
            "it was not tried",
        )
        for name in {**CLAIMED, **shown}
    ]


def _row(tmp_path: Path, findings: list[CellFinding]) -> Fabric:
    path = tmp_path / "providers.yaml"
    text = added("", "made_up", cells_of(DEMANDS, findings), DEMANDS, MADE)
    assert max(len(line) for line in text.splitlines()) <= 120
    path.write_text(text, encoding="utf-8")
    fabric = read_matrix(path).fabric("made_up")
    assert fabric is not None
    return fabric


def test_a_row_reads_back_with_every_cell(tmp_path: Path) -> None:
    row = _row(tmp_path, _found(key_bytes=8, completion_wait="yield"))
    cells = row.ranges[0].cells
    assert list(cells) == [fact.name for fact in FACTS]
    assert str(row.since) == "1.17" and row.backend == "libfabric"
    assert [(each.name, each.value) for each in row.settings] == [("FI_MADE_UP", "1")]
    assert cells["provider"].value == "made;up" and cells["endpoint_type"].value == "addressed"
    assert cells["completion_wait"].value == "yield" and cells["largest_write"].value == UNLIMITED
    assert cells["key_bytes"].evidence.claimed == "libfabric 1.17.0: claim of key_bytes"
    seen = "2026-11-20 libfabric 1.17.0 (API 1.17) Linux 6.1.0 lo, weft probe: test of key_bytes"
    assert cells["key_bytes"].evidence.observed == seen


def test_what_was_seen_is_believed_before_what_is_claimed(tmp_path: Path) -> None:
    cell = _row(tmp_path, _found(atomics="none")).ranges[0].cells["atomics"]
    assert (cell.value, cell.claimed_value, level_of(cell.evidence)) == ("none", "provider", "observed")


def test_what_nobody_saw_is_assumed_to_be_the_weaker_thing(tmp_path: Path) -> None:
    cells = _row(tmp_path, _found()).ranges[0].cells
    weak: dict[str, Value] = {
        "order_send_after_write": False,
        "refused_write": "silent",
        "data_progress": "polling",
        "write_immediate_bytes": 0,
        "reports_killed_peer": False,
        "connects_lazily": True,
        "forgets_peers": False,
        "inject_bytes": 0,
    }
    for name, value in weak.items():
        assert (cells[name].value, level_of(cells[name].evidence)) == (value, "copied"), name


def test_a_cell_that_nobody_may_guess_refuses() -> None:
    with pytest.raises(
        Refused, match=r'provider "made;up": neither claimed nor shown is key_owner, key_bytes, and no value'
    ):
        cells_of(DEMANDS, [each for each in _found() if not each.cell.startswith("key_")])


def test_evidence_is_what_the_matrix_takes(tmp_path: Path) -> None:
    odd = CellFinding("key_bytes", 8, 'says "8"\n\\ and more', 8, "word " * 200)
    cell = _row(tmp_path, [each for each in _found() if each.cell != "key_bytes"] + [odd]).ranges[0].cells["key_bytes"]
    assert cell.evidence.claimed == "libfabric 1.17.0: says '8' / and more"
    assert cell.evidence.observed is not None
    assert len(cell.evidence.observed) <= 400 and cell.evidence.observed.endswith("word ...")


def test_a_row_without_atomics_lists_no_operations(tmp_path: Path) -> None:
    cells = _row(tmp_path, _found(atomics="none", atomic_operations="add: int64")).ranges[0].cells
    assert (cells["atomics"].value, cells["atomic_operations"].value) == ("none", "none")
    assert str(cells["atomic_operations"].evidence) == "copied: assumed, as the safe value: atomics is none"
