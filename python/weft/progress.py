# SPDX-License-Identifier: Apache-2.0
"""Progress of a transport: operations that end, and events that are given to whom they belong."""
from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from . import _weft
from .errors import AGAIN, DEADLINE, AgainError, DeadlineError, InvalidError, error_of
from .events import Event, Lost, Message, Notice, Request
from .memory import Region, whole
from .operations import Memory, Operation, Wish, nanoseconds
from .peers import Peer, Remote
from .tagged import TaggedReceive
from .transfers import TransferList

if TYPE_CHECKING:
    from .aio import Driver

E = TypeVar("E", Message, Notice, Request, Lost)
T = TypeVar("T")
_COMPLETED, _FAILED, _RECEIVED, _NOTIFIED, _REQUESTED, _CONNECTED, _LOST, _LIST_ENDED = range(1, 9)


class Progress:
    """What a transport waits for. Arrivals are handled one by one, so a callback may wait for an operation itself."""

    def __init__(self, native: _weft.Transport) -> None:
        self.native = native
        self.on_event: Callable[[Event], object] | None = None  # takes every event for which nobody waits
        self._contexts = 0
        self._pending: dict[int, Operation[Any]] = {}
        self._peers: dict[int, Peer] = {}
        self._connecting: dict[int, Operation[Peer]] = {}
        self._accepting: deque[Wish[Peer]] = deque()
        self._accepted: deque[Peer] = deque()  # for an accept whose await was cancelled
        self._regions_wanted: list[tuple[Peer, Wish[Remote]]] = []
        self._regions_there: list[Remote] = []  # the same
        self._expecting: list[tuple[type, Wish[Any]]] = []
        self._events: deque[Event] = deque()
        # Of operations that ended at their deadline, by peer: the fabric may still read or write it.
        self._late: dict[int, list[Memory]] = {}
        self._arrived: deque[_weft.Event] = deque()
        self._shared: set[Region] = set()
        self._driver: Driver | None = None

    def post(self, operation: Operation[T], call: Callable[..., int], *arguments: Any) -> Operation[T]:
        """Calls `call(*arguments, context)`; the operation is known under its context until it ends. Errors: its
        status."""
        self._contexts = context = self._contexts + 1
        self._pending[context] = operation
        try:
            status = call(*arguments, context)
        except BaseException:
            del self._pending[context]
            raise
        if status:
            del self._pending[context]
            raise error_of(status, "the queue is full: make progress, then post once more (Transport.retry)"
                           if status == AGAIN else self.native.last_sentence())
        return operation

    def check(self, status: int) -> None:
        if status < 0:
            raise error_of(status, self.native.last_sentence())

    def told(self, answer: tuple[int, str]) -> str:
        """The text of an answer. Errors: its status."""
        self.check(answer[0])
        return answer[1]

    def share(self, region: Region, call: Callable[[int], T]) -> T:
        """Calls `call(the region's handle)`, which shows the region to peers: it lives until its close() then, even if
        the program keeps no reference. Errors: TypeError, ClosedError; those of the call, and nothing is shared."""
        shown = call(whole(region)._handle)
        self._shared.add(region)
        return shown

    def driver_for_await(self) -> Driver:
        if self._driver is None:
            raise InvalidError("nothing makes progress for this await: write `async with weft.aio.attached(net):` "
                               "around it, and open the transport with sleeps=True")
        return self._driver

    def peer_closed(self, handle: int) -> None:
        self._peers.pop(handle, None)
        self._late.pop(handle, None)
        for peer in [each for each in self._accepted if each._handle == handle]:
            self._accepted.remove(peer)
        self._regions_there = [each for each in self._regions_there if each.peer._handle != handle]

    def poll(self) -> int:
        """Makes progress without waiting. Returns how many events were handled."""
        return self._handle(self.native.poll())

    def start_expect(self, kind: type[E]) -> Wish[E]:
        """Ends with the oldest event of the kind (Message, Notice, Request, Lost), or the next one."""
        if kind not in (Message, Notice, Request, Lost):
            raise TypeError(f"an event is a weft.Message, Notice, Request or Lost, not {kind!r}")
        wish: Wish[E] = Wish(self, f"the wait for a {kind.__name__}", self._expect_no_more, self._put_back)
        for event in self._events:
            if isinstance(event, kind):
                self._events.remove(event)
                wish.end(event)
                return wish
        self._expecting.append((kind, wish))
        return wish

    def _expect_no_more(self, wish: Wish[Any]) -> None:
        self._expecting = [each for each in self._expecting if each[1] is not wish]

    def _put_back(self, event: Event) -> None:
        """It is the oldest one."""
        if not self._taken(event):
            self._events.appendleft(event)

    def expect(self, kind: type[E], timeout: float) -> E:
        operation = self.start_expect(kind)
        try:
            return operation.wait(timeout)
        except DeadlineError:
            others = ", ".join(sorted({type(event).__name__ for event in self._events}))
            raise DeadlineError(f"no {kind.__name__} came in {timeout} s"
                                + (f"; others wait to be taken: {others}" if others else "")) from None
        finally:
            operation.cancel()

    def retry(self, post: Callable[[], T], timeout: float) -> T:
        """Calls `post` until it does not raise AgainError, and makes progress between. Errors: its own, AgainError."""
        end = time.monotonic_ns() + nanoseconds(timeout)
        while True:
            try:
                return post()
            except AgainError:
                left = end - time.monotonic_ns()
                if left <= 0:
                    raise
            self.make_progress(min(left, 1_000_000))

    def make_progress(self, nanoseconds_left: int) -> None:
        """Handles what is there, or waits for something. Returns at an event, or when the time is over."""
        if self._arrived:
            self._drain()
        elif self._regions_wanted:  # a region that arrives is no event, so waits are short
            self._handle(self.native.wait(min(nanoseconds_left, 1_000_000)))
        else:
            self._handle(self.native.wait(nanoseconds_left))

    def _handle(self, events: list[_weft.Event] | int) -> int:
        if not isinstance(events, int):
            self._arrived.extend(events)
        elif events != DEADLINE:
            self.check(events)
        count = len(self._arrived)  # also those of an earlier poll, whose callback raised
        if count:
            self._drain()
        if self._regions_wanted:
            self._take_regions()
        return count

    def _drain(self) -> None:
        arrived, pending = self._arrived, self._pending
        while arrived:
            event = arrived.popleft()
            if isinstance(event, int):
                operation = pending.pop(event, None)
                if operation is not None:
                    operation.end(None)
            else:
                self._take(event)

    def _take(self, event: _weft.Other) -> None:
        kind, context, status, handle, immediate, old, data, text, size = event
        if kind in (_COMPLETED, _FAILED):
            operation = self._pending.pop(context, None)
            if operation is None:
                return
            if kind == _COMPLETED:
                if isinstance(operation, TaggedReceive):
                    operation.took(self._peer(handle), old, size)
                else:
                    operation.complete(old)
            else:
                self._keep_late(handle, status, operation)
                operation.end(None, error_of(status, f"{operation.name}: {text}"))
        elif kind == _LIST_ENDED:
            run = self._pending.pop(context, None)
            if isinstance(run, TransferList):
                self._keep_late(handle, status, run)
                run.end_of_list(status, immediate, old, text, size)
        elif kind == _RECEIVED:
            self._give(Message(self._peer(handle), data or b""))
        elif kind == _NOTIFIED:
            self._give(Notice(self._peer(handle) if handle else None, immediate))
        elif kind == _REQUESTED:
            request = Request(self._peer(handle), data or b"")
            if not self._accepting:
                self._give(request)
            elif self.native.accept(handle, b"") == 0:
                self._accepting.popleft().end(request.peer)
        elif kind == _CONNECTED:
            if handle in self._connecting:
                self._connecting.pop(handle).end(self._peer(handle))
        elif kind == _LOST:
            self._lose(handle, status, text or "")

    def _keep_late(self, handle: int, status: int, operation: Operation[Any]) -> None:
        if status == DEADLINE and operation.memory is not None and handle in self._peers:
            self._late.setdefault(handle, []).append(operation.memory)

    def _lose(self, handle: int, status: int, text: str) -> None:
        error = error_of(status, text)
        if handle in self._connecting:
            operation = self._connecting.pop(handle)
            operation.end(None, error_of(status, f"{operation.name}: {text}"))
            return
        peer = self._peer(handle)
        peer._lost = True
        self.peer_closed(handle)
        # A caller that gave up cannot be accepted any more.
        for request in [each for each in self._events if isinstance(each, Request) and each.peer is peer]:
            self._events.remove(request)
        for wanted in [each for each in self._regions_wanted if each[0] is peer]:
            self._regions_wanted.remove(wanted)
            wanted[1].end(None, error)
        self._give(Lost(peer, error))

    def _taken(self, event: Event) -> bool:
        for place, (kind, wish) in enumerate(self._expecting):
            if isinstance(event, kind):
                del self._expecting[place]
                wish.end(event)
                return True
        return False

    def _give(self, event: Event) -> None:
        if self._taken(event):
            return
        if self.on_event is not None:
            self.on_event(event)
        else:
            self._events.append(event)

    def receive_region(self, peer: Peer, timeout: float) -> Remote:
        operation = self.start_receive_region(peer)
        try:
            return operation.wait(timeout)
        finally:  # a wish that nobody waits for would take the next region
            operation.cancel()

    def start_receive_region(self, peer: Peer) -> Wish[Remote]:
        wish: Wish[Remote] = Wish(self, "the receipt of a region", self._want_no_region, self._put_region_back)
        for remote in self._regions_there:
            if remote.peer is peer:
                self._regions_there.remove(remote)
                wish.end(remote)
                return wish
        self._regions_wanted.append((peer, wish))
        self._take_regions()
        return wish

    def _want_no_region(self, wish: Wish[Remote]) -> None:
        self._regions_wanted = [each for each in self._regions_wanted if each[1] is not wish]

    def _put_region_back(self, remote: Remote) -> None:
        for wanted in self._regions_wanted:
            if wanted[0] is remote.peer:
                self._regions_wanted.remove(wanted)
                wanted[1].end(remote)
                return
        self._regions_there.insert(0, remote)

    def _take_regions(self) -> None:
        empty: set[Peer] = set()
        for wanted in list(self._regions_wanted):
            peer, operation = wanted
            # The oldest wish of a peer is served first. A callback below may serve others itself.
            if peer in empty or wanted not in self._regions_wanted:
                continue
            status, handle = self.native.receive_region(peer._handle, 0)
            if status == DEADLINE:
                empty.add(peer)
                continue
            self._regions_wanted.remove(wanted)
            if status == 0:
                operation.end(Remote(self, peer, handle))
            else:
                operation.end(None, error_of(status, self.native.last_sentence()))

    def _peer(self, handle: int) -> Peer:
        peer = self._peers.get(handle)
        if peer is None:
            peer = self._peers[handle] = Peer(self, handle)
        return peer
