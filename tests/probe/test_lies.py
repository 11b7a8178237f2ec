# SPDX-License-Identifier: Apache-2.0
"""A provider that lies: each lie of lies.py is found by the name that its line has, or is not found, as the line says.
"""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from recorded_findings import ROOT

sys.path.insert(0, str(ROOT))

from generator.matrix.model import Matrix  # noqa: E402
from generator.probing.rows import Probed, probe_row  # noqa: E402
from generator.probing.running import Unseen  # noqa: E402
from tests.probe.lies import LIES, PAGE, Lie, page  # noqa: E402

CODES = {"differs": 1, "fault": 1, "lost": 3, "no": 0}
TOLD = [lie for lie in LIES if lie.way != "unasked"]
UNASKED = [lie for lie in LIES if lie.way == "unasked"]
ROWS = sorted({lie.row for lie in LIES})


def liar(program: Path, folder: Path, lie: str) -> Path:
    """weft-probe over a provider that tells this lie."""
    library = os.environ.get("WEFT_LIAR")
    if not library:
        pytest.skip("WEFT_LIAR names no liar: ctest does")
    made = folder / "weft-probe"
    made.write_text(f'#!/bin/sh\nLD_PRELOAD="{library}" WEFT_LIE={lie} exec "{program}" "$@"\n', "utf-8")
    made.chmod(0o755)
    return made


def probed(matrix: Matrix, row: str, program: Path, cells: set[str], twice: bool = False) -> Probed:
    fabric = matrix.fabric(row)
    assert fabric is not None
    seconds = 4 if "WEFT_LIE=hangs" in program.read_text("utf-8") else 15
    return probe_row(matrix, fabric, node="127.0.0.1", program=program, cells=cells, seconds=seconds, twice=twice)


def test_there_are_more_than_thirty_and_the_page_lists_them() -> None:
    assert len({lie.name for lie in LIES if lie.way != "no"}) > 30 and len({lie.name for lie in LIES}) == len(LIES)
    assert PAGE.read_text("utf-8") == page(), "run: python3 -B -m tests.probe.lies"


@pytest.mark.parametrize("row", ROWS)
def test_the_wrapped_provider_is_believed_while_it_does_not_lie(
    row: str, program: Path, tmp_path: Path, matrix: Matrix
) -> None:
    cells = {cell for lie in LIES if lie.row == row for cell in lie.cells}
    found = probed(matrix, row, liar(program, tmp_path, "nothing"), cells, twice=True)
    assert found.code == 0, [each.sentence for each in (*found.verdicts, *found.faults) if each.sentence]


@pytest.mark.parametrize("lie", TOLD, ids=lambda lie: lie.name)
def test_a_lie_is_found_by_name_or_not_at_all(lie: Lie, program: Path, tmp_path: Path, matrix: Matrix) -> None:
    found = probed(matrix, lie.row, liar(program, tmp_path, lie.name), set(lie.cells))
    told = [each.sentence for each in (*found.verdicts, *found.faults) if each.sentence]
    assert found.code == CODES[lie.way], told
    if lie.way == "no":
        return
    if lie.way == "fault":
        assert [each.behaviour for each in found.faults if lie.says in each.sentence] == [lie.finds], told
    else:
        named = [each for each in found.verdicts if each.cell.name == lie.finds and lie.says in each.sentence]
        assert [each.unseen for each in named] == [lie.way == "lost"], told


@pytest.mark.parametrize("lie", UNASKED, ids=lambda lie: lie.name)
def test_a_provider_that_does_not_survive_the_question_is_not_absent(
    lie: Lie, program: Path, tmp_path: Path, matrix: Matrix
) -> None:
    with pytest.raises(Unseen) as unseen:
        probed(matrix, lie.row, liar(program, tmp_path, lie.name), set(lie.cells))
    assert lie.says in str(unseen.value)


@pytest.mark.parametrize(
    ("lie", "code"), [("nothing", 0), ("flips_a_byte", 1), ("crashes", 3), ("crashes_when_asked", 3)]
)
def test_the_command_ends_with_the_code_of_what_it_found(lie: str, code: int, program: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-B", str(ROOT / "weft"), "probe", "tcp", "--cell", "order_write_after_write", "--program",
         str(liar(program, tmp_path, lie))],
        capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stdout + done.stderr
