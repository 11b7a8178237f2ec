# SPDX-License-Identifier: Apache-2.0
"""The example of a job under each launcher of this machine; and starts that must end with a sentence and 2.

WEFT_EVERYONE_GREETS: the program. WEFT_OTHER_PMIX: the folder with other libraries of PMIx.
"""
from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import etcd_process
import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ["WEFT_EVERYONE_GREETS"]
OTHER_PMIX = Path(os.environ["WEFT_OTHER_PMIX"])
SECONDS = 100
NOTHING = {key: value for key, value in os.environ.items()
           if not key.startswith(("WEFT_", "PMIX_", "SLURM_", "OMPI_", "RANK", "WORLD_SIZE", "MASTER_"))}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def together(ranks: list[dict[str, str]]) -> list[tuple[int, str, str]]:
    """Runs a process for each set of variables: exit code, output, errors."""
    started = [subprocess.Popen([PROGRAM], env={**NOTHING, **variables}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True) for variables in ranks]
    try:
        return [(each.wait(SECONDS), *each.communicate(timeout=SECONDS)) for each in started]
    finally:
        for each in started:
            each.kill()


def refused(**variables: str) -> str:
    """The sentence of a process that must end with 2."""
    ((code, output, errors),) = together([variables])
    assert (code, output) == (2, ""), errors
    assert errors.count("\n") == 1
    return errors


@pytest.mark.parametrize("ranks", [2, 64])
def test_weft_run(ranks: int) -> None:
    done = subprocess.run([ROOT / "weft", "run", "-n", str(ranks), "--no-prefix", "--", PROGRAM], text=True,
                          capture_output=True, timeout=SECONDS, check=False, env=NOTHING)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"WEFT_RANK is set: rank 0 of {ranks}, store at 127.0.0.1:")
    assert done.stdout.endswith(f": heard {ranks - 1} ranks\n")


def test_a_folder_as_the_store(tmp_path: Path) -> None:
    done = subprocess.run([ROOT / "weft", "run", "-n", "3", "--store", f"file:{tmp_path}", "--", PROGRAM], text=True,
                          capture_output=True, timeout=SECONDS, check=False, env={**NOTHING, "WEFT_HOST": "127.0.0.1"})
    assert done.returncode == 0, done.stderr
    assert f"rank 0 of 3, store in {tmp_path}: heard 2 ranks" in done.stdout
    assert not list(tmp_path.iterdir())


def test_etcd_as_the_store() -> None:
    if etcd_process.missing():
        pytest.skip(etcd_process.missing())
    with etcd_process.etcd() as where:
        store = f"etcd://{where}/tests"
        done = subprocess.run([ROOT / "weft", "run", "-n", "5", "--store", store, "--", PROGRAM], text=True,
                              capture_output=True, timeout=SECONDS, check=False, env=NOTHING)
        assert done.returncode == 0, done.stderr
        assert f"rank 0 of 5, store at {store}: heard 4 ranks" in done.stdout
        place = {"WEFT_SIZE": "2", "WEFT_STORE": store, "WEFT_JOB": "twice", "WEFT_TIMEOUT": "5"}
        ranks = together([{**place, "WEFT_RANK": rank} for rank in ("1", "1", "0")])
        assert sorted(code for code, _, _ in ranks) == [0, 0, 2], ranks
        assert any("two processes have rank 1 of the job twice" in errors for _, _, errors in ranks)
        assert f"rank 0 did not come to the job alone in etcd at {where} in 1 s" in refused(
            **{**place, "WEFT_RANK": "1", "WEFT_JOB": "alone", "WEFT_TIMEOUT": "1"})
    assert f"no etcd answers at {where} (Connection refused)" in refused(**{**place, "WEFT_RANK": "0",
                                                                           "WEFT_TIMEOUT": "1"})


@pytest.mark.parametrize("ranks", [2, 64])
def test_mpirun(ranks: int) -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is not installed (Debian: openmpi-bin)")
    done = subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks), PROGRAM], text=True, capture_output=True,
                          timeout=SECONDS, check=False,
                          env={**NOTHING, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("PMIX_NAMESPACE and PMIX_RANK are set: PMIx ")
    assert done.stdout.endswith(f": heard {ranks - 1} ranks\n")


@pytest.mark.parametrize("ranks", [2, 64])
def test_the_variables_of_torchrun(ranks: int) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):  # torchrun's own store holds this port
        done = together([{"RANK": str(rank), "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
                          "MASTER_PORT": str(port)} for rank in range(ranks)])
    assert [code for code, _, _ in done] == [0] * ranks, done
    assert done[0][1].startswith(f"torchrun's RANK, WORLD_SIZE and MASTER_ADDR are set: rank 0 of {ranks}, store at")
    assert done[0][1].endswith(f": heard {ranks - 1} ranks\n")


def test_the_variables_of_a_step_of_slurm() -> None:
    done = together([{"SLURM_PROCID": str(rank), "SLURM_STEP_NUM_TASKS": "3", "SLURM_JOB_ID": str(os.getpid()),
                      "SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "localhost"} for rank in range(3)])
    assert [code for code, _, _ in done] == [0] * 3, done
    assert done[0][1].startswith("a step of Slurm: rank 0 of 3, store at")
    assert done[0][1].endswith(": heard 2 ranks\n")


def test_two_ranks_with_one_number() -> None:
    place = {"WEFT_SIZE": "2", "WEFT_STORE": f"127.0.0.1:{free_port()}", "WEFT_TIMEOUT": "5"}
    done = together([{**place, "WEFT_RANK": rank} for rank in ("1", "1", "0")])
    assert sorted(code for code, _, _ in done) == [0, 0, 2], done


def test_starts_that_make_no_sense() -> None:
    place = {"WEFT_RANK": "0", "WEFT_SIZE": "2", "WEFT_STORE": f"127.0.0.1:{free_port()}", "WEFT_TIMEOUT": "1"}
    assert "this program needs 2 ranks, and the job has 1 (no launcher" in refused()
    assert 'WEFT_SIZE is "0": the size of a job is a number from 1' in refused(**{**place, "WEFT_SIZE": "0"})
    assert 'WEFT_RANK is "2": a rank of a job of 2' in refused(**{**place, "WEFT_RANK": "2"})
    assert "no store answers at 127.0.0.1:" in refused(**{**place, "WEFT_RANK": "1"})
    assert "PMIx server does not answer" in refused(PMIX_NAMESPACE="1", PMIX_RANK="0")


@pytest.mark.parametrize(("folder", "sentence"), [
    ("pmix_old", "libpmix is too old: version 2.1.4, and weft needs 3.0 or later"),
    ("pmix_lacking", "libpmix 4.9.9 lacks a call that weft needs"),
])
def test_other_libraries_of_pmix(folder: str, sentence: str) -> None:
    assert sentence in refused(PMIX_NAMESPACE="1", PMIX_RANK="0", LD_LIBRARY_PATH=str(OTHER_PMIX / folder))
