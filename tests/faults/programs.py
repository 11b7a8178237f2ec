# SPDX-License-Identifier: Apache-2.0
"""The programs that scripts/faults runs: hello world, function invocation, the paged writer, or a command.

play() runs all processes of one run, and returns how each ended. If the failing process spoils its run, a second
client without a failure must be served, unless the process that serves has ended.
"""

from __future__ import annotations

import json
import re
import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from processes import Ended, Process, Run, wait_for

ROWS = ("tcp", "tcp_rxm", "sockets", "kernel_tcp", "shm", "udp_rxd", "mapped", "loopback")
BETWEEN_PROCESSES = tuple(row for row in ROWS if row != "loopback")
PORT = 7471  # of the hello world
STARTED, MET = 20.0, 60.0  # seconds until a process listens, and until it ends


class Program(ABC):
    """A program of several processes, named by their roles."""

    name: str
    roles: tuple[str, ...]
    rows: tuple[str, ...] = BETWEEN_PROCESSES
    spawned: Mapping[str, str] = {}  # role -> the role of the process that starts it

    def __init__(self, build: Path) -> None:
        self.build = build

    @abstractmethod
    def path(self, role: str, row: str) -> Path:
        """The executable of a role."""

    @abstractmethod
    def play(self, run: Run, row: str) -> list[Ended]:
        """Runs every process to its end."""

    def right(self, ended: Ended) -> bool:
        """Whether a process that exits with 0 did its work."""
        return True

    def built(self, row: str) -> bool:
        return row in self.rows and all(self.path(role, row).exists() for role in self.roles)


class Hello(Program):
    """examples/hello: a listener on a fixed port, and a caller that writes one line into its memory."""

    name = "hello"
    roles = ("listener", "caller")

    def path(self, role: str, row: str) -> Path:
        return self.build / "examples" / "hello" / f"hello-{role}.{row}"

    def play(self, run: Run, row: str) -> list[Ended]:
        listener = run.start("listener", self.path("listener", row))
        wait_for(lambda: not listener.running() or _bound(PORT), bool, STARTED)
        if not listener.running():
            return [listener.end(STARTED)]
        ended = [run.start("caller", self.path("caller", row)).end(MET)]
        # A listener that met the caller has ended or sees its loss. One that did not serves the next.
        if ended[0].code != 0 and not wait_for(lambda: not listener.running(), bool, 2.0):
            ended.append(run.start("second caller", self.path("caller", row)).end(MET))
        return [listener.end(MET), *ended]

    def right(self, ended: Ended) -> bool:
        return ended.role != "listener" or ended.out == "hello, world (7)\n"


class Invocation(Program):
    """examples/invocation: a manager, the executor that it starts, and a client with twenty calls."""

    name = "invocation"
    roles = ("manager", "executor", "client")
    spawned: Mapping[str, str] = {"executor": "manager"}
    calls = 20

    def path(self, role: str, row: str) -> Path:
        return self.build / "examples" / "invocation" / f"invocation-{role}.{row}"

    def play(self, run: Run, row: str) -> list[Ended]:
        announced = run.folder / "address"
        # executed: which of the calls are the executor's is then the same in each run
        manager = run.start("manager", self.path("manager", row), "--announce", announced, "--fresh-executors")
        wait_for(lambda: not manager.running() or _line(announced) != "", bool, STARTED)
        if not manager.running() or _line(announced) == "":
            manager.child.send_signal(signal.SIGTERM)
            return [manager.end(STARTED)]
        words: list[str | Path] = [self.path("client", row), "--manager", _line(announced), "--json", "run", "echo",
                                   "--count", str(self.calls), "--warm-up", "0"]
        ended = [run.start("client", *words).end(MET)]
        if ended[0].code != 0 and manager.running():
            ended.append(run.start("second client", *words).end(MET))
        manager.child.send_signal(signal.SIGTERM)
        return [manager.end(STARTED), *ended]

    def right(self, ended: Ended) -> bool:
        if ended.role == "manager":
            return re.search(r"allocations billed: (\d+), exactly: \1\n", ended.out) is not None
        report = json.loads(ended.out)
        return report["done"] == self.calls and report["lost"] == 0 and report["accounting"]["exact"] is True


class PagedWriter(Program):
    """examples/paged_writer: a server writes pages, a client verifies every word. On loopback one process is both."""

    name = "paged_writer"
    roles = ("server", "client")
    rows = ROWS
    options = ("--bytes", "256KiB", "--page", "4KiB", "--pages", "16", "--rails", "2", "--one-thread", "--operations",
               "16", "--report-ms", "0", "--patience", "5")

    def path(self, role: str, row: str) -> Path:
        return self.build / "examples" / "paged_writer" / f"paged-writer.{row}"

    def play(self, run: Run, row: str) -> list[Ended]:
        program = self.path("server", row)
        if row == "loopback":
            return [run.start("server", program, "both", *self.options).end(MET)]
        announced = run.folder / "address"
        server = run.start("server", program, "server", "--announce", announced, *self.options)
        wait_for(lambda: not server.running() or _line(announced) != "", bool, STARTED)
        if not server.running() or _line(announced) == "":
            return [server.end(STARTED)]
        client = run.start("client", program, "client", _line(announced), *self.options)
        return [client.end(MET), server.end(MET)]

    def right(self, ended: Ended) -> bool:
        return re.search(r"^\S+ (verified|wrote): ", ended.out, re.MULTILINE) is not None


class Command(Program):
    """A command of the user: one process, right if it exits with 0."""

    name = "command"
    roles = ("process",)
    rows = ("",)

    def __init__(self, words: Sequence[str], limit: float) -> None:
        super().__init__(Path())
        self.words = list(words)
        self.limit = limit

    def path(self, role: str, row: str) -> Path:
        return Path(self.words[0]).resolve()

    def play(self, run: Run, row: str) -> list[Ended]:
        return [run.start("process", self.path("process", row), *self.words[1:]).end(self.limit)]


PROGRAMS: tuple[type[Program], ...] = (Hello, Invocation, PagedWriter)


def _line(path: Path) -> str:
    """The first line of a file, once it is whole."""
    text = path.read_text("utf-8") if path.exists() else ""
    return text.strip() if text.endswith("\n") else ""


def _bound(port: int) -> bool:
    """Whether a socket of this machine listens at a port, or receives datagrams there."""
    for name, state in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            words = line.split()
            if words[1].endswith(f":{port:04X}") and words[3] == state:
                return True
    return False
