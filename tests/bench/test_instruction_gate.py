# SPDX-License-Identifier: Apache-2.0
"""The instruction gate goes red on planted counts: a slower weft, a padded contender, a missing row, a rise."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import command
import counting
import judging
import pytest
import ratchet
from judging import Row, Side
from ratchet import Count

PLANTED_VALGRIND = Path(__file__).resolve().parent / "planted_valgrind"

Visits = list[list[int]]  # instructions, calls through pointers, polls that found nothing
Planted = dict[str, dict[str, Visits]]


def alike(**instructions: int) -> dict[str, Visits]:
    """Every visit of an operation costs the same."""
    return {operation: [[each, 1, 0]] * 4 for operation, each in instructions.items()}


@dataclass
class Ended:
    """How the command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


@dataclass
class Tree:
    """Limits, counts and a stand-in for a built program; its compiler is g++ 12."""

    root: Path
    printed: pytest.CaptureFixture[str]

    def run(self, planted: Planted, *options: str, fabric: str = "tcp") -> Ended:
        shutil.rmtree(self.root / "planted", ignore_errors=True)
        for contender, operations in planted.items():
            (self.root / "planted" / contender).mkdir(parents=True)
            for operation, visits in operations.items():
                lines = "".join(" ".join(map(str, visit)) + "\n" for visit in visits)
                (self.root / "planted" / contender / operation).write_text(lines)
        code = command.main(["--build", str(self.root), "--fabric", fabric, "--limits", str(self.root / "limits.json"),
                             "--counts", str(self.root / "counts.yaml"), *options])
        return Ended(code, *self.printed.readouterr())

    def commit(self, text: str) -> None:
        """Writes counts.yaml and commits it, in a repository of its own."""
        (self.root / "counts.yaml").write_text(text)
        git = ["git", "-C", str(self.root), "-c", "user.name=test", "-c", "user.email=test@example.org"]
        for command in (["init", "-q"], ["add", "counts.yaml"], ["commit", "-q", "-m", "counts"]):
            subprocess.run([*git, *command], check=True, capture_output=True, timeout=60)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tree:
    programs = tmp_path / "bench" / "instructions"
    for folder in (programs, tmp_path / "bin"):
        folder.mkdir(parents=True)
    (programs / "bench-instructions.tcp").touch()
    for name, text in (("valgrind", PLANTED_VALGRIND.read_text()), ("objdump", "#!/bin/sh\n"),
                       ("readelf", "#!/bin/sh\necho 'GCC: (Debian 12.2.0-14) 12.2.0'\n")):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "limits.json").write_text('{"tcp": {"get": 0, "put": 0}}')
    (tmp_path / "counts.yaml").write_text("tcp: {g++ 12: {get: 62, put: 28}}\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("PLANTED", str(tmp_path / "planted"))
    return Tree(tmp_path, capsys)


def test_equal_counts_pass(tree: Tree) -> None:
    run = tree.run({"weft": alike(get=62, put=28), "by_hand": alike(get=62, put=28)}, "--gate")
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""


def test_a_slower_weft_fails(tree: Tree) -> None:
    run = tree.run({"weft": alike(get=63, put=28), "by_hand": alike(get=62, put=28)}, "--gate")
    assert run.returncode == 1
    assert "tcp get: +1.0 instructions more than the contender; limits.json allows +0" in run.stderr


@pytest.mark.parametrize("more", [2, 8, 12])
def test_a_padded_contender_does_not_hide_a_slower_weft(tree: Tree, more: int) -> None:
    run = tree.run({"weft": alike(get=62 + more, put=28), "by_hand": alike(get=90, put=28)}, "--gate")
    assert run.returncode == 1
    assert f"tcp get: {62 + more}.0 instructions; the committed count is 62.0" in run.stderr


def test_more_calls_through_pointers_fail(tree: Tree) -> None:
    run = tree.run({"weft": alike(put=28) | {"get": [[62, 2, 0]]}, "by_hand": alike(get=62, put=28)}, "--gate")
    assert run.returncode == 1
    assert "tcp get: 2.0 calls through a pointer; the library's own are 1.0" in run.stderr


@pytest.mark.parametrize(("without", "sentence"), [("weft", "tcp get: weft was not counted"),
                                                   ("by_hand", "tcp get: the contender was not counted")])
def test_a_missing_row_fails(tree: Tree, without: str, sentence: str) -> None:
    planted: Planted = {"weft": alike(get=62, put=28), "by_hand": alike(get=62, put=28)}
    del planted[without]["get"]
    run = tree.run(planted, "--gate")
    assert run.returncode == 1
    assert sentence in run.stderr


def test_an_operation_without_a_committed_count_fails(tree: Tree) -> None:
    (tree.root / "counts.yaml").write_text("tcp: {g++ 12: {put: 28}}\n")
    run = tree.run({"weft": alike(get=62, put=28), "by_hand": alike(get=62, put=28)}, "--gate")
    assert run.returncode == 1
    assert "tcp get: no committed count" in run.stderr


def test_a_limit_of_an_operation_that_nobody_counts_fails(tree: Tree) -> None:
    (tree.root / "limits.json").write_text('{"tcp": {"get": 0, "put": 0, "teleport": 0}}')
    run = tree.run({"weft": alike(get=62, put=28), "by_hand": alike(get=62, put=28)}, "--gate")
    assert run.returncode == 1
    assert "tcp teleport: no row" in run.stderr


def test_counts_of_another_compiler_are_not_judged_and_this_is_said(tree: Tree) -> None:
    (tree.root / "counts.yaml").write_text("tcp: {g++ 14: {get: 50, put: 20}}\n")
    run = tree.run({"weft": alike(get=62, put=28), "by_hand": alike(get=62, put=28)}, "--gate")
    assert run.returncode == 0
    assert "counts.yaml has no counts of g++ 12; no rise is judged" in run.stderr


def test_rare_work_of_a_visit_is_no_cost_of_either_side(tree: Tree) -> None:
    rare: Visits = [[1500, 3, 0], [62, 1, 0], [62, 1, 0], [900, 1, 0]]
    run = tree.run({"weft": alike(put=28) | {"get": rare}, "by_hand": alike(put=28) | {"get": rare[::-1]}}, "--gate")
    assert run.returncode == 0, run.stderr


def test_the_contender_has_its_own_least_run() -> None:
    """Weft's best run beside a slow contender, the contender's best beside a slow weft: judged at 70 against 65."""
    runs = [Row("tcp", "get", Side(70), Side(69)), Row("tcp", "get", Side(80), Side(65))]
    judge = judging.judge({"get": 0}, "limits.json", {})
    (row,) = judging.at_their_least(lambda _: [runs.pop(0) if len(runs) > 1 else runs[0]], ("get",), judge)
    assert row == Row("tcp", "get", Side(70), Side(65))
    assert judge(row) == ["tcp get: +5.0 instructions more than the contender; limits.json allows +0"]


def test_a_busy_run_is_counted_again() -> None:
    runs = [[Row("tcp", "get", Side(700), Side(65)), Row("tcp", "put", Side(28), Side(28))],
            [Row("tcp", "get", Side(62), Side(66))]]
    asked: list[tuple[str, ...]] = []

    def count(operations: tuple[str, ...]) -> list[Row]:
        asked.append(operations)
        return runs.pop(0)

    rows = judging.at_their_least(count, ("get", "put"), judging.judge({"get": 0, "put": 0}, "limits.json", {}))
    assert rows[0] == Row("tcp", "get", Side(62), Side(65))
    assert asked == [("get", "put"), ("get",)]


def test_empty_polls_are_taken_out_of_their_own_visit(tree: Tree) -> None:
    (tree.root / "limits.json").write_text('{"tcp": {"receive": 0}}')
    (tree.root / "counts.yaml").write_text("tcp: {g++ 12: {receive: 88}}\n")
    polls: dict[str, Visits] = {"poll_empty": [[23, 1, 1], [5000, 1, 1]], "receive": [[111, 3, 1], [134, 4, 2]]}
    run = tree.run({"weft": polls, "by_hand": polls}, "--gate")
    assert run.returncode == 0, run.stderr
    assert "receive                    -    88.0    88.0   +0.0" in run.stdout


def test_a_visit_that_was_not_counted_fails(tree: Tree) -> None:
    planted: Planted = {"weft": alike(put=28) | {"get": [[62, 1, 0], [0, 0, 0]]}, "by_hand": alike(get=62, put=28)}
    run = tree.run(planted, "--gate")
    assert run.returncode == 1
    assert "get weft: 2 visits, and 1 counted" in run.stderr


def test_several_operations_of_a_visit_share_its_cost() -> None:
    visits = [counting.Visit(4, 0, counting.Profile(instructions=cost)) for cost in (400, 352)]
    assert counting.Run(visits).least() == Side(88.0)


def test_a_fall_is_written_and_a_rise_needs_a_reason(tree: Tree) -> None:
    faster: Planted = {"weft": alike(get=60, put=28), "by_hand": alike(get=62, put=28)}
    slower: Planted = {"weft": alike(get=64, put=28), "by_hand": alike(get=70, put=28)}
    assert tree.run(faster, "--write").returncode == 0
    assert ratchet.read(tree.root / "counts.yaml") == {
        "tcp": {"g++ 12": {"get": Count(60, "", 62), "put": Count(28, "", 28)}}}

    refused = tree.run(slower, "--write")
    assert refused.returncode == 1
    assert "get: 60.0 -> 64.0: a rise needs a new reason" in refused.stderr
    assert ratchet.read(tree.root / "counts.yaml")["tcp"]["g++ 12"]["get"] == Count(60, "", 62)
    assert tree.run(slower, "--gate").returncode == 1

    assert tree.run(slower, "--write", "--because", 'a get checks the "right" to read').returncode == 0
    risen = ratchet.read(tree.root / "counts.yaml")["tcp"]["g++ 12"]["get"]
    assert risen == Count(64, 'a get checks the "right" to read', 70)
    assert tree.run(slower, "--gate").returncode == 0


def test_a_reason_does_not_explain_a_second_rise() -> None:
    before = {"get": Count(64.0, "the read right")}
    after, refused = ratchet.raised(before, {"get": Count(70.0)}, "the read right")
    assert refused == ["get: 64.0 -> 70.0: a rise needs a new reason (--because REASON)"]
    assert ratchet.raised(before, {"get": Count(70.0)}, "a key per row") == ({"get": Count(70, "a key per row")}, [])


def test_jitter_below_the_tolerance_raises_nothing() -> None:
    before = {"poll_batch": Count(20.2)}
    assert ratchet.raised(before, {"poll_batch": Count(20.2 + ratchet.TOLERANCE)}, "") == (before, [])


@pytest.mark.parametrize(("entry", "code"), [("70", 1), ("{count: 70, because: the read right}", 0), ("61", 0)])
def test_the_file_itself_may_rise_with_a_reason_only(tree: Tree, entry: str, code: int) -> None:
    """An edit by hand: the versions that git holds are compared with the file."""
    tree.commit("tcp: {g++ 12: {get: 62, put: 28}}\n")
    tree.commit(f"tcp: {{g++ 12: {{get: {entry}, put: 28}}}}\n")
    run = tree.run({"weft": alike(get=61, put=28), "by_hand": alike(get=62, put=28)}, "--gate")
    assert run.returncode == code, run.stderr
    assert ("tcp, g++ 12, get: 62.0 -> 70.0 in counts.yaml: a rise needs a new reason" in run.stderr) == (code == 1)


@pytest.mark.parametrize("text", ["tcp: 3\n", "tcp: {g++ 12: {get: many}}\n", "tcp: {g++ 12: {get: -1}}\n",
                                  "tcp: {g++ 12: {get: .nan}}\n", "tcp: {g++ 12: {get: {count: 3}}}\n",
                                  'tcp: {g++ 12: {get: {count: 3, because: " "}}}\n', "[: \n"])
def test_a_broken_file_of_counts_fails(tree: Tree, text: str) -> None:
    (tree.root / "counts.yaml").write_text(text)
    run = tree.run({"weft": alike(get=1, put=1), "by_hand": alike(get=1, put=1)}, "--gate")
    assert run.returncode == 1
    assert "counts.yaml: " in run.stderr


@pytest.mark.parametrize(("path", "fabrics", "command_name"),
                         [(ratchet.COUNTS, {"tcp", "mapped", "tcp-trusted"}, "run"),
                          (ratchet.COMPOSED, {"tcp"}, "composed")])
def test_the_committed_file_is_as_the_command_writes_it(path: Path, fabrics: set[str], command_name: str) -> None:
    counts = ratchet.read(path)
    assert fabrics <= counts.keys()
    assert ratchet.shown(counts, ratchet.dates(path), command_name) == path.read_text()
    assert ratchet.unexplained(counts, ratchet.versions(path)) == []


def test_a_contender_may_not_become_slower_in_the_file(tree: Tree) -> None:
    tree.commit("tcp: {g++ 12: {get: {same_checks: 62, weft: 61}, put: 28}}\n")
    tree.commit("tcp: {g++ 12: {get: {same_checks: 66, weft: 61}, put: 28}}\n")
    run = tree.run({"weft": alike(get=61, put=28), "by_hand": alike(get=62, put=28)}, "--gate")
    assert run.returncode == 1
    assert "tcp, g++ 12, get (same_checks): 62.0 -> 66.0 in counts.yaml: a rise needs a new reason" in run.stderr


@pytest.mark.parametrize(("fabric", "operation", "more"), [("tcp", "receive", 8.0), ("mapped", "poll_empty", 12.0),
                                                           ("tcp", "get", 2.0), ("tcp-trusted", "put", 2.0)])
def test_the_committed_counts_notice_a_regression(fabric: str, operation: str, more: float) -> None:
    counts = ratchet.read(ratchet.COUNTS)[fabric]["g++ 12"]
    instructions = counts[operation].weft + more
    slower = Row(fabric, operation, Side(instructions))
    assert any(f"{instructions:.1f} instructions" in each for each in judging.risen(slower, counts))


THREE: Planted = {"weft": alike(get=61, put=28), "by_hand": alike(get=62, put=30), "bare": alike(get=34, put=18)}
COMMITTED = """\
tcp:
  g++ 12:
    measured: 2026-11-20
    get: {bare: 34, same_checks: 62, weft: 61}
    put: {bare: 18, same_checks: 30, weft: 28}
"""


@pytest.mark.parametrize(("contender", "who"), [("by_hand", "the contender"), ("bare", "the bare program")])
def test_a_padded_contender_fails(tree: Tree, contender: str, who: str) -> None:
    (tree.root / "counts.yaml").write_text(COMMITTED)
    assert tree.run(THREE, "--gate").returncode == 0
    padded = {"by_hand": 65, "bare": 37}[contender]
    run = tree.run(THREE | {contender: THREE[contender] | alike(get=padded)}, "--gate")
    assert run.returncode == 1
    assert f"tcp get: {who}: {padded}.0 instructions; the committed count is" in run.stderr


def test_a_bare_program_that_is_gone_fails(tree: Tree) -> None:
    (tree.root / "counts.yaml").write_text(COMMITTED)
    run = tree.run({each: THREE[each] for each in ("weft", "by_hand")}, "--gate")
    assert run.returncode == 1
    assert "tcp get: the bare program was not counted, and its committed count is 34.0" in run.stderr


def test_a_bare_program_above_the_checked_one_fails(tree: Tree) -> None:
    run = tree.run(THREE | {"bare": alike(get=63, put=18)}, "--gate")
    assert run.returncode == 1
    assert "tcp get: bare needs 63.0 instructions, and with the same checks 62.0" in run.stderr


@pytest.fixture
def trusting(tree: Tree) -> Tree:
    """A program with a trusted caller: it has no contender with the same checks, and is compared with bare."""
    (tree.root / "bench" / "instructions" / "bench-instructions.tcp-trusted").touch()
    (tree.root / "limits.json").write_text('{"tcp-trusted": {"get": {"more": 21, "because": "a slot"}}}')
    (tree.root / "counts.yaml").write_text(
        "tcp-trusted: {g++ 12: {get: {bare: 34, weft: 55}, put: {bare: 18, weft: 22}}}\n")
    return tree


@pytest.mark.parametrize(("get", "put", "sentence"), [
    (55, 22, ""), (54, 18, ""),
    (55, 23, "tcp-trusted put: +5.0 instructions more than bare; limits.json allows +4.0"),
    (56, 22, "tcp-trusted get: +22.0 instructions more than bare; limits.json allows +21.0"),
    (55, 25, "tcp-trusted put: 25.0 instructions; the committed count is 22.0"),
])
def test_a_trusted_caller_is_within_4_of_bare_or_has_a_reason(
    trusting: Tree, get: int, put: int, sentence: str
) -> None:
    run = trusting.run({"weft": alike(get=get, put=put), "bare": alike(get=34, put=18)}, "--gate",
                       fabric="tcp-trusted")
    assert run.returncode == bool(sentence), run.stderr
    assert sentence in run.stderr


def test_a_trusted_caller_that_was_not_counted_fails(trusting: Tree) -> None:
    run = trusting.run({each: alike(get=34) for each in ("weft", "bare")}, "--gate", fabric="tcp-trusted")
    assert run.returncode == 1
    assert "tcp-trusted put: weft was not counted" in run.stderr


def test_the_committed_counts_of_trusted_callers_are_within_4_of_bare_or_have_a_reason() -> None:
    limits, every = judging.read_limits(ratchet.COUNTS.with_name("limits.json")), ratchet.read(ratchet.COUNTS)
    trusted = {fabric: counts["g++ 12"] for fabric, counts in every.items() if fabric.endswith(judging.TRUSTED)}
    assert trusted
    rows = [Row(fabric, operation, Side(count.weft), None, Side(count.bare)) for fabric, counts in trusted.items()
            for operation, count in counts.items() if count.bare is not None]
    assert [each for row in rows for each in judging.above_bare(row, limits.get(row.fabric, {}), "limits.json")] == []


def test_a_fabric_without_counts_fails(tree: Tree) -> None:
    (tree.root / "counts.yaml").write_text("shm: {g++ 12: {get: 50, put: 20}}\n")
    run = tree.run({"weft": alike(get=62, put=28), "by_hand": alike(get=62, put=28)}, "--gate")
    assert run.returncode == 1
    assert "tcp: counts.yaml has no counts, so no rise would be noticed" in run.stderr


def test_columns_and_the_date_are_written(tree: Tree) -> None:
    (tree.root / "counts.yaml").write_text(COMMITTED)
    assert tree.run(THREE | {"bare": alike(get=33, put=18)}, "--write").returncode == 0
    text = (tree.root / "counts.yaml").read_text()
    assert "    get: {bare: 33.0, same_checks: 62.0, weft: 61.0}\n" in text
    assert "2026-11-20" not in text
    assert ratchet.dates(tree.root / "counts.yaml").keys() == {("tcp", "g++ 12")}
    refused = tree.run(THREE | {"bare": alike(get=39, put=18)}, "--write")
    assert refused.returncode == 1
    assert "get (bare): 33.0 -> 39.0: a rise needs a new reason" in refused.stderr


@pytest.mark.parametrize(("entry", "code"), [("2", 1), ('{"more": 2, "because": " "}', 1), ('{"more": 2}', 1),
                                             ('{"more": 2, "because": "a deadline"}', 0), ("0", 1)])
def test_a_limit_above_0_needs_a_reason(tree: Tree, entry: str, code: int) -> None:
    (tree.root / "limits.json").write_text(f'{{"tcp": {{"get": {entry}, "put": 0}}}}')
    run = tree.run({"weft": alike(get=62, put=28), "by_hand": alike(get=60, put=28)}, "--gate")
    assert run.returncode == code, run.stderr
