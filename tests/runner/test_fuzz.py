# SPDX-License-Identifier: Apache-2.0
"""scripts/fuzz on planted programs: counts go on, a crash fails the run and says how to repeat it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What libFuzzer prints, as far as the script reads it.
CALM = """#!/bin/sh
echo "$@" >> "$0.arguments"
echo '#2 INITED cov: 11 ft: 12 corp: 1/1b exec/s: 0 rss: 26Mb' >&2
echo '#8 NEW    cov: 14 ft: 20 corp: 2/3b exec/s: 0 rss: 26Mb' >&2
echo 'stat::number_of_executed_units: 400' >&2
"""
CRASHING = """#!/bin/sh
echo 'weft fuzz: this property does not hold: an operation ends once' >&2
echo 'Test unit written to /somewhere/crash-1' >&2
echo 'stat::number_of_executed_units: 7' >&2
exit 77
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    programs = tmp_path / "build" / "fuzz" / "fuzz"
    programs.mkdir(parents=True)
    (programs / "targets.txt").write_text("calm\nhostile_peer_bad\n")
    for name, text in (("calm", CALM), ("hostile_peer_bad", CRASHING)):
        (programs / f"fuzz.{name}").write_text(text)
        (programs / f"fuzz.{name}").chmod(0o755)
    (tmp_path / "fuzz" / "dictionaries").mkdir(parents=True)
    (tmp_path / "fuzz" / "dictionaries" / "calm.dict").write_text('"weft"\n')
    return tmp_path


def fuzz(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "scripts" / "fuzz", "--no-build", *words], capture_output=True, text=True, timeout=60,
                          check=False, cwd=tree, env={**os.environ, "WEFT_FUZZ_ROOT": str(tree)})


def test_executions_add_up_over_slices_and_runs(tree: Path) -> None:
    done = fuzz(tree, "calm", "--runs", "1000")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("calm: ended: 1,200 of 1,000 executions, ")
    assert done.stdout.splitlines()[-1].endswith("14 edges, 0 crashes")
    arguments = (tree / "build" / "fuzz" / "fuzz" / "fuzz.calm.arguments").read_text().splitlines()
    assert [next(word for word in line.split() if word.startswith("-runs=")) for line in arguments] == [
        "-runs=1000", "-runs=600", "-runs=200"]
    assert all("calm.dict" in line for line in arguments)
    again = fuzz(tree, "calm", "--runs", "1000")
    assert "calm: ended: 1,200 of 1,000" in again.stdout, "a target that has enough executions runs no more"
    assert len((tree / "build" / "fuzz" / "fuzz" / "fuzz.calm.arguments").read_text().splitlines()) == 3
    assert "1,200 of 1,000" in fuzz(tree, "calm", "--runs", "1000", "--fresh").stdout
    assert len((tree / "build" / "fuzz" / "fuzz" / "fuzz.calm.arguments").read_text().splitlines()) == 6


def test_runs_side_by_side_keep_the_counts_of_each_other(tree: Path) -> None:
    """The slow target begins first and ends last: its state at the beginning lacks the other target."""
    programs = tree / "build" / "fuzz" / "fuzz"
    (programs / "targets.txt").write_text("calm\nslow\n")
    slow = programs / "fuzz.slow"
    waits = 'touch "$0.began"; while [ ! -e "$0.go" ]; do sleep 0.05; done'
    slow.write_text(CALM.replace('echo "$@" >> "$0.arguments"', waits))
    slow.chmod(0o755)
    first = subprocess.Popen([ROOT / "scripts" / "fuzz", "--no-build", "slow", "--runs", "400"], cwd=tree,
                             env={**os.environ, "WEFT_FUZZ_ROOT": str(tree)}, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while not (programs / "fuzz.slow.began").exists():
            assert first.poll() is None and time.monotonic() < end
            time.sleep(0.02)
        assert fuzz(tree, "calm", "--runs", "400").returncode == 0
    finally:
        (programs / "fuzz.slow.go").touch()
        assert first.wait(timeout=60) == 0
    state = json.loads((tree / "build" / "fuzz" / "state.json").read_text())
    assert {name: each["executions"] for name, each in state.items()} == {"calm": 400, "slow": 400}


def test_a_changed_program_is_counted_from_zero(tree: Path) -> None:
    assert fuzz(tree, "calm", "--runs", "400").returncode == 0
    program = tree / "build" / "fuzz" / "fuzz" / "fuzz.calm"
    program.write_text(CALM + "# changed\n")
    assert "400 of 400" in fuzz(tree, "calm", "--runs", "400").stdout
    assert len(Path(f"{program}.arguments").read_text().splitlines()) == 2


def test_a_crash_fails_the_run_and_says_how_to_repeat_it(tree: Path) -> None:
    done = fuzz(tree, "hostile_peers", "--seconds", "1")
    assert done.returncode == 1
    assert "hostile_peer_bad: CRASH: weft fuzz: this property does not hold: an operation ends once" in done.stdout
    program = tree / "build" / "fuzz" / "fuzz" / "fuzz.hostile_peer_bad"
    assert f"hostile_peer_bad: repeat: {program} /somewhere/crash-1" in done.stdout
    assert "an operation ends once" in (tree / "build" / "fuzz" / "crashes" / "hostile_peer_bad.txt").read_text()


def test_a_crash_of_one_target_does_not_stop_the_others(tree: Path) -> None:
    done = fuzz(tree, "hostile_peer_bad", "calm", "--runs", "400")
    assert done.returncode == 1
    assert "calm: ended: 400 of 400" in done.stdout
    assert json.loads((tree / "build" / "fuzz" / "state.json").read_text())["calm"]["edges"] == 14


def test_an_unknown_target_is_named(tree: Path) -> None:
    done = fuzz(tree, "clam")
    assert done.returncode == 2
    assert "clam: no such target; there are calm, hostile_peer_bad" in done.stderr
