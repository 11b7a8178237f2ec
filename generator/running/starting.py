# SPDX-License-Identifier: Apache-2.0
"""The commands of the ranks: the environment that weft::job reads, here or on another host by ssh."""
from __future__ import annotations

import ctypes
import os
import secrets
import shlex
import signal
import socket
import subprocess
from dataclasses import dataclass

from .hosts import Host

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1
FIRST_PORT, PORTS = 20000, 12000  # below the ports that Linux gives to connections


@dataclass(frozen=True)
class Job:
    """What all ranks of a job share."""

    command: tuple[str, ...]
    places: tuple[Host | None, ...]  # the host of each rank; None: this machine, without ssh
    store: str
    name: str
    variables: dict[str, str]
    ssh: tuple[str, ...]
    grace: float
    listener: socket.socket | None  # the store's socket, which rank 0 inherits

    @property
    def size(self) -> int:
        return len(self.places)


def fresh_name() -> str:
    """Tells this run from earlier ones at the same store."""
    return secrets.token_hex(8)


def store_here() -> tuple[str, socket.socket]:
    """A socket of this machine alone, with a port that nobody can take before rank 0 serves there."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    return f"127.0.0.1:{listener.getsockname()[1]}", listener


def store_on(host: Host) -> str:
    """A port of another host, by chance: rank 0 says so where it is taken."""
    address = f"[{host.address}]" if ":" in host.address else host.address
    return f"{address}:{FIRST_PORT + secrets.randbelow(PORTS)}"


def start(job: Job, rank: int) -> subprocess.Popen[bytes]:
    """Starts a rank. Its process leads a group of its own, so that a signal reaches its children too."""
    variables = {**job.variables, "WEFT_RANK": str(rank), "WEFT_SIZE": str(job.size), "WEFT_STORE": job.store,
                 "WEFT_JOB": job.name}
    host = job.places[rank]
    if host is not None:
        words = [*job.ssh, host.name, remote_script(job, variables)]
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True)
    inherited = {key: value for key, value in os.environ.items() if key != "WEFT_STORE_FD"}
    passed: tuple[int, ...] = ()
    if rank == 0 and job.listener is not None:
        passed = (job.listener.fileno(),)
        variables["WEFT_STORE_FD"] = str(job.listener.fileno())
    started = subprocess.Popen(job.command, env={**inherited, **variables}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                               pass_fds=passed, preexec_fn=_end_with_the_command)
    if passed and job.listener is not None:
        job.listener.close()  # or the port would still answer after rank 0 is gone
    return started


def _end_with_the_command() -> None:
    """Runs in the new process: a rank does not outlive a command that SIGKILL ends. Its children may."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def remote_script(job: Job, variables: dict[str, str]) -> str:
    """Runs the program, and ends it when ssh's input ends: ssh forwards no signals.

    Without this a rank on another host would outlive the command.
    """
    words = shlex.join(["env", *(f"{key}={value}" for key, value in variables.items()), "setsid", *job.command])
    return (f"cd {shlex.quote(os.getcwd())} || exit 126; exec 3<&0; {words} </dev/null 3<&- & rank=$!; "
            f"{{ cat <&3; kill -TERM -$rank; sleep {job.grace:g}; kill -KILL -$rank; }} >/dev/null 2>&1 & "
            "watch=$!; wait $rank; code=$?; kill $watch 2>/dev/null; exit $code")
