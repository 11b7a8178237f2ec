# SPDX-License-Identifier: Apache-2.0
"""Common fixtures of the generator's tests: the tree, the rules, and the command."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import Run, run_forked, run_limited

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from generator import decided as rows  # noqa: E402
from generator.cli import main  # noqa: E402
from generator.matrix.model import read_matrix  # noqa: E402
from generator.rules import Family, read_rules  # noqa: E402


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def families() -> tuple[Family, ...]:
    return read_rules(ROOT / "generator" / "rules.yaml")


@pytest.fixture(scope="session")
def decided(families: tuple[Family, ...]) -> dict[str, rows.Decided]:
    """Every row of the real matrix with its answers."""
    return {each.fabric.name: each for each in rows.decide_all(read_matrix(ROOT / "providers.yaml"), families)}


@pytest.fixture
def weft(tmp_path: Path) -> Run:
    """Runs ./weft in an empty folder, as a file takes what it says."""

    def run(*arguments: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        words, environment = [*map(str, arguments)], {**os.environ, **(env or {})}
        if any(name.startswith("PYTHON") for name in env or {}):  # these count when an interpreter starts
            return run_limited([str(ROOT / "weft"), *words], cwd=tmp_path, env=environment)
        return run_forked(main, words, cwd=tmp_path, env=environment)

    return run
