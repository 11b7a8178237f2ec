# SPDX-License-Identifier: Apache-2.0
"""Ends that come late, in a cancelled await, in a callback that raises, or at close(): no memory is used twice, nothing
that arrived is lost, and everything ends.
"""
from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
import weft
from pairs import SECONDS, both, connected, shown

T = TypeVar("T")
EVERY = weft.REMOTE_READ | weft.REMOTE_WRITE
SHORT = 0.05  # of an operation or an await that does not end in time, because the other side makes no progress
LARGE = 1 << 20


def expired(operation: weft.Operation[Any]) -> None:
    """Makes progress of one side until its operation ends by its deadline."""
    with pytest.raises(weft.DeadlineError):
        operation.wait(SECONDS)
    assert operation.done()


# ---- memory of operations that ended at their deadline


@pytest.mark.parametrize(("fabric", "size"), [("mapped", 4096), ("shm", LARGE), ("tcp", LARGE)])
def test_a_copied_message_that_arrives_late_has_its_own_bytes(fabric: str, size: int) -> None:
    caller, peer, listener, _ = connected(fabric, operation_timeout=SHORT, max_message_bytes=size)
    with listener, caller:
        late: list[weft.Operation[None]] = []
        while not late or late[-1].exception() is None:  # the peer takes nothing, so the room between ends
            late.append(peer.send(bytes([len(late)]) * size))
            try:
                late[-1].wait(SECONDS)
            except weft.DeadlineError:
                break
        for number in range(len(late), len(late) + 4):
            try:
                peer.send(bytes([number]) * size)
            except weft.AgainError:
                break
        arrived: list[weft.Event] = []
        listener.on_event = arrived.append
        for _ in range(20_000):
            listener.poll()
            caller.poll()
            if len(arrived) > len(late):
                break
        messages = [each.data for each in arrived if isinstance(each, weft.Message)]
        assert messages
        for number, data in enumerate(messages):
            assert data == bytes([number]) * size


@pytest.mark.parametrize("fabric", ["shm", "tcp"])
@pytest.mark.parametrize("by_list", [False, True])
def test_a_get_that_comes_late_writes_into_nobody_elses_memory(fabric: str, by_list: bool) -> None:
    caller, peer, listener, there = connected(fabric, operation_timeout=SHORT)
    with listener, caller:
        remote, page = shown(caller, peer, listener, there, LARGE, EVERY)
        page.object[:] = b"\xee" * LARGE
        into = caller.register(bytearray(LARGE))
        if by_list:
            expired(peer.get_list(weft.Transfers(into, remote, 0, 0, LARGE), timeout=SHORT))
        else:
            expired(remote.get(into))
        with pytest.raises(weft.InvalidError, match="ended at its deadline, and its fabric may still"):
            into.close()
        del into
        gc.collect()
        others = [bytearray(LARGE) for _ in range(4)]  # where memory was freed, it is given out again
        for _ in range(2_000):
            listener.poll()
            caller.poll()
        assert not any(any(each) for each in others)


def test_a_region_of_a_late_operation_is_free_after_its_peer() -> None:
    caller, peer, listener, there = connected("tcp", operation_timeout=SHORT)
    with listener, caller:
        remote, _ = shown(caller, peer, listener, there, LARGE, EVERY)
        into = caller.register(bytearray(LARGE))
        expired(remote.get(into))
        peer.close(timeout=0)
        into.close()


def test_a_collection_in_another_thread_ends_regions() -> None:
    caller, peer, listener, there = connected("tcp")
    unraisable: list[object] = []
    hook, sys.unraisablehook = sys.unraisablehook, unraisable.append
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    over = threading.Event()

    def collect() -> None:
        while not over.is_set():
            gc.collect()

    collecting = threading.Thread(target=collect, daemon=True)
    collecting.start()
    try:
        with listener, caller:
            remote, _ = shown(caller, peer, listener, there, LARGE, EVERY)
            source = caller.register(bytearray(4096))
            for _ in range(60):
                puts = []
                for _ in range(50):
                    cycle: list[object] = [caller.register(bytearray(64))]
                    cycle.append(cycle)
                    puts.append(remote.put(source))
                both(caller, listener, *puts)
    finally:
        over.set()
        collecting.join()
        sys.setswitchinterval(interval)
        sys.unraisablehook = hook
    assert unraisable == []


# ---- awaits that are cancelled


async def awaited(operation: Awaitable[T]) -> T:
    return await operation


async def gives_up(operation: Awaitable[Any]) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(awaited(operation), SHORT)


def in_a_loop(body: Callable[[weft.Peer, weft.Transport, weft.Peer], Awaitable[None]]) -> None:
    """Runs body(the caller's peer, listener, the listener's peer) with both transports attached."""
    caller, peer, listener, there = connected(sleeps=True)

    async def main() -> None:
        async with weft.aio.attached(caller), weft.aio.attached(listener), asyncio.timeout(2 * SECONDS):
            await body(peer, listener, there)

    with listener, caller:
        asyncio.run(main())


def test_a_cancelled_await_takes_no_message() -> None:
    async def body(peer: weft.Peer, listener: weft.Transport, _: weft.Peer) -> None:
        await gives_up(listener.start_expect(weft.Message))
        await peer.send(b"one")
        assert (await listener.start_expect(weft.Message)).data == b"one"

    in_a_loop(body)


def test_a_cancelled_await_takes_no_caller() -> None:
    async def body(_: weft.Peer, listener: weft.Transport, __: weft.Peer) -> None:
        await gives_up(listener.start_accept())
        with weft.open(node="127.0.0.1", fabrics="tcp") as other:
            calling = asyncio.get_running_loop().run_in_executor(None, other.connect, listener.listen_address, SECONDS)
            assert (await listener.start_accept()).alive
            await calling

    in_a_loop(body)


def test_a_cancelled_await_takes_no_region() -> None:
    async def body(peer: weft.Peer, listener: weft.Transport, there: weft.Peer) -> None:
        await gives_up(peer.start_receive_region())
        there.send_region(listener.allocate(64, EVERY))
        assert len(await peer.start_receive_region()) == 64

    in_a_loop(body)


def test_what_came_in_the_turn_of_the_cancel_goes_to_the_next() -> None:
    async def body(peer: weft.Peer, listener: weft.Transport, _: weft.Peer) -> None:
        wish = listener.start_expect(weft.Message)
        waiting = asyncio.ensure_future(awaited(wish))
        await asyncio.sleep(0)
        wish.add_done_callback(lambda _: None)
        peer.send(b"one")
        while not wish.done():
            listener.poll()
            peer._net.poll()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert wish.result().data == b"one"  # the callback has it

        wish = listener.start_expect(weft.Message)
        waiting = asyncio.ensure_future(awaited(wish))
        await asyncio.sleep(0)
        peer.send(b"two")
        while not wish.done():
            listener.poll()
            peer._net.poll()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await listener.start_expect(weft.Message)).data == b"two"

    in_a_loop(body)


def test_what_was_put_back_leaves_with_its_peer() -> None:
    caller, peer, listener, there = connected()
    with listener, caller:
        remote, _ = shown(caller, peer, listener, there, 64, EVERY)
        caller._put_region_back(remote)
        listener._put_accepted_back(there)  # as a cancelled await does
        peer.close(timeout=0)
        assert isinstance(listener.expect(weft.Lost, SECONDS), weft.Lost)
        accept = listener.start_accept()
        assert not accept.done() and accept.cancel()
        assert caller._regions_there == []


def test_a_wish_is_withdrawn_once() -> None:
    caller, peer, listener, _ = connected()
    with listener, caller:
        wish = listener.start_expect(weft.Message)
        assert wish.cancel() and not wish.cancel()
        with pytest.raises(weft.ClosedError, match="the wait for a Message was withdrawn"):
            wish.result()
        both(caller, listener, peer.send(b"text"))
        assert listener.expect(weft.Message, SECONDS).data == b"text"


# ---- callbacks that raise, and what is no region


def test_a_callback_that_raises_keeps_no_await_waiting() -> None:
    async def body(peer: weft.Peer, listener: weft.Transport, _: weft.Peer) -> None:
        raised: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: raised.append(context))
        wish = listener.start_expect(weft.Message)
        wish.add_done_callback(lambda _: 1 // 0)
        waiting = asyncio.ensure_future(awaited(wish))
        await asyncio.sleep(0)
        await peer.send(b"text")
        assert (await waiting).data == b"text"
        assert [type(each["exception"]) for each in raised] == [ZeroDivisionError]

    in_a_loop(body)


def test_a_callback_that_raises_keeps_no_operation_open_at_the_close() -> None:
    caller, _, listener, _ = connected()
    wishes = [listener.start_expect(weft.Message) for _ in range(3)]
    wishes[0].add_done_callback(lambda _: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        listener.close()
    assert all(isinstance(each.exception(), weft.ClosedError) for each in wishes)
    caller.close()


@pytest.mark.parametrize("show", ["send_region", "describe"])
def test_a_part_is_shown_to_nobody(show: str) -> None:
    caller, _, listener, there = connected()
    with listener, caller:
        page = listener.allocate(4096, EVERY)
        call: Callable[[Any], object] = there.send_region if show == "send_region" else listener.describe
        for wrong in (page[0:64], None):
            with pytest.raises(TypeError, match=f"a whole weft.Region, not {type(wrong).__name__}"):
                call(wrong)
        page.close()
        with pytest.raises(weft.ClosedError, match="this region is closed"):
            call(page)


# ---- callers that gave up


def test_an_accept_passes_over_a_caller_that_gave_up() -> None:
    with weft.open(node="127.0.0.1", listens=True, fabrics="tcp") as listener:
        requested = threading.Event()

        def give_up() -> None:
            with weft.open(node="127.0.0.1", fabrics="tcp") as caller:
                caller.start_connect(listener.listen_address)
                while not requested.is_set():
                    caller.poll()

        calling = threading.Thread(target=give_up, daemon=True)
        calling.start()
        while not any(isinstance(each, weft.Lost) for each in listener._events):
            listener.poll()
            if any(isinstance(each, weft.Request) for each in listener._events):
                requested.set()
        calling.join()
        called: list[weft.Peer] = []
        with weft.open(node="127.0.0.1", fabrics="tcp") as caller:
            calling = threading.Thread(target=lambda: called.append(caller.connect(listener.listen_address, SECONDS)),
                                       daemon=True)
            calling.start()
            peer = listener.accept(SECONDS)
            calling.join()
            both(caller, listener, called[0].send(b"text"))
            assert listener.expect(weft.Message, SECONDS).peer == peer


# ---- a limit of connect()


def test_a_short_limit_of_a_connect_bounds_the_exchange_of_addresses_too() -> None:
    with weft.open(node="127.0.0.1", listens=True, fabrics="tcp") as listener, \
            weft.open(node="127.0.0.1", fabrics="tcp") as caller:
        with pytest.raises(weft.DeadlineError, match="sent no address within 50 ms"):  # start_connect() has 5 s
            caller.connect(listener.listen_address, SHORT)
        assert caller.poll() == 0
