# SPDX-License-Identifier: Apache-2.0
"""What the emulator gets: every cell of a row, read by the emulator's own text; and what ./weft emulate refuses."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from generator.matrix.facts import FACTS
from tests.generator.conftest import Run


def test_the_emulator_knows_every_cell(root: Path) -> None:
    """A new fact of the matrix is emulated, or is listed among those that say nothing about a provider's calls."""
    known = set(re.findall(r'\{"([a-z_]+)", (?:text|flag|number|word|set_|nothing)',
                           (root / "emulator" / "profile.cpp").read_text("utf-8")))
    assert {fact.name for fact in FACTS} <= known
    assert known - {fact.name for fact in FACTS} == {"fabric"}


def test_every_row_over_libfabric_has_a_profile_with_every_cell(root: Path) -> None:
    profiles = sorted((root / "generated" / "profiles").glob("*.profile"))
    assert "efa" in [each.stem for each in profiles]
    for each in profiles:
        parts = each.read_text("utf-8").split("since = ")[1:]
        assert parts, each
        for part in parts:
            assert re.findall(r"^([a-z_]+) =", part, re.MULTILINE) == [fact.name for fact in FACTS], each


@pytest.mark.parametrize(("arguments", "sentence"), [
    (("nowhere", "--", "true"), "no row nowhere over libfabric; there are"),
    (("efa", "--faults", "thunder", "--", "true"), '"thunder" is not one of reorder'),
    (("efa", "--faults", "reorder=often", "--", "true"), '"reorder=often" is not one of'),
    (("efa", "--build", "/", "--", "true"), "build the target weft-emulator-fi"),
])
def test_what_cannot_be_emulated_is_refused_with_a_sentence(weft: Run, arguments: tuple[str, ...],
                                                            sentence: str) -> None:
    result = weft("emulate", *arguments)
    assert result.returncode == 2
    assert sentence in " ".join(result.stderr.split())
