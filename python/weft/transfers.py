# SPDX-License-Identifier: Apache-2.0
"""Lists of transfers: thousands of puts or gets to one peer as one request (transfers/engine.hpp).

    pages = weft.Transfers(source, remote, local_offsets=0, remote_offsets=offsets, lengths=65536)
    peer.put_list(pages, notify=7).wait(timeout=60)
"""
from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import CLOSED, ClosedError, Error, InvalidError, error_of
from .memory import Region, Slice, part_of
from .operations import Operation, nanoseconds

if TYPE_CHECKING:
    from .peers import Peer, Remote
    from .progress import Progress

NO_TRANSFER = 0xFFFFFFFF


class Priority(enum.IntEnum):
    """Between lists to the same peer: a transfer of a more urgent list is posted first."""

    NORMAL = 0
    URGENT = 1
    BACKGROUND = 2


class ListState(enum.Enum):
    """Where a list is."""

    PENDING = "pending"  # transfers are still to be posted, or in flight
    STOPPING = "stopping"  # it failed or was cancelled: nothing more is posted, and some transfers are in flight
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class ListStatus:
    """A list at one moment."""

    state: ListState
    transfers: int
    done: int  # transfers that ended well
    bytes_done: int
    failed_transfer: int | None  # index of the first one that failed
    why: Error | None


@dataclass(frozen=True, slots=True, eq=False)
class Transfers:
    """Transfers between memory here and one region of a peer.

    local_offsets (in bytes, inside `local`), remote_offsets (inside `remote`) and lengths: each an array of integers, a
    sequence, or one number that holds for all. Arrays are read once, when a list is made of them.
    """

    local: Region | Slice
    remote: Remote
    local_offsets: Any
    remote_offsets: Any
    lengths: Any

    def native(self) -> tuple[int, int, int, int, object, object, object]:
        """For the transport."""
        part = part_of(self.local)
        if not self.remote._handle:
            raise ClosedError("this remote region is forgotten: receive it again")
        return (part.region._handle, part.offset, part.size, self.remote._handle, self.local_offsets,
                self.remote_offsets, self.lengths)


class PreparedList:
    """A list that was checked once, and is posted often. Made by Peer.prepare_put() and Peer.prepare_get().

    It keeps its regions. post() looks at no transfer again.
    """

    __slots__ = ("_net", "_handle", "_kept", "_count", "name", "__weakref__")

    def __init__(self, peer: Peer, puts: bool, transfers: tuple[Transfers, ...]) -> None:
        self._handle: int = 0
        self.name = "put_list" if puts else "get_list"
        self._net: Progress = peer._net
        for each in transfers:
            if not isinstance(each, Transfers):
                raise TypeError(f"{self.name} takes weft.Transfers, not {type(each).__name__}")
            if not puts and part_of(each.local).region.readonly:
                raise InvalidError(f"{part_of(each.local).region!r} may only be read: a get writes into it. Use a "
                                   "bytearray or a writable array")
        groups = [each.native() for each in transfers]
        status, handle, self._count = self._net.native.prepare_list(peer._handle, puts, groups)
        self._net.check(status)
        self._handle = handle
        self._kept = [(part_of(each.local).region, each.remote) for each in transfers]

    def post(self, *, notify: int | None = None, priority: Priority = Priority.NORMAL,
             timeout: float = 60) -> TransferList:
        """Posts the list, also while it is under way already.

        notify: the peer gets one Notice with this number (32 bits), when all bytes are visible there; puts only.
        timeout: a list that has not ended by then fails with a DeadlineError. Errors: AgainError (all lists are under
        way), InvalidError, ClosedError, PeerLostError.
        """
        if not self._handle:
            raise ClosedError(f"this prepared {self.name} is closed: prepare it again")
        if notify is not None and (type(notify) is not int or not 0 <= notify < 1 << 32):
            raise InvalidError(f"a notice has 32 bits: {notify!r} is not a number in 0 to 4294967295")
        limit = nanoseconds(timeout)
        if limit == 0:
            raise InvalidError("a list has more than 0 s to end")
        net, urgency = self._net, int(Priority(priority))
        run = TransferList(net, self.name, self)

        def start(context: int) -> int:
            status, run._handle = net.native.post_list(self._handle, urgency, notify, limit, context)
            return status

        net.post(run, start)
        if net._driver is not None:
            net._driver.kick()
        return run

    def __len__(self) -> int:
        return self._count

    def uses(self, region: Region) -> bool:
        return any(each is region for each, _ in self._kept)

    def close(self) -> None:
        """Lists that were posted from it go on."""
        handle, self._handle = self._handle, 0
        if handle:
            self._net.native.release_prepared(handle)

    def __enter__(self) -> PreparedList:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", 0):
            self.close()

    def __repr__(self) -> str:
        return f"<weft.PreparedList {self.name}: {'ready' if self._handle else 'closed'}>"


class TransferList(Operation[None]):
    """A list under way: an Operation, so wait(), await and callbacks give its end. It keeps its memory until then."""

    __slots__ = ("_handle", "_last")

    def __init__(self, net: Progress, name: str, memory: PreparedList) -> None:
        super().__init__(net, name, memory)
        self._handle: int = 0
        self._last = ListStatus(ListState.PENDING, len(memory), 0, 0, None, None)

    @property
    def status(self) -> ListStatus:
        """How far it is; after the end, how it ended."""
        if not self._done:
            answered, why, failed, transfers, done, bytes_done = self._net.native.list_state(self._handle)
            if answered != CLOSED:  # else its end waits for a poll
                self._net.check(answered)
                self._last = ListStatus(ListState.STOPPING if why else ListState.PENDING, transfers, done, bytes_done,
                                        None if failed == NO_TRANSFER else failed,
                                        error_of(why, f"{self.name}: it stops") if why else None)
        return self._last

    def cancel(self) -> bool:
        """Posts nothing more; what is in flight ends, then wait() raises ClosedError. False: it had ended."""
        if self._done:
            return False
        status = self._net.native.cancel_list(self._handle)
        if status != CLOSED:
            self._net.check(status)
        if self._net._driver is not None:
            self._net._driver.kick()
        return status == 0

    def end_of_list(self, why: int, failed: int, done: int, text: str | None, bytes_done: int) -> None:
        """For the transport: the event of its end."""
        which = None if not why or failed == NO_TRANSFER else failed
        place = "" if which is None else f"transfer {which}: "
        sentence = f"{self.name}: cancelled" if why == CLOSED else f"{self.name}: {place}{text}"
        error = error_of(why, sentence) if why else None
        state = ListState.DONE if not why else ListState.CANCELLED if why == CLOSED else ListState.FAILED
        self._last = ListStatus(state, self._last.transfers, done, bytes_done, which, error)
        super().end(None, error)

    def end(self, value: None, error: Error | None = None) -> None:
        last = self._last  # the transport was closed
        self._last = ListStatus(ListState.FAILED, last.transfers, last.done, last.bytes_done, None, error)
        super().end(value, error)
