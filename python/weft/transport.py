# SPDX-License-Identifier: Apache-2.0
"""A transport: endpoints, memory and peers of this process."""
from __future__ import annotations

import atexit
import mmap
import time
import weakref
from types import TracebackType
from typing import Any

from . import _weft
from .errors import ClosedError, DeadlineError, InvalidError, PeerLostError
from .events import Request
from .memory import Region, Rights, Slice, part_of
from .operations import Operation, Wish, nanoseconds
from .peers import Peer
from .progress import Progress
from .tagged import TaggedMessage, TaggedReceive, checked_tag

_EXCHANGE = 5_000_000_000  # nanoseconds that start_connect() may take to ask the listener for its addresses
_open: weakref.WeakSet[Transport] = weakref.WeakSet()


class Transport(Progress):
    """Made by weft.open(). One thread at a time uses it; a second one gets an InvalidError."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(_weft.Transport(options))
        self._closed = False
        self._fabrics = self.told(self.native.open_fabrics())
        self._listen_address = self.told(self.native.listen_address())
        _open.add(self)

    # ---- memory

    def register(self, memory: Any, rights: Rights | int = Rights.NONE) -> Region:
        """Registers a buffer (PEP 3118: bytearray, memoryview, NumPy array) or a DLPack tensor of the processor.

        Errors: InvalidError (not contiguous, read-only and peers may write, Python objects), UnsupportedError (a
        device's tensor), NoMemoryError, NativeError.
        """
        status, handle, size, readonly = self.native.register_memory(memory, int(Rights(rights)))
        self.check(status)
        return Region(self, handle, size, readonly, memory)

    def allocate(self, size: int, rights: Rights | int = Rights.NONE) -> Region:
        """Registers fresh, zeroed memory, aligned to a page; `region.object` is a mmap.mmap."""
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"a size is a whole number of bytes, not {type(size).__name__}")
        if size <= 0:
            raise InvalidError(f"a region of {size} bytes: it must have at least 1")
        return self.register(mmap.mmap(-1, size), rights)

    def describe(self, region: Region) -> bytes:
        """The bytes that any peer with the same fabrics needs to use the region (Peer.parse)."""
        def described(handle: int) -> bytes:
            status, text = self.native.describe(0, handle)
            self.check(status)
            return text

        return self.share(region, described)

    # ---- tagged messages

    def start_receive_tagged(self, into: Region | Slice, tag: int = 0, *, ignore: int = 0,
                             peer: Peer | None = None) -> TaggedReceive:
        """Ends with the first message whose tag is `tag` in all bits but those of `ignore`, of `peer` or of any.

        The message is written into `into`. Errors of the end: TruncatedError (it is longer), PeerLostError and
        ClosedError (`peer` is gone, or cancel()).
        """
        part = part_of(into)
        if part.region.readonly:
            raise InvalidError(f"{part.region!r} may only be read: a receive writes into it. Use a bytearray or a "
                               "writable array")
        if peer is not None and not isinstance(peer, Peer):
            raise TypeError(f"peer is a weft.Peer or None, not {type(peer).__name__}")
        wanted, ignored = checked_tag(tag), checked_tag(ignore, "ignore")
        receive = TaggedReceive(self, part)

        def start(context: int) -> int:
            status, receive._handle = self.native.receive_tagged(0 if peer is None else peer._handle, wanted, ignored,
                                                                 part.region._handle, part.offset, part.size, context)
            return status

        self.post(receive, start)
        if self._driver is not None:
            self._driver.kick()  # its message may be there
        return receive

    def receive_tagged(self, into: Region | Slice, tag: int = 0, timeout: float = 0, *, ignore: int = 0,
                       peer: Peer | None = None) -> TaggedMessage:
        """The same, and waits. After a DeadlineError the receive is withdrawn, and no message is lost."""
        nanoseconds(timeout)
        receive = self.start_receive_tagged(into, tag, ignore=ignore, peer=peer)
        try:
            return receive.wait(timeout)
        except DeadlineError:
            if not receive.cancel():
                return receive.wait(1)  # its message came at the last moment
            self.poll()  # the end of the cancelled receive
            raise DeadlineError(f"no message with tag {tag} came in {timeout} s") from None
        finally:
            if not receive.done():
                receive.cancel()

    # ---- lists of transfers

    def limit_lists(self, *, lists: int = 0, peers: int = 0, in_flight_per_peer: int = 0,
                    posts_at_once: int = 0) -> None:
        """Capacity for lists (Peer.put_list), before the first one; 0 is the default.

        lists: under way at one time (64). peers: to which lists are under way (32). in_flight_per_peer: operations of
        lists to one peer (64). posts_at_once: to one peer, between two polls (16). Errors: InvalidError, NoMemoryError.
        """
        asked = {"lists": lists, "peers": peers, "in_flight_per_peer": in_flight_per_peer,
                 "posts_at_once": posts_at_once}
        for name, value in asked.items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{name} is a whole number, not {type(value).__name__}")
            if not 0 <= value < 1 << 32:
                raise InvalidError(f"{name} is {value}: it must be at least 0 and at most 1048576")
        self.check(self.native.limit_lists(*asked.values()))

    # ---- peers

    def start_connect(self, where: str, data: bytes = b"") -> Operation[Peer]:
        """Connects to "host:port", or "fabric@host:port" of a program of one fabric. Ends with the peer."""
        status, handle = self.native.start_connect(where, data)
        self.check(status)
        operation: Operation[Peer] = Operation(self, f"the connection to {where}")
        self._connecting[handle] = operation
        return operation

    def connect(self, where: str, timeout: float, data: bytes = b"") -> Peer:
        """The same, and waits. Ctrl-C is noticed after 5 s at most."""
        limit = nanoseconds(timeout)
        if limit <= _EXCHANGE:  # the library's own wait keeps to shorter limits too
            status, handle = self.native.connect(where, data, limit)
            self.check(status)
            return self._peer(handle)
        operation = self.start_connect(where, data)
        try:
            return operation.wait(timeout)
        finally:
            if not operation.done():
                self._give_up(operation)

    def _give_up(self, operation: Operation[Peer]) -> None:
        for handle in [handle for handle, each in self._connecting.items() if each is operation]:
            del self._connecting[handle]
            self.native.close_peer(handle, 0)

    def start_accept(self) -> Wish[Peer]:
        """Accepts the oldest request, or the next one. Ends with the peer."""
        wish: Wish[Peer] = Wish(self, "an accept", self._accepting.remove, self._put_accepted_back)
        if self._accepted:
            wish.end(self._accepted.popleft())
            return wish
        for request in [each for each in self._events if isinstance(each, Request)]:
            self._events.remove(request)
            status = self.native.accept(request.peer._handle, b"")
            if status in (PeerLostError.status, ClosedError.status):
                continue  # this caller gave up
            self.check(status)
            wish.end(request.peer)
            return wish
        self._accepting.append(wish)
        return wish

    def _put_accepted_back(self, peer: Peer) -> None:
        if self._accepting:
            self._accepting.popleft().end(peer)
        else:
            self._accepted.appendleft(peer)

    def accept(self, timeout: float) -> Peer:
        operation = self.start_accept()
        try:
            return operation.wait(timeout)
        finally:
            operation.cancel()

    def accept_request(self, request: Request, data: bytes = b"") -> Peer:
        self.check(self.native.accept(request.peer._handle, data))
        return request.peer

    def reject_request(self, request: Request, reason: str) -> None:
        """Answers no; the other side gets the reason."""
        self.check(self.native.reject(request.peer._handle, reason))
        self.peer_closed(request.peer._handle)

    # ---- the end of regions, and of the transport

    def release(self, region: Region) -> None:
        """For Region.close()."""
        if users := self._users(region):
            raise InvalidError(f"{region!r} is used by {len(users)} operation{'s' * (len(users) > 1)} under way "
                               f"({users[0]}): wait for them, then close it")
        if self._is_late(region):
            raise InvalidError(f"{region!r} was used by an operation that ended at its deadline, and its fabric may "
                               "still read or write the memory: close the peer first, or the transport")
        self._deregister(region)

    def drop(self, region: Region) -> None:
        """For a region that nobody keeps. Operations use it only where the whole transport ends: it goes with that."""
        if not self._users(region) and not self._is_late(region):
            self._deregister(region)

    def _users(self, region: Region) -> list[str]:
        # A copy: the thread of a garbage collection may be another one than that which posts.
        return [each.name for each in list(self._pending.values())
                if each.memory is not None and each.memory.uses(region)]

    def _is_late(self, region: Region) -> bool:
        return any(memory.uses(region) for kept in list(self._late.values()) for memory in list(kept))

    def _deregister(self, region: Region) -> None:
        self._shared.discard(region)
        handle, region._handle, region._owner = region._handle, 0, None
        self.native.release(handle)

    def close(self) -> None:
        """Says goodbye to each peer, and releases everything. Operations under way end with a ClosedError."""
        if self._closed:
            return
        self.native.close()
        self._closed = True
        _open.discard(self)
        if self._driver is not None:
            self._driver.detach()
        for region in list(self._shared):
            region._handle = 0
        self._shared.clear()
        waiting = [*self._pending.values(), *self._connecting.values(), *self._accepting,
                   *(each for _, each in self._regions_wanted), *(each for _, each in self._expecting)]
        self._pending.clear()
        self._connecting.clear()
        self._accepting.clear()
        self._regions_wanted.clear()
        self._expecting.clear()
        self._late.clear()
        raised: BaseException | None = None
        for operation in waiting:
            try:
                operation.end(None, ClosedError(f"{operation.name}: the transport was closed"))
            except BaseException as why:  # noqa: BLE001  a callback's own: the others end first
                raised = raised or why
        if raised is not None:
            raise raised

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def fabrics(self) -> tuple[str, ...]:
        """Names of the fabrics that are open."""
        return tuple(self._fabrics.split(","))

    @property
    def listen_address(self) -> str:
        """Where others connect to, "host:port"; "" of a transport that does not listen."""
        return self._listen_address

    @property
    def counters(self) -> dict[str, int]:
        """What the transport has counted (weft_counters of weft.h)."""
        counted: dict[str, int] = {}
        self.check(self.native.count(counted))
        return counted

    def __enter__(self) -> Transport:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._closed:
            return "<weft.Transport: closed>"
        return f"<weft.Transport: {len(self._peers)} peers, {len(self._pending)} operations under way>"


@atexit.register
def _end() -> None:
    """Closes what the program left open. Threads that are inside a transport stay there: see python/native."""
    for net in list(_open):
        try:
            net.close()
        except Exception:  # noqa: BLE001, S110  a transport of another thread, or of the parent: nothing can be done
            pass
    if _open:
        _weft.end()
        time.sleep(0.05)  # threads on their way into Python arrive there
