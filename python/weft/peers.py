# SPDX-License-Identifier: Apache-2.0
"""Other processes, and their memory."""
from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from .errors import ClosedError, InvalidError, PeerLostError
from .memory import Region, Rights, Slice, part_of
from .operations import Operation, Wish, nanoseconds
from .tagged import checked_tag
from .transfers import PreparedList, Priority, TransferList, Transfers

if TYPE_CHECKING:
    from .progress import Progress

_ATOMICS = {"fetch_add": 1, "compare_swap": 2, "swap": 3, "fetch_and": 4, "fetch_or": 5, "fetch_xor": 6,
            "fetch_min": 7, "fetch_max": 8, "load": 9}
# weft_number, and how struct packs it.
_NUMBERS = {"int32": (1, "<i"), "uint32": (2, "<I"), "int64": (3, "<q"), "uint64": (4, "<Q"), "float32": (5, "<f"),
            "float64": (6, "<d")}


class Peer:
    """Another process, from its connection to its end. Compare with ==."""

    __slots__ = ("_net", "_handle", "_lost")

    def __init__(self, net: Progress, handle: int) -> None:
        self._net, self._handle, self._lost = net, handle, False

    def send(self, data: Region | Slice | Any) -> Operation[None]:
        """Sends a message; the peer gets a Message. Bytes and other buffers are copied first, regions are not."""
        net = self._net
        if isinstance(data, (Region, Slice)):
            part = part_of(data)
            return net.post(Operation(net, "send", part), net.native.send, self._handle, part.region._handle,
                            part.offset, part.size)
        return net.post(Operation(net, "send"), net.native.send_copy, self._handle, data)

    def send_tagged(self, data: Region | Slice | Any, tag: int) -> Operation[None]:
        """Sends a message that waits for a receive of its tag (Transport.receive_tagged). Its end says that the memory
        is free. Errors: AgainError (32 messages wait there), TruncatedError, UnsupportedError (the peer's program
        matches no tags)."""
        net, tag = self._net, checked_tag(tag)
        if isinstance(data, (Region, Slice)):
            part = part_of(data)
            return net.post(Operation(net, "send_tagged", part), net.native.send_tagged, self._handle,
                            part.region._handle, part.offset, part.size, tag)
        return net.post(Operation(net, "send_tagged"), net.native.send_tagged_copy, self._handle, data, tag)

    def put_list(self, *transfers: Transfers, notify: int | None = None, priority: Priority = Priority.NORMAL,
                 timeout: float = 60) -> TransferList:
        """Writes thousands of pieces as one request. A wrong list moves nothing. Options: PreparedList.post()."""
        return self.prepare_put(*transfers).post(notify=notify, priority=priority, timeout=timeout)

    def get_list(self, *transfers: Transfers, priority: Priority = Priority.NORMAL,
                 timeout: float = 60) -> TransferList:
        """Reads thousands of pieces as one request. Ends when all bytes are here."""
        return self.prepare_get(*transfers).post(priority=priority, timeout=timeout)

    def prepare_put(self, *transfers: Transfers) -> PreparedList:
        """Checks a list once, for PreparedList.post(). Errors: InvalidError, OutOfRangeError, DeniedError, which say
        the transfer; ClosedError, PeerLostError, NoMemoryError."""
        return PreparedList(self, True, transfers)

    def prepare_get(self, *transfers: Transfers) -> PreparedList:
        return PreparedList(self, False, transfers)

    def flush(self) -> Operation[None]:
        """Ends when each earlier write to this peer is visible there."""
        return self._net.post(Operation(self._net, "flush"), self._net.native.flush, self._handle)

    def send_region(self, region: Region) -> None:
        """Shows a region to the peer, which takes it by receive_region(). The region lives until its close()."""
        self._net.share(region, lambda handle: self._net.check(self._net.native.send_region(self._handle, handle)))

    def start_receive_region(self) -> Wish[Remote]:
        """Ends with the oldest region that the peer showed, or the next one."""
        return self._net.start_receive_region(self)

    def receive_region(self, timeout: float) -> Remote:
        return self._net.receive_region(self, timeout)

    def parse(self, description: bytes) -> Remote:
        """The region that this peer described (Transport.describe)."""
        if not isinstance(description, bytes):
            raise TypeError(f"a description is bytes, not {type(description).__name__}")
        status, handle = self._net.native.parse(self._handle, description)
        self._net.check(status)
        return Remote(self._net, self, handle)

    @property
    def fabric(self) -> str:
        """The name of the fabric that reaches this peer."""
        return self._net.told(self._net.native.fabric_of(self._handle))

    def explain(self) -> str:
        """Why this fabric: a line for each fabric of the library."""
        return self._net.told(self._net.native.explain(self._handle))

    @property
    def alive(self) -> bool:
        return not self._lost and self._net.native.is_alive(self._handle) == 0

    @property
    def largest_message(self) -> int:
        status, size = self._net.native.largest_message(self._handle)
        self._net.check(status)
        return size

    @property
    def largest_tagged_message(self) -> int:
        status, size = self._net.native.largest_tagged_message(self._handle)
        self._net.check(status)
        return size

    def close(self, timeout: float = 2.0) -> None:
        """Waits for operations, says goodbye, and ends the peer with its remote regions."""
        if not self._lost:
            status = self._net.native.close_peer(self._handle, nanoseconds(timeout))
            self._lost = True
            self._net.peer_closed(self._handle)
            if status not in (PeerLostError.status, ClosedError.status):
                self._net.check(status)

    def __repr__(self) -> str:
        return f"<weft.Peer by {self.fabric}>" if self.alive else "<weft.Peer: gone>"


class Remote:
    """Memory of a peer, which it showed (Peer.send_region) or described."""

    __slots__ = ("_net", "_handle", "peer", "size", "rights")

    def __init__(self, net: Progress, peer: Peer, handle: int) -> None:
        status, (size, rights) = net.native.remote_size(handle)
        net.check(status)
        self._handle: int = handle
        self._net, self.peer, self.size, self.rights = net, peer, size, Rights(rights)

    def put(self, source: Region | Slice, offset: int = 0) -> Operation[None]:
        """Writes `source` at `offset` (bytes); the peer gets no event."""
        net, part = self._net, part_of(source)
        return net.post(Operation(net, "put", part), net.native.put, part.region._handle, part.offset, part.size,
                        self._handle, _at(offset))

    def put_notify(self, source: Region | Slice, immediate: int, offset: int = 0) -> Operation[None]:
        """The same; the peer gets a Notice with `immediate` (32 bits) after the bytes are visible there."""
        if not 0 <= immediate < 1 << 32:
            raise InvalidError(f"an immediate has 32 bits: {immediate} is not in 0 to 4294967295")
        net, part = self._net, part_of(source)
        return net.post(Operation(net, "put_notify", part), net.native.put_notify, part.region._handle, part.offset,
                        part.size, self._handle, _at(offset), immediate)

    def get(self, into: Region | Slice, offset: int = 0) -> Operation[None]:
        """Reads from `offset` (bytes) into a region of this side."""
        net, part = self._net, part_of(into)
        if part.region.readonly:
            raise InvalidError(f"{part.region!r} may only be read: a get writes into it. Use a bytearray or a writable "
                               "array")
        return net.post(Operation(net, "get", part), net.native.get, part.region._handle, part.offset, part.size,
                        self._handle, _at(offset))

    def atomic(self, what: str, offset: int, operand: int | float = 0, expected: int | float = 0,
               dtype: str = "uint64") -> Operation[int | float]:
        """Changes the aligned word at `offset` in one step; ends with the word before.

        `what`: fetch_add, compare_swap, swap, fetch_and, fetch_or, fetch_xor, fetch_min, fetch_max or load.
        `dtype`: int32, uint32, int64, uint64, float32 or float64.
        """
        if what not in _ATOMICS:
            raise InvalidError(f"no atomic {what!r}; there are {', '.join(_ATOMICS)}")
        if dtype not in _NUMBERS:
            raise InvalidError(f"no dtype {dtype!r} of atomics; there are {', '.join(_NUMBERS)}")
        number, form = _NUMBERS[dtype]
        return self._net.post(AtomicOperation(self._net, what, form), self._net.native.atomic, _ATOMICS[what], number,
                              self._handle, _at(offset), _bits(form, operand, dtype), _bits(form, expected, dtype))

    def __len__(self) -> int:
        return self.size

    def __del__(self) -> None:
        if getattr(self, "_handle", 0):
            self._net.native.forget(self._handle)

    def __repr__(self) -> str:
        return f"<weft.Remote: {self.size} bytes, {self.rights!r}>"


class AtomicOperation(Operation[Any]):
    """Ends with the word before, as a number of the word's type."""

    __slots__ = ("_form",)

    def __init__(self, net: Progress, name: str, form: str) -> None:
        super().__init__(net, name)
        self._form = form

    def complete(self, old: int) -> None:
        size = struct.calcsize(self._form)
        self.end(struct.unpack(self._form, old.to_bytes(8, "little")[:size])[0])


def _bits(form: str, value: int | float, dtype: str) -> int:
    try:
        return int.from_bytes(struct.pack(form, value), "little")
    except struct.error as why:
        raise InvalidError(f"{value!r} is no {dtype}: {why}") from None


def _at(offset: int) -> int:
    """Errors: TypeError, InvalidError."""
    if not 0 <= offset < 1 << 64:
        raise InvalidError(f"an offset of {offset} bytes: it must be at least 0")
    return offset
