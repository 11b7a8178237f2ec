# SPDX-License-Identifier: Apache-2.0
"""Memory, messages, atomics, events and progress, between two transports of one process."""
from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from typing import Any

import numpy
import pytest
import weft
from pairs import SECONDS, both, connected, shown

EVERY = weft.REMOTE_WRITE | weft.REMOTE_READ | weft.REMOTE_ATOMIC


class Tensor:
    """A DLPack tensor of the processor without a buffer, as those of frameworks are."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self) -> Any:
        return self._array.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


@pytest.mark.parametrize("make", [
    lambda: bytearray(range(64)), lambda: memoryview(bytearray(range(64)))[:], lambda: bytes(range(64)),
    lambda: numpy.arange(64, dtype=numpy.uint8), lambda: numpy.arange(64, dtype=numpy.uint8).reshape(4, 16).T,
    lambda: Tensor(numpy.arange(64, dtype=numpy.uint8).reshape(8, 8))],
    ids=["bytearray", "memoryview", "bytes", "array", "fortran", "tensor"])
def test_memory_of_many_kinds_is_sent(make: Any) -> None:
    caller, peer, listener, there = connected()
    with caller, listener:
        remote, page = shown(caller, peer, listener, there, 64, EVERY)
        both(caller, listener, remote.put(caller.register(make())), peer.flush())
        assert page.object[:] == bytes(range(64))
        back = numpy.zeros(8, dtype=numpy.uint8)
        both(caller, listener, remote.get(caller.register(back), offset=32))
        assert back.tolist() == list(range(32, 40))


def test_a_tensor_that_is_not_contiguous_is_refused_and_let_go() -> None:
    array = numpy.zeros((8, 8))
    gone = weakref.ref(array)
    with weft.open(node="127.0.0.1", fabrics="tcp") as net:
        with pytest.raises(weft.InvalidError, match="not contiguous"):
            net.register(Tensor(array.T[::2]))
        del array
        gc.collect()
        assert gone() is None


def test_memory_lives_until_its_operations_end_and_no_longer() -> None:
    caller, peer, listener, there = connected()
    with caller, listener:
        remote, _ = shown(caller, peer, listener, there, 1 << 20, EVERY)
        array = numpy.ones(1 << 17)
        gone = weakref.ref(array)
        get = remote.get(caller.register(array))
        del array
        gc.collect()
        assert gone() is not None
        both(caller, listener, get)
        del get
        gc.collect()
        assert gone() is None


def test_a_region_that_a_peer_knows_lives_until_it_is_closed() -> None:
    caller, peer, listener, there = connected()
    with caller, listener:
        memory = bytearray(64)
        there.send_region(listener.register(memory, weft.REMOTE_WRITE))
        gc.collect()
        shown_there = peer.start_receive_region()
        both(caller, listener, shown_there)
        both(caller, listener, shown_there.result().put(caller.register(b"x" * 64)), peer.flush())
        assert memory == b"x" * 64


def test_descriptions_messages_and_atomics() -> None:
    caller, peer, listener, there = connected()
    with caller, listener:
        page = listener.allocate(64, EVERY)
        remote = peer.parse(listener.describe(page))
        assert (remote.size, remote.rights) == (64, EVERY)
        message = listener.start_expect(weft.Message)
        both(caller, listener, peer.send(b"copied"), message)
        assert message.result() == weft.Message(there, b"copied")
        message = listener.start_expect(weft.Message)
        both(caller, listener, peer.send(caller.register(b"registered")[2:8]), message)
        assert message.result().data == b"gister"
        for dtype, added in (("int32", -5), ("uint64", 2**63), ("float64", 0.5)):
            page.object[:8] = bytes(8)
            first, second = (remote.atomic("fetch_add", 0, added, dtype=dtype) for _ in range(2))
            both(caller, listener, first, second)
            assert (first.result(), second.result()) == (0, added)


def test_a_full_queue_is_tried_again() -> None:
    caller, peer, listener, there = connected()
    with caller, listener:
        remote, page = shown(caller, peer, listener, there, 1 << 16, EVERY)
        source = caller.register(b"y" * (1 << 16))
        puts: list[weft.Operation[None]] = []
        with pytest.raises(weft.AgainError, match="queue is full"):
            while len(puts) < 100_000:
                puts.append(remote.put(source))
        listener_polls = 0

        def post() -> weft.Operation[None]:
            nonlocal listener_polls
            listener_polls += listener.poll() >= 0
            return remote.put(source)

        puts.append(caller.retry(post, SECONDS))
        both(caller, listener, *puts)
        assert all(put.exception() is None for put in puts) and listener_polls > 1


def test_a_callback_that_raises_leaves_other_arrivals_to_the_next_poll() -> None:
    with weft.open(node="127.0.0.1", fabrics="tcp") as net:
        first, second = (weft.Operation[None](net, name) for name in ("first", "second"))
        net._pending.update({1: first, 2: second})
        first.add_done_callback(lambda _: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            net._handle([1, 2])  # one poll found the ends of both
        assert net.poll() == 1 and second.done()


def test_a_receipt_of_a_region_that_was_given_up_takes_none() -> None:
    caller, peer, listener, there = connected()
    with caller, listener:
        with pytest.raises(weft.DeadlineError):
            peer.receive_region(timeout=0)
        remote, _ = shown(caller, peer, listener, there, 64, EVERY)
        assert remote.size == 64


def test_regions_go_to_the_oldest_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    caller, peer, listener, _ = connected()
    with caller, listener:
        wishes = [peer.start_receive_region() for _ in range(2)]
        native = caller.native
        asked: list[int] = []

        class Late:
            """A region arrives between two questions."""

            def receive_region(self, handle: int, timeout: int) -> tuple[int, int]:
                asked.append(handle)
                return (weft.DeadlineError.status, 0) if len(asked) == 1 else (weft.PeerLostError.status, 0)

            def __getattr__(self, name: str) -> Any:
                return getattr(native, name)

        monkeypatch.setattr(caller, "native", Late())
        caller._take_regions()
        assert asked == [peer._handle] and not any(wish.done() for wish in wishes)


def test_a_remote_region_that_nobody_keeps_is_forgotten() -> None:
    caller, peer, listener, there = connected()
    with caller, listener:
        remote = peer.parse(listener.describe(listener.allocate(64, EVERY)))
        handle = remote._handle
        assert caller.native.remote_size(handle)[0] == 0
        del remote
        gc.collect()
        assert caller.native.remote_size(handle)[0] == weft.ClosedError.status


def test_a_peer_that_goes_is_an_event_and_an_error() -> None:
    caller, peer, listener, there = connected()
    with caller, listener:
        want = caller.start_expect(weft.Lost)
        there.close(timeout=0.1)
        both(caller, listener, want)
        assert want.result().peer == peer and not peer.alive
        assert repr(peer) == "<weft.Peer: gone>"


def test_a_loop_sleeps_while_nothing_arrives() -> None:
    caller, _, listener, _ = connected(sleeps=True)
    polls = 0

    async def main() -> None:
        nonlocal polls
        poll = caller.poll

        def counted() -> int:
            nonlocal polls
            polls += 1
            return poll()

        setattr(caller, "poll", counted)
        async with weft.aio.attached(caller):
            await asyncio.sleep(0.5)

    with caller, listener:
        asyncio.run(main())
    assert 0 < polls < 2000  # work is due at most once a millisecond; a loop that spins polls 100000 times


def test_a_loop_goes_on_after_a_callback_that_raised() -> None:
    caller, peer, listener, there = connected("mapped", sleeps=True)
    raised: list[dict[str, Any]] = []

    async def main() -> bytes:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: raised.append(context))
        async with weft.aio.attached(caller), asyncio.timeout(SECONDS):
            message = asyncio.ensure_future(_awaited(caller.start_expect(weft.Message)))
            await asyncio.sleep(0)
            peer.send(b"text").add_done_callback(lambda _: 1 // 0)
            caller.driver_for_await().kick()
            while not raised:
                listener.poll()
                await asyncio.sleep(0.001)
            answer = there.send(b"answer")
            while not message.done():
                listener.poll()
                await asyncio.sleep(0.001)
            assert answer.exception() is None
            return (await message).data

    with caller, listener:
        assert asyncio.run(main()) == b"answer"
    assert isinstance(raised[0]["exception"], ZeroDivisionError) and len(raised) == 1


def test_a_loop_that_is_left_ends_what_waits_for_room() -> None:
    caller, _, listener, _ = connected(sleeps=True)

    def full() -> None:
        raise weft.AgainError("full")

    async def main() -> None:
        async with asyncio.timeout(SECONDS):
            async with weft.aio.attached(caller):
                posting = asyncio.ensure_future(weft.aio.retry(caller, full))
                await asyncio.sleep(0)
            with pytest.raises(weft.InvalidError, match="attached"):
                await posting

    with caller, listener:
        asyncio.run(main())


async def _awaited(operation: weft.Operation[weft.Message]) -> weft.Message:
    return await operation


def test_a_loop_posts_again_where_the_queue_was_full() -> None:
    caller, peer, listener, there = connected(sleeps=True)

    async def main() -> int:
        async with weft.aio.attached(caller), weft.aio.attached(listener), asyncio.timeout(SECONDS):
            there.send_region(listener.allocate(1 << 16, EVERY))
            remote = await peer.start_receive_region()
            source = caller.register(b"z" * (1 << 16))
            puts = [await weft.aio.retry(caller, lambda: remote.put(source)) for _ in range(600)]  # of 256 at a time
            for put in puts:
                await put
            message = listener.start_expect(weft.Message)
            await peer.send(b"the end")
            assert (await message).data == b"the end"
            return len(puts)

    with caller, listener:
        assert asyncio.run(main()) == 600


def test_a_request_is_rejected_with_a_reason() -> None:
    with weft.open(node="127.0.0.1", listens=True, fabrics="tcp") as listener, \
            weft.open(node="127.0.0.1", fabrics="tcp") as caller:
        where = listener.listen_address

        def reject() -> None:
            request = listener.expect(weft.Request, SECONDS)
            assert request.data == b"who I am"
            listener.reject_request(request, "closed on Thursdays")
            for _ in range(1000):
                listener.poll()

        rejecting = threading.Thread(target=reject, daemon=True)
        rejecting.start()
        with pytest.raises(weft.RejectedError, match="closed on Thursdays"):
            caller.connect(where, SECONDS, data=b"who I am")
        rejecting.join()
