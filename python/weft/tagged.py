# SPDX-License-Identifier: Apache-2.0
"""Tagged messages: they wait until a receive asks for them, by 64 bits and a peer or any.

    answer = net.start_receive_tagged(page, tag=7)
    peer.send_tagged(b"question", tag=6)
    print(answer.wait(timeout=10).size)
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import CLOSED, InvalidError
from .memory import Slice
from .operations import Operation

if TYPE_CHECKING:
    from .peers import Peer
    from .progress import Progress

ANY_TAG = (1 << 64) - 1
"""As `ignore`: messages of every tag."""


@dataclass(frozen=True, slots=True)
class TaggedMessage:
    """A message that a tagged receive took. Its bytes are in the receive's memory."""

    peer: Peer  # the sender
    tag: int
    size: int  # in bytes


class TaggedReceive(Operation[TaggedMessage]):
    """A receive under way: an Operation, so wait(), await and callbacks give its end. It keeps its memory till then."""

    __slots__ = ("_handle",)

    def __init__(self, net: Progress, memory: Slice) -> None:
        super().__init__(net, "receive_tagged", memory)
        self._handle: int = 0

    def cancel(self) -> bool:
        """Withdraws the receive, which then ends with a ClosedError. False: it has ended, or its end is under way."""
        if self._done:
            return False
        status = self._net.native.cancel_tagged(self._handle)
        if status != CLOSED:
            self._net.check(status)
        if self._net._driver is not None:
            self._net._driver.kick()
        return status == 0

    def took(self, peer: Peer, tag: int, size: int) -> None:
        """For the transport: a message came."""
        self.end(TaggedMessage(peer, tag, size))


def checked_tag(tag: int, name: str = "tag") -> int:
    """Errors: TypeError, InvalidError."""
    if type(tag) is not int:
        raise TypeError(f"{name} is a whole number of 64 bits, not {type(tag).__name__}")
    if not 0 <= tag <= ANY_TAG:
        raise InvalidError(f"{name} has 64 bits: {tag} is not in 0 to 2**64 - 1")
    return tag
