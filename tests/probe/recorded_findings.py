# SPDX-License-Identifier: Apache-2.0
"""Recorded findings, for tests that judge them without a fabric."""
from __future__ import annotations

import json
from pathlib import Path

from generator.probing.findings import Finding
from generator.probing.seen import Seen

ROOT = Path(__file__).resolve().parents[2]


def recorded(fabric: str) -> Seen:
    """Findings of libfabric 1.17, as weft-probe printed them.

    The second run of a behaviour requested automatic progress.
    """
    found: dict[str, Finding] = {}
    for line in (Path(__file__).parent / "recorded" / f"{fabric}.jsonl").read_text("utf-8").splitlines():
        raw = json.loads(line)
        name = raw["behaviour"] if raw["behaviour"] not in found else raw["behaviour"] + "@automatic"
        found[name] = Finding(name, raw["ended"], raw["facts"], raw["why"], raw["seconds"])
    return Seen(found)
