# SPDX-License-Identifier: Apache-2.0
"""Shared by the generator's tests: the tree's folder, the rules, and how to run the command."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import Run

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
        return subprocess.run([str(ROOT / "weft"), *map(str, arguments)], capture_output=True, text=True, cwd=tmp_path,
                              timeout=60,
                              env={**os.environ, **(env or {})}, check=False)

    return run
