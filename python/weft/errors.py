# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one for each status of weft.h, all below `Error`. Each has a sentence that says what would be right."""
from __future__ import annotations


class Error(Exception):
    """What a call or an operation of weft answers instead of doing what was asked. Base of all others here."""

    status: int = 0  # of weft.h


class AgainError(Error, BlockingIOError):
    """Nothing was posted, because the queue is full: make progress, then post once more (Transport.retry)."""

    status = -1


class TruncatedError(Error):
    """A message is larger than the peer takes (Peer.largest_message)."""

    status = -2


class OutOfRangeError(Error, IndexError):
    """A transfer leaves its region."""

    status = -3


class DeniedError(Error, PermissionError):
    """The region does not grant this, or its key is no longer valid."""

    status = -4


class UnreachableError(Error, ConnectionError):
    """Nobody answers at that address."""

    status = -5


class RejectedError(Error, ConnectionRefusedError):
    """The other side answered no."""

    status = -6


class IncompatibleError(Error):
    """The other side has other fabrics, another wire version or other rules."""

    status = -7


class PeerLostError(Error, ConnectionResetError):
    """The peer is gone. What was outstanding may or may not have happened."""

    status = -8


class DeadlineError(Error, TimeoutError):
    """Not finished in the time given."""

    status = -9


class ClosedError(Error):
    """The transport, peer or region is closed; also every transport of a parent after fork()."""

    status = -10


class InvalidError(Error, ValueError):
    """The arguments break the contract of the call."""

    status = -11


class NoMemoryError(Error, MemoryError):
    """No memory, or no free record, is left."""

    status = -12


class UnsupportedError(Error):
    """The fabrics, or this installation, cannot do it."""

    status = -13


class BrokenError(Error):
    """The library or the peer did what the fabric's facts say it does not."""

    status = -14


class NativeError(Error, OSError):
    """An error of the system or of a library that has no closer name."""

    status = -15


_KINDS: dict[int, type[Error]] = {kind.status: kind for kind in Error.__subclasses__()}
AGAIN, DEADLINE, CLOSED = AgainError.status, DeadlineError.status, ClosedError.status


def error_of(status: int, sentence: str) -> Error:
    """The exception of a status."""
    made = _KINDS.get(status, Error)(sentence or "weft gave no reason")
    made.status = status
    return made
