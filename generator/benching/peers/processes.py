# SPDX-License-Identifier: Apache-2.0
"""Starts the programs of a run: pinned, with a deadline, over loopback addresses, in process groups that leave nothing.
"""
from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..slices import taking_turns

SECONDS = 30.0
# The loopback interface, for every library's setting of it.
LOOPBACK = {"FI_TCP_IFACE": "lo", "FI_SOCKETS_IFACE": "lo", "FI_UDP_IFACE": "lo", "UCX_NET_DEVICES": "lo"}


class Failed(Exception):
    """A program that failed; the sentence names the program and its output."""


def run(command: Sequence[str | Path], environment: Mapping[str, str] | None = None, seconds: float = SECONDS) -> str:
    """Runs a program that makes its own pair of processes. Returns its standard output. Errors: Failed."""
    with _started(command, environment, None) as running:
        return _output(running, command, time.monotonic() + seconds)


def pair(server: Sequence[str | Path], client: Sequence[str | Path], port: int,
         environment: Mapping[str, str] | None = None, seconds: float = SECONDS,
         pinned: bool = True) -> str:
    """Starts a server on processor 0, waits until it listens on the port, runs the client on processor 1.

    Returns the client's standard output. Not pinned: for libraries whose own thread moves the data. That thread would
    inherit the processor of the waiting one.
    """
    until = time.monotonic() + seconds
    with _started(server, environment, 0 if pinned else None) as serving:
        while not listens(port, Path(f"/proc/{serving.pid}/net")):
            if serving.poll() is not None or time.monotonic() > until:
                raise Failed(f"{Path(server[0]).name} did not listen: {_said(serving)}")
            time.sleep(.005)
        with _started(client, environment, 1 if pinned else None) as running:
            client_output = _output(running, client, until)
        with contextlib.suppress(subprocess.TimeoutExpired):  # a server that ends by itself removes its shared memory
            serving.wait(timeout=.3)
        return client_output


def free_port() -> int:
    """A port of 127.0.0.1 without a listener at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def listens(port: int, proc: Path = Path("/proc/self/net"),
            memory: Path = Path("/dev/shm")) -> bool:  # noqa: S108  the kernel's own folder
    """Whether a program listens on the port, from the kernel's tables: the server would take a connection for the
    client's.

    A datagram socket without a peer listens. Where there are no sockets, the server's shared memory shows it:
    libfabric's shm names that memory by address and port.
    """
    wanted = f":{port:04X}"
    for table, listening in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        if (proc / table).is_file():
            for line in (proc / table).read_text().splitlines()[1:]:
                words = line.split()
                if words[1].endswith(wanted) and words[3] == listening:
                    return True
    return (memory / f"127.0.0.1:{port}").exists()


@contextlib.contextmanager
def _started(command: Sequence[str | Path], environment: Mapping[str, str] | None,
             processor: int | None) -> Iterator[subprocess.Popen[str]]:
    pinned = ["taskset", "-c", str(processor)] if processor is not None and (os.cpu_count() or 1) > processor else []
    try:
        running = subprocess.Popen([*pinned, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, text=True,
                                   env={**os.environ, **LOOPBACK, **(environment or {})}, process_group=0)
    except OSError as error:
        raise Failed(f"{command[0]} cannot be started: {error.strerror}") from None
    try:
        with taking_turns(running.pid):
            yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        for pipe in (running.stdout, running.stderr):
            if pipe is not None:
                pipe.close()


def _output(running: subprocess.Popen[str], command: Sequence[str | Path], until: float) -> str:
    name = Path(command[0]).name
    try:
        out, err = running.communicate(timeout=max(until - time.monotonic(), .1))
    except subprocess.TimeoutExpired:
        raise Failed(f"{name} did not end in time") from None
    if running.returncode != 0:
        lines = (err.strip() or out.strip()).splitlines()
        raise Failed(f"{name} ended with {running.returncode}: "
                     f"{' / '.join(dict.fromkeys(lines[-2:])) or 'it said nothing'}")
    return out


def _said(running: subprocess.Popen[str]) -> str:
    if running.poll() is None:
        return "it is silent"
    _, err = running.communicate()
    lines = err.strip().splitlines()
    return lines[-1] if lines else f"it ended with {running.returncode}"
