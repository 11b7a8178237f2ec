# SPDX-License-Identifier: Apache-2.0
"""Hours of invocations: memory and descriptors of the manager do not grow.

Clients come and go, and make calls as fast as they can. After each client the idle manager's resident memory and
descriptors are read. The first half of the samples is warm-up. Growth is the smaller of two measures of the second
half: a straight line through it, and the 90th percentiles of its two quarters. Memory that comes and goes with a peer
gives a line a slope by chance, and the percentiles stay. A leak moves both. Memory is resident memory without files in
/dev/shm: their size is fixed when they are made, and clients touch one page after another.
"""

from __future__ import annotations

import os
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

from running import Failed, Manager

CALLS_OF_A_CLIENT = 10_000  # clients come and go: their traces are what may grow
LARGEST_GROWTH_KIB = 64.0  # over the second half: a few pages that the allocator takes late, and no more
LARGEST_GROWTH_DESCRIPTORS = 0.5
LEAST_CLIENTS = 10
POINTS = 60  # of a plot


@dataclass
class Outcome:
    calls: int = 0
    lost: int = 0
    seconds: float = 0.0
    samples: list[tuple[float, float, float]] = field(default_factory=list)  # hours, KiB, descriptors
    problem: str = ""

    def growth(self, which: int) -> float:
        """Of memory (1, KiB) or descriptors (2) over the second half."""
        if not self.is_enough():
            return 0.0
        half = self.samples[len(self.samples) // 2:]
        slope = statistics.linear_regression([each[0] for each in half], [each[which] for each in half]).slope
        quarter = len(half) // 2
        third, fourth = (statistics.quantiles([each[which] for each in part], n=10, method="inclusive")[-1]
                         for part in (half[:quarter], half[quarter:]))
        return min(slope * (half[-1][0] - half[0][0]), 2 * (fourth - third))

    def is_enough(self) -> bool:
        """Two or three clients show no growth."""
        return len(self.samples) >= LEAST_CLIENTS

    def good(self) -> bool:
        grew = self.growth(1) > LARGEST_GROWTH_KIB or self.growth(2) > LARGEST_GROWTH_DESCRIPTORS
        return self.is_enough() and not self.problem and self.lost == 0 and not grew

    def series(self) -> dict[str, list[float]]:
        """At most POINTS samples of each quantity, evenly over the run."""
        kept = [self.samples[len(self.samples) * n // POINTS] for n in range(POINTS)]
        if len(self.samples) < POINTS:
            kept = self.samples
        return {"memory, KiB": [each[1] for each in kept], "descriptors": [each[2] for each in kept]}

    def said(self) -> str:
        return (f"{self.calls} invocations of {len(self.samples)} clients in {self.seconds / 60:.0f} minutes, "
                f"{self.lost} lost; in the second half memory {self.growth(1):+.1f} KiB, "
                f"descriptors {self.growth(2):+.2f}"
                + ("" if self.is_enough() else f"; fewer than {LEAST_CLIENTS} clients show nothing")
                + (f"; {self.problem}" if self.problem else ""))


def _sample(process: int, began: float) -> tuple[float, float, float]:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    kib = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines) if name[:3] == "Rss"}
    resident = float(kib["RssAnon"] + kib["RssFile"])
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
