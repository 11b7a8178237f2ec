# SPDX-License-Identifier: Apache-2.0
"""scripts/faults reports each defect of a planted program, with the command that repeats it, and no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from judging import judge
from points import FROM, Call, WrongCall, numbers, points_of, read_calls
from processes import Ended, Report
from programs import Hello

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("WEFT_BUILD", ROOT / "build" / "clang"))
PLANTED = BUILD / "tests" / "faults" / "planted-failures"


def faults(work: Path, how: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Fails each malloc of the planted program: the second failure is treated as `how` says."""
    command = [sys.executable, "-B", str(ROOT / "scripts" / "faults"), "--build", str(BUILD), "--work", str(work),
               "--command", f"{PLANTED} {how}", "--only", "malloc", "--patience", "2", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def outcomes(work: Path) -> list[str]:
    lines = (work / "results.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["outcome"] for line in lines]


def test_a_program_that_treats_failures_well_passes(tmp_path: Path) -> None:
    done = faults(tmp_path, "right")
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcomes(tmp_path) == ["one error"] * 3


@pytest.mark.parametrize(("how", "outcome"), [
    ("crash", "crash"),
    ("abort", "crash"),
    ("hang", "hang"),
    ("leave", "left main"),
    ("child", "left"),
    ("shared", "left"),
    ("descriptor", "descriptors"),
    ("leak", "leak"),
    ("silent", "silent"),
    ("twice", "many sentences"),
    ("word", "no sentence"),
])
def test_each_wrong_treatment_is_reported(tmp_path: Path, how: str, outcome: str) -> None:
    done = faults(tmp_path, how)
    assert done.returncode == 1, done.stdout + done.stderr
    assert outcomes(tmp_path) == ["one error", outcome, "one error"]
    assert "--only malloc --at 2 --error ENOMEM" in done.stdout


def test_the_printed_command_repeats_the_failure(tmp_path: Path) -> None:
    first = faults(tmp_path, "silent")
    again = next(line for line in first.stdout.splitlines() if line.startswith("    again: "))
    words = again.removeprefix("    again: ") + f" --work {tmp_path / 'again'}"
    done = subprocess.run(words, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert outcomes(tmp_path / "again") == ["silent"]
    assert "planted-failures" in done.stdout.split("-- failed:")[1]  # its stack


def test_a_second_run_continues(tmp_path: Path) -> None:
    assert faults(tmp_path, "right", "--limit", "1").returncode == 0
    assert outcomes(tmp_path) == ["one error"]
    assert "1 with a result, 2 to run" in faults(tmp_path, "right").stdout
    assert len(outcomes(tmp_path)) == 3


def test_a_defect_of_an_earlier_run_still_fails(tmp_path: Path) -> None:
    assert faults(tmp_path, "silent").returncode == 1
    second = faults(tmp_path, "silent")
    assert second.returncode == 1 and "0 to run" in second.stdout


def test_killed_processes_leave_nothing(tmp_path: Path) -> None:
    done = faults(tmp_path, "right", "--kill")
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcomes(tmp_path) == ["killed"] * 3


def test_the_summary_counts_outcomes(tmp_path: Path) -> None:
    faults(tmp_path, "leak")
    summary = json.loads((tmp_path / "summary.json").read_text("utf-8"))
    assert summary["table"][0]["points"] == 3 and summary["table"][0]["good"] == 2
    assert [each["outcome"] for each in summary["failures"]] == ["leak"]


def test_results_of_a_changed_program_do_not_count(tmp_path: Path) -> None:
    faults(tmp_path, "leak")
    results = tmp_path / "results.jsonl"
    kept = [json.loads(line) | {"content": "other"} for line in results.read_text("utf-8").splitlines()]
    results.write_text("".join(json.dumps(each) + "\n" for each in kept))
    assert "0 with a result, 1 to run" in faults(tmp_path, "leak", "--limit", "1").stdout
    assert json.loads((tmp_path / "summary.json").read_text("utf-8"))["table"][0]["points"] == 1


def test_a_program_that_fails_alone_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-B", str(ROOT / "scripts" / "faults"), "--build", str(BUILD), "--work", str(tmp_path),
               "--command", "/bin/false"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "fails without a failing call" in done.stdout


def test_numbers_of_calls_that_poll_are_powers_of_two() -> None:
    assert list(numbers(9, polls=True, every=1)) == [1, 2, 4, 8]
    assert list(numbers(9, polls=False, every=4)) == [1, 5, 9]
    assert list(numbers(0, polls=True, every=1)) == []


def test_each_error_of_a_call_is_a_point() -> None:
    calls = {"socket": Call("socket", "kernel", ("EMFILE", "EACCES"), False)}
    points = points_of("hello", "tcp", "caller", FROM[0], {"socket": 2}, calls, every=1, kill=False)
    assert [(each.at, each.error) for each in points] == [(1, "EMFILE"), (1, "EACCES"), (2, "EMFILE"), (2, "EACCES")]
    killed = points_of("hello", "tcp", "caller", FROM[0], {"socket": 2}, calls, every=1, kill=True)
    assert [(each.at, each.kills) for each in killed] == [(1, True), (2, True)]


def test_a_call_without_errors_is_refused() -> None:
    with pytest.raises(WrongCall, match="unheard"):
        points_of("hello", "tcp", "caller", FROM[0], {"unheard": 1}, read_calls(), every=1, kill=False)


def ended(role: str, code: int | None, blocks: int = 0, err: str = "a sentence of words") -> Ended:
    out = "hello, world (7)\n" if role == "listener" else ""
    return Ended(role, code, out, err if code else "", Report("hello", blocks=["16 malloc 1"] * blocks), 1.0)


def outcome(*processes: Ended, fired: bool = True) -> str:
    return judge(Hello(BUILD), "caller", processes, fired, False, [], {}, []).outcome


def test_a_server_of_two_clients_keeps_more_than_one_of_one() -> None:
    assert outcome(ended("listener", 0, blocks=1), ended("caller", 0)) == "leak"
    served = (ended("caller", 1), ended("second caller", 0))
    assert outcome(ended("listener", 0, blocks=1), *served) == "one error"
    assert outcome(ended("listener", 0), ended("caller", 1, blocks=1), ended("second caller", 0)) == "leak"


def test_a_second_client_must_be_served_unless_the_server_ended() -> None:
    refused = (ended("caller", 1), ended("second caller", 1))
    assert outcome(ended("listener", 0), *refused) == "second caller"
    assert outcome(ended("listener", 1), *refused) == "one error"


def test_peers_are_judged_too() -> None:
    assert outcome(ended("listener", None), ended("caller", 1)) == "hang"
    assert outcome(ended("listener", -11), ended("caller", 1)) == "crash"
    assert outcome(ended("listener", 1, err=""), ended("caller", 1)) == "silent"
    assert outcome(ended("listener", 0), ended("caller", 0), fired=False) == "not reached"
