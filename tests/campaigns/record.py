# SPDX-License-Identifier: Apache-2.0
"""Figures of campaigns: each run leaves one per fabric in docs/tables/reliability.json.

docs/reference/reliability.py makes a page of them.
"""

from __future__ import annotations

import datetime
import fcntl
import json
import os
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "tables" / "reliability.json"


@dataclass(frozen=True)
class Figure:
    """The result of one campaign on one fabric."""

    good: bool
    said: str  # one line: how much was tried, what was seen
    command: str  # repeats the run
    date: str = ""
    commit: str = ""
    series: dict[str, list[float]] = field(default_factory=dict)  # over the time of the run; drawn in the page


def commit() -> str:
    """The commit of the tree, with a plus where files differ from it. The figures themselves are no difference."""

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout

    changes = ("status", "--porcelain", "--", ".", f":(exclude){FIGURES.relative_to(ROOT)}")
    return git("rev-parse", "--short=12", "HEAD").strip() + ("+" if git(*changes).strip() else "")


def keep(campaign: str, fabric: str, figure: Figure, file: Path = FIGURES) -> None:
    """Writes a figure with date and commit, and leaves the others as they are. Campaigns may run side by side."""
    dated = asdict(figure) | {"date": datetime.datetime.now().date().isoformat(), "commit": figure.commit or commit()}
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        all_of_them = json.loads(file.read_text("utf-8")) if file.exists() else {}
        all_of_them.setdefault(campaign, {})[fabric] = dated
        ordered = {name: dict(sorted(all_of_them[name].items())) for name in sorted(all_of_them)}
        file.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    finally:
        os.close(folder)


def percentile(values: list[float], share: float) -> float:
    """The value below which `share` of the values lie; 0 without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
