# SPDX-License-Identifier: Apache-2.0
"""Hours of invocations: memory and descriptors of the manager do not grow.

Clients come and go, and make calls as fast as they can. After each client the idle manager's resident memory and
descriptors are read. A straight line through the second half of the samples gives the growth; the first half is warm-up.
"""

from __future__ import annotations

import os
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

from running import Failed, Manager

CALLS_OF_A_CLIENT = 50_000
LARGEST_GROWTH = 16.0  # KiB an hour; the smallest leak of a client is larger by far
PAGE_KIB = os.sysconf("SC_PAGE_SIZE") / 1024


@dataclass
class Outcome:
    calls: int = 0
    lost: int = 0
    seconds: float = 0.0
    samples: list[tuple[float, float, float]] = field(default_factory=list)  # hours, KiB, descriptors
    problem: str = ""

    def growth(self, which: int) -> float:
        """Of memory (1, KiB) or descriptors (2) an hour, by regression over the second half."""
        half = self.samples[len(self.samples) // 2:]
        if len(half) < 3:
            return 0.0
        return statistics.linear_regression([each[0] for each in half], [each[which] for each in half]).slope

    def good(self) -> bool:
        return not self.problem and self.lost == 0 and self.growth(1) <= LARGEST_GROWTH and self.growth(2) < 1.0

    def said(self) -> str:
        return (f"{self.calls} invocations in {self.seconds / 60:.0f} minutes, {self.lost} lost; {len(self.samples)} clients; "
                f"memory {self.growth(1):+.1f} KiB an hour, descriptors {self.growth(2):+.2f} an hour"
                + (f"; {self.problem}" if self.problem else ""))


def _sample(process: int, began: float) -> tuple[float, float, float]:
    resident = int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE_KIB
    return ((time.monotonic() - began) / 3600, resident, float(len(os.listdir(f"/proc/{process}/fd"))))


def run(build: Path, fabric: str, seconds: float) -> Outcome:
    outcome, began = Outcome(), time.monotonic()
    try:
        with Manager(build, fabric) as manager:
            while time.monotonic() - began < seconds:
                depth = "4" if len(outcome.samples) % 2 else "1"
                report = manager.measure("run", "echo", "--count", str(CALLS_OF_A_CLIENT), "--depth", depth, limit=600)
                outcome.calls += int(report["done"])
                outcome.lost += int(report["lost"])
                if report["lost"] or not report["accounting"]["exact"]:
                    raise Failed(f"{report}")
                while manager.executors():
                    time.sleep(0.01)
                outcome.samples.append(_sample(manager.process.pid, began))
            code, said = manager.stop()
            if code != 0:
                raise Failed(f"the manager ended with {code}: {said.strip()}")
    except Failed as e:
        outcome.problem = str(e)
    outcome.seconds = time.monotonic() - began
    return outcome
