# SPDX-License-Identifier: Apache-2.0
"""Files that a command reads, after odd edits: accepted, or refused with file and line. Never a traceback."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from generator import inspecting
from generator.conforming.promises import read_promises
from generator.matrix.loader import Refused
from generator.matrix.model import read_matrix
from generator.rules import Family, read_rules
from tests.generator.test_property import TIMES, edited, edits

ROOT = Path(__file__).resolve().parents[2]
Reader = Callable[[Path], object]
Changes = list[tuple[str, int, int, str]]
_CALM = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)


def _entries(text: str, most: int) -> str:
    """The first entries of a file that are not indented: whole files take the parser too long."""
    kept: list[str] = []
    for line in text.splitlines():
        begins = bool(line) and not line[0].isspace() and line[0] != "#"
        if begins and sum(bool(each) and not each[0].isspace() and each[0] != "#" for each in kept) == most:
            break
        kept.append(line)
    return "\n".join(kept) + "\n"


RULES = _entries((ROOT / "generator" / "rules.yaml").read_text("utf-8"), 4)
PROMISES = """\
columns:
  tcp: "this machine"
guests:
  verbs: "a guest"
emulated:
  efa: "./weft emulate efa"
sources:
  build/page:
    fabrics: [tcp, verbs, efa]
    made_by: ["cmake --workflow --preset page"]
promises:
  open_attests:
    section: contract
    number: 1
    says: "opening compares the library with the row"
    tests: [put_get]
    lacking: {verbs: "no device"}
    applies: {endpoint: [connected]}
"""
MATRIX = "\n".join((ROOT / "tests" / "generator" / "cases" / "valid_tiny.yaml").read_text("utf-8").splitlines()) + "\n"


def _check(read: Reader, file: Path, content: bytes, lines: int) -> None:
    """The property of every reader."""
    file.write_bytes(content)
    try:
        read(file)
    except Refused as refused:
        assert refused.problems
        for problem in refused.problems:
            assert problem.file == "f.yaml" and problem.sentence and "\n" not in str(problem)
            assert 1 <= problem.line <= lines + 1


def test_the_texts_are_accepted_as_they_are(families: tuple[Family, ...], tmp_path: Path) -> None:
    """Else the edits would only show how one wrong text is refused."""
    for text, read in ((RULES, read_rules), (MATRIX, read_matrix),
                       (PROMISES, lambda file: read_promises(file, "f.yaml", families))):
        (tmp_path / "f.yaml").write_text(text, "utf-8")
        read(tmp_path / "f.yaml")


@settings(max_examples=200 * TIMES, deadline=None, database=None, suppress_health_check=_CALM)
@given(edits)
def test_edited_rules(tmp_path: Path, changes: Changes) -> None:
    odd = edited(RULES, changes)
    _check(lambda file: read_rules(file, "f.yaml"), tmp_path / "f.yaml", odd.encode("utf-8", "surrogatepass"),
           len(odd.splitlines()))


@settings(max_examples=200 * TIMES, deadline=None, database=None, suppress_health_check=_CALM)
@given(edits)
def test_edited_promises(families: tuple[Family, ...], tmp_path: Path, changes: Changes) -> None:
    odd = edited(PROMISES, changes)
    _check(lambda file: read_promises(file, "f.yaml", families), tmp_path / "f.yaml",
           odd.encode("utf-8", "surrogatepass"), len(odd.splitlines()))


@settings(max_examples=200 * TIMES, deadline=None, database=None, suppress_health_check=_CALM)
@given(st.binary(max_size=200))
@example(b"\xef\xbb\xbf")
@example(b"%YAML 9.9\n---\na: b\n")
@example(b"a: &x [*x]\n")
@pytest.mark.parametrize("which", ["rules", "matrix", "promises"])
def test_any_bytes(families: tuple[Family, ...], tmp_path: Path, which: str, content: bytes) -> None:
    readers: dict[str, Reader] = {"rules": lambda file: read_rules(file, "f.yaml"),
                                  "matrix": lambda file: read_matrix(file, "f.yaml"),
                                  "promises": lambda file: read_promises(file, "f.yaml", families)}
    _check(readers[which], tmp_path / "f.yaml", content, len(content.splitlines()) + content.count(b"\r"))


# ---- ./weft inspect: a binary of anybody
BUILT = b"".join([b"\x7fELF", b"\0" * 60, b"weft-built-for 1\n",
                  *(key.encode() + b"=" + value for key, value in zip(inspecting.KEYS, (
                      b"tcp\n", b"tcp\n", b"libfabric\n", b"1.15\n", b"later\n", b"1.17\n", b"5\n",
                      b"0xe8c683ac6267ba3a\n", b"rules 6bc887fa, row 9e620cbd\n", b"endpoint=connected\n",
                      b"endpoint::connected\n"))), b"\0"])
_changes_of_bytes: st.SearchStrategy[Sequence[tuple[int, bytes, int]]] = st.lists(
    st.tuples(st.integers(0, len(BUILT)), st.binary(max_size=6), st.integers(0, 6)), min_size=1, max_size=4)


def test_a_binary_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(BUILT)
    assert [one.fabric for one in inspecting.inspect(tmp_path / "b", "b")] == ["tcp"]


SET = BUILT + b"weft-set 1\nfabrics=mapped same_host 140;efa hardware 0;tcp software 3500\n\0"


def test_the_fabrics_of_a_set_are_read_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(SET + SET)
    sets = inspecting.sets_of(tmp_path / "b")
    assert [[(each.fabric, each.why.split(", ")[-1]) for each in one] for one in sets] == [
        [("mapped", "half round trip 0.14 us"), ("efa", "half round trip not measured"),
         ("tcp", "half round trip 3.50 us")]]
    for damaged in (SET.replace(b"140", b"fast"), SET.replace(b"same_host", b"near"), SET.replace(b"set 1", b"set 2")):
        (tmp_path / "b").write_bytes(damaged)
        assert inspecting.sets_of(tmp_path / "b") == ()


@settings(max_examples=2000 * TIMES, deadline=None, database=None, suppress_health_check=_CALM)
@given(_changes_of_bytes)
@example([(BUILT.index(b"endpoint::"), b"\x0b", 0)])  # a vertical tab ends a line of text, but no line of the format
@example([(BUILT.index(b"endpoint::"), b"\xc2\x85", 0)])
@example([(BUILT.index(b"endpoint::"), b"\x1b[2J", 0)])  # a terminal would obey
def test_an_odd_binary_is_told_or_refused(tmp_path: Path, changes: Sequence[tuple[int, bytes, int]]) -> None:
    content = BUILT
    for at, insert, drop in changes:
        content = content[:at] + insert + content[at + drop:]
    (tmp_path / "b").write_bytes(content)
    try:
        found = inspecting.inspect(tmp_path / "b", "b")
    except Refused as refused:
        assert [(each.file, each.line) for each in refused.problems] == [("b", 1)]
        return
    assert found
    for one in found:
        assert all(getattr(one, key).isprintable() for key in inspecting.KEYS), "what is shown moves no cursor"
        assert inspecting.incompatibility(one, one) == ""
