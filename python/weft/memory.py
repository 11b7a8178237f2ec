# SPDX-License-Identifier: Apache-2.0
"""Registered memory, and what peers may do with it."""
from __future__ import annotations

import enum
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .errors import ClosedError, InvalidError, OutOfRangeError

if TYPE_CHECKING:
    from .transport import Transport


class Rights(enum.IntFlag):
    """What peers may do with a region; 0: only this side uses it."""

    NONE = 0
    REMOTE_WRITE = 1
    REMOTE_READ = 2
    REMOTE_ATOMIC = 4


class Region:
    """Memory of this side that fabrics may use. Made by Transport.register() and Transport.allocate().

    The object whose memory it is stays alive, and cannot be resized, until the region is closed. `region[a:b]` is a
    part of it, in bytes. A region that was shown to a peer lives until close(), or until the transport ends.
    """

    __slots__ = ("_net", "_handle", "_size", "_readonly", "_owner", "__weakref__")


    def __init__(self, net: Transport, handle: int, size: int, readonly: bool, owner: Any) -> None:
        self._net, self._handle, self._size, self._readonly, self._owner = net, handle, size, readonly, owner

    @property
    def object(self) -> Any:
        """The object that was registered."""
        return self._owner

    @property
    def readonly(self) -> bool:
        return self._readonly

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> Slice:
        if not isinstance(part, slice):
            raise TypeError(f"a part of a region is region[begin:end] in bytes, not region[{part!r}]")
        if part.step not in (None, 1):
            raise InvalidError(f"a part of a region is contiguous: its step is 1, not {part.step}")
        begin, end = 0 if part.start is None else part.start, self._size if part.stop is None else part.stop
        if not isinstance(begin, int) or not isinstance(end, int):
            raise TypeError("the begin and the end of a part are whole numbers of bytes")
        if not 0 <= begin < end <= self._size:
            raise OutOfRangeError(f"region[{begin}:{end}] is no part of {self._size} bytes: it needs "
                                  f"0 <= begin < end <= {self._size}")
        return Slice(self, begin, end - begin)

    def close(self) -> None:
        """Deregisters: peers cannot reach the memory any more. Errors: InvalidError while operations use it."""
        if self._handle:
            self._net.release(self)

    def __enter__(self) -> Region:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", 0):
            self._net.drop(self)

    def __repr__(self) -> str:
        state = f"{self._size} bytes of {type(self._owner).__name__}" if self._handle else "closed"
        return f"<weft.Region: {state}>"


class Slice:
    """Part of a region, in bytes: the source or destination of a transfer."""

    __slots__ = ("region", "offset", "size")

    def __init__(self, region: Region, offset: int, size: int) -> None:
        self.region, self.offset, self.size = region, offset, size

    def uses(self, region: Region) -> bool:
        return self.region is region

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<weft.Slice: bytes {self.offset} to {self.offset + self.size} of {self.region!r}>"


def whole(region: Region) -> Region:
    """Errors: TypeError, ClosedError."""
    if not isinstance(region, Region):
        raise TypeError(f"peers are shown a whole weft.Region, not {type(region).__name__}; offsets of transfers name "
                        "its parts")
    if not region._handle:
        raise ClosedError("this region is closed: register the memory again")
    return region


def part_of(what: Region | Slice) -> Slice:
    """Errors: TypeError, ClosedError."""
    if isinstance(what, Region):
        what = Slice(what, 0, len(what))
    elif not isinstance(what, Slice):
        raise TypeError(f"a transfer moves a region or a part of one, not {type(what).__name__}: register it first "
                        "(Transport.register)")
    if not what.region._handle:
        raise ClosedError("this region is closed: register the memory again")
    return what
