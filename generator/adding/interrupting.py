# SPDX-License-Identifier: Apache-2.0
"""A signal ends the command at any moment, and every process that it started ends first.

ninja and the suites put their processes into groups of their own, so that no signal to one group reaches all. This
process adopts orphans (prctl(2), PR_SET_CHILD_SUBREAPER): all its descendants are found in /proc.
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SET_CHILD_SUBREAPER = 36
_PATIENCE = 1.0  # providers in shared memory remove their files when SIGTERM comes
_LAST_RESORT = 10.0


class Interrupted(BaseException):
    """A signal came. No handler of ordinary errors may take it."""


class Interruptible:
    """What `interruptible` yields: whether a signal came, and a part that no signal interrupts."""

    def __init__(self) -> None:
        self.asked = False
        self._closed = False

    def come(self, _number: int, _frame: FrameType | None) -> None:
        """The handler. Processes end before the exception rises, so nobody on its way waits for them."""
        self.asked = True
        if not self._closed:
            end_descendants()
            raise Interrupted

    def check(self) -> None:
        """Errors: Interrupted, where a signal came and its exception was lost in a destructor."""
        if self.asked:
            raise Interrupted

    def close(self) -> None:
        self._closed = True

    @contextlib.contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Signals wait until the part has ended."""
        self.check()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def interruptible() -> Iterator[Interruptible]:
    """Within it a signal raises Interrupted. Whichever way it is left, no process that was started within it lives."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    state = Interruptible()
    before = {number: signal.signal(number, state.come) for number in SIGNALS}
    try:
        try:
            yield state
        finally:
            state.close()
    finally:
        state.close()
        end_descendants()
        for number, handler in before.items():
            signal.signal(number, handler)


def end_descendants() -> None:
    """Asks all processes below this one to end, and kills those that do not."""
    for pid in _descendants():
        _send(pid, signal.SIGTERM)
    _wait(_PATIENCE)
    limit = time.monotonic() + _LAST_RESORT
    while (living := _descendants()) and time.monotonic() < limit:
        for pid in living:
            _send(pid, signal.SIGKILL)
        _wait(0.1)


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _wait(seconds: float) -> None:
    limit = time.monotonic() + seconds
    while _descendants() and time.monotonic() < limit:
        time.sleep(0.01)


def _descendants() -> list[int]:
    """Processes below this one that have not ended."""
    children: dict[int, list[int]] = {}
    ended = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, parent = (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
        except (OSError, ValueError):
            continue  # it has ended meanwhile
        children.setdefault(int(parent), []).append(int(entry.name))
        if state in "ZX":
            ended.add(int(entry.name))
    found: list[int] = []
    below = children.get(os.getpid(), [])
    while below:
        found += below
        below = [child for pid in below for child in children.get(pid, [])]
    return [pid for pid in found if pid not in ended]
