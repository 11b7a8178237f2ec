# SPDX-License-Identifier: Apache-2.0
"""weft-probe: built where it is missing, run with a deadline, its lines read as they come.

The program bounds each behaviour itself. The deadline here is for the program; its whole process group ends with it.
"""
from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ..matrix.loader import Problem, Refused
from ..options import MEND, in_checkout
from .findings import Demands, Finding

SETTING = "setting"  # the request for keys of the provider, with the variable that gives writes an immediate
ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM_SECONDS = 150  # for a machine of ordinary speed
# Libraries that libfabric loads for other providers write a file when their process crashes. Here crashes are results.
_QUIET = {"HFI_NO_BACKTRACE": "1", "IPATH_NO_BACKTRACE": "1"}


# Per backend: the program that asks its library, and where it is built.
TARGETS = {"libfabric": ("weft-probe", "probe"), "verbs": ("weft-probe-verbs", "probe-verbs")}
# Behaviours that the program of a backend does not have.
LACKING = {"verbs": frozenset({"many_write_immediates", "many_send_immediates", "multi_receive", "shared_receives",
                               "last_byte", "forgetting", "formats", "own_node", "small_queue"})}


def built(backend: str = "libfabric") -> Path:
    """The program, built anew where its sources changed. Errors: Refused, with the builder's last line."""
    target, place = TARGETS[backend]
    if not in_checkout():
        raise Refused([Problem("probe/CMakeLists.txt", 1, f"{target} cannot be built, because this weft is installed "
                               f"without its C++ sources: {MEND}, or name a built program with --program")])
    folder = ROOT / "build"
    if not os.access(folder if folder.exists() else ROOT, os.W_OK):
        folder = Path(tempfile.gettempdir()) / f"weft-build-{os.getuid()}"
    folder = folder / place
    if not (folder / "build.ninja").exists():
        _run(["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Debug",
              "-DWEFT_BUILD_TESTS=OFF", "-DWEFT_BUILD_BENCH=OFF",
              "-DWEFT_BUILD_EXAMPLES=OFF", "-DWEFT_INSTALL=OFF",
              f"-DWEFT_BACKENDS={';'.join(dict.fromkeys(('libfabric', backend)))}"])
    _run(["cmake", "--build", str(folder), "--target", target])
    return folder / "probe" / target


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900,
                              check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused([Problem("probe/CMakeLists.txt", 1, f"weft-probe cannot be built: {error}")]) from None
    if done.returncode != 0:
        last = next((line for line in reversed(done.stdout.splitlines()) if "rror" in line), done.stdout.strip()[-200:])
        raise Refused([Problem("probe/CMakeLists.txt", 1,
                               f"weft-probe cannot be built: {last.strip()}: scripts/setup installs what it needs")])


def claims(program: Path, demands: Demands, request: str = "") -> Finding:
    """What the library says, of the least request or of one with more."""
    return next(iter(_lines(program, "claims", demands, request, ())))


def shown(program: Path, demands: Demands, behaviours: tuple[str, ...]) -> Iterator[Finding]:
    """One finding per behaviour, each as it ends.

    Behaviours make the least request. `name@automatic` asks the library to progress by itself, `name@atomics` and
    `name@pointers` request those too.
    """
    for request in dict.fromkeys(name.partition("@")[2] for name in behaviours):
        yield from _lines(program, "show", demands, request,
                          tuple(name for name in behaviours if name.partition("@")[2] == request))


def _lines(program: Path, what: str, demands: Demands, request: str, behaviours: tuple[str, ...]) -> Iterator[Finding]:
    # A name without a slash would be looked for in PATH.
    command = [str(program.absolute()), what, "--provider", demands.provider, "--endpoint", demands.endpoint_type,
               "--node", demands.node, "--progress", "automatic" if request == "automatic" else "manual",
               "--deadline", str(demands.seconds * 1000)]
    if request not in ("", "automatic"):
        command += ["--with", "provider_keys" if request == SETTING else request]
    if demands.fabric_name:
        command += ["--fabric-name", demands.fabric_name]
    command += [name.split("@")[0] for name in behaviours]
    wanted = list(behaviours) or [what]
    asked = dict((demands.immediate_setting.split("=", 1),)) if request == SETTING else {}
    environment = {**_QUIET, **demands.settings, **os.environ, **asked}
    try:
        running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=environment, start_new_session=True)
    except OSError as error:
        raise Refused([Problem(str(program), 1, f"cannot be started: {error.strerror}")]) from None
    limit = time.monotonic() + min(PROGRAM_SECONDS * demands.seconds / 10, (demands.seconds + 2) * len(wanted))
    try:
        for line in _until(running, limit):
            found = json.loads(line)
            yield Finding(wanted.pop(0), found["ended"], found["facts"], found["why"], found["seconds"])
    finally:
        _end(running)
    why = "no end in time" if time.monotonic() >= limit else f"weft-probe left with {running.returncode}"
    for name in wanted:
        yield Finding(name, "missing", {}, why)


def _until(running: subprocess.Popen[bytes], limit: float) -> Iterator[bytes]:
    """Whole lines, until the program ends or the time is over."""
    assert running.stdout is not None
    rest = b""
    with selectors.DefaultSelector() as ready:
        ready.register(running.stdout, selectors.EVENT_READ)
        while ready.select(max(0.0, limit - time.monotonic())):
            read = os.read(running.stdout.fileno(), 65536)
            if not read:
                return
            *lines, rest = (rest + read).split(b"\n")
            yield from lines


def _end(running: subprocess.Popen[bytes]) -> None:
    try:
        running.wait(timeout=0.5)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(running.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    running.wait()
    if running.stdout is not None:
        running.stdout.close()


