# SPDX-License-Identifier: Apache-2.0
"""Common fixtures of the generator's tests: the tree, the rules, and the command."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import Run, run_limited

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from generator import decided as rows  # noqa: E402
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
    """Runs ./weft in an empty folder, as a pipe reads it."""

    def run(*arguments: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        command = [str(ROOT / "weft"), *map(str, arguments)]
        return run_limited(command, cwd=tmp_path, env={**os.environ, **(env or {})})

    return run
