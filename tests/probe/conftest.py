# SPDX-License-Identifier: Apache-2.0
"""What the probe's tests share: the tree, findings that were recorded, and a weft-probe that is built (WEFT_PROBE)."""
from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from generator.model import Matrix, read_matrix  # noqa: E402
from generator.probing.findings import Finding  # noqa: E402
from generator.probing.seen import Seen  # noqa: E402


@pytest.fixture(scope="session")
def matrix() -> Matrix:
    return read_matrix(ROOT / "providers.yaml", "providers.yaml")


@pytest.fixture(scope="session")
def program() -> Path:
    named = os.environ.get("WEFT_PROBE")
    if not named:
        pytest.skip("WEFT_PROBE names no weft-probe: ctest does")
    return Path(named)


def recorded(fabric: str) -> Seen:
    """Findings of libfabric 1.17, as weft-probe printed them; where a behaviour was run twice, the second asked for automatic progress."""
    found: dict[str, Finding] = {}
    for line in (Path(__file__).parent / "recorded" / f"{fabric}.jsonl").read_text("utf-8").splitlines():
        raw = json.loads(line)
        name = raw["behaviour"] if raw["behaviour"] not in found else raw["behaviour"] + "@automatic"
        found[name] = Finding(name, raw["ended"], raw["facts"], raw["why"], raw["seconds"])
    return Seen(found)
