# SPDX-License-Identifier: Apache-2.0
"""Contenders in slices: the kernel stops a contender without a turn, with all its processes.

Each contender has its own result or failure.
"""
from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from generator.benching import slices
from generator.benching.peers import processes, races
from generator.benching.peers.contenders import Plan, all_contenders
from generator.benching.peers.measured import Measured
from generator.benching.peers.programs import Programs
from generator.benching.peers.ucx import Rival, Ucx
from generator.benching.slices import Place, in_slices, taking_turns

PLAN = Plan((8,), 1, 1e9, quick=True)


@pytest.fixture
def family() -> Iterator[subprocess.Popen[str]]:
    """A process that has a child, in a group of their own; its only line is the child's number."""
    with subprocess.Popen(
        ["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, text=True, process_group=0
    ) as started:
        yield started
        place = Place()
        with place.holding(started.pid):
            place.end()


def state(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]


def becomes(wanted: Callable[[], bool]) -> bool:
    until = time.monotonic() + 20
    while not wanted() and time.monotonic() < until:
        time.sleep(0.005)
    return wanted()


def test_who_has_no_turn_is_stopped_with_its_children(family: subprocess.Popen[str]) -> None:
    assert family.stdout is not None
    members = (family.pid, int(family.stdout.readline()))
    place = Place()
    with place.holding(family.pid):
        assert becomes(lambda: all(state(each) == "T" for each in members))
        place.turn(True)
        assert becomes(lambda: all(state(each) == "S" for each in members))
        place.turn(False)
        assert becomes(lambda: all(state(each) == "T" for each in members))
    assert becomes(lambda: all(state(each) == "S" for each in members)), "who leaves while it has no turn goes on"
    place.turn(False)  # a side that left gets no turn
    assert all(state(each) == "S" for each in members)


def test_elsewhere_nobody_is_stopped(family: subprocess.Popen[str]) -> None:
    assert family.stdout is not None
    family.stdout.readline()
    with taking_turns(family.pid):
        assert state(family.pid) != "T"


def test_results_and_failures_by_name() -> None:
    program = (
        "import sys, time; begin = time.process_time()\n"
        "while time.process_time() - begin < .1: pass\nprint(sys.argv[1])"
    )
    found = in_slices(
        {name: lambda name=name: processes.run([sys.executable, "-c", program, name]) for name in ("a", "b")}
        | {"none": lambda: processes.run(["false"])}
    )
    assert (found["a"], found["b"]) == ("a\n", "b\n")
    assert isinstance(found["none"], processes.Failed)


def test_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A contender with the turn finds the other one stopped; each has several turns."""
    told: list[tuple[int, signal.Signals]] = []
    monkeypatch.setattr(slices.os, "killpg", lambda group, number: told.append((group, number)))

    def takes_three_turns(group: int) -> bool:
        with taking_turns(group):
            return becomes(lambda: told.count((group, signal.SIGCONT)) >= 3)

    assert in_slices({str(group): lambda group=group: takes_three_turns(group) for group in (1001, 1002)}, 0.01) == {
        "1001": True,
        "1002": True,
    }
    running: set[int] = set()
    # the other side continues
    left = {group: max(at for at, each in enumerate(told) if each == (group, signal.SIGCONT)) for group in (1001, 1002)}
    for at, (group, number) in enumerate(told[: min(left.values())]):
        running = running | {group} if number == signal.SIGCONT else running - {group}
        assert len(running) <= 1, told[: at + 1]


def test_a_race_counts_by_what_was_measured_alone_and_tells_who_failed() -> None:
    asked: list[int] = []

    def fine(count: int) -> dict[tuple[str, int], float]:
        asked.append(count)
        return {("latency", 8): 10.0}

    def fails(_: int) -> dict[tuple[str, int], float]:
        raise processes.Failed("it ended with 1")

    measured = Measured(turns=1, by_turn={(name, "latency", 8): {0: 1000.0} for name in ("fine", "broken", "absent")})
    measured.by_turn["duel", "ours", 8] = {0: 500.0}
    told: list[str] = []
    races.race(
        [
            [
                races.Racer("fine", fine, ""),
                races.Racer("broken", fails, ""),
                races.Racer("absent", fails, "not built"),
                races.Racer("unmeasured", fails, ""),
                races.Racer("in a duel", fine, "", ("duel", "ours", 8)),
            ]
        ],
        PLAN,
        measured,
        told.append,
    )
    rounds = range(races.QUICK_ROUNDS)
    assert measured.by_turn["fine", races.IN_SLICES, 8] == dict.fromkeys(rounds, 10.0)
    # 0.2 s of round trips of 2 microseconds, and of one
    assert sorted(asked) == [100_000] * len(rounds) + [200_000] * len(rounds)
    assert measured.failed == {"broken": "failed in slices: it ended with 1"}
    assert told[-1] == "in slices, 1 of 1: fine, broken, in a duel"


def test_every_race_is_of_contenders_of_the_run(tmp_path: Path) -> None:
    fabrics = ("tcp", "tcp_rxm", "shm", "mapped")
    programs = Programs(tmp_path, {}, "", "")
    rivals = [Rival(Ucx("UCX", (), "1"), transport) for transport in ("tcp", "posix")]
    names = {each.name for each in all_contenders(fabrics, programs, rivals)}
    racers = {each.name for one in races.races(fabrics, programs, rivals) for each in one}
    assert racers and racers <= names | {f"{races.WORD}, mapped"}
    assert all(
        each.alone is None or each.alone[0] in names for one in races.races(fabrics, programs, rivals) for each in one
    )
