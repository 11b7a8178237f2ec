# SPDX-License-Identifier: Apache-2.0
"""Several contenders alive at once. One at a time runs, for a slice of some milliseconds; the kernel stops the others.

Contenders that run one after the other, a second each, run on different machines: a host moves its guests' processors
between chips and clocks. Times below ten microseconds change with that by a factor of two and more. In slices all
contenders see the same machine, and their medians may be compared. Only the first round trip of a slice is too long,
which a median does not show.
"""
from __future__ import annotations

import contextlib
import contextvars
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

SLICE_SECONDS = .02
Result = TypeVar("Result")


class Place:
    """One contender's processes, stopped outside of their turns. Threads: any."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._on = False
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def holding(self, group: int) -> Iterator[None]:
        """Inside, the process group takes this place's turns; after it the group runs freely."""
        with self._lock:
            self._groups.add(group)
            self._signal(group)
        try:
            yield
        finally:
            with self._lock, contextlib.suppress(ProcessLookupError):
                self._groups.discard(group)
                os.killpg(group, signal.SIGCONT)

    def end(self) -> None:
        """Ends every process here."""
        with self._lock:
            for group in self._groups:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGKILL)

    def turn(self, on: bool) -> None:
        """Begins or ends the turn of every process here."""
        with self._lock:
            self._on = on
            for group in self._groups:
                self._signal(group)

    def _signal(self, group: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGCONT if self._on else signal.SIGSTOP)


_PLACE: contextvars.ContextVar[Place | None] = contextvars.ContextVar("place", default=None)


@contextlib.contextmanager
def taking_turns(group: int) -> Iterator[None]:
    """For the life of a process group that was just started.

    Inside of `in_slices` the group takes the turns of its contender; elsewhere it runs as it is.
    """
    place = _PLACE.get()
    with place.holding(group) if place is not None else contextlib.nullcontext():
        yield


def in_slices(contenders: Mapping[str, Callable[[], Result]],
              seconds: float = SLICE_SECONDS) -> dict[str, Result | Exception]:
    """Calls all of them, each in a thread of its own. Their programs run a slice each in turn, in the given order.

    Returns what each returned or raised.
    """
    results: dict[str, Result | Exception] = {}
    running: list[tuple[Place, threading.Thread]] = []
    for name, call in contenders.items():
        place = Place()
        thread = threading.Thread(target=_call, args=(place, name, call, results), daemon=True)
        running.append((place, thread))
    for _, thread in running:
        thread.start()
    try:
        while any(thread.is_alive() for _, thread in running):
            for place, thread in running:
                if thread.is_alive():
                    place.turn(True)
                    time.sleep(seconds)
                    place.turn(False)
    except BaseException:  # an interrupt, which does not reach the threads that started them
        for place, _ in running:
            place.end()
        raise
    return results


def _call(place: Place, name: str, call: Callable[[], Result], results: dict[str, Result | Exception]) -> None:
    _PLACE.set(place)
    try:
        results[name] = call()
    except Exception as error:  # noqa: BLE001  the caller reports it
        results[name] = error
