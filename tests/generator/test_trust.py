# SPDX-License-Identifier: Apache-2.0
"""Levels of trust: how cells are counted and marked, and when an observation is stale."""
from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from generator.matrix import trust
from generator.matrix.model import Matrix, read_matrix
from tests.generator.conftest import Run

CASES = Path(__file__).parent / "cases"
SEEN = '{is: 8, claimed: "[c]", observed: "[run], seen"}'
SOURCES = {"run": 'kind: observed, date: "2026-11-20", library: "libfabric 1.17.0"',
           "row": 'kind: copied, text: "of another row"'}


def _matrix(tmp_path: Path, case: str, **cells: str) -> Matrix:
    text = (CASES / case).read_text("utf-8")
    for name, cell in cells.items():
        text, found = re.subn(rf"(\n    {name}: ).*", lambda match, cell=cell: match[1] + cell, text, count=1)
        assert found == 1, name
    text += "".join(f"  {name}: {{{source}}}\n" for name, source in SOURCES.items() if f"[{name}]" in text)
    (tmp_path / "m.yaml").write_text(text, "utf-8")
    return read_matrix(tmp_path / "m.yaml", "m.yaml")


def test_the_best_evidence_is_the_level(tmp_path: Path) -> None:
    matrix = _matrix(tmp_path, "valid_tiny.yaml", key_bytes=SEEN, queue_depth='{is: 256, copied: "[row]"}',
                     data_progress='{is: polling, claimed_value: thread, observed: "[run], seen"}')
    counted = trust.count(trust.cells_of(matrix.fabrics[0]))
    assert (counted.observed, counted.copied, counted.differ) == (2, 1, 1)
    assert counted.cells == len(matrix.fabrics[0].ranges[0].cells)
    cells = matrix.fabrics[0].ranges[0].cells
    marks = [trust.mark_of(cells[name]) for name in ("key_bytes", "queue_depth", "data_progress", "atomics")]
    assert marks == ["✓", "?", "✓≠", "·"]
    assert trust.weakest([cells["key_bytes"], cells["queue_depth"]]) == "copied"
    assert trust.weakest([]) is None


def test_a_row_that_nobody_saw_says_so(tmp_path: Path) -> None:
    assert trust.seen_by_nobody(_matrix(tmp_path, "valid_tiny.yaml").fabrics[0])
    assert not trust.seen_by_nobody(_matrix(tmp_path, "valid_tiny.yaml", key_bytes=SEEN).fabrics[0])


@pytest.mark.parametrize("today, days, warned",
                         [(date(2027, 11, 20), 365, False), (date(2027, 11, 21), 365, True),
                          (date(2026, 11, 22), 1, True)])
def test_an_observation_grows_old(tmp_path: Path, today: date, days: int, warned: bool) -> None:
    found = trust.stale(_matrix(tmp_path, "valid_tiny.yaml", key_bytes=SEEN), today, days)
    assert bool(found) == warned
    for problem in found:
        assert problem.sentence.startswith("tiny.key_bytes was observed on 2026-11-20, ")
        assert problem.line == (CASES / "valid_tiny.yaml").read_text("utf-8").split("    key_bytes:")[0].count("\n") + 1


def test_an_observation_of_an_older_release_than_the_newest_range_is_stale(tmp_path: Path) -> None:
    matrix = _matrix(tmp_path, "valid_ranged.yaml", queue_depth=SEEN.replace("8", "256", 1))
    sentences = [problem.sentence for problem in trust.stale(matrix, date(2026, 11, 21))
                 if "queue_depth" in problem.sentence]
    assert sentences == ["ranged.queue_depth was observed with release 1.17, before the row's newest range (since "
                         "2.2): observe again"]


def test_the_command_warns_and_does_not_fail(weft: Run, tmp_path: Path) -> None:
    _matrix(tmp_path, "valid_tiny.yaml", key_bytes=SEEN)
    out = tmp_path / "out"
    assert weft("generate", "--matrix", tmp_path / "m.yaml", "--output", out).returncode == 0
    done = weft("check", "--matrix", tmp_path / "m.yaml", "--output", out, "--today", "2040-01-01")
    assert done.returncode == 0
    assert "warning: tiny.key_bytes was observed on 2026-11-20" in done.stdout
    assert "trust: 1 observed, " in done.stdout
    assert "**Seen by nobody here**" not in (out / "docs" / "matrix.md").read_text("utf-8")
