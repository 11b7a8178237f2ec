# SPDX-License-Identifier: Apache-2.0
"""asyncio: the loop watches the transport's descriptor, and sleeps while nothing arrives.

    net = weft.open(service="7471", sleeps=True)
    async with weft.aio.attached(net):
        peer = await net.start_accept()
        note = await net.start_expect(weft.Notice)
"""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from .errors import AGAIN, AgainError, InvalidError
from .transport import Transport

T = TypeVar("T")
_POLLS = 16  # of one turn, before other tasks run


@asynccontextmanager
async def attached(net: Transport) -> AsyncIterator[Transport]:
    """While it is entered, operations of `net` can be awaited on the running loop."""
    driver = Driver(net, asyncio.get_running_loop())
    try:
        yield net
    finally:
        driver.detach()


async def retry(net: Transport, post: Callable[[], T]) -> T:
    """Calls `post` until it does not raise AgainError; other tasks run between. Bound it by asyncio.wait_for()."""
    while True:
        try:
            return post()
        except AgainError:
            await net.driver_for_await().turn()


class Driver:
    """Makes progress when the descriptor is readable or work is due."""

    def __init__(self, net: Transport, loop: asyncio.AbstractEventLoop) -> None:
        if net._driver is not None:
            raise InvalidError("this transport is attached to a loop already")
        status, self._descriptor = net.native.wait_descriptor()
        net.check(status)
        self.loop = loop
        self._net = net
        self._timer: asyncio.TimerHandle | None = None
        self._kicked: asyncio.Handle | None = None
        self._turns: list[asyncio.Future[None]] = []
        loop.add_reader(self._descriptor, self._go)
        net._driver = self
        self.kick()

    def kick(self) -> None:
        """Something was posted: progress is due after the running task."""
        if self._kicked is None:
            self._kicked = self.loop.call_soon(self._go)

    def turn(self) -> asyncio.Future[None]:
        """Ends after the next progress."""
        future = self.loop.create_future()
        self._turns.append(future)
        self.kick()
        return future

    def detach(self) -> None:
        if self._net._driver is not self:
            return
        self._net._driver = None
        self.loop.remove_reader(self._descriptor)
        for each in (self._timer, self._kicked):
            if each is not None:
                each.cancel()
        self._end_turns()

    def _go(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._kicked is not None:
            self._kicked.cancel()
            self._kicked = None
        net = self._net
        try:
            for _ in range(_POLLS):
                handled = net.poll()
                if net._driver is not self:  # a callback closed the transport
                    return
                if handled == 0:
                    status, at_most = net.native.arm()
                    if status == 0:
                        self._timer = self.loop.call_later(at_most / 1e9, self._go)
                        return
                    if status != AGAIN:
                        net.check(status)
        finally:
            if self._timer is None and net._driver is self:
                self.kick()  # also after a callback that raised: other operations wait
            self._end_turns()

    def _end_turns(self) -> None:
        turns, self._turns = self._turns, []
        for each in turns:
            if not each.done():
                each.set_result(None)
