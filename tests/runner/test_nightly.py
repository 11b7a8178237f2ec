# SPDX-License-Identifier: Apache-2.0
"""scripts/nightly on planted parts: each ends as it should, a second run continues, and the results are kept."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = """\
good: {what: passes, run: ["echo first >> ran.txt", "echo second >> ran.txt"]}
bad: {what: fails, run: ["false", "echo never >> ran.txt"]}
absent: {what: is skipped, run: ["exit 77"]}
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "nightly.yaml").write_text(PARTS)
    (tmp_path / "scripts" / "docs").write_text("#!/bin/sh\necho \"$@\" > asked.txt\n")
    (tmp_path / "scripts" / "docs").chmod(0o755)
    (tmp_path / ".gitignore").write_text("/build/\n*.txt\n/docs/\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=test", "-c", "user.email=test@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "parts"]):
        subprocess.run([*git, *words], check=True, capture_output=True, timeout=60)
    return tmp_path


def nightly(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "scripts" / "nightly", *words], capture_output=True, text=True, timeout=60,
                          check=False, cwd=tree, env={**os.environ, "WEFT_NIGHTLY_ROOT": str(tree)})


def test_each_part_ends_as_it_should_and_a_failure_fails_the_run(tree: Path) -> None:
    done = nightly(tree)
    assert done.returncode == 1
    ends = [line.split(" (")[0] for line in done.stdout.splitlines()]
    assert ends == ["good: passed", "bad: failed", "absent: skipped: the machine lacks something"]
    assert (tree / "ran.txt").read_text() == "first\nsecond\n"


def test_a_part_that_passed_at_this_commit_does_not_run_again(tree: Path) -> None:
    assert nightly(tree, "good").returncode == 0
    assert nightly(tree, "good").stdout == "good: passed at this commit before\n"
    assert nightly(tree, "good", "--fresh").returncode == 0
    assert (tree / "ran.txt").read_text() == "first\nsecond\n" * 2


def test_in_a_tree_with_changes_a_part_runs_again(tree: Path) -> None:
    for change in ("first", "second"):
        (tree / "changed").write_text(change)
        assert nightly(tree, "good").stdout.startswith("good: passed (")
    assert (tree / "ran.txt").read_text() == "first\nsecond\n" * 2


def test_a_full_disk_leaves_the_results_of_earlier_parts(tree: Path) -> None:
    state = tree / "build" / "nightly" / "state.json"
    state.parent.mkdir(parents=True)
    earlier = json.dumps({"gone": {"ended": "passed", "date": "", "took": "", "commit": "c" * 8000}})
    state.write_text(earlier)
    full = subprocess.run(["prlimit", "--fsize=4096", ROOT / "scripts" / "nightly", "good"], capture_output=True,
                          text=True, timeout=60, check=False, cwd=tree,
                          env={**os.environ, "WEFT_NIGHTLY_ROOT": str(tree)})
    assert "File too large" in full.stderr
    assert state.read_text() == earlier
    assert [each.name for each in sorted(state.parent.iterdir())] == ["good.txt", "state.json"]


def test_results_are_kept_with_their_date_and_parts_that_never_ran(tree: Path) -> None:
    assert nightly(tree, "good", "absent", "--write").returncode == 0
    kept = json.loads((tree / "docs" / "tables" / "nightly.json").read_text())
    assert list(kept) == ["good", "bad", "absent"]
    assert kept["good"]["ended"] == "passed"
    assert kept["good"]["date"]
    assert kept["bad"] == {"what": "fails", "ended": "", "date": "", "took": "", "commit": ""}
    assert (tree / "asked.txt").read_text() == "--pages\n"


def test_a_part_that_nobody_knows_is_refused(tree: Path) -> None:
    done = nightly(tree, "goad")
    assert done.returncode == 2
    assert "goad: no such part; there are good, bad, absent" in done.stderr


def test_the_list_runs_nothing(tree: Path) -> None:
    assert nightly(tree, "--list").stdout.splitlines()[0] == "good: passes (not run)"
    assert not (tree / "ran.txt").exists()
