# SPDX-License-Identifier: Apache-2.0
"""Findings that were recorded, for tests that judge them without a fabric."""
from __future__ import annotations

import json
from pathlib import Path

from generator.probing.findings import Finding
from generator.probing.seen import Seen

ROOT = Path(__file__).resolve().parents[2]


def recorded(fabric: str) -> Seen:
    """Findings of libfabric 1.17, as weft-probe printed them; where a behaviour was run twice, the second asked for automatic progress."""
    found: dict[str, Finding] = {}
    for line in (Path(__file__).parent / "recorded" / f"{fabric}.jsonl").read_text("utf-8").splitlines():
        raw = json.loads(line)
        name = raw["behaviour"] if raw["behaviour"] not in found else raw["behaviour"] + "@automatic"
        found[name] = Finding(name, raw["ended"], raw["facts"], raw["why"], raw["seconds"])
    return Seen(found)
