# SPDX-License-Identifier: Apache-2.0
"""Invocations over a wire that misbehaves (wire.py): none is lost, none has a wrong result, the accounting is exact."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from running import Failed, Manager, Place
from wire import ENDS, Faults, wire

CALLS_OF_A_RUN = 20_000  # one client each: connects are part of the campaign
SECONDS_OF_A_CALL = 0.5  # at most, on average: a lost packet costs TCP some 0.2 s


@dataclass
class Outcome:
    calls: int = 0
    lost: int = 0
    packets: int = 0
    faulty: int = 0
    problem: str = ""

    def said(self) -> str:
        wire_said = f"{self.faulty} of {self.packets} packets harmed"
        said = f"{self.calls} invocations, {self.lost} lost; {wire_said}"
        return f"{said}; {self.problem}" if self.problem else said


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
                    report = manager.measure(
                        "--deadline-ms", "120000", "run", "checksum", "--size", "64", "--count", str(count),
                        "--warm-up", "0", "--depth", "16", limit=60 + count * SECONDS_OF_A_CALL,
                    )
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
