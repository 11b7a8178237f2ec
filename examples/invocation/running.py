# SPDX-License-Identifier: Apache-2.0
"""Starts managers and clients as processes, with a deadline on everything.

No process and no shared memory stays behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

# Where managers listen and clients bind, where a fabric's device has an address other than this machine's own.
NODE = ("--node", os.environ["WEFT_NODE"]) if "WEFT_NODE" in os.environ else ()
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where shared-memory providers put their queues


class Place(NamedTuple):
    """Where a program runs: a command in front of it (`ip netns exec NAME`), and its `--node`."""

    command: tuple[str, ...] = ()
    node: tuple[str, ...] = ()


HERE = Place(node=NODE)
WARM, WAITING = "invocation-warm", "invocation-pool"  # names of processes (examples/invocation/warm/serving.hpp)
STARTING = "a warm parent that starts"
FORKED_WITHOUT_EXEC = 0x40  # of a process's flags in /proc/PID/stat (PF_FORKNOEXEC of the kernel)

Around = Callable[[int], contextlib.AbstractContextManager[object]]


def _nothing_around(_: int) -> contextlib.AbstractContextManager[object]:
    return contextlib.nullcontext()


class Failed(Exception):
    """A program failed; the text names it and quotes its output."""


def program(build: Path, role: str, fabric: str) -> Path:
    """The built program of a role: manager, executor or client."""
    return build / "examples" / "invocation" / f"invocation-{role}.{fabric}"


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _kind(process: int, name: str) -> str:
    """WARM, WAITING, STARTING, or the name of an executor that has an order.

    A warm parent names itself in main, half a second after its start: its libraries load before. Executors that it
    forked have its words, and no program of their own.
    """
    words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    flags = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[6])
    is_parent = b"--warm-parent" in words and not flags & FORKED_WITHOUT_EXEC
    return STARTING if is_parent and name != WARM else name


def _queues() -> set[Path]:
    return set(SHARED_MEMORY.glob("[0-9]*:[0-9]*:*")) if SHARED_MEMORY.is_dir() else set()


@contextlib.contextmanager
def clean_shared_memory() -> Iterator[None]:
    """Removes queues that killed processes left behind, if they started in this block."""
    before = _queues()
    try:
        yield
    finally:
        for queue in _queues() - before:
            owner = re.match(r"\d+", queue.name)
            if owner and not _alive(int(owner.group())):
                with contextlib.suppress(OSError):
                    queue.unlink()


class Manager:
    """A running manager. Use it as a context: it ends, or is killed, at the end of the block."""

    def __init__(
        self,
        build: Path,
        fabric: str,
        arguments: Sequence[str] = (),
        limit: float = 20.0,
        *,
        places: tuple[Place, Place] = (HERE, HERE),
    ) -> None:
        """`places`: where the manager runs, and where its clients run."""
        self.build = build
        self.fabric = fabric
        self._client_place = places[1]
        self._folder = tempfile.TemporaryDirectory(prefix="weft-invocation-")
        announced = Path(self._folder.name) / "address"
        self._said = open(Path(self._folder.name) / "said", "w+b")  # noqa: SIM115 - closed in stop()
        self.process = subprocess.Popen(
            [*places[0].command, str(program(build, "manager", fabric)), "--announce", str(announced), *places[0].node,
             *arguments],
            stdin=subprocess.DEVNULL,
            stdout=self._said,
            stderr=subprocess.STDOUT,
            process_group=0,  # its executors are in it too
        )
        self.address = self._wait_for(announced, limit)

    def _wait_for(self, announced: Path, limit: float) -> str:
        end = time.monotonic() + limit
        while time.monotonic() < end and self.process.poll() is None:
            text = announced.read_text() if announced.exists() else ""
            if text.endswith("\n"):
                return text.strip()
            time.sleep(0.01)
        said = self.stop()[1]
        raise Failed(f"the manager over {self.fabric} did not begin to listen: {said.strip() or 'it said nothing'}")

    def __enter__(self) -> Manager:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def said(self) -> str:
        """Output of manager and executors so far."""
        self._said.flush()
        return Path(self._said.name).read_text(errors="replace")

    def stop(self, limit: float = 15.0) -> tuple[int | None, str]:
        """Ends it. Returns the exit code (None: it had to be killed) and its output. A second call does nothing."""
        if self._said.closed:
            return None, ""
        code: int | None = None
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        said = self.said()
        self._said.close()
        self._folder.cleanup()
        return code, said

    def client_command(self, *arguments: str) -> list[str]:
        """The words that start a client of this manager."""
        place = self._client_place
        client = str(program(self.build, "client", self.fabric))
        return [*place.command, client, "--manager", self.address, *place.node, *arguments]

    def client(
        self, *arguments: str, limit: float = 120.0, around: Around = _nothing_around
    ) -> subprocess.CompletedProcess[str]:
        """Runs a client to its end. `around` is a context around the client's life; it gets the process group."""
        command = self.client_command(*arguments)
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,
        ) as running:
            try:
                with around(running.pid):
                    out, err = running.communicate(timeout=limit)
            except BaseException as e:
                running.kill()
                if isinstance(e, subprocess.TimeoutExpired):
                    raise Failed(
                        f"the client over {self.fabric} did not end within {limit:.0f} s: {' '.join(command)}"
                    ) from e
                raise
        return subprocess.CompletedProcess(command, running.returncode, out, err)

    def measure(self, *arguments: str, limit: float = 120.0, around: Around = _nothing_around) -> dict[str, Any]:
        """A client's measured run (`run ...`): its report."""
        done = self.client("--json", *arguments, limit=limit, around=around)
        if not done.stdout.strip():
            raise Failed(
                f"the client over {self.fabric} printed only: {done.stderr.strip()} "
                f"(exit code {done.returncode}); {self.said().strip()}"
            )
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    def executors(self) -> list[int]:
        """Process numbers of the running executors that have an order."""
        return [number for number, name in self._children() if name not in (WARM, WAITING, STARTING)]

    def warm_parent(self) -> int | None:
        """Process number of the warm parent of executors, where there is one."""
        return next((number for number, name in self._children() if name == WARM), None)

    def starting_parent(self) -> int | None:
        """The same where its libraries load: it has no executors yet."""
        return next((number for number, name in self._children() if name == STARTING), None)

    def pool(self) -> list[int]:
        """Process numbers of the executors that wait for an order."""
        return [number for number, name in self._children() if name == WAITING]

    def _children(self) -> list[tuple[int, str]]:
        found = []
        for number in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
            with contextlib.suppress(OSError):  # it has ended
                name = Path(f"/proc/{number}/comm").read_text().strip()
                found.append((int(number), _kind(int(number), name)))
        return found
