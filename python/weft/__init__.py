# SPDX-License-Identifier: Apache-2.0
"""weft moves bytes between processes over any network fabric.

open() makes a transport. It takes the best fabric for each peer, over the same library as the C interface (weft.h).
Timeouts are in seconds. The command `weft` and this package share a wheel; without the library only the command works.
"""
from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from . import errors
from .errors import (
    AgainError, BrokenError, ClosedError, DeadlineError, DeniedError, Error, IncompatibleError, InvalidError,
    NativeError, NoMemoryError, OutOfRangeError, PeerLostError, RejectedError, TruncatedError, UnreachableError,
    UnsupportedError)
from .events import Event, Lost, Message, Notice, Request
from .memory import Region, Rights, Slice
from .operations import Operation, Wish, nanoseconds
from .peers import Peer, Remote
from .tagged import ANY_TAG, TaggedMessage, TaggedReceive
from .transfers import ListState, ListStatus, PreparedList, Priority, TransferList, Transfers

if TYPE_CHECKING:
    from . import aio
    from .transport import Transport

REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC = Rights.REMOTE_WRITE, Rights.REMOTE_READ, Rights.REMOTE_ATOMIC

__all__ = [
    "ANY_TAG", "AgainError", "BrokenError", "ClosedError", "DeadlineError", "DeniedError", "Error", "Event",
    "IncompatibleError", "InvalidError", "ListState", "ListStatus", "Lost", "Message", "NativeError", "NoMemoryError",
    "Notice", "Operation", "OutOfRangeError", "Peer", "PeerLostError", "PreparedList", "Priority", "REMOTE_ATOMIC",
    "REMOTE_READ", "REMOTE_WRITE", "Region", "RejectedError", "Remote", "Request", "Rights", "Slice", "TaggedMessage",
    "TaggedReceive", "TransferList", "Transfers", "Transport", "TruncatedError", "UnreachableError",
    "UnsupportedError", "Wish", "aio", "built_fabrics", "errors", "open", "version"]


def open(*, node: str | None = None, service: str | int | None = None, fabrics: str | None = None,  # noqa: A001
         listens: bool = False, sleeps: bool = False, fallback_allowed: bool = False, degrade_allowed: bool = False,
         warn: bool = False, counts: bool = False, max_message_bytes: int = 0, receives: int = 0, operations: int = 0,
         peers: int = 0, operation_timeout: float = 0, silence_limit: float = 0) -> Transport:
    """Opens a transport of each fabric that this machine has.

    node: local address. service: the port where others find this transport. fabrics: names, "mapped,tcp". listens:
    others may connect. sleeps: waits and event loops sleep. counts: `weft top` shows this transport. The others: as in
    weft.h, in seconds; 0 is the default.
    Errors: InvalidError (an option), UnsupportedError (no fabric opens), NativeError (such as a port in use).
    """
    wanted = (listens, sleeps, fallback_allowed, degrade_allowed, warn, counts)
    flags = sum(1 << bit for bit, each in enumerate(wanted) if each)
    asked: dict[str, Any] = {"flags": flags, "operation_timeout": nanoseconds(operation_timeout),
                             "silence_limit": nanoseconds(silence_limit)}
    texts = {"node": node, "service": service, "fabrics": fabrics}
    asked |= {name: str(value) for name, value in texts.items() if value is not None}
    numbers = {"max_message_bytes": max_message_bytes, "receives": receives, "operations": operations, "peers": peers}
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} is a whole number, not {type(value).__name__}")
        if not 0 <= value < 1 << 32:
            raise InvalidError(f"{name} is {value}: it must be at least 0 and at most 4294967295")
        asked[name] = value
    opened: Transport = _extended().Transport(asked)
    return opened


def version() -> str:
    """The version of the library, "0.2.0"."""
    return str(_extended()._weft.version())


def built_fabrics() -> tuple[str, ...]:
    """Names of the fabrics that the library was built with; which of them open is known later."""
    return tuple(_extended()._weft.built_fabrics().split(","))


def _extended() -> ModuleType:
    """The module that needs the library: a wheel without it still has the command."""
    try:
        return import_module(".transport", __name__)
    except ImportError as missing:
        raise UnsupportedError(f"this installation has the command weft and not its library: {missing}. Install "
                               "pybind11-dev, python3-dev and libfabric-dev, then the wheel again") from None


def __getattr__(name: str) -> Any:
    if name == "Transport":
        return _extended().Transport
    if name == "aio":
        _extended()
        return import_module(".aio", __name__)
    raise AttributeError(f"weft has no {name}")
