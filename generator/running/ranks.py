# SPDX-License-Identifier: Apache-2.0
"""The ranks of a job while they run: their output, their ends, and the end of all when one fails."""
from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import BinaryIO

from ..errors.ending import silence
from .output import Lines
from .starting import Job, start

INTERRUPTED, OUT_OF_TIME, NO_OUTPUT = 130, 124, 1
_REMOTE = 2.0  # seconds after the grace, in which another host kills its ranks itself
_DRAINS = 1.0  # seconds for output that a rank's children still write


class NotStarted(Exception):
    """A rank cannot be started; the text is the system's reason."""


@dataclass
class Rank:
    """A rank that was started. `code` as a shell says it: 128 + the number of a signal."""

    number: int
    process: subprocess.Popen[bytes]
    descriptor: int
    code: int | None = None
    was_ended: bool = False  # by this command


@dataclass
class Running:
    """Runs a job to its end. `say` prints a line about the job."""

    job: Job
    prefix: Callable[[int], bytes]
    say: Callable[[str], None]
    limit: float | None = None
    ranks: list[Rank] = field(default_factory=list)
    code: int = 0
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    _streams: int = 0
    _kill_at: float | None = None
    _wake: tuple[int, int] = (-1, -1)
    _signals: list[int] = field(default_factory=list)

    def run(self) -> int:
        """The exit code of the job: 0, or that of the rank that failed first. Errors: NotStarted."""
        self._wake = os.pipe()
        for each in self._wake:
            os.set_blocking(each, False)
        self._selector.register(self._wake[0], selectors.EVENT_READ, self._on_signal)
        before = {number: signal.signal(number, self._note)
                  for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        end = None if self.limit is None else time.monotonic() + self.limit
        try:
            for rank in range(self.job.size):
                self._start(rank)
            while any(rank.code is None for rank in self.ranks):
                self._step(end)
            drained = time.monotonic() + _DRAINS
            while self._streams and time.monotonic() < drained:
                self._select(0.05)
        finally:
            self._end_all(signal.SIGKILL)
            for number, handler in before.items():
                signal.signal(number, handler)
            for each_rank in self.ranks:
                os.close(each_rank.descriptor)
            for wake in self._wake:
                os.close(wake)
            self._selector.close()
        return self.code

    def _start(self, number: int) -> None:
        try:
            process = start(self.job, number)
            rank = Rank(number, process, os.pidfd_open(process.pid))
        except OSError as error:
            raise NotStarted(error.strerror) from None
        self.ranks.append(rank)
        self._selector.register(rank.descriptor, selectors.EVENT_READ, lambda: self._on_end(rank))
        for stream, into in ((process.stdout, sys.stdout.buffer), (process.stderr, sys.stderr.buffer)):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._watch(stream.fileno(), Lines(self.prefix(number), into, self._on_lost))

    def _watch(self, descriptor: int, lines: Lines) -> None:
        def read() -> None:
            try:
                some = os.read(descriptor, 1 << 16)
            except BlockingIOError:
                return
            if some:
                lines.take(some)
                return
            lines.end()
            self._selector.unregister(descriptor)
            self._streams -= 1

        self._selector.register(descriptor, selectors.EVENT_READ, read)
        self._streams += 1

    def _step(self, end: float | None) -> None:
        self._select(0.1 if end is not None or self._kill_at is not None else 1.0)
        now = time.monotonic()
        if end is not None and now >= end and self._kill_at is None:
            self._fail(OUT_OF_TIME, f"the limit of {self.limit:g} s is over")
        if self._kill_at is not None and now >= self._kill_at:
            self._kill_at = now + 1.0
            self._end_all(signal.SIGKILL)

    def _select(self, seconds: float) -> None:
        for key, _ in self._selector.select(seconds):
            key.data()

    def _on_end(self, rank: Rank) -> None:
        self._selector.unregister(rank.descriptor)
        code = rank.process.wait()
        rank.code = code if code >= 0 else 128 - code
        if rank.code != 0 and not rank.was_ended:
            how = f"ended with {code}" if code >= 0 else f"was ended by {_name(-code)}"
            self._fail(rank.code, f"rank {rank.number} {how}")

    def _on_lost(self, stream: BinaryIO, error: OSError) -> None:
        silence(stream)
        if self._kill_at is None:
            self._fail(NO_OUTPUT, f"its output cannot be written: {error.strerror}")

    def _fail(self, code: int, why: str) -> None:
        if self.code == 0:
            self.code = code
        left = sum(rank.code is None for rank in self.ranks)
        self.say(why + (f"; the {left} others are ended" if left else ""))
        if self._kill_at is None and left:
            remote = any(place is not None for place in self.job.places)
            self._kill_at = time.monotonic() + self.job.grace + (_REMOTE if remote else 0)
            self._end_all(signal.SIGTERM)

    def _end_all(self, number: int) -> None:
        """Signals the group of each rank. A rank on another host ends when its input does (starting.py)."""
        for rank in self.ranks:
            if rank.code is None:
                rank.was_ended = True
            stdin = rank.process.stdin
            remote_waits = stdin is not None and rank.code is None
            if stdin is not None and not stdin.closed:
                stdin.close()
            if remote_waits and number != signal.SIGKILL:
                continue
            try:
                os.killpg(rank.process.pid, number)
            except ProcessLookupError:
                continue

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._signals.append(number)
        try:
            os.write(self._wake[1], b"!")
        except BlockingIOError:
            return

    def _on_signal(self) -> None:
        os.read(self._wake[0], 64)
        for number in self._signals:
            if self._kill_at is None:
                self._fail(INTERRUPTED if number == signal.SIGINT else 128 + number, f"{_name(number)} came")
            else:
                self._end_all(signal.SIGKILL)  # a second one: the user waits no longer
        self._signals.clear()


def _name(number: int) -> str:
    return signal.Signals(number).name
