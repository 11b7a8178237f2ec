# SPDX-License-Identifier: Apache-2.0
"""Invocations over a wire that misbehaves (wire.py): none is lost, none has a wrong result, the accounting is exact.

A client that meets nobody in its time says so, and makes no call. Then another one starts, as a user would.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from running import Failed, Manager, Place
from wire import ENDS, Faults, wire

CALLS_OF_A_RUN = 20_000  # one client each: connects are part of the campaign
STARTS = 20  # of one client, at most
SECONDS_OF_A_CALL = 0.5  # at most, on average: a lost packet costs TCP some 0.2 s
# A kernel that lost a packet some times in a row waits for tens of seconds: a link is silent for so long, and not lost.
PATIENT = ("--connect-limit-ms", "60000", "--function-limit-ms", "60000", "--deadline-ms", "120000")


@dataclass
class Outcome:
    calls: int = 0
    lost: int = 0
    packets: int = 0
    faulty: int = 0
    repeated: int = 0  # starts of clients
    problem: str = ""

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(self.calls + other.calls, self.lost + other.lost, self.packets + other.packets,
                       self.faulty + other.faulty, self.repeated + other.repeated,
                       "; ".join(filter(None, (self.problem, other.problem))))

    def said(self) -> str:
        wire_said = f"{self.faulty} of {self.packets} packets harmed"
        said = f"{self.calls} invocations, {self.lost} lost; {wire_said}"
        if self.repeated:
            said += f"; {self.repeated} clients met nobody in their time, and were started again"
        return f"{said}; {self.problem}" if self.problem else said


def _measure(manager: Manager, count: int, outcome: Outcome) -> dict[str, Any]:
    words = (*PATIENT, "run", "checksum", "--size", "64", "--count", str(count), "--warm-up", "0", "--depth", "16")
    for left in reversed(range(STARTS)):
        try:
            return manager.measure(*words, limit=60 + count * SECONDS_OF_A_CALL)
        except Failed as e:
            if left == 0 or "(exit code 1)" not in str(e):  # it printed no report: it made no call
                raise
            outcome.repeated += 1
    raise AssertionError


def run(build: Path, fabric: str, faults: Faults, calls: int, seed: int) -> Outcome:
    """As many invocations, in runs of CALLS_OF_A_RUN. The first problem ends it."""
    outcome = Outcome()
    with wire(faults, seed) as (names, fates):
        places = tuple(Place(("ip", "netns", "exec", name), ("--node", address)) for name, address in zip(names, ENDS))
        try:
            slow = ("--start-limit-ms", "60000")
            with Manager(build, fabric, slow, limit=60, places=(places[0], places[1])) as manager:
                while outcome.calls < calls:
                    count = min(CALLS_OF_A_RUN, calls - outcome.calls)
                    report = _measure(manager, count, outcome)
                    outcome.calls += int(report["done"])
                    outcome.lost += int(report["lost"])
                    if report["lost"] or not report["accounting"]["exact"]:
                        raise Failed(f"{report}")
                code, said = manager.stop()
                if code != 0:
                    raise Failed(f"the manager ended with {code}: {said.strip()}")
        except Failed as e:
            outcome.problem = str(e)
    outcome.packets = fates["packets"]
    outcome.faulty = sum(number for fate, number in fates.items() if fate != "packets")
    return outcome


def run_on_wires(build: Path, fabric: str, faults: Faults, calls: int, seed: int, wires: int) -> Outcome:
    """As many invocations, shared by wires side by side: who waits for lost packets leaves the processors to others.

    Each wire has a manager of its own, and the next seed.
    """
    wires = min(wires, max(calls, 1))  # none is idle
    shares = [calls // wires + (number < calls % wires) for number in range(wires)]
    with ThreadPoolExecutor(wires) as pool:
        outcomes = pool.map(lambda at: run(build, fabric, faults, shares[at], seed + at), range(wires))
        return sum(outcomes, Outcome())
