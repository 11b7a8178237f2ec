# SPDX-License-Identifier: Apache-2.0
"""Each check of `weft doctor` finds the fault that is planted for it, and is silent about a good machine."""
from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from generator.cli import weft as weft_command
from generator.doctoring import command, library
from generator.doctoring.command import examine
from generator.doctoring.fabrics import NEWEST, OLDEST
from generator.doctoring.library import Library, Offer, ask_library
from generator.doctoring.machine import MIB, NOTE, OK, PROBLEM, Finding, Machine
from generator.matrix.model import Version
from generator.schemas import all_schemas
from tests.generator.conftest import ROOT

GOOD_LIBRARY = Library("1.17", "/usr/lib/libfabric.so.1", (Offer("tcp", "connected", "lo"),), ("/usr/lib/libc.so.6",))
CARD = "/sys/class/infiniband/mlx5_0"
PORT = f"{CARD}/ports/1"
GROUP = "/sys/fs/cgroup/pod/app"


class Planted:
    """A good machine with a card, in a folder. A test spoils one thing."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.machine = Machine(root, {}, lambda: GOOD_LIBRARY, lambda _: (1024 * MIB, 900 * MIB))
        for name, text in {
            "/proc/self/status": "Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t1000 44\n"
                                 "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000",
            "/proc/self/limits": "Max locked memory         unlimited            unlimited            bytes",
            "/proc/self/cgroup": "0::/pod/app",
            "/proc/meminfo": "HugePages_Total:      64\nHugePages_Free:       60",
            "/proc/sys/kernel/yama/ptrace_scope": "0",
            f"{GROUP}/memory.max": "max", f"{GROUP}/pids.max": "max",
            f"{CARD}/node_type": "1: CA", f"{PORT}/state": "4: ACTIVE", f"{PORT}/link_layer": "Ethernet",
            f"{PORT}/gids/0": "fe80:0000:0000:0000:0000:0000:0000:0001", f"{PORT}/gid_attrs/types/0": "RoCE v2",
            f"{PORT}/gids/1": "0000:0000:0000:0000:0000:0000:0000:0000", f"{PORT}/gid_attrs/types/1": "RoCE v2",
            "/usr/lib/x86_64-linux-gnu/libibverbs.so.1": "", "/usr/lib/x86_64-linux-gnu/librdmacm.so.1": "",
            "/dev/infiniband/uverbs0": "", "/dev/infiniband/rdma_cm": "", "/dev/shm/x": "",
        }.items():
            self.write(name, text)
        for node in ("uverbs0", "rdma_cm"):
            self.path(f"/dev/infiniband/{node}").chmod(0o666)

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def write(self, name: str, text: str) -> None:
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(text + "\n", "utf-8")

    def edit(self, name: str, before: str, after: str) -> None:
        text = self.path(name).read_text("utf-8")
        assert before in text
        self.path(name).write_text(text.replace(before, after), "utf-8")

    def answers(self, **changed: object) -> None:
        told = replace(GOOD_LIBRARY, **changed)  # type: ignore[arg-type]
        self.machine = replace(self.machine, library=lambda: told)

    def remove(self, name: str) -> None:
        self.path(name).unlink()


def no_cards(at: Planted) -> None:
    at.root.joinpath("sys/class/infiniband").rename(at.root / "away")


def limit_of_memory(at: Planted) -> None:
    at.write(f"{GROUP}/memory.max", str(512 * MIB))
    at.write(f"{GROUP}/memory.current", str(400 * MIB))


def old_groups(at: Planted) -> None:
    """Version 1 of control groups, where the limit stands above the process's own group."""
    at.write("/proc/self/cgroup", "9:pids:/box/in\n4:cpu,memory:/box/in")
    at.write("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", str(128 * MIB))


def small_lock(at: Planted) -> None:
    at.edit("/proc/self/limits", "unlimited            unlimited", "8388608              8388608  ")


def lock_in_a_container(at: Planted) -> None:
    small_lock(at)
    at.edit("/proc/self/status", "CapBnd:\t0000000000000000", "CapBnd:\t0000000000004000")
    at.write("/.dockerenv", "")


# check, status, words of the sentence, words of the mend, how the fault is planted
FAULTS: list[tuple[str, str, str, str, Callable[[Planted], None]]] = [
    ("libfabric", PROBLEM, "no libfabric.so.1", "apt-get install libfabric1",
     lambda at: at.answers(version="", offers=(), why="the loader finds no libfabric.so.1")),
    ("libfabric", PROBLEM, "1.14 at /usr/lib/libfabric.so.1 is older than 1.15", "1.15 to 2.6",
     lambda at: at.answers(version="1.14")),
    ("libfabric", NOTE, "newer than 2.6", "check --live", lambda at: at.answers(version="2.10")),
    ("providers", PROBLEM, "no provider", "ip link set lo up", lambda at: at.answers(offers=())),
    ("providers", NOTE, 'FI_PROVIDER is set to "shm"', "Unset FI_PROVIDER",
     lambda at: setattr(at, "machine", replace(at.machine, environment={"FI_PROVIDER": "shm"}))),
    ("slow_start", NOTE, "/usr/lib/libinfinipath.so.4", "without psm",
     lambda at: at.answers(loads=("/usr/lib/libc.so.6", "/usr/lib/libinfinipath.so.4"))),
    ("rdma_core", PROBLEM, "librdmacm.so.1 is missing", "librdmacm1",
     lambda at: at.remove("/usr/lib/x86_64-linux-gnu/librdmacm.so.1")),
    ("devices", NOTE, "No RDMA device", "rdma link add", no_cards),
    ("devices", PROBLEM, "port 1 is 1: DOWN", "ip link set", lambda at: at.write(f"{PORT}/state", "1: DOWN")),
    ("permissions", PROBLEM, "User 1000 may not read and write /dev/infiniband/uverbs0", "udev",
     lambda at: at.path("/dev/infiniband/uverbs0").chmod(0o600)),
    ("permissions", PROBLEM, "rdma_cm is missing", "modprobe rdma_ucm",
     lambda at: at.remove("/dev/infiniband/rdma_cm")),
    ("permissions", PROBLEM, "no uverbs file", "--device /dev/infiniband",
     lambda at: at.remove("/dev/infiniband/uverbs0")),
    ("addresses", PROBLEM, "mlx5_0 port 1 has no GID of RoCE v2", "ip address add",
     lambda at: at.write(f"{PORT}/gid_attrs/types/0", "IB/RoCE v1")),
    ("locked_memory", PROBLEM, "The limit of locked memory is 8 MiB", "--ulimit memlock=-1", small_lock),
    ("ipc_lock", PROBLEM, "does nothing for user 1000", "Raise the limit", lock_in_a_container),
    ("huge_pages", NOTE, "No huge pages", "nr_hugepages", lambda at: at.write("/proc/meminfo", "HugePages_Total:   0")),
    ("huge_pages", NOTE, "All 64 huge pages are taken", "Reserve more",
     lambda at: at.edit("/proc/meminfo", "Free:       60", "Free:       0")),
    ("shared_memory", PROBLEM, "8 MiB free of 64 MiB", "weft clean",
     lambda at: setattr(at, "machine", replace(at.machine, space=lambda _: (64 * MIB, 8 * MIB)))),
    ("shared_memory", NOTE, "as containers give it", "--shm-size",
     lambda at: setattr(at, "machine", replace(at.machine, space=lambda _: (64 * MIB, 64 * MIB)))),
    ("shared_memory", PROBLEM, "/dev/shm is not there", "mount -t tmpfs",
     lambda at: setattr(at, "machine", replace(at.machine, space=lambda _: None))),
    ("memory_limit", PROBLEM, "may take 512 MiB of memory, and has taken 400 MiB", "--memory", limit_of_memory),
    ("memory_limit", PROBLEM, "may take 128 MiB", "--memory", old_groups),
    ("process_limit", PROBLEM, "may have 32 processes and threads", "--pids-limit",
     lambda at: at.write("/sys/fs/cgroup/pod/pids.max", "32")),
    ("ptrace", NOTE, "ptrace_scope is 1", "kernel.yama.ptrace_scope=0",
     lambda at: at.write("/proc/sys/kernel/yama/ptrace_scope", "1")),
]


def test_a_good_machine_has_no_finding_but_ok(tmp_path: Path) -> None:
    found = examine(Planted(tmp_path).machine)
    assert {each.status for each in found} == {OK}
    assert not any(each.mend for each in found)
    assert {each.check for each in found} == {each[0] for each in FAULTS} - {"ipc_lock"}


@pytest.mark.parametrize("check, status, says, mend, plant", FAULTS,
                         ids=[f"{each[0]}-{number}" for number, each in enumerate(FAULTS)])
def test_a_planted_fault_is_found(tmp_path: Path, check: str, status: str, says: str, mend: str,
                                  plant: Callable[[Planted], None]) -> None:
    at = Planted(tmp_path)
    plant(at)
    found = [each for each in examine(at.machine) if each.check == check and each.status != OK]
    assert [each.status for each in found] == [status]
    assert says in found[0].sentence and mend in found[0].mend
    assert found[0].sentence.endswith(".") and found[0].mend.endswith(".")


def test_a_locked_limit_is_no_problem_without_cards_and_none_for_root(tmp_path: Path) -> None:
    at = Planted(tmp_path)
    lock_in_a_container(at)
    no_cards(at)
    assert {each.status for each in examine(at.machine) if each.check in ("locked_memory", "ipc_lock")} == {NOTE}
    at.edit("/proc/self/status", "CapEff:\t0000000000000000", "CapEff:\t0000000000004000")
    at.edit("/proc/self/status", "Uid:\t1000\t1000", "Uid:\t0\t0")
    assert [each.status for each in examine(at.machine) if each.check in ("locked_memory", "ipc_lock")] == [OK]


@pytest.mark.parametrize("told", ["inactive_file {}", "inactive_file 1\ntotal_inactive_file {}"])
def test_pages_of_files_that_the_kernel_drops_are_not_memory_taken(tmp_path: Path, told: str) -> None:
    at = Planted(tmp_path)
    limit_of_memory(at)
    at.write(f"{GROUP}/memory.stat", told.format(300 * MIB))
    assert [(each.status, "has taken 100 MiB" in each.sentence) for each in examine(at.machine)
            if each.check == "memory_limit"] == [(OK, True)]


def test_a_group_that_the_user_has_opens_a_device(tmp_path: Path) -> None:
    at = Planted(tmp_path)
    node = at.path("/dev/infiniband/uverbs0")
    node.chmod(0o660)
    group = node.stat().st_gid
    at.edit("/proc/self/status", "1000 44", f"1000 {group}")
    assert at.machine.may_use("/dev/infiniband/uverbs0")
    at.edit("/proc/self/status", f"1000 {group}", "1000 99")
    at.edit("/proc/self/status", "Gid:\t1000\t1000", "Gid:\t1000\t98")
    if node.stat().st_uid != 1000:
        assert not at.machine.may_use("/dev/infiniband/uverbs0")


def test_the_observed_releases_are_those_of_the_tree() -> None:
    kept = [json.loads(path.read_text("utf-8"))["library"] for path in (ROOT / "docs/tables/releases").glob("*.json")]
    assert max(Version.of(".".join(each.split(".")[:2])) for each in kept).__str__() == str(NEWEST)
    assert f"libfabric {OLDEST} to 2.x" in (ROOT / "README.md").read_text("utf-8")


def test_exit_codes_and_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    for status, code in ((OK, 0), (NOTE, 0), (PROBLEM, 1)):
        monkeypatch.setattr(command, "examine", lambda _, told=status: [Finding("devices", told, "Said.", "Mend.")])
        assert CliRunner().invoke(weft_command, ("doctor",)).exit_code == code
        done = CliRunner().invoke(weft_command, ("doctor", "--format", "json"))
        assert done.exit_code == code
        answer = json.loads(done.output)
        jsonschema.Draft202012Validator(all_schemas()["doctor"]).validate(answer)
        assert answer["problems"] == code


def test_the_library_of_this_machine_answers_or_says_why_not() -> None:
    found = ask_library()
    assert bool(found.version) != bool(found.why)
    if found.version:
        assert Path(found.path).is_file() and found.path in found.loads
        assert {each.endpoint for each in found.offers} <= {"connected", "datagram", "addressed", "other"}
        assert "tcp" in found.providers()


def test_a_library_that_hangs_or_ends_the_process_costs_a_sentence(tmp_path: Path,
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nexit 3\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(library.sys, "executable", str(program))
    assert "ended the process that asked it (code 3)" in ask_library().why
    program.write_text("#!/bin/sh\nexit 0\n", "utf-8")
    assert "ended the process that asked it (code 0)" in ask_library().why
    program.write_text("#!/bin/sh\nexec sleep 60\n", "utf-8")
    monkeypatch.setattr(library, "SECONDS", 0.2)
    assert "did not answer" in ask_library().why


def test_what_a_provider_prints_is_not_taken_for_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "python"
    program.write_text(f"""#!/bin/sh\nprintf 'half a line'\n{sys.executable} "$@"\necho 'goodbye'\n""", "utf-8")
    program.chmod(0o755)
    before = ask_library()
    monkeypatch.setattr(library.sys, "executable", str(program))
    assert ask_library() == before


def test_a_file_that_is_no_library_costs_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libfabric.so.1").write_text("no library", "utf-8")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert "the loader finds no libfabric.so.1 (" in ask_library().why
