# SPDX-License-Identifier: Apache-2.0
"""Stopped processes and loaded machines.

A short stop or a busy machine is no false alarm. A long stop ends the peers of the process.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from running import Failed, Manager

SHORT_STOP = 1.0  # seconds: less than the silence limit of 3 s that FUNCTION_LIMIT_MS gives
FUNCTION_LIMIT_MS = 1000
END_LIMIT = 30.0  # seconds until the peer of a process that stays stopped has ended


@dataclass
class Outcome:
    runs: int = 0
    loaded: int = 0  # of the runs: beside busy processes
    false_alarms: int = 0
    ends: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def said(self) -> str:
        ends = f"; peers of stopped processes ended within {max(self.ends):.1f} s" if self.ends else ""
        loaded = f" ({self.loaded} beside a load)" if self.loaded else ""
        return f"{self.runs} runs{loaded}, {self.false_alarms} false alarms, {len(self.problems)} problems{ends}"


@contextlib.contextmanager
def load(processes: int) -> Iterator[None]:
    """So many processes that only compute."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()


def _start(manager: Manager, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        manager.client_command("--function-limit-ms", str(FUNCTION_LIMIT_MS), *words), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
    )


def _executor(manager: Manager, limit: float = 20.0) -> int:
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if executors := manager.executors():
            return executors[0]
        time.sleep(0.01)
    raise Failed("no executor started")


def _idle(manager: Manager, limit: float = 20.0) -> None:
    """Waits until the executor of the client before has ended."""
    end = time.monotonic() + limit
    while manager.executors():
        if time.monotonic() > end:
            raise Failed("the manager keeps an executor after its client's end")
        time.sleep(0.01)


def _stop_one(manager: Manager, victim: str, client: subprocess.Popen[str], after: float) -> int:
    process = {"executor": _executor(manager), "client": client.pid, "manager": manager.process.pid}[victim]
    time.sleep(after)
    os.kill(process, signal.SIGSTOP)
    return process


def short(build: Path, fabric: str, runs: int, seed: int, outcome: Outcome) -> None:
    """Each run meets one short stop; it loses nothing."""
    chosen = random.Random(f"{seed}:{fabric}")  # noqa: S311 - a repeatable choice, no secret
    with Manager(build, fabric) as manager:
        for _ in range(runs):
            victim = chosen.choice(("executor", "client", "manager"))
            _idle(manager)
            client = _start(manager, "run", "echo", "--count", "2000", "--hold-ms", "1500")
            try:
                process = _stop_one(manager, victim, client, chosen.uniform(0, 0.8))
                time.sleep(SHORT_STOP)
                os.kill(process, signal.SIGCONT)
                _, said = client.communicate(timeout=60)
            finally:
                client.kill()
                client.wait()
            outcome.runs += 1
            if client.returncode != 0:
                outcome.false_alarms += 1
                outcome.problems.append(f"{victim} stopped for {SHORT_STOP} s: {said.strip()}")


def endless(build: Path, fabric: str, outcome: Outcome) -> None:
    """A peer that stays stopped: the others end, with a sentence, and the manager serves the next client."""
    for victim in ("executor", "client"):
        with Manager(build, fabric) as manager:
            client = _start(manager, "--deadline-ms", "60000", "run", "echo", "--count", "100000000")
            try:
                process = _stop_one(manager, victim, client, 1.0)
                begin = time.monotonic()
                if victim == "executor":
                    _, said = client.communicate(timeout=END_LIMIT)
                    if client.returncode != 1 or len(said.strip().splitlines()) != 1:
                        raise Failed(f"the client of a stopped executor: {client.returncode}, {said!r}")
                while manager.executors():
                    if time.monotonic() - begin > END_LIMIT:
                        raise Failed(f"an executor stays {END_LIMIT:.0f} s after its {victim} was stopped")
                    time.sleep(0.05)
                outcome.ends.append(time.monotonic() - begin)
                if victim == "client":  # a stopped executor is killed by now
                    os.kill(process, signal.SIGCONT)
                report = manager.measure("run", "echo", "--count", "100")
                if report["lost"]:
                    raise Failed(f"the next client: {report}")
            except (Failed, subprocess.TimeoutExpired) as e:
                outcome.problems.append(f"{victim} stopped for ever: {e}")
            finally:
                client.kill()
                client.wait()
        outcome.runs += 1


def loaded(build: Path, fabric: str, runs: int, processes: int, outcome: Outcome) -> None:
    """Runs beside so many busy processes; default limits."""
    with load(processes), Manager(build, fabric, limit=120) as manager:
        for _ in range(runs):
            outcome.runs += 1
            outcome.loaded += 1
            try:
                report = manager.measure("--deadline-ms", "60000", "run", "echo", "--count", "50", "--warm-up", "0")
                if report["lost"]:
                    raise Failed(f"{report}")
            except Failed as e:
                outcome.false_alarms += 1
                outcome.problems.append(f"beside {processes} busy processes: {e}")
