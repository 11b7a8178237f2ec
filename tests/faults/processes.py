# SPDX-License-Identifier: Apache-2.0
"""Processes of one run: started under the interposer, ended by a deadline, and none may stay behind."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from points import Point, number_of

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where shared-memory providers put their queues
SLOWNESS = int(os.environ.get("WEFT_TEST_SLOWNESS", "1"))  # an emulated machine sets a larger number
_SET_CHILD_SUBREAPER = 36  # prctl(2)
_ISOLATED = "WEFT_FAULTS_ISOLATED"
Value = TypeVar("Value")


@dataclass
class Report:
    """What the interposer wrote when main() ended."""

    program: str = ""
    calls: dict[str, int] = field(default_factory=dict)
    descriptors: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)


@dataclass
class Ended:
    """How one process ended. `code` is None if it had to be killed after its limit."""

    role: str
    code: int | None
    out: str
    err: str
    report: Report | None
    seconds: float

    @property
    def text(self) -> str:
        return self.out + self.err


def isolate(command: Sequence[str]) -> None:
    """Runs this tool in namespaces of its own where the system permits: ports, /dev/shm and processes are its own."""
    if isolated():
        return
    inner = ('ip link set lo up && mount -t tmpfs tmpfs /dev/shm && exec "$@"')
    outer = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if os.geteuid() != 0:
        outer += ["--user", "--map-root-user"]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        if subprocess.run([*outer, "sh", "-c", inner, "sh", "true"], capture_output=True, timeout=20,
                          check=False).returncode == 0:
            os.environ[_ISOLATED] = "1"
            os.execvp(outer[0], [*outer, "sh", "-c", inner, "sh", *command])


def isolated() -> bool:
    return _ISOLATED in os.environ


def adopt() -> None:
    """Orphans become children of this process, so that each is seen."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def read_report(path: Path) -> Report:
    report = Report()
    for line in path.read_text("utf-8", "replace").splitlines():
        word, _, rest = line.partition(" ")
        if word == "program":
            report.program = rest
        elif word == "calls":
            name, count = rest.split()
            report.calls[name] = int(count)
        elif word == "descriptor":
            report.descriptors.append(rest)
        elif word == "block":
            report.blocks.append(rest)
    return report


class Process:
    """One process with its output in files."""

    def __init__(self, run: Run, role: str, words: Sequence[str | Path], environment: dict[str, str]) -> None:
        self.role = role
        self._begin = time.monotonic()
        self._run = run
        base = run.folder / f"{role}.{len(run.started)}"
        self.out, self.err = base.with_suffix(".out"), base.with_suffix(".err")
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.child = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out,
                                          stderr=err, env=environment, cwd=run.folder, start_new_session=True)
        run.started.append(self)

    def running(self) -> bool:
        return self.child.poll() is None

    def end(self, limit: float) -> Ended:
        """Waits for its end; kills it after `limit` seconds."""
        code: int | None
        try:
            code = self.child.wait(limit * SLOWNESS)
        except subprocess.TimeoutExpired:
            code = None
            self.child.kill()
            self.child.wait()
        path = self._run.folder / f"report.{self.child.pid}"
        report = read_report(path) if path.exists() else None
        return Ended(self.role, code, self.out.read_text("utf-8", "replace"), self.err.read_text("utf-8", "replace"),
                     report, time.monotonic() - self._begin)


class Run:
    """One run of a program: a folder, its processes, and the call that fails in one of them."""

    def __init__(self, folder: Path, interposer: Path, callers: str) -> None:
        self.folder = folder
        self.started: list[Process] = []
        self._role = ""
        self._order: dict[str, str] = {}
        self._before = set(os.listdir(SHARED_MEMORY))
        self._environment = {**os.environ, "LD_PRELOAD": str(interposer), "WEFT_FAULTS_FROM": callers,
                             "WEFT_FAULTS_REPORT": str(folder / "report"), "HFI_NO_BACKTRACE": "1",
                             "IPATH_NO_BACKTRACE": "1", "LC_ALL": "C.UTF-8"}

    def aim(self, point: Point, program: str, role: str) -> None:
        """A call fails in `program`, which is the process of this role, or which that process starts."""
        self._role = role
        self._order = {"WEFT_FAULTS_PROGRAM": program, "WEFT_FAULTS_CALL": point.call,
                       "WEFT_FAULTS_AT": str(point.at), "WEFT_FAULTS_KILL": "1" if point.kills else "",
                       "WEFT_FAULTS_ERROR": "0" if point.kills else str(number_of(point.error))}

    def start(self, role: str, *words: str | Path) -> Process:
        return Process(self, role, words, self._environment | (self._order if role == self._role else {}))

    def fired(self) -> str:
        """The call that failed and its stack; empty if the run did not reach it."""
        path = self.folder / "report.fired"
        return path.read_text("utf-8", "replace") if path.exists() else ""

    def reports(self) -> list[Report]:
        return [read_report(path) for path in self.folder.glob("report.[0-9]*")]

    def leftovers(self) -> list[str]:
        """Ends each process that is left, and names them and what is left in /dev/shm."""
        left = []
        for process in self.started:
            if process.running():
                process.child.kill()
                process.child.wait()
        ours = {process.child.pid for process in self.started}
        ours |= {int(path.suffix[1:]) for path in self.folder.glob("report.[0-9]*")}
        for child in wait_for(_children, lambda found: not found, 2.0):
            with contextlib.suppress(OSError):
                name = Path(f"/proc/{child}/comm").read_text().strip()
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                left.append(f"process {name}")
        for entry in set(os.listdir(SHARED_MEMORY)) - self._before:
            owner = entry.split(":")[0]
            if isolated() or (owner.isdigit() and int(owner) in ours):
                left.append(f"/dev/shm/{entry}")
                with contextlib.suppress(OSError):
                    (SHARED_MEMORY / entry).unlink()
        return left


def _children() -> list[int]:
    """Processes that this one did not start itself and has now, orphans. Ended ones are reaped here."""
    found = []
    for name in Path("/proc/self/task").iterdir():
        for word in (name / "children").read_text().split():
            child = int(word)
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(child, os.WNOHANG) == (0, 0):
                    found.append(child)
    return found


def wait_for(poll: Callable[[], Value], good: Callable[[Value], bool], limit: float) -> Value:
    """Polls until the value is good, for at most `limit` seconds. Returns the last value."""
    end = time.monotonic() + limit * SLOWNESS
    while not good(value := poll()) and time.monotonic() < end:
        time.sleep(0.005)
    return value
