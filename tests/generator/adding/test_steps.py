# SPDX-License-Identifier: Apache-2.0
"""`./weft add` in a copy of the tree, with a probe, a compiler and suites that are made up (tools/): what it leaves
behind when suites fail, when claims were false, and when a signal comes at any moment.
"""
from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from generator.adding.staging import stage
from generator.matrix.model import Cell, Fabric, read_matrix
from generator.matrix.trust import level_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
MOMENTS = int(os.environ.get("WEFT_ADD_MOMENTS", "8"))  # scripts/nightly has more
FALSE_CLAIMS = {"claims.claims_own_host": True}  # nothing on one host shows whether a provider reaches others


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command needs of the tree, with a matrix of one row."""
    at = tmp_path_factory.mktemp("add") / "sources"
    stage(ROOT / "generator", at / "generator")
    stage(ROOT / "templates", at / "templates")
    for name in ("weft", "README.md", "CMakeLists.txt", "core/facts.hpp", "core/version.hpp", "cmake/headers.cmake",
                 "emulator/interfaces.yaml"):
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, at / name)
    shutil.copy2(ROOT / "tests/generator/cases/valid_tiny.yaml", at / "providers.yaml")
    assert subprocess.run([at / "weft", "generate"], check=False, capture_output=True).returncode == 0
    return at


@pytest.fixture
def untouched(sources: Path, tmp_path: Path) -> Path:
    stage(sources, tmp_path / "tree")
    return tmp_path / "tree"


def _environment(**more: str) -> dict[str, str]:
    tools = HERE / "tools"
    return {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "WEFT_RECORDED": str(ROOT / "tests" / "probe" / "recorded"), **more}


def _command(tree: Path, *words: str) -> list[str]:
    return [str(tree / "weft"), "add", "net_of_ours", "--provider", "made_up", "--program",
            str(HERE / "tools" / "weft-probe"), *words]


def _add(tree: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(_command(tree, *words), capture_output=True, text=True, timeout=300, check=False,
                          env=_environment(**environment))


def _sums(tree: Path) -> dict[str, str]:
    return {path.relative_to(tree).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in tree.rglob("*") if path.is_file() and path.relative_to(tree).parts[0] != "build"}


def _row(tree: Path) -> Fabric | None:
    return read_matrix(tree / "providers.yaml").fabric("net_of_ours")


def _cell(tree: Path, name: str) -> Cell:
    row = _row(tree)
    assert row is not None
    return row.ranges[0].cells[name]


def test_suites_that_pass_write_the_row(untouched: Path) -> None:
    before = _sums(untouched)
    done = _add(untouched, "--environment", "FI_MADE_UP=1", "--environment", "FI_OTHER=a b")
    assert done.returncode == 0, done.stderr
    assert "5 of 5 conformance suites passed" in done.stdout and "is a working fabric" in done.stdout
    row = _row(untouched)
    assert row is not None
    assert [(each.name, each.value) for each in row.settings] == [("FI_MADE_UP", "1"), ("FI_OTHER", "a b")]
    after = _sums(untouched)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert changed == {"README.md", "docs/matrix.md", "docs/reference/matrix.html", "generated/fabrics.cmake",
                       "generated/net_of_ours.hpp", "generated/net_of_ours.why_not.hpp",
                       "generated/profiles/net_of_ours.profile", "providers.yaml",
                       *(name for name in changed if name.startswith("generated/profiles/"))}
    check = subprocess.run([untouched / "weft", "check"], capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stderr


def test_suites_that_fail_leave_the_tree_as_it_was(untouched: Path) -> None:
    before = _sums(untouched)
    done = _add(untouched, WEFT_FAILS=json.dumps({"put_notify": ["write_immediate_bytes", "8"]}))
    assert done.returncode == 1
    assert "the tree is as it was; --keep writes the row all the same" in done.stderr
    told = next(line for line in done.stderr.splitlines() if line.startswith("failed: conformance.put_notify"))
    assert "it rests on" in told and "write_immediate_bytes (observed)" in told
    assert _sums(untouched) == before


def test_keep_writes_the_row_although_suites_fail(untouched: Path) -> None:
    done = _add(untouched, "--keep", WEFT_FAILS=json.dumps({"put_notify": ["write_immediate_bytes", "8"]}))
    assert done.returncode == 1 and "the row net_of_ours is kept" in done.stderr
    assert _row(untouched) is not None


def test_what_does_not_compile_leaves_the_tree_as_it_was(untouched: Path) -> None:
    before = _sums(untouched)
    done = _add(untouched, "--keep", WEFT_COMPILES="no")
    assert done.returncode == 1 and "the suites of net_of_ours do not configure (exit 1)" in done.stderr
    assert _sums(untouched) == before


def test_a_false_claim_gets_its_safe_value_and_the_suites_pass(untouched: Path) -> None:
    done = _add(untouched, WEFT_TOLD=json.dumps(FALSE_CLAIMS),
                WEFT_FAILS=json.dumps({"liveness": ["same_host", "true"]}))
    assert done.returncode == 0, done.stderr
    assert "same_host was only claimed: true becomes false (failed suites that rest on it: liveness)" in done.stdout
    cell = _cell(untouched, "same_host")
    assert (cell.value, level_of(cell.evidence)) == (False, "copied")
    assert "with it failed: liveness" in str(cell.evidence.copied)
    assert _cell(untouched, "write_immediate_bytes").value == 8


def test_a_false_claim_that_is_not_the_reason_changes_nothing(untouched: Path) -> None:
    before = _sums(untouched)
    done = _add(untouched, WEFT_TOLD=json.dumps(FALSE_CLAIMS),
                WEFT_FAILS=json.dumps({"liveness": ["key_bytes", "8"]}))
    assert done.returncode == 1
    assert done.stdout.count("the suites run again") == 1
    assert _sums(untouched) == before


def test_names_and_environment_are_refused_before_anything_runs(untouched: Path) -> None:
    before = _sums(untouched)
    for name, reason in (("co_await", "it is a keyword of C++"), ("wait", "it is the name of a family"),
                         ("net_since_1_2", "it is how generated headers name"),
                         ("No", "it is not a name in snake_case"), ("tiny", "there is a row tiny already")):
        words = [word if word != "net_of_ours" else name for word in _command(untouched)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=_environment())
        assert done.returncode == 1 and reason in done.stderr and "probing" not in done.stderr
    for odd in ("FI_X", "LD_PRELOAD=x", "PATH=/tmp", "fi_x=1", 'FI_X=a"b', "FI_X=" + "y" * 61, "=1"):
        done = _add(untouched, "--environment", odd)
        assert done.returncode == 2 and "expected NAME=VALUE" in done.stderr and "probing" not in done.stderr
    done = _add(untouched, "--environment", "FI_X=1", "--environment", "FI_X=2")
    assert done.returncode == 2 and "FI_X is given twice" in done.stderr
    assert _sums(untouched) == before


def test_a_provider_with_another_name_is_added_under_it(untouched: Path) -> None:
    words = [word if word != "made_up" else "packets" for word in _command(untouched, "--dry-run")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=_environment())
    assert done.returncode == 0, done.stderr
    assert 'provider "packets": it calls itself made_up here; going on with "made_up"' in done.stderr
    assert '+    provider: {is: "made_up"' in done.stdout
    words = [word if word != "made_up" else "pakets" for word in _command(untouched)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=_environment(FI_PROVIDER="shm"))
    assert done.returncode == 1
    assert "there is no pakets; did you mean 'packets'?; FI_PROVIDER=shm is set here, and hides others" in done.stderr


def _living(mark: str) -> list[str]:
    """Processes that have the mark in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (path / "environ").read_bytes():
                found.append((path / "cmdline").read_text("utf-8", "replace").replace("\0", " "))
        except OSError:
            continue
    return found


def _wait_for_lines(running: subprocess.Popen[bytes], output: Path, lines: int) -> None:
    """Returns once the process printed so many lines, or ended. Errors: AssertionError, after two minutes."""
    end = time.monotonic() + 120
    while running.poll() is None and output.read_bytes().count(b"\n") < lines:
        assert time.monotonic() < end, output.read_text()
        time.sleep(0.01)


def test_a_signal_at_any_moment_leaves_nothing_running_and_nothing_written(
        untouched: Path, sources: Path, tmp_path: Path) -> None:
    """Moments are spread over the lines that a whole run prints, at random within their part and after their line."""
    before = _sums(untouched)
    slow = {"WEFT_SLOWNESS": "0.3", "WEFT_TOLD": json.dumps(FALSE_CLAIMS),
            "WEFT_FAILS": json.dumps({"multi_receive": ["multi_receive", "true"]})}
    begin = time.monotonic()
    done = _add(untouched, **slow)
    assert done.returncode == 0
    lines = done.stderr.count("\n")
    between = (time.monotonic() - begin) / lines
    stage(sources, untouched)
    chance = random.Random(os.environ.get("WEFT_ADD_SEED", "1"))
    output = tmp_path / "output"
    ended = []
    for part in range(MOMENTS):
        mark = f"WEFT_ADD_TEST={os.getpid()}.{part}"
        number = (signal.SIGINT, signal.SIGTERM)[part % 2]
        with output.open("wb") as into, subprocess.Popen(
                _command(untouched), stdout=into, stderr=subprocess.STDOUT,
                env=_environment(**slow, WEFT_ADD_TEST=mark.partition("=")[2])) as running:
            _wait_for_lines(running, output, int(lines * (part + chance.random()) / MOMENTS))
            time.sleep(between * chance.random())
            running.send_signal(number)
            running.wait(timeout=120)
        told = output.read_text()
        ended.append(running.returncode)
        assert _living(mark) == [], told
        # A signal after the last sentence finds the work done, and ends what is left of the process.
        whole_row = ("the row net_of_ours is written", "net_of_ours is a working fabric")
        if running.returncode == 0 or any(sentence in told for sentence in whole_row):
            assert _row(untouched) is not None
            stage(sources, untouched)
        else:
            assert running.returncode != 0 and _sums(untouched) == before, told
            if running.returncode == 130:
                assert "interrupted: nothing is written, and nothing runs" in told
    assert ended.count(130) >= MOMENTS // 2, ended
