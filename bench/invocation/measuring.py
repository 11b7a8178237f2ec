# SPDX-License-Identifier: Apache-2.0
"""What the benches of invocation share: checks of a report, the spread of turns, and where processes run."""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "examples" / "invocation"), str(ROOT)]
from running import Failed, Manager  # noqa: E402 - found through the line above

BATCH = 16  # calls through memory that share one time
COLD = ("connect", "submit", "spawn_connect", "initialize", "execute")


def checked(report: dict[str, Any], what: str) -> dict[str, Any]:
    """The report of a client whose invocations all came back. Errors: Failed."""
    if report["lost"] != 0 or report["done"] != report["asked"]:
        raise Failed(f"{what}: {report['lost']} of {report['asked']} invocations lost ({report['first_failure']})")
    if not report["accounting"]["exact"]:
        raise Failed(f"{what}: the accounting is not exact")
    idle = [name for name in COLD if not report["cold_us"][name] > 0]
    if idle:
        raise Failed(f"{what}: cold intervals that took no time: {', '.join(idle)}")
    return report


def spread(ratios: list[float]) -> dict[str, float]:
    """Median, lowest and highest."""
    return {"median": round(statistics.median(ratios), 3), "low": round(min(ratios), 3), "high": round(max(ratios), 3)}


@contextlib.contextmanager
def pinned(wanted: bool, *managers: Manager) -> Iterator[None]:
    """Clients on processor 1, the managers and their executors on processor 0. A child inherits the affinity of its
    parent.
    """
    before = os.sched_getaffinity(0)
    if not wanted or not {0, 1} <= before:
        yield
        return
    for manager in managers:
        os.sched_setaffinity(manager.process.pid, {0})
    os.sched_setaffinity(0, {1})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
        for manager in managers:
            with contextlib.suppress(ProcessLookupError):  # the measured step may have ended it
                os.sched_setaffinity(manager.process.pid, before)
