# SPDX-License-Identifier: Apache-2.0
"""Common fixtures of the probe's tests: the tree, and a built weft-probe (WEFT_PROBE)."""
from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from generator.matrix.model import Matrix, read_matrix  # noqa: E402


@pytest.fixture(scope="session")
def matrix() -> Matrix:
    return read_matrix(ROOT / "providers.yaml", "providers.yaml")


@pytest.fixture(scope="session")
def program() -> Path:
    named = os.environ.get("WEFT_PROBE")
    if not named:
        pytest.skip("WEFT_PROBE names no weft-probe: ctest does")
    return Path(named)
