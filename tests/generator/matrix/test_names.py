# SPDX-License-Identifier: Apache-2.0
"""Names of rows: what the tree, the compiler and CMake use is refused with line and reason; other names work."""
from __future__ import annotations

import keyword
import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator import emit
from generator.matrix.loader import Refused, load_text
from generator.matrix.model import matrix_of, read_matrix
from generator.matrix.reserved import why_taken, wrong_name
from generator.matrix.schema import NAME
from generator.rules import Family

CASES = Path(__file__).resolve().parents[1] / "cases"
TINY = (CASES / "valid_tiny.yaml").read_text("utf-8")
LINE = 1 + TINY[: TINY.index("\ntiny:\n") + 1].count("\n")
NOT_CODE = re.compile(r'//[^\n]*|"[^"\n]*"|^#.*$', re.M)
UNQUALIFIED = re.compile(r"(?<![\w:.])(?<!::)[A-Za-z_]\w*")


def _told(name: str) -> list[tuple[int, str]]:
    """What is said of the tiny row with another name."""
    try:
        matrix_of(load_text(TINY.replace("\ntiny:\n", f"\n{name}:\n"), "m.yaml"))
    except Refused as refused:
        return [(problem.line, problem.sentence) for problem in refused.problems]
    return []


def test_words_of_generated_headers_are_taken(root: Path, families: tuple[Family, ...]) -> None:
    matrix = read_matrix(root / "providers.yaml")
    rows = {fabric.name for fabric in matrix.fabrics}
    files = emit.render(matrix, families, root / "templates")
    words: set[str] = set()
    for name, text in files.items():
        if name.endswith(".hpp"):
            words |= set(UNQUALIFIED.findall(NOT_CODE.sub("", text.decode("utf-8"))))
    asked = {word for word in words if re.fullmatch(NAME, word)}
    assert len(asked) > 60
    assert sorted(word for word in asked - rows if not why_taken(word)) == []


@pytest.mark.parametrize("header", ["backends/libfabric/port.hpp", "backends/verbs/port.hpp",
                                    "backends/mapped/port.hpp", "weft.hpp"])
def test_macros_are_taken(header: str, root: Path) -> None:
    """Also with GNU's macros, as a program may be compiled with -std=gnu++20."""
    compiler = os.environ.get("CXX", "c++")
    text = f'#define WEFT_FABRIC loopback\n#include "{root / header}"\n'
    for standard in ("c++20", "gnu++20"):
        done = subprocess.run([compiler, f"-std={standard}", "-E", "-dM", "-x", "c++", "-"], input=text,
                              capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            pytest.skip(f"{header} needs a library: {done.stderr.splitlines()[0]}")
        # A macro with parameters replaces its name before a parenthesis only: no generated text has a row's name there.
        macros = re.findall(r"^#define (\w+)(?= )", done.stdout, re.M)
        assert len(macros) > 300
        assert [name for name in macros if re.fullmatch(NAME, name) and not why_taken(name)] == []


def test_targets_and_headers_are_taken(root: Path) -> None:
    lists = "".join(path.read_text("utf-8") for path in sorted((root / "cmake").glob("*.cmake")))
    targets = set(re.findall(r"\bweft::([a-z_]+)\b", lists))
    assert {"weft", "authentication", "backend_libfabric"} <= targets
    assert sorted(each for each in targets if not why_taken(each)) == []
    assert why_taken("transport") == "is a header of weft, compose/transport.hpp"
    assert why_taken("weft") and why_taken("peer") and why_taken("task")


def test_python_and_yaml_words_are_no_matter() -> None:
    assert _told("tiny") == []
    assert [word for word in ("lambda", "yield", "pass", "nonlocal") if keyword.iskeyword(word) and _told(word)] == []


@settings(max_examples=100, deadline=None, database=None)
@given(st.one_of(st.from_regex(NAME, fullmatch=True), st.text("aZ09_-.é ²", min_size=1, max_size=45)))
def test_any_name_works_or_is_refused_at_its_line(name: str) -> None:
    quoted = f"'{name}'"
    told = _told(quoted if name.strip() else f'"{name}"')
    right = re.fullmatch(NAME, name) is not None and len(name) <= 40 and not why_taken(name)
    assert (told == []) == right == (wrong_name(name) == "")
    if not right:
        assert [(line, name[:60] in sentence) for line, sentence in told] == [(LINE, True)]


@pytest.mark.parametrize("name, reason", [
    ("co_await", "is a keyword of C++"), ("final", "is a keyword of C++"), ("linux", "is a macro"),
    ("st_mtime", "may be a macro"), ("fingerprint", "generated headers use"), ("follows", "generated headers use"),
    ("atomic_table", "generated headers use"), ("data_progress", "is the type of a fact"), ("std", "is a namespace"),
    ("backend_verbs", "is a CMake target of weft"), ("c", "is a CMake target of weft"),
    ("package_source", "is a target of CMake"),
    ("off", "is true or false to CMake"), ("selected", "is a word of weft's commands"),
    ("rules_0123abcd", "name their namespaces"), ("opx_since_2_1", "name a range of releases"),
    ("region", "is a header of weft, compose/region.hpp"),
])
def test_the_reason_is_said(name: str, reason: str) -> None:
    assert reason in why_taken(name)
    assert [(line, f"'{name}'" in said and reason in said) for line, said in _told(f'"{name}"')] == [(LINE, True)]
