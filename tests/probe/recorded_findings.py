# SPDX-License-Identifier: Apache-2.0
"""Recorded findings, for tests that judge them without a fabric."""
from __future__ import annotations

import json
from pathlib import Path

from generator.probing.findings import Finding
from generator.probing.seen import Seen

ROOT = Path(__file__).resolve().parents[2]


def recorded(fabric: str) -> Seen:
    """Findings of libfabric 1.17, one line each. `name@request` was observed under another request than the least."""
    found: dict[str, Finding] = {}
    for line in (Path(__file__).parent / "recorded" / f"{fabric}.jsonl").read_text("utf-8").splitlines():
        raw = json.loads(line)
        found[raw["behaviour"]] = Finding(raw["behaviour"], raw["ended"], raw["facts"], raw["why"], raw["seconds"])
    return Seen(found)
