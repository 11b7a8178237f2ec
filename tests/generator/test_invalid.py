# SPDX-License-Identifier: Apache-2.0
"""Each mistake has a tiny matrix. It begins with the expected line and sentence."""
from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from generator import emit
from generator.matrix.loader import Refused, load, load_text
from generator.matrix.model import read_matrix
from generator.rules import Family, read_rules

CASES = sorted((Path(__file__).parent / "cases").glob("invalid_*.yaml"))
_EXPECTED = re.compile(r"# line (\d+): (.+(?:\n#   .+)*)\n")
# A tiny matrix that spoils one cell answers no other cell, which is refused too.
_TOLD_AS_WELL = re.compile(r".* (does not answer|lacks) \w+ \(.*")


@pytest.mark.parametrize("case", CASES, ids=[path.stem.removeprefix("invalid_") for path in CASES])
def test_is_refused_with_the_sentence(case: Path, root: Path, families: tuple[Family, ...]) -> None:
    expected = _EXPECTED.match(case.read_text("utf-8"))
    assert expected, "a case begins with: # line N: the sentence, whose further lines begin with `#   `"
    with pytest.raises(Refused) as caught:
        emit.render(read_matrix(case, "case.yaml"), families, root / "templates")
    told = {(problem.line, problem.sentence) for problem in caught.value.problems}
    wanted = (int(expected[1]), expected[2].replace("\n#   ", " ").replace("TODAY", str(date.today())))
    assert wanted in told
    assert [other for other in told - {wanted} if not _TOLD_AS_WELL.fullmatch(other[1])] == []
    assert all(problem.file == "case.yaml" for problem in caught.value.problems)


def test_an_anchor_that_is_there_twice_is_refused_at_both_places() -> None:
    with pytest.raises(Refused) as caught:
        load_text("a: {is: &b 1}\nc: {is: &b 1}\n", "case.yaml")
    assert [(problem.line, problem.sentence.split(":")[0]) for problem in caught.value.problems] == [
        (1, "anchors and aliases are not used here"), (2, "anchors and aliases are not used here")]


def test_there_are_cases_and_the_one_they_spoil_is_right(root: Path, families: tuple[Family, ...]) -> None:
    assert len(CASES) >= 50
    valid = Path(__file__).parent / "cases" / "valid_tiny.yaml"
    assert "generated/tiny.hpp" in emit.render(read_matrix(valid), families, root / "templates")


@pytest.mark.parametrize("text, sentence", [
    ("endpoint: {question: q, wire: true, answers: [{answer: connected, when: {endpoint_typ: connected}}]}",
     "unknown cell 'endpoint_typ'; did you mean 'endpoint_type'?"),
    ("endpoint: {question: q, wire: true, answers: [{answer: connected, when: {endpoint_type: msg}}]}",
     "endpoint_type cannot be 'msg': expected one of connected, addressed"),
    ('notify: {question: q, wire: true, answers: [{answer: immediate, when: {same_host: ">= 4"}}]}',
     "same_host cannot be '>= 4': expected true or false"),
    ("notify: {question: q, wire: true, answers: [{answer: immediate, when: {queue_depth: 4294967296}}]}",
     'queue_depth cannot be 4294967296: expected a number from 1 to 4294967295, or ">= n"'),
    ("notify: {question: q, wire: true, answers: [{answer: immediate}]}",
     "notify.answers.0 has neither when nor because: say what it requires, or why it always holds"),
    ("notify: {question: q, wire: true, answers: [{answer: a, because: b, unless: {wait: [spin]}}]}",
     "wait: spin is not an answer of an earlier family"),
    ("notify: {question: q, answers: [{answer: a, because: b}]}",
     "notify lacks wire (both peers must have the same answer)"),
])
def test_wrong_rules_are_refused(text: str, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(Refused) as caught:
        read_rules(file, "rules.yaml")
    assert [(problem.file, problem.line, problem.sentence) for problem in caught.value.problems] == [
        ("rules.yaml", 1, sentence)]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="nothing.yaml:1: cannot be read: No such file or directory"):
        read_matrix(tmp_path / "nothing.yaml", "nothing.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"tiny: {summary: \xe9}\n")
    with pytest.raises(Refused, match=r"latin.yaml:1: is not UTF-8 text \(byte 16\)"):
        read_matrix(tmp_path / "latin.yaml", "latin.yaml")


@pytest.mark.parametrize("line, sentence", [
    (b"two: \x01\n", "is not YAML: special characters are not allowed"), (b"two: \xff\n", "is not UTF-8 text"),
])
def test_a_byte_that_is_no_text_is_told_with_its_line(line: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_bytes(b"one: 1\n" * 6000 + line + b"three: 3\n" * 6000)
    with pytest.raises(Refused, match=f"^m.yaml:6001: {sentence}"):
        load(tmp_path / "m.yaml", "m.yaml")


def test_deep_nesting_is_refused() -> None:
    for depth in (30, 100_000):
        with pytest.raises(Refused, match="nested deeper than 20 levels"):
            load_text("a: " + "[" * depth + "]" * depth, "deep.yaml")


def test_quoted_words_are_text() -> None:
    read = load_text('a: "no"\nb: "010"\nc: \'true\'\nd: 10\ne: true', "t.yaml")
    assert read.data == {"a": "no", "b": "010", "c": "true", "d": 10, "e": True}
