# SPDX-License-Identifier: Apache-2.0
"""scripts/cluster: the example of a job on several nodes, and what stays of a cluster. Run by scripts/nightly.

WEFT_EVERYONE_GREETS: the program, by its whole path.
"""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "invocation"))

from nodes.cluster_managers import reason_to_leave_out  # noqa: E402

PROGRAM = os.environ["WEFT_EVERYONE_GREETS"]
SECONDS = 180


def cluster(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "scripts" / "cluster", *words], capture_output=True, text=True, timeout=SECONDS,
                          check=False, cwd=ROOT,
                          env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})


def commands_of(program: str) -> list[str]:
    """Commands of this machine that run the program."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes().split(b"\0")
        except OSError:
            continue
        if os.path.basename(words[0].decode(errors="replace")) == program:
            found.append(str(each))
    return found


@pytest.mark.parametrize(("command", "reason", "ranks"), [
    (("srun", "--mpi=none", "-N4", "-n4"), "a step of Slurm: rank 0 of 4", 4),
    (("srun", "--mpi=none", "-N2", "-n2"), "a step of Slurm: rank 0 of 2", 2),
    (("srun", "--mpi=none", "-N4", "-n64"), "a step of Slurm: rank 0 of 64", 64),
    (("srun", "--mpi=pmix", "-N4", "-n64"), "PMIX_NAMESPACE and PMIX_RANK are set: PMIx ", 64),
    (("salloc", "-N4", "-n64", "mpirun"), "PMIX_NAMESPACE and PMIX_RANK are set: PMIx ", 64),
])
def test_a_job_on_four_nodes(command: tuple[str, ...], reason: str, ranks: int) -> None:
    done = cluster("--nodes", "4", "--slots", "16", "--", *command, PROGRAM)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(reason)
    assert done.stdout.endswith(f": heard {ranks - 1} ranks\n")


def test_a_job_under_weft_run_on_nodes() -> None:
    done = cluster("--nodes", "2", "--", "sh", "-c",
                   f"./weft run -n 4 --no-prefix --hosts n1,n2 --ssh $WEFT_CLUSTER_SSH -- {PROGRAM}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("WEFT_RANK is set: rank 0 of 4, store at 10.7.0.11:")
    assert done.stdout.endswith(": heard 3 ranks\n")


def test_a_job_in_etcd_on_nodes() -> None:
    done = cluster("--nodes", "2", "--etcd", "--", "sh", "-c",
                   f"WEFT_STORE=$WEFT_CLUSTER_ETCD/jobs srun --mpi=none -N2 -n4 {PROGRAM}")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "a step of Slurm: rank 0 of 4, store at etcd://10.7.0.1:2379/jobs: heard 3 ranks\n"
    assert not commands_of("etcd")


def test_the_exit_code_is_that_of_the_command_and_nothing_stays() -> None:
    assert cluster("--nodes", "1", "--", "sh", "-c", "exit 5").returncode == 5
    assert not commands_of("slurmctld") + commands_of("slurmd") + commands_of("munged")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_ends_the_cluster(number: int, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    command = subprocess.Popen([ROOT / "scripts" / "cluster", "--nodes", "2", "--", "sh", "-c",
                                f"touch {ready}; sleep 1000"], start_new_session=True)
    try:
        end = time.monotonic() + SECONDS
        while not ready.exists() and command.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        assert ready.exists()
        command.send_signal(number)
        assert command.wait(SECONDS) != 0
        while commands_of("slurmctld") + commands_of("slurmd") + commands_of("munged"):
            assert time.monotonic() < end, "daemons stay"
            time.sleep(0.05)
    finally:
        command.kill()


@pytest.mark.parametrize(("words", "sentence"), [
    (("--nodes", "0", "--", "true"), '--nodes is "0"; it must be 1 to 64'),
    (("--nodes", "many", "--", "true"), '--nodes is "many"; it must be 1 to 64'),
    (("--nodes", "08", "--", "true"), '--nodes is "08"; it must be 1 to 64'),
    (("--nodes", "2"), "no command"),
    (("--etcd", "--", "demo"), "--etcd is of no use to the command demo"),
    (("--speed", "2", "--", "true"), '"--speed" is no option'),
])
def test_nonsense_is_refused(words: tuple[str, ...], sentence: str) -> None:
    done = cluster(*words)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_the_demo_says_why_it_kills_no_manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = tmp_path / "manager"
    manager.write_text("#!/bin/sh\necho 'manager: this program was built without etcd: install it' >&2\nexit 2\n")
    manager.chmod(0o755)
    (tmp_path / "etcd").write_text("#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "etcd is not installed" in reason_to_leave_out(manager)
    (tmp_path / "etcd").chmod(0o755)
    assert reason_to_leave_out(manager) == "manager: this program was built without etcd: install it"
    manager.write_text("#!/bin/sh\necho 'manager: no such place' >&2\nexit 2\n")
    assert not reason_to_leave_out(manager)


def test_without_root_it_says_so() -> None:
    done = subprocess.run(["setpriv", "--reuid", "nobody", "--clear-groups",
                           ROOT / "scripts" / "cluster", "--", "true"],
                          capture_output=True, text=True, timeout=SECONDS, check=False, cwd="/")
    assert done.returncode == 77
    assert "this needs root" in done.stderr
