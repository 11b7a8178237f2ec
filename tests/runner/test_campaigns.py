# SPDX-License-Identifier: Apache-2.0
"""Campaigns judge rightly: planted growth, leftovers and broken promises are seen, and a seed repeats its faults."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "campaigns"), str(ROOT / "examples" / "invocation")]
import kills  # noqa: E402
import loss  # noqa: E402
import record  # noqa: E402
import soak  # noqa: E402
import tools  # noqa: E402
import wire  # noqa: E402
from running import SHARED_MEMORY, Failed  # noqa: E402


def samples(kib_an_hour: float, descriptors_an_hour: float) -> list[tuple[float, float, float]]:
    """Four hours, with a warm-up that grows."""
    return [(n / 10, 5000 + kib_an_hour * n / 10 + (400 * (10 - n) if n < 10 else 0), 20 + descriptors_an_hour * n / 10)
            for n in range(40)]


@pytest.mark.parametrize(("memory", "descriptors", "good"),
                         [(0, 0, True), (30, 0, True), (36, 0, False), (0, 1, False)])
def test_a_soak_judges_growth_after_its_warm_up(memory: float, descriptors: float, good: bool) -> None:
    assert soak.Outcome(samples=samples(memory, descriptors)).good() is good


def test_memory_that_comes_and_goes_with_a_peer_is_no_growth() -> None:
    # As over sockets of the kernel: by chance the later samples found the peer more often.
    there = [n % 2 == 0 for n in range(30)] + [True] * 10
    assert soak.Outcome(samples=[(n / 10, 7808.0 + 284 * there[n], 8.0 + there[n]) for n in range(40)]).good()
    assert not soak.Outcome(samples=[(n / 10, 7808.0 + 284 * there[n] + 4 * n, 8.0) for n in range(40)]).good()


def test_a_lost_call_or_a_problem_fails_a_soak() -> None:
    assert not soak.Outcome(samples=samples(0, 0), lost=1).good()
    assert not soak.Outcome(samples=samples(0, 0), problem="the manager ended").good()


def test_few_clients_show_no_growth_and_are_no_soak() -> None:
    few = soak.Outcome(samples=samples(0, 0)[:9])
    assert not few.good() and few.said().endswith("fewer than 10 clients show nothing")


def test_a_plot_of_a_soak_has_its_first_and_last_parts() -> None:
    whole = soak.Outcome(samples=[(n / 10, float(n), 20.0) for n in range(400)]).series()
    assert len(whole["memory, KiB"]) == soak.POINTS == len(whole["descriptors"])
    assert whole["memory, KiB"][0] == 0 and whole["memory, KiB"][-1] > 390
    assert soak.Outcome(samples=samples(0, 0)[:3]).series()["descriptors"] == [20, 20, 20]


def fates(seed: int, faults: wire.Faults, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, int], list[bytes]]:
    relay, out = wire._Relay((3, 4), faults, seed), []
    monkeypatch.setattr(relay, "write", lambda to, packet: out.append(packet))
    monkeypatch.setattr(relay, "later", lambda to, packet, seconds: out.append(packet))
    for number in range(2000):
        relay.take(number.to_bytes(40, "big"), 4)
    return dict(relay.fates), out


def test_a_seed_repeats_the_faults_of_a_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = wire.Faults(loss=0.1, duplicate=0.05, reorder=0.05, corrupt=0.02)
    first, packets = fates(7, faults, monkeypatch)
    assert (first, packets) == fates(7, faults, monkeypatch)
    assert packets != fates(8, faults, monkeypatch)[1]
    assert first["packets"] == 2000
    assert 120 < first["lost"] < 280 and first["repeated"] > 0 and first["reordered"] > 0 and first["corrupted"] > 0
    assert len(packets) == 2000 - first["lost"] + first["repeated"]


def test_a_perfect_wire_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, packets = fates(1, wire.Faults(), monkeypatch)
    assert seen == {"packets": 2000} and packets == [number.to_bytes(40, "big") for number in range(2000)]


def test_figures_are_kept_beside_those_of_others(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    record.keep("kills", "tcp", record.Figure(True, "10 kills", "scripts/campaign kills"), file)
    record.keep("kills", "shm", record.Figure(False, "3 kills", "scripts/campaign kills"), file)
    record.keep("kills", "tcp", record.Figure(True, "20 kills", "scripts/campaign kills"), file)
    kept = json.loads(file.read_text())
    assert {name: each["said"] for name, each in kept["kills"].items()} == {"shm": "3 kills", "tcp": "20 kills"}
    assert kept["kills"]["tcp"]["date"] and kept["kills"]["tcp"]["commit"]


def test_a_figure_names_the_commit_of_its_beginning(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    record.keep("soak", "tcp", record.Figure(True, "a night", "scripts/campaign soak", commit="0123456789ab"), file)
    assert json.loads(file.read_text())["soak"]["tcp"]["commit"] == "0123456789ab"


SIMULATED = {"seeds": 2000, "failed": [], "operations": 30_000, "virtual_seconds": 600.0, "rate": 12.5}
EXECUTED = {"executions": 10_000_000, "seconds": 90.0, "edges": 77, "crashes": 0}


@pytest.mark.parametrize(("change", "good"), [({}, True), ({"failed": [{"seed": 7}]}, False), ({"seeds": 0}, False)])
def test_a_failed_seed_breaks_a_simulation(change: dict[str, Any], good: bool) -> None:
    figure = tools.simulated({**SIMULATED, **change}, "./weft simulate tcp")
    assert figure.good is good
    assert figure.said.endswith("30,000 operations in 10 virtual minutes, 12.5 seeds/s of a processor")


@pytest.mark.parametrize(("change", "code", "good"),
                         [({}, 0, True), ({}, 1, False), ({"crashes": 1}, 0, False), ({"executions": 0}, 0, False)])
def test_a_crash_breaks_a_fuzz_target(change: dict[str, Any], code: int, good: bool) -> None:
    ran = EXECUTED | change
    figure = tools.fuzzed(ran, code, "scripts/fuzz wire_hello")
    assert figure.good is good
    assert figure.said == f"{ran['executions']:,} executions in 1.5 minutes, 77 edges, {ran['crashes']} crashes"


@pytest.mark.parametrize(("good_calls", "good_kills", "good"), [(9, 4, True), (8, 4, False), (9, 3, False)])
def test_a_point_that_ends_badly_breaks_failing_calls(good_calls: int, good_kills: int, good: bool) -> None:
    table = [{"program": "hello", "what": "call fails", "points": 9, "good": good_calls},
             {"program": "paged_writer", "what": "killed there", "points": 4, "good": good_kills}]
    figure = tools.failed_in_turn(table, "scripts/faults")
    assert figure.good is good
    assert figure.said == (f"9 failing calls, {good_calls} ended well; 4 kills at a call, {good_kills} ended well "
                           "(hello, paged_writer)")
    assert not tools.failed_in_turn([], "scripts/faults").good


@pytest.mark.parametrize(("row", "outcomes", "good"),
                         [("shm", {"left": 2, "killed": 2}, True), ("tcp", {"left": 2, "killed": 2}, False),
                          ("shm", {"hang": 1, "left": 1, "killed": 2}, False)])
def test_only_a_file_that_nobody_could_know_breaks_nothing(row: str, outcomes: dict[str, int], good: bool) -> None:
    table = [{"program": "hello", "row": row, "what": "call fails", "points": 9, "good": 9, "outcomes": {}},
             {"program": "hello", "row": row, "what": "killed there", "points": 4, "good": 2, "outcomes": outcomes}]
    figure = tools.failed_in_turn(table, "scripts/faults")
    assert figure.good is good
    assert ("could know" in figure.said) is (row == "shm")


def test_a_bug_that_is_not_found_breaks_planted_bugs() -> None:
    said = "one: found as lost_message after 3 seeds\ntwo: found as lost_message after 12 seeds\n"
    figure = tools.planted_bugs(said, 0, "planted.py")
    assert figure.good and figure.said == "2 of 2 bugs found by name, after 12 seeds at most"
    figure = tools.planted_bugs(said + "three: not found as double_end: no seed has it\n", 1, "planted.py")
    assert not figure.good
    assert figure.said == "2 of 3 bugs found by name, after 12 seeds at most; not: three"


def test_connections_pass_only_if_a_test_ran(tmp_path: Path) -> None:
    program = tmp_path / "tests" / "loopback" / "loopback.reconnecting"
    program.parent.mkdir(parents=True)
    for said, code, good in (("[  PASSED  ] 1 test.", 0, True), ("[  PASSED  ] 0 tests.", 0, False),
                             ("[  PASSED  ] 1 test.", 1, False)):
        program.write_text(f"#!/bin/sh\necho \"$WEFT_ROUNDS rounds\"\necho '{said}'\nexit {code}\n")
        program.chmod(0o755)
        figure = tools.connections("loopback", tmp_path, 50)
        assert figure.good is good
        assert figure.command == "WEFT_ROUNDS=50 BUILD/tests/loopback/loopback.reconnecting"
    with pytest.raises(tools.Missing, match="conformance.tcp does not exist"):
        tools.connections("tcp", tmp_path, 50)


@pytest.mark.parametrize(("said", "starts", "repeated"), [
    ("printed only: nobody answered (exit code 1)", 3, 2),
    ("printed only: nobody answered (exit code 1)", 99, 19),
    ("printed only:  (exit code -6)", 3, 0),
])
def test_only_a_client_that_met_nobody_starts_again(said: str, starts: int, repeated: int) -> None:
    began = []

    def measure(*_: str, **__: Any) -> dict[str, Any]:
        began.append(1)
        if len(began) < starts:
            raise Failed(said)
        return {"done": 5, "lost": 0}

    outcome = loss.Outcome()
    if repeated == 2:
        assert loss._measure(SimpleNamespace(measure=measure), 5, outcome)["done"] == 5  # type: ignore[arg-type]
    else:
        with pytest.raises(Failed):
            loss._measure(SimpleNamespace(measure=measure), 5, outcome)  # type: ignore[arg-type]
    assert outcome.repeated == repeated


def test_wires_side_by_side_share_the_count_and_have_seeds_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_: Path, fabric: str, faults: wire.Faults, calls: int, seed: int) -> loss.Outcome:
        asked.append((calls, seed))
        return loss.Outcome(calls, lost=0, packets=10, faulty=1, repeated=2, problem="lost" if seed == 8 else "")

    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(loss, "run", run)
    outcome = loss.run_on_wires(Path("BUILD"), "tcp", wire.Faults(), 11, 7, 3)
    assert sorted(asked) == [(3, 9), (4, 7), (4, 8)]
    assert outcome == loss.Outcome(11, 0, 30, 3, 6, "lost")
    asked.clear()
    assert loss.run_on_wires(Path("BUILD"), "tcp", wire.Faults(), 2, 1, 5).calls == 2
    assert sorted(asked) == [(1, 1), (1, 2)], "a wire without calls"


@pytest.mark.parametrize(("campaign", "option"), [("loss", "--wires"), ("kills", "--storms")])
def test_a_campaign_needs_a_place(campaign: str, option: str) -> None:
    said = subprocess.run([ROOT / "scripts" / "campaign", campaign, option, "0"], capture_output=True, text=True,
                          check=False)
    assert (said.returncode, said.stderr.splitlines()[-1]) == (2, f"scripts/campaign: error: {option} is 1 or more")


class PlantedManager:
    """A manager whose clients are processes of the test, and end as the test says."""

    def __init__(self, said: str = "one sentence\n", executors: tuple[int, ...] = ()) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        self.client = f"import sys; sys.stderr.write({said!r}); sys.exit(1)"
        self.running = list(executors)

    def client_command(self, *_: str) -> list[str]:
        return [sys.executable, "-c", self.client]

    def executors(self) -> list[int]:
        return self.running

    def measure(self, *_: str, **__: Any) -> dict[str, Any]:
        return {"lost": 0, "accounting": {"exact": True}}

    def stop(self) -> tuple[int | None, str]:
        self.process.kill()
        self.process.wait()
        return 0, ""


@pytest.fixture
def storm(monkeypatch: pytest.MonkeyPatch) -> Iterator[kills.Storm]:
    made: list[PlantedManager] = []

    def start(*_: Any) -> PlantedManager:
        made.append(PlantedManager())
        return made[-1]

    monkeypatch.setattr(kills, "Manager", start)
    monkeypatch.setattr(kills, "SURVIVOR_LIMIT", 5.0)
    monkeypatch.setattr(kills, "LONGEST_DELAY", 0.05)
    yield kills.Storm(Path("build"), "planted", 1, lambda _: None)
    for each in made:
        each.stop()


def test_a_storm_over_good_programs_has_no_problem(storm: kills.Storm) -> None:
    outcome = storm.run(4, time.monotonic() + 60)
    assert sum(outcome.kills.values()) == 4 and outcome.problems == []


def test_a_survivor_that_says_nothing_is_a_problem(storm: kills.Storm) -> None:
    silent = subprocess.Popen([sys.executable, "-c", "raise SystemExit(1)"], stderr=subprocess.PIPE, text=True)
    with pytest.raises(Failed, match="said not one sentence"):
        storm._survive(silent, killed=False)


def test_a_crash_of_a_survivor_is_a_problem(storm: kills.Storm) -> None:
    crash = subprocess.Popen([sys.executable, "-c", "import os; os.abort()"], stderr=subprocess.PIPE, text=True)
    with pytest.raises(Failed, match="the client ended with -6"):
        storm._survive(crash, killed=False)


def test_an_executor_that_stays_is_a_problem(storm: kills.Storm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kills, "SURVIVOR_LIMIT", 0.1)
    monkeypatch.setattr(storm, "manager", SimpleNamespace(executors=lambda: [1], stop=lambda: (0, ""), process=None))
    with pytest.raises(Failed, match="keeps an executor"):
        storm._serve()


def test_a_queue_left_in_shared_memory_is_a_problem(storm: kills.Storm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kills, "_queues", lambda: storm.before | {"4711:0:0"})
    assert storm.run(0, time.monotonic() + 60).problems == ["left in /dev/shm: 4711:0:0"]
    storm.unmet.add("4711")
    again = storm.run(0, time.monotonic() + 60)
    assert again.unknown == 1 and again.said().endswith("1 queues of processes that no survivor had met")


class PlantedStorm:
    """Leaves a file in its /dev/shm, and says how many it found there."""

    def __init__(self, _: Path, fabric: str, seed: int, tell: Any) -> None:
        self.seed = seed

    def run(self, rounds: int, _: float) -> kills.Outcome:
        (SHARED_MEMORY / f"4711:{self.seed}:0").touch()
        found = len(list(SHARED_MEMORY.glob("4711:*")))
        return kills.Outcome(Counter(client=rounds), [float(self.seed)], [0.5], ["late"] * (self.seed == 8), found)


@pytest.mark.skipif(os.geteuid() != 0, reason="a /dev/shm of its own needs root")
def test_storms_side_by_side_share_the_count_and_see_no_queue_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kills, "Storm", PlantedStorm)
    try:
        outcome = kills.run(Path("BUILD"), "shm", 11, 7, 3, float("inf"), print)
    except wire.Unavailable as e:  # a container
        pytest.skip(str(e))
    assert (outcome.kills, outcome.problems) == (Counter(client=11), ["late"])
    assert sorted(outcome.ends) == [7, 8, 9] and outcome.served == [0.5] * 3
    assert outcome.unknown == 3, "each finds its own file"
    assert not list(SHARED_MEMORY.glob("4711:*")), "and none is left"
    assert kills.run(Path("BUILD"), "shm", 2, 1, 5, float("inf"), print).kills.total() == 2


def test_storms_without_a_shared_memory_of_their_own_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: SimpleNamespace(unshare=lambda _: -1))
    with pytest.raises(wire.Unavailable, match="a /dev/shm each, which needs root .*; --storms 1 needs none"):
        kills._own_shared_memory()
