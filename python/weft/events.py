# SPDX-License-Identifier: Apache-2.0
"""What arrives without being asked for. Transport.expect() and Transport.on_event give it."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from .errors import Error
    from .peers import Peer


@dataclass(frozen=True, slots=True)
class Message:
    """A peer sent `data` (Peer.send)."""

    peer: Peer
    data: bytes


@dataclass(frozen=True, slots=True)
class Notice:
    """A write with a notice arrived (Remote.put_notify), and its bytes are visible. `peer` is None where the fabric
    does not say who wrote."""

    peer: Peer | None
    immediate: int


@dataclass(frozen=True, slots=True)
class Request:
    """A peer wants to connect and shows `data`. Answer Transport.accept_request() or Transport.reject_request()."""

    peer: Peer
    data: bytes


@dataclass(frozen=True, slots=True)
class Lost:
    """A peer is gone. Its operations failed before."""

    peer: Peer
    why: Error


Event = Union[Message, Notice, Request, Lost]
