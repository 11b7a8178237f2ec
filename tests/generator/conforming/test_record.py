# SPDX-License-Identifier: Apache-2.0
"""`weft conformance --check`: a page is stale if a promise, a row or a suite changed, or after many commits."""
from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from command import Run
from generator.conforming.promises import Promises, defined_tests, read_promises
from generator.conforming.record import MOST_COMMITS, Record, commits_since, head, record_in, record_of, stale
from generator.decided import Decided
from generator.rules import Family


@pytest.fixture
def promises(root: Path, families: tuple[Family, ...]) -> Promises:
    return read_promises(root / "tests" / "conformance" / "promises.yaml", "promises.yaml", families)


@pytest.fixture
def now(root: Path, promises: Promises, decided: dict[str, Decided]) -> Record:
    return record_of(promises, decided, defined_tests(root / "tests" / "conformance"), "0123456789ab", "2026-11-25")


def test_a_page_of_the_same_sources_is_fresh(now: Record) -> None:
    text = f"# A page\n\n{now.line()}\n"
    assert record_in(text) == now
    assert stale(text, now, 0) == []
    assert stale(text, now, MOST_COMMITS) == []
    assert stale(text, replace(now, commit="another", day="2027-01-01"), None) == []


@pytest.mark.parametrize("text", ["# A page\n", "<!-- made from: {} -->\n", "<!-- made from: {no json} -->\n"])
def test_a_page_without_a_record_is_stale(now: Record, text: str) -> None:
    assert stale(text, now, 0) == ["it holds no record of what it was made from"]


@pytest.mark.parametrize("kind", ["promises", "fabrics", "suites"])
def test_what_is_new_gone_or_changed_is_named(now: Record, kind: str) -> None:
    names = sorted(getattr(now, kind))
    first, second = names[:2]
    then = {name: digest for name, digest in getattr(now, kind).items() if name != first}
    then = {**then, second: "changed", "gone": "gone"}
    assert stale(replace(now, **{kind: then}).line(), now, 0) == [
        f"it lacks the {kind} {first}",
        f"it still has the {kind} gone",
        f"it is older than a change of the {kind} {second}",
    ]


def test_many_commits_make_a_page_stale(now: Record) -> None:
    (why,) = stale(now.line(), now, MOST_COMMITS + 1)
    assert why.startswith(f"{MOST_COMMITS + 1} commits since 0123456789ab changed compose")


def test_a_test_less_or_an_answer_more_changes_the_record(
    now: Record, root: Path, promises: Promises, decided: dict[str, Decided]
) -> None:
    suites = defined_tests(root / "tests" / "conformance")
    fewer = {**suites, "waiting": set(sorted(suites["waiting"])[1:])}
    assert stale(record_of(promises, decided, fewer, "", "").line(), now, 0) == [
        "it is older than a change of the suites waiting"
    ]
    first, *rest = promises.promises
    for each, expected in (
        (replace(first, says="Said better.", line=1), []),
        (replace(first, everywhere=()), [f"it is older than a change of the promises {first.name}"]),
    ):
        other = replace(promises, promises=(each, *rest))
        assert stale(record_of(other, decided, suites, "", "").line(), now, 0) == expected
    tcp = {**decided, "tcp": replace(decided["tcp"], choices=decided["sockets"].choices)}
    assert stale(record_of(promises, tcp, suites, "", "").line(), now, 0) == [
        "it is older than a change of the fabrics tcp"
    ]


def test_commits_that_changed_code_are_counted(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e", *arguments], check=True,
            capture_output=True,
        )

    def commit(file: str, text: str) -> None:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
        git("add", ".")
        git("commit", "-m", "change")

    assert head(tmp_path) == ""
    git("init")
    commit("core/a.hpp", "1")
    first = head(tmp_path)
    commit("core/a.hpp", "2")
    commit("docs/a.md", "3")
    commit("tests/conformance/a.hpp", "4")
    assert commits_since(tmp_path, first) == 2
    assert commits_since(tmp_path, head(tmp_path)) == 0
    assert commits_since(tmp_path, "0123456789ab") is None
    assert commits_since(tmp_path, "") is None


def test_the_command_says_why_and_fails(weft: Run, tmp_path: Path, now: Record) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n", encoding="utf-8")
    done = weft("conformance", "--check", "--page", page)
    assert (done.returncode, done.stdout) == (1, "page.md is stale: it holds no record of what it was made from\n")
    page.write_text(now.line(), encoding="utf-8")
    done = weft("conformance", "--check", "--page", page)
    assert (done.returncode, done.stdout) == (0, "page.md was made from these promises, rows and suites\n")
