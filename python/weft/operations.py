# SPDX-License-Identifier: Apache-2.0
"""What ends later: a transfer, a connection, an arrival. One object for three styles.

Blocking: `operation.wait(timeout)`. Callbacks: `operation.add_done_callback(f)`, and polls by the program. asyncio:
`await operation`, while the transport is attached to the loop (weft.aio).
"""
from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from .errors import AgainError, ClosedError, DeadlineError, Error, InvalidError

if TYPE_CHECKING:
    from .memory import Region
    from .progress import Progress

T = TypeVar("T")


def nanoseconds(timeout: float) -> int:
    """Of a timeout in seconds. Errors: TypeError, InvalidError."""
    if type(timeout) is int and 0 <= timeout <= 1_000_000_000:
        return timeout * 1_000_000_000
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"a timeout is a number of seconds, not {type(timeout).__name__}")
    if not 0 <= timeout <= 1e9:  # also not a number
        raise InvalidError(f"a timeout of {timeout} s: it must be at least 0 and at most 1e9")
    return int(timeout * 1e9)


class Memory(Protocol):
    """What an operation keeps: a Slice, or a PreparedList."""

    def uses(self, region: Region) -> bool: ...


class Operation(Generic[T]):
    """An operation under way. It keeps its memory alive until it ends, even if nobody keeps the operation."""

    __slots__ = ("_net", "name", "memory", "_done", "_value", "_error", "_callbacks")

    def __init__(self, net: Progress, name: str, memory: Memory | None = None) -> None:
        self._net = net
        self.name = name
        self.memory = memory
        self._done = False
        self._value: T | None = None
        self._error: Error | None = None
        self._callbacks: list[Callable[[Operation[T]], object]] | None = None

    def done(self) -> bool:
        return self._done

    def result(self) -> T:
        """What the operation gave. Errors: its own; AgainError while it is under way."""
        if not self._done:
            raise AgainError(f"{self.name} has not ended: call wait(), or poll the transport until done()")
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]  # a done operation without an error has its value

    def exception(self) -> Error | None:
        """The error with which it ended, or None."""
        return self._error

    def add_done_callback(self, callback: Callable[[Operation[T]], object]) -> None:
        """Calls `callback(operation)` from the poll that ends the operation; now, if it has ended."""
        if not callable(callback):
            raise TypeError(f"a callback can be called, and {type(callback).__name__} cannot")
        if self._done:
            callback(self)
        elif self._callbacks is None:
            self._callbacks = [callback]
        else:
            self._callbacks.append(callback)

    def wait(self, timeout: float) -> T:
        """Makes progress until the operation ends, at most `timeout` seconds. Errors: its own, DeadlineError."""
        if not self._done:
            left = nanoseconds(timeout)
            end = time.monotonic_ns() + left
            while True:
                self._net.make_progress(left)
                if self._done:
                    break
                left = end - time.monotonic_ns()
                if left <= 0:
                    raise DeadlineError(f"{self.name} has not ended in {timeout} s. It goes on; on some fabrics it "
                                        "ends only while the peer polls")
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]  # as in result()

    def __await__(self) -> Generator[Any, None, T]:
        if not self._done:
            self._net.driver_for_await().kick()
            future = self._net.driver_for_await().loop.create_future()

            def wake(_: Operation[T]) -> None:
                if not future.done():
                    future.set_result(None)

            self.add_done_callback(wake)
            try:
                yield from future
            except BaseException:
                self.abandon(wake)
                raise
        return self.result()

    def abandon(self, callback: Callable[[Operation[T]], object]) -> None:
        """For a cancelled await: the operation goes on, and wakes nobody."""
        if self._callbacks is not None and callback in self._callbacks:
            self._callbacks.remove(callback)

    def __repr__(self) -> str:
        state = "under way" if not self._done else "failed" if self._error is not None else "done"
        return f"<weft.Operation {self.name}: {state}>"

    def complete(self, old: int) -> None:
        """For the transport: the fabric says that it ended well. `old`: the word before, of an atomic."""
        self.end(None)

    def end(self, value: T | None, error: Error | None = None) -> None:
        """For the transport: the operation ended."""
        self._done = True
        self.memory = None
        if value is not None or error is not None:
            self._value = value
            self._error = error
        if self._callbacks is not None:
            callbacks, self._callbacks = self._callbacks, None
            raised: BaseException | None = None
            for callback in callbacks:  # each, also after one that raised: an await is a callback too
                try:
                    callback(self)
                except BaseException as why:  # noqa: BLE001  the first one is raised below
                    raised = raised or why
            if raised is not None:
                raise raised


class Wish(Operation[T]):
    """The wait for what may go to others instead: an arrival, a request, a region. A cancelled await withdraws it."""

    __slots__ = ("_leave", "_put_back", "_heard_by")

    def __init__(self, net: Progress, name: str, leave: Callable[[Wish[T]], object],
                 put_back: Callable[[T], object]) -> None:
        super().__init__(net, name)
        self._leave = leave
        self._put_back = put_back
        self._heard_by = 0

    def cancel(self) -> bool:
        """Takes nothing any more, and ends with a ClosedError. False: it had ended."""
        if self._done:
            return False
        self._leave(self)
        self.end(None, ClosedError(f"{self.name} was withdrawn"))
        return True

    def abandon(self, callback: Callable[[Operation[T]], object]) -> None:
        super().abandon(callback)
        if not self._done:
            if not self._callbacks:  # nobody else waits for it
                self.cancel()
        elif self._heard_by == 1 and self._error is None:
            # It ended in the same turn of the loop as the await was cancelled.
            self._put_back(self.result())

    def end(self, value: T | None, error: Error | None = None) -> None:
        self._heard_by = len(self._callbacks or ())
        super().end(value, error)
