# SPDX-License-Identifier: Apache-2.0
"""Two transports of one process that are connected: what most tests of one program need."""
from __future__ import annotations

import threading
from typing import Any

import weft

SECONDS = 10.0


def connected(fabric: str = "tcp", sleeps: bool = False, operation_timeout: float = SECONDS,
              max_message_bytes: int = 0) -> tuple[weft.Transport, weft.Peer, weft.Transport, weft.Peer]:
    """A caller with its peer, and a listener with its peer. A thread of its own accepts, because a connect waits.

    operation_timeout: the caller's.
    """
    listener = weft.open(node="127.0.0.1", listens=True, fabrics=fabric, sleeps=sleeps,
                         max_message_bytes=max_message_bytes)
    caller = weft.open(node="127.0.0.1", fabrics=fabric, sleeps=sleeps, operation_timeout=operation_timeout,
                       max_message_bytes=max_message_bytes)
    where = listener.listen_address
    accepted: list[weft.Peer] = []
    accepting = threading.Thread(target=lambda: accepted.append(listener.accept(SECONDS)), daemon=True)
    accepting.start()
    peer = caller.connect(where, SECONDS)
    accepting.join()
    return caller, peer, listener, accepted[0]


def both(a: weft.Transport, b: weft.Transport, *operations: weft.Operation[Any]) -> None:
    """Makes progress of both until the operations end."""
    for _ in range(200_000):
        if all(operation.done() for operation in operations):
            return
        a.poll()
        b.poll()
    raise AssertionError(f"no end of {operations}")


def shown(caller: weft.Transport, peer: weft.Peer, listener: weft.Transport, there: weft.Peer, size: int,
          rights: weft.Rights) -> tuple[weft.Remote, weft.Region]:
    """Fresh memory of the listener, and how the caller knows it."""
    page = listener.allocate(size, rights)
    there.send_region(page)
    remote = peer.start_receive_region()
    both(caller, listener, remote)
    return remote.result(), page
