# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at random moments, of client, executor or manager.

After each kill: the surviving client ends in time with one sentence, executors end, no process and no descriptor
stays, a new client is served. At the end the accounting is exact, and no queue is left in /dev/shm. Queues of processes
that no survivor had met are counted apart: nobody can know them (SECURITY.md). The same seed kills the same victims
after the same delays.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from record import percentile
from running import SHARED_MEMORY, Failed, Manager
from wire import Unavailable

VICTIMS = ("client", "executor", "manager")
SHARES = (4, 4, 1)
LONGEST_DELAY = 1.2  # seconds: the start of an executor takes half a second, the rest are calls
SURVIVOR_LIMIT = 20.0  # seconds until a surviving client, or an executor without its manager or client, has ended
FUNCTION_LIMIT_MS = 1000
_CLONE_NEWNS, _MS_REC, _MS_PRIVATE = 0x20000, 0x4000, 0x40000


@dataclass
class Outcome:
    kills: Counter[str] = field(default_factory=Counter)
    ends: list[float] = field(default_factory=list)  # seconds from a kill to the end of the surviving client
    served: list[float] = field(default_factory=list)  # seconds of a new client, from its start to its end
    problems: list[str] = field(default_factory=list)
    unknown: int = 0  # queues of killed processes that no survivor had met

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(self.kills + other.kills, self.ends + other.ends, self.served + other.served,
                       self.problems + other.problems, self.unknown + other.unknown)

    def said(self) -> str:
        count = sum(self.kills.values())
        ends = f"survivors ended within {max(self.ends, default=0):.2f} s (p99 {percentile(self.ends, 0.99):.2f} s)"
        served = f"new clients took {percentile(self.served, 0.5):.2f} s (p99 {percentile(self.served, 0.99):.2f} s)"
        left = f"; {self.unknown} queues of processes that no survivor had met" if self.unknown else ""
        return f"{count} kills, {len(self.problems)} problems; {ends}; {served}{left}"


def _until(done: Callable[[], bool], limit: float) -> bool:
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if done():
            return True
        time.sleep(0.01)
    return done()


def _state(process: int) -> str:
    """The kernel's letter of a process's state; empty where there is no such process."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def _descriptors(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))


def _queues() -> set[str]:
    return set(os.listdir(SHARED_MEMORY)) if SHARED_MEMORY.is_dir() else set()


class Storm:
    """Rounds of one fabric. A manager lives until it is the victim."""

    def __init__(self, build: Path, fabric: str, seed: int, tell: Callable[[str], None]) -> None:
        self.build, self.fabric, self.tell = build, fabric, tell
        self.random = random.Random(f"{seed}:{fabric}")  # noqa: S311 - a repeatable choice, no secret
        self.outcome = Outcome()
        self.before = _queues()
        self.manager = Manager(build, fabric)
        self.idle_descriptors = 0
        self.unmet: set[str] = set()  # process numbers

    def run(self, rounds: int, until: float) -> Outcome:
        """At most so many rounds, and none that begins after `until` (time.monotonic())."""
        try:
            for number in range(rounds):
                if time.monotonic() >= until:
                    break
                self._round(number)
        finally:
            self._end_manager()
        unknown = {name for name in _queues() - self.before if name.split(":")[0] in self.unmet}
        self.outcome.unknown = len(unknown)
        left = _queues() - self.before - unknown
        if left:
            self.outcome.problems.append(f"left in /dev/shm: {', '.join(sorted(left))}")
        return self.outcome

    def _round(self, number: int) -> None:
        victim = self.random.choices(VICTIMS, SHARES)[0]
        delay = self.random.uniform(0, LONGEST_DELAY)
        depth = self.random.choice((1, 4))
        self.outcome.kills[victim] += 1
        try:
            self._kill(victim, delay, depth)
            self._serve()
        except (Failed, subprocess.TimeoutExpired) as e:
            self.outcome.problems.append(f"round {number} ({victim} after {delay:.3f} s, depth {depth}): {e}")
            self.tell(self.outcome.problems[-1])
            self._end_manager()
            self.manager = Manager(self.build, self.fabric)
            self.idle_descriptors = 0

    def _kill(self, victim: str, delay: float, depth: int) -> None:
        words = ("--function-limit-ms", str(FUNCTION_LIMIT_MS), "run", "echo", "--count", "100000000")
        client = subprocess.Popen(
            self.manager.client_command(*words, "--depth", str(depth)),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
        )
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                client.wait(delay)
            executors = self.manager.executors()
            process = {"client": [client.pid], "executor": executors, "manager": [self.manager.process.pid]}[victim]
            if not executors:  # the victim may have met nobody
                self.unmet.update(map(str, process or [client.pid]))
            elif victim == "manager":  # executors die with it, perhaps before they met the client
                self.unmet.update(map(str, executors))
            for each in process or [client.pid]:  # no executor yet: the client is killed instead
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)
            self._survive(client, killed=victim == "client" or not process)
        finally:
            client.kill()
            client.communicate()
        if victim == "manager":
            if not _until(lambda: all(_state(each) in ("", "Z") for each in executors), SURVIVOR_LIMIT):
                raise Failed("an executor outlived its manager")
            self._end_manager()
            self.manager = Manager(self.build, self.fabric)
            self.idle_descriptors = 0

    def _survive(self, client: subprocess.Popen[str], killed: bool) -> None:
        begin = time.monotonic()
        _, said = client.communicate(timeout=SURVIVOR_LIMIT)
        if killed:
            return
        self.outcome.ends.append(time.monotonic() - begin)
        if client.returncode not in (0, 1):
            raise Failed(f"the client ended with {client.returncode}: {said.strip()!r}")
        if client.returncode == 1 and len(said.strip().splitlines()) != 1:
            raise Failed(f"the client said not one sentence, but {said.strip()!r}")

    def _serve(self) -> None:
        if not _until(lambda: not self.manager.executors(), SURVIVOR_LIMIT):
            raise Failed("the manager keeps an executor whose client is gone")
        begin = time.monotonic()
        report = self.manager.measure("run", "echo", "--count", "100", "--warm-up", "0", limit=SURVIVOR_LIMIT)
        self.outcome.served.append(time.monotonic() - begin)
        if report["lost"] != 0 or not report["accounting"]["exact"]:
            raise Failed(f"a new client: {report}")
        if not _until(lambda: not self.manager.executors(), SURVIVOR_LIMIT):
            raise Failed("the manager keeps an executor after its client's orderly end")
        self._count_descriptors()

    def _count_descriptors(self) -> None:
        """The idle manager has as many descriptors as after its first client."""
        process = self.manager.process.pid
        if self.idle_descriptors == 0:
            self.idle_descriptors = _descriptors(process)
        if not _until(lambda: _descriptors(process) <= self.idle_descriptors, SURVIVOR_LIMIT):
            raise Failed(f"the manager has {_descriptors(process)} descriptors, {self.idle_descriptors} at first")

    def _end_manager(self) -> None:
        killed = self.manager.process.poll() == -signal.SIGKILL
        code, said = self.manager.stop()
        if code not in (0, None) and not killed:
            self.outcome.problems.append(f"the manager ended with {code}: {said.strip()}")


def _own_shared_memory() -> None:
    """Gives this process a /dev/shm of its own: a storm counts what stays there."""
    library = ctypes.CDLL(None, use_errno=True)
    if (library.unshare(_CLONE_NEWNS) != 0
            or library.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) != 0
            or library.mount(b"tmpfs", os.fsencode(SHARED_MEMORY), b"tmpfs", 0, None) != 0):
        why = os.strerror(ctypes.get_errno())
        raise Unavailable(f"storms side by side need a /dev/shm each, which needs root ({why}); --storms 1 needs none")


def _one_of(build: Path, fabric: str, until: float, tell: Callable[[str], None], rounds: int, seed: int) -> Outcome:
    _own_shared_memory()
    return Storm(build, fabric, seed, tell).run(rounds, until)


def run(build: Path, fabric: str, rounds: int, seed: int, storms: int, until: float,
        tell: Callable[[str], None]) -> Outcome:
    """As many kills, shared by storms side by side: who waits for a survivor leaves the processors to others.

    Each storm has a manager of its own, and the next seed.
    """
    storms = min(storms, max(rounds, 1))  # none is idle
    if storms == 1:
        return Storm(build, fabric, seed, tell).run(rounds, until)
    shares = [rounds // storms + (number < rounds % storms) for number in range(storms)]
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(storms, context) as pool:
        outcomes = pool.map(partial(_one_of, build, fabric, until, tell), shares, range(seed, seed + storms))
        return sum(outcomes, Outcome())
