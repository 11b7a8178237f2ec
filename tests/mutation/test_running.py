# SPDX-License-Identifier: Apache-2.0
"""A campaign over a planted tree: each verdict, and a second run that continues."""

from __future__ import annotations

import subprocess
from pathlib import Path

import command
import pytest
import results
from mutants import Mutant
from running import KILLED, LATE, SURVIVED, UNBUILT, UNSTEADY, Runner
from state import Kept, State, content_of
from tree import Copy

PRESETS = '{"version": 6, "configurePresets": [{"name": "clang", "binaryDir": "${sourceDir}/build/clang"}]}'
LISTS = """project(planted NONE)
cmake_minimum_required(VERSION 3.25)
enable_testing()
add_custom_target(text COMMAND sh -c "! grep -q broken ../../text.txt")
add_test(NAME text COMMAND sh -c "grep -q right ../../text.txt || (echo '[  FAILED  ] text.is_right'; false)")
"""
PYTHON = "import time\n\n\ndef double(n):\n    time.sleep(0)\n    return 2 * n\n"
TEST = "from value import double\n\n\ndef test_four():\n    assert double(2) == 4\n"


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    root = tmp_path / "root"
    root.mkdir()
    for name, text in (("CMakePresets.json", PRESETS), ("CMakeLists.txt", LISTS), ("text.txt", "right\nother\n"),
                       ("value.py", PYTHON), ("test_value.py", TEST), ("test_false.py", "def test_no(): assert 0\n")):
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", root], check=True)
    made = Copy(root, tmp_path / "copy")
    made.refresh()
    return made


def mutant(file: str, line: str, becomes: str, test: str = "test_value.py") -> Mutant:
    python = file.endswith(".py")
    return Mutant("planted.one", file, line, becomes, 0, "bounds", "test_four", "", () if python else ("text",),
                  () if python else ("text",), (test,) if python else ())


@pytest.mark.parametrize(("file", "line", "becomes", "verdict", "by"), [
    ("value.py", "return 2 * n", "return 3 * n", KILLED, "test_value.py::test_four"),
    ("value.py", "return 2 * n", "return n + n", SURVIVED, ""),
    ("value.py", "return 2 * n", "return (", UNBUILT, ""),
    ("value.py", "time.sleep(0)", "time.sleep(60)", LATE, ""),
    ("text.txt", "right", "wrong", KILLED, "text.is_right"),
    ("text.txt", "other", "others", SURVIVED, ""),
    ("text.txt", "other", "broken", UNBUILT, ""),
])
def test_each_verdict(copy: Copy, file: str, line: str, becomes: str, verdict: str, by: str) -> None:
    runner = Runner(copy.at, 1, patience=2)
    judged = command.judge(mutant(file, line, becomes), copy, runner)
    assert (judged.verdict, judged.by) == (verdict, by), judged.output
    assert (copy.at / file).read_text() == (copy.root / file).read_text()


def test_tests_that_fail_without_the_mutant_judge_nothing(copy: Copy) -> None:
    judged = command.judge(mutant("value.py", "return 2 * n", "return n", "test_false.py"), copy, Runner(copy.at, 1))
    assert (judged.verdict, judged.by) == (UNSTEADY, "test_false.py::test_no")


def test_the_copy_follows_the_tree_and_keeps_the_time_of_equal_files(copy: Copy) -> None:
    before = (copy.at / "value.py").stat().st_mtime_ns
    (copy.at / "text.txt").write_text("a mutant that an interrupted run left\n")
    (copy.root / "test_false.py").unlink()
    copy.refresh()
    assert (copy.at / "text.txt").read_text() == "right\nother\n"
    assert not (copy.at / "test_false.py").exists()
    assert (copy.at / "value.py").stat().st_mtime_ns == before


def test_killed_mutants_of_unchanged_files_do_not_run_again(copy: Copy) -> None:
    one = mutant("value.py", "return 2 * n", "return n")

    def state(verdict: str) -> State:
        made = State(copy.at / "state.json")
        made.keep(one, Kept(one.key(), content_of(copy.root / one.file), verdict, "", 0.1, "2026-01-01", "abc"))
        return State(copy.at / "state.json")  # as the next run reads it

    assert state(KILLED).done(one, copy.root)
    assert not state(SURVIVED).done(one, copy.root)
    assert state(KILLED).valid(mutant("value.py", "return 2 * n", "return n + 1")) is None
    known = state(KILLED)
    (copy.root / "value.py").write_text(PYTHON + "\n")
    assert not known.done(one, copy.root)


def test_a_survivor_without_a_reason_fails_the_run(copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    one = mutant("value.py", "return 2 * n", "return n")
    state = State(copy.at / "state.json")
    assert command.summary([one], state) == 0
    assert "1 mutants, 0 judged, 0 killed, 0 killed by a time limit, 0 survived, 1 not run" in capsys.readouterr().out
    state.keep(one, Kept(one.key(), "", SURVIVED, "", 0.1, "2026-01-01", "abc"))
    assert command.summary([one], state) == 1
    assert "survived: planted.one: NO REASON" in capsys.readouterr().out


def test_results_of_an_earlier_state_stay_while_the_mutant_is_the_same(copy: Copy) -> None:
    one = mutant("value.py", "return 2 * n", "return n")
    state = State(copy.at / "state.json")
    state.keep(one, Kept(one.key(), "", KILLED, "test_four", 0.1, "2026-01-01", "abc"))
    first = results.results([one], state, {})
    empty = State(copy.at / "none.json")
    assert results.results([one], empty, first) == first
    other = mutant("value.py", "return 2 * n", "return n + 1")
    assert results.results([other], empty, first)["mutants"][0]["verdict"] == results.NOT_RUN
