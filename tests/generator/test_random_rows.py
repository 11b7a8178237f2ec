# SPDX-License-Identifier: Apache-2.0
"""Random rows: each generates headers that compile, or is refused with sentences that name a line.

WEFT_RANDOM_ROWS is the number of drawn rows (default 100). WEFT_RANDOM_ROWS_RUN is the number of rows that run the
conformance suites over the in-process port (default 0: tests/made_up_row runs one on every machine; each takes the
compiler a minute). The draw is the same each time unless WEFT_RANDOM_ROWS is set.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from generator import emit
from generator.matrix.loader import Refused
from generator.matrix.model import read_matrix
from generator.rules import Family, read_rules
from tests.generator.random_rows import edited_row, random_row, real_rows

ROOT = Path(__file__).resolve().parents[2]
DRAWN = int(os.environ.get("WEFT_RANDOM_ROWS", "100"))
RUN = int(os.environ.get("WEFT_RANDOM_ROWS_RUN", "0"))
BATCH = 250
FAMILIES = read_rules(ROOT / "generator" / "rules.yaml")
# Nothing is shrunk: a row that fails is printed whole, and its cells are independent.
DRAW = settings(
    max_examples=DRAWN // 2,
    deadline=None,
    database=None,
    derandomize="WEFT_RANDOM_ROWS" not in os.environ,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)

made: list[tuple[str, dict[str, bytes]]] = []  # rows that generated, for the compiler
refused: list[str] = []


def _render(text: str) -> dict[str, bytes] | None:
    """The files of one row; or none where it is refused, with a line of the row and one sentence for each reason."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "m.yaml"
        file.write_text(text, "utf-8")
        try:
            return emit.render(read_matrix(file, "m.yaml"), FAMILIES, ROOT / "templates")
        except Refused as reasons:
            assert reasons.problems
            for problem in reasons.problems:
                assert problem.file == "m.yaml" and problem.sentence and "\n" not in str(problem)
                assert 1 <= problem.line <= len(text.splitlines()) + 1
            return None


def _take(row: str) -> None:
    name = f"r{len(made):04d}"
    files = _render(row.replace("ROW:", f"{name}:", 1))
    if files is None:
        refused.append(row)
    else:
        made.append((name, files))


@DRAW
@given(random_row(FAMILIES))
def test_a_random_row_generates_or_is_refused(row: str) -> None:
    _take(row)


@DRAW
@given(edited_row(real_rows(ROOT / "providers.yaml")))
def test_an_edited_row_generates_or_is_refused(row: str) -> None:
    _take(row)


def test_both_ends_were_drawn() -> None:
    """A strategy that makes only refused rows, or none, would prove nothing."""
    if not made and not refused:
        pytest.skip("the rows are drawn by the tests above")
    assert len(made) >= DRAWN // 4 and refused, f"{len(made)} rows generated, {len(refused)} were refused"
    print(f"{len(made)} rows generated, {len(refused)} were refused")


def _tree(folder: Path, rows: list[tuple[str, dict[str, bytes]]]) -> Path:
    for part in ("core", "wire", "policies", "compose", "backends", "history"):
        shutil.copytree(ROOT / part, folder / part)
    for _, files in rows:
        emit.write({name: data for name, data in files.items() if name.endswith(".hpp")}, folder)
    return folder


def _compiler() -> str:
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if (
        compiler is None
        or not Path("/usr/include/rdma/fabric.h").exists()
        or not Path("/usr/include/infiniband/verbs.h").exists()
    ):
        pytest.skip("no compiler, or no headers of libfabric and rdma-core here")
    return compiler


def test_what_was_generated_compiles(tmp_path: Path) -> None:
    """Many rows in one translation unit: complete, consistent, with a backend shape and a text for `weft inspect`."""
    if not made:
        pytest.skip("no rows were drawn: run the tests above too")
    compiler = _compiler()
    for start in range(0, len(made), BATCH):
        rows = made[start : start + BATCH]
        (tmp_path / str(start)).mkdir()
        tree = _tree(tmp_path / str(start), rows)
        program = f'#include "{tree}/compose/built_for.hpp"\n#include "{tree}/compose/with.hpp"\n'
        program += "".join(f'#include "{tree}/generated/{name}.hpp"\n' for name, _ in rows)
        program += (
            "template <class F> consteval bool whole() { return weft::consistent_fabric<F>() && "
            "weft::shape_of<F>::name == F::name && "
            "!weft::built_for<F>.view().empty() && !weft::can_answer<F, weft::wait_family>; }\n"
        )
        program += "".join(f"static_assert(whole<weft::fabrics::{name}>());\n" for name, _ in rows)
        done = subprocess.run(
            [
                compiler,
                "-std=c++20",
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Wshadow",
                "-Wconversion",
                "-Werror",
                "-fsyntax-only",
                "-x",
                "c++",
                "-",
            ],
            input=program,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr[:4000]


@pytest.mark.parametrize(
    "number", range(RUN) or [pytest.param(0, marks=pytest.mark.skip("WEFT_RANDOM_ROWS_RUN asks for none"))]
)
def test_a_random_row_passes_the_suites(number: int, tmp_path: Path) -> None:
    """Over the in-process port, which behaves as badly as the row permits."""
    found: list[dict[str, bytes]] = []

    @settings(
        max_examples=20 * (number + 1),
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(random_row(FAMILIES, wild=False), st.integers(0, 1 << 30))
    def draw(row: str, _: int) -> None:
        files = _render(row.replace("ROW:", "drawn:", 1))
        if files is not None:
            found.append(files)

    draw()
    assert found
    tree = _tree(tmp_path, [("drawn", found[-1])])
    for part in ("conformance", "history"):
        shutil.copytree(ROOT / "tests" / part, tree / "tests" / part)
    program = tree / "suites"
    subprocess.run(
        [
            _compiler(),
            "-std=c++20",
            "-O1",
            "-DWEFT_FABRIC=drawn",
            "-DWEFT_OVER_LOOPBACK",
            str(tree / "tests/conformance/main.cpp"),
            str(tree / "tests/conformance/counted_new.cpp"),
            "-lgtest",
            "-lgtest_main",
            "-pthread",
            "-o",
            str(program),
        ],
        check=True,
        timeout=600,
    )
    done = subprocess.run([str(program), "--gtest_brief=1"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, found[-1]["generated/drawn.hpp"].decode() + done.stdout[-4000:]
