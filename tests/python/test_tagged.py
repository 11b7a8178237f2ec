# SPDX-License-Identifier: Apache-2.0
"""Tagged messages from Python: blocking, callbacks and asyncio; peers of one fabric and of two."""
from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from typing import Any

import numpy
import pytest
import weft
from pairs import SECONDS, both, connected


@pytest.mark.parametrize("fabric", ["tcp", "mapped"])
def test_a_receive_takes_a_message_by_its_tag(fabric: str) -> None:
    caller, peer, listener, there = connected(fabric)
    with caller, listener:
        pages = [listener.allocate(64) for _ in range(3)]
        exact = listener.start_receive_tagged(pages[0], tag=7)
        masked = listener.start_receive_tagged(pages[1], tag=0x20, ignore=0xF)
        of_peer = listener.start_receive_tagged(pages[2][8:16], tag=7, peer=there)
        source = caller.register(bytearray(b"second! and more"))
        sent = [peer.send_tagged(b"first", 7), peer.send_tagged(source[0:7], 7), peer.send_tagged(b"masked", 0x2A)]
        both(caller, listener, exact, masked, of_peer, *sent)
        assert exact.result() == weft.TaggedMessage(there, 7, 5) and pages[0].object[:5] == b"first"
        assert masked.result() == weft.TaggedMessage(there, 0x2A, 6) and pages[1].object[:6] == b"masked"
        assert of_peer.result().size == 7 and pages[2].object[8:15] == b"second!"
        assert peer.largest_tagged_message == peer.largest_message - 16


def test_messages_wait_for_receives_and_are_no_other_events() -> None:
    caller, peer, listener, _ = connected()
    with caller, listener:
        page = listener.allocate(64)
        tagged = [peer.send_tagged(f"m{i}".encode(), i) for i in range(4)]
        message = listener.start_expect(weft.Message)
        both(caller, listener, *tagged, peer.send(b"plain"), message)
        assert message.result().data == b"plain"
        for tag, text in ((2, b"m2"), (0, b"m0"), (3, b"m3"), (1, b"m1")):
            assert listener.receive_tagged(page, tag, timeout=SECONDS).size == 2
            assert page.object[:2] == text


def test_a_window_of_messages_waits_then_the_sender_does() -> None:
    caller, peer, listener, _ = connected()
    with caller, listener:
        page = listener.allocate(64)
        posted = 0
        with pytest.raises(weft.AgainError):
            for posted in range(100):
                caller.poll()
                peer.send_tagged(b"x", posted)
        assert posted == 32
        seen = []
        for _ in range(posted):
            receive = listener.start_receive_tagged(page, ignore=weft.ANY_TAG)
            both(caller, listener, receive)
            seen.append(receive.result().tag)
        assert seen == list(range(posted))
        both(caller, listener, caller.retry(lambda: peer.send_tagged(b"y", 1), SECONDS))


def test_receives_of_any_peer_match_over_all_fabrics() -> None:
    listener = weft.open(node="127.0.0.1", listens=True, fabrics="mapped,tcp")
    with listener:
        callers = []
        for fabric in ("mapped", "tcp"):
            caller = weft.open(node="127.0.0.1", fabrics=fabric)
            accepted: list[weft.Peer] = []
            thread = threading.Thread(target=lambda: accepted.append(listener.accept(SECONDS)), daemon=True)
            thread.start()
            peer = caller.connect(listener.listen_address, SECONDS)
            thread.join()
            assert accepted[0].fabric == fabric
            callers.append((caller, peer, accepted[0]))
        page = listener.allocate(64)
        for caller, peer, there in [*callers, *reversed(callers)]:
            receive = listener.start_receive_tagged(page, tag=3)
            both(caller, listener, receive, peer.send_tagged(b"hello", 3))
            assert receive.result().peer is there
        for caller, _, _ in callers:
            caller.close()


def test_a_message_that_is_too_long_is_cut_and_reported() -> None:
    caller, peer, listener, _ = connected()
    with caller, listener:
        page = listener.register(bytearray(64))
        short = listener.start_receive_tagged(page[0:8], tag=1)
        both(caller, listener, short, peer.send_tagged(b"twenty bytes of text", 1))
        with pytest.raises(weft.TruncatedError, match="a message of 20 bytes arrived for a receive of 8"):
            short.result()
        assert page.object[:9] == b"twenty b\0"
        with pytest.raises(weft.TruncatedError):
            peer.send_tagged(bytes(peer.largest_tagged_message + 1), 1)


def test_a_cancelled_receive_and_a_deadline_lose_no_message() -> None:
    caller, peer, listener, there = connected()
    with caller, listener:
        array = numpy.zeros(64, dtype=numpy.uint8)
        gone = weakref.ref(array)
        page = listener.allocate(64)
        receive = listener.start_receive_tagged(listener.register(array), tag=1, peer=there)
        del array
        gc.collect()
        assert gone() is not None and receive.cancel() and not receive.cancel()
        with pytest.raises(weft.ClosedError):
            receive.wait(SECONDS)
        del receive
        gc.collect()
        assert gone() is None
        with pytest.raises(weft.DeadlineError, match="no message with tag 1 came in 0.01 s"):
            listener.receive_tagged(page, 1, timeout=0.01)
        both(caller, listener, peer.send_tagged(b"kept", 1))
        assert listener.receive_tagged(page, 1, timeout=SECONDS).size == 4
        named = listener.start_receive_tagged(page, tag=2, peer=there)
        lost = listener.start_expect(weft.Lost)
        caller.close()
        lost.wait(SECONDS)
        assert isinstance(named.exception(), weft.ClosedError)
        with pytest.raises(weft.PeerLostError):
            listener.start_receive_tagged(page, tag=2, peer=there)
        last = listener.start_receive_tagged(page, tag=2)
    assert isinstance(last.exception(), weft.ClosedError)


def test_callbacks_and_awaits() -> None:
    caller, peer, listener, there = connected("mapped", sleeps=True)
    seen: list[int] = []

    def again(receive: weft.Operation[weft.TaggedMessage]) -> None:
        if receive.exception() is None and len(seen) < 3:
            seen.append(receive.result().tag)
            listener.start_receive_tagged(page, ignore=weft.ANY_TAG).add_done_callback(again)

    async def main() -> Any:
        async with weft.aio.attached(caller), weft.aio.attached(listener), asyncio.timeout(SECONDS):
            listener.start_receive_tagged(page, ignore=weft.ANY_TAG).add_done_callback(again)
            for tag in (5, 6, 7):
                await peer.send_tagged(b"ask", tag)
            while len(seen) < 3:
                await asyncio.sleep(0.001)
            await there.send_tagged(b"answer", 9)
            await there.send_tagged(b"later", 10)
            # One that waits already, then one that is still to come.
            await asyncio.sleep(0.05)
            first = await caller.start_receive_tagged(own, tag=10)
            await caller.start_receive_tagged(own, tag=9)
            coming = asyncio.ensure_future(_awaited(caller.start_receive_tagged(own, tag=11)))
            await asyncio.sleep(0.05)
            await there.send_tagged(b"last", 11)
            return first, await coming

    with caller, listener:
        page, own = listener.allocate(64), caller.allocate(64)
        first, last = asyncio.run(main())
    assert seen == [5, 6, 7]
    assert first == weft.TaggedMessage(peer, 10, 5) and last == weft.TaggedMessage(peer, 11, 4)


async def _awaited(operation: weft.Operation[Any]) -> Any:
    return await operation
