# SPDX-License-Identifier: Apache-2.0
"""`weft list`: a row works where the library offers its provider with its endpoints, and says why it does not."""
from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from generator.cli import weft
from generator.doctoring.library import Library, Offer
from generator.doctoring.machine import Machine
from generator.listing import command
from generator.listing.judging import Listed, listed
from generator.matrix.model import read_matrix
from generator.schemas import all_schemas
from tests.generator.conftest import ROOT

ROWS = read_matrix(ROOT / "providers.yaml").fabrics
LIBRARY = Library("2.2", "/lib/libfabric.so.1", (
    Offer("tcp", "connected", "lo", "127.0.0.0/8"), Offer("tcp", "connected", "eth0", "10.0.0.0/8"),
    Offer("tcp", "datagram", "odd", "x"), Offer("efa", "addressed", "rdmap0", "efa"),
    Offer("verbs", "addressed", "mlx5_0", "IB")))


def judged(machine: Machine, library: Library) -> dict[str, Listed]:
    return {each.fabric: each for each in listed(ROWS, machine, library)}


def test_rows_work_where_their_provider_has_their_endpoints(tmp_path: Path) -> None:
    found = judged(Machine(tmp_path, {}), LIBRARY)
    assert list(found) == [each.name for each in ROWS]
    assert found["tcp"] == Listed("tcp", "libfabric", True, ("lo", "eth0"))
    assert found["tcp_rdm"].why == "provider tcp offers no addressed endpoint here"
    assert found["verbs"].why == "provider verbs offers no connected endpoint here"
    assert found["efa"].devices == ("rdmap0",)
    assert found["efa_direct"].why == "libfabric 2.2 has no provider efa here, or no device for it"
    assert found["gni"].why == "the row describes libfabric from 1.15 to before 1.21, and 2.2 is here"
    assert found["mapped"].works and found["loopback"].works
    old = judged(Machine(tmp_path, {}), replace(LIBRARY, version="1.17"))
    assert old["tcp_rdm"].why == "the row describes libfabric from 1.18 on, and 1.17 is here"
    hidden = judged(Machine(tmp_path, {"FI_PROVIDER": "tcp"}), LIBRARY)
    assert hidden["shm"].why == 'FI_PROVIDER is "tcp" and hides others'


def test_cards_are_told_apart_by_their_kind(tmp_path: Path) -> None:
    for name, kind in (("rxe0", "1: CA"), ("siw0", "4: RNIC")):
        (tmp_path / "sys/class/infiniband" / name).mkdir(parents=True)
        (tmp_path / "sys/class/infiniband" / name / "node_type").write_text(kind + "\n", "utf-8")
    found = judged(Machine(tmp_path, {}), LIBRARY)
    assert (found["ibverbs_roce"].devices, found["ibverbs_iwarp"].devices) == (("rxe0",), ("siw0",))
    none = judged(Machine(tmp_path / "away", {}), LIBRARY)
    assert none["ibverbs_iwarp"].why == "no iWARP device in /sys/class/infiniband"


def test_numa_nodes_that_the_system_knows_stand_beside_their_devices(tmp_path: Path) -> None:
    for name, node in (("net/eth0", "1"), ("net/lo", "-1"), ("infiniband/rdmap0", "0")):
        (tmp_path / "sys/class" / name / "device").mkdir(parents=True)
        (tmp_path / "sys/class" / name / "device/numa_node").write_text(node + "\n", "utf-8")
    efa = Offer("efa", "addressed", "rdmap0-rdm", "efa")
    found = judged(Machine(tmp_path, {}), replace(LIBRARY, offers=(*LIBRARY.offers, efa)))
    assert found["tcp"].numa_nodes == {"eth0": 1}
    assert found["tcp"].described() == ["lo", "eth0 (NUMA node 1)"]
    assert found["efa"].numa_nodes == {"rdmap0": 0, "rdmap0-rdm": 0}


@pytest.mark.parametrize("library, code", [(LIBRARY, 0), (Library(why="the loader finds no libfabric.so.1"), 1)])
def test_without_libfabric_other_fabrics_are_still_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                          library: Library, code: int) -> None:
    monkeypatch.setattr(command, "Machine", lambda: Machine(tmp_path, {}, lambda: library))
    done = CliRunner(mix_stderr=False).invoke(weft, ("list", "--format", "json"))
    assert done.exit_code == code
    answer = json.loads(done.stdout)
    jsonschema.Draft202012Validator(all_schemas()["list"]).validate(answer)
    works = {each["fabric"] for each in answer["fabrics"] if each["works"]}
    without = {"mapped", "kernel_tcp", "loopback"}
    assert works == (without if code else {"tcp", "efa", *without})
    assert bool(done.stderr) == bool(code)
    if code:
        assert "the loader finds no libfabric.so.1 [WEFT-O001]" in done.stderr
        assert "no libfabric.so.1" in CliRunner().invoke(weft, ("list",)).output
