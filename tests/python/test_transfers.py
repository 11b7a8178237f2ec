# SPDX-License-Identifier: Apache-2.0
"""Lists of transfers between two transports of one process."""
from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import numpy
import pytest
import weft
from pairs import SECONDS, both, connected, shown

EVERY = weft.REMOTE_WRITE | weft.REMOTE_READ
PAGE, COUNT = 4096, 1000
Link = tuple[weft.Transport, weft.Peer, weft.Transport, weft.Remote, weft.Region]


def pages(fabric: str = "tcp", rights: weft.Rights = EVERY, sleeps: bool = False) -> Link:
    caller, peer, listener, there = connected(fabric, sleeps)
    remote, page = shown(caller, peer, listener, there, PAGE * COUNT, rights)
    return caller, peer, listener, remote, page


def content() -> Any:
    return numpy.random.default_rng(7).integers(0, 256, PAGE * COUNT, dtype=numpy.uint8)


@pytest.mark.parametrize("fabric", ["tcp", "mapped"])
@pytest.mark.parametrize("kind", ["int64", "uint64", "int32", "strided", "list", "range", "one"])
def test_offsets_of_many_kinds_name_the_same_pages(fabric: str, kind: str) -> None:
    caller, peer, listener, remote, page = pages(fabric)
    offsets = numpy.arange(COUNT) * PAGE
    given: Any = {"strided": numpy.repeat(offsets, 2)[::2], "list": offsets.tolist(),
                  "range": range(0, COUNT * PAGE, PAGE), "one": 0}.get(kind)
    lengths: Any = COUNT * PAGE if kind == "one" else PAGE
    if given is None:
        given = offsets.astype(kind)
    with caller, listener:
        source = content()
        turned: Any = given if kind == "one" else given[::-1]  # the first page goes to the last place
        notice = listener.start_expect(weft.Notice)
        run = peer.put_list(weft.Transfers(caller.register(source), remote, given, turned, lengths), notify=7)
        both(caller, listener, run, notice)
        run.result()
        assert notice.result().immediate == 7
        expected = source if kind == "one" else source.reshape(COUNT, PAGE)[::-1].reshape(-1)
        assert bytes(expected) == page.object[:]
        back = numpy.zeros_like(source)
        get = peer.get_list(weft.Transfers(caller.register(back), remote, turned, given, lengths))
        both(caller, listener, get)
        assert get.status.state is weft.ListState.DONE and get.status.bytes_done == PAGE * COUNT
        assert (back == source).all()


def test_a_list_of_several_regions_has_one_notice() -> None:
    caller, peer, listener, remote, page = pages()
    with caller, listener:
        halves = [caller.register(bytes([each]) * PAGE) for each in (1, 2)]
        notice = listener.start_expect(weft.Notice)
        run = peer.put_list(*(weft.Transfers(half, remote, [0, PAGE // 2], [at * PAGE, at * PAGE + PAGE // 2],
                                             PAGE // 2) for at, half in enumerate(halves)), notify=0)
        both(caller, listener, run, notice)
        assert run.status.done == run.status.transfers == 4
        assert page.object[:2 * PAGE] == bytes([1]) * PAGE + bytes([2]) * PAGE
        for _ in range(100):
            listener.poll()
        assert not listener._events


def test_offsets_count_from_the_begin_of_a_part() -> None:
    caller, peer, listener, remote, page = pages()
    with caller, listener:
        source = caller.register(bytes(range(200)))
        both(caller, listener, peer.put_list(weft.Transfers(source[100:], remote, 4, 0, 8)), peer.flush())
        assert page.object[:8] == bytes(range(104, 112))
        with pytest.raises(weft.OutOfRangeError, match="transfer 1: 8 bytes at offset 93 leave the memory here"):
            peer.put_list(weft.Transfers(source[100:], remote, [0, 93], 0, 8))


def test_a_prepared_list_is_posted_again_and_while_it_is_under_way() -> None:
    caller, peer, listener, remote, page = pages()
    with caller, listener:
        source = caller.register(bytearray(PAGE))
        with peer.prepare_put(weft.Transfers(source, remote, 0, numpy.arange(COUNT) * PAGE, PAGE)) as prepared:
            assert len(prepared) == COUNT
            for version in (1, 2):
                source.object[:] = bytes([version]) * PAGE
                notices = [listener.start_expect(weft.Notice) for _ in range(2)]
                runs = [prepared.post(notify=version) for _ in range(2)]
                both(caller, listener, *runs, *notices)
                assert page.object[:] == bytes([version]) * PAGE * COUNT
        with pytest.raises(weft.ClosedError, match="prepared put_list is closed"):
            prepared.post()


def test_a_closed_prepared_list_goes_on() -> None:
    caller, peer, listener, remote, page = pages()
    with caller, listener:
        prepared = peer.prepare_put(weft.Transfers(caller.register(b"x" * PAGE), remote, 0,
                                                   numpy.arange(COUNT) * PAGE, PAGE))
        run = prepared.post()
        prepared.close()
        both(caller, listener, run, peer.flush())
        assert page.object[:] == b"x" * PAGE * COUNT


def test_memory_lives_until_the_list_ends_and_no_longer() -> None:
    caller, peer, listener, remote, _ = pages()
    with caller, listener:
        array = content()
        gone = weakref.ref(array)
        region = caller.register(array)
        run = peer.get_list(weft.Transfers(region, remote, 0, 0, PAGE * COUNT))
        with pytest.raises(weft.InvalidError, match="used by 1 operation under way .get_list."):
            region.close()
        del array, region
        gc.collect()
        assert gone() is not None
        both(caller, listener, run)
        gc.collect()
        assert gone() is None


def test_a_wrong_list_moves_nothing_and_names_its_transfer() -> None:
    caller, peer, listener, remote, page = pages()
    with caller, listener:
        source = caller.register(b"x" * PAGE)
        with pytest.raises(weft.OutOfRangeError, match="transfer 2 has 4096 bytes, and the peer's region has 4095"):
            peer.put_list(weft.Transfers(source, remote, 0, [0, PAGE, PAGE * COUNT - 4095], PAGE))
        for _ in range(100):
            caller.poll(), listener.poll()
        assert page.object[:PAGE] == bytes(PAGE)


def test_a_right_that_is_not_granted_refuses_the_list() -> None:
    caller, peer, listener, remote, _ = pages(rights=weft.REMOTE_READ)
    with caller, listener:
        with pytest.raises(weft.DeniedError, match="transfer 0 needs rights::remote_write"):
            peer.put_list(weft.Transfers(caller.allocate(PAGE), remote, 0, 0, PAGE))


def test_a_failure_in_flight_names_its_transfer() -> None:
    caller, peer, listener, remote, page = pages()
    with caller, listener:
        run = peer.put_list(weft.Transfers(caller.allocate(PAGE), remote, 0, numpy.arange(COUNT) * PAGE, PAGE))
        page.close()  # over tcp a key that is no longer valid ends the connection
        both(caller, listener, run)
        how = run.status
        assert how.state is weft.ListState.FAILED and isinstance(how.why, weft.PeerLostError)
        assert how.failed_transfer is not None and how.done < how.transfers == COUNT
        with pytest.raises(weft.PeerLostError, match=f"put_list: transfer {how.failed_transfer}: "):
            run.result()


def test_a_cancelled_list_ends_early_and_once() -> None:
    caller, peer, listener, remote, _ = pages()
    with caller, listener:
        caller.limit_lists(in_flight_per_peer=2)
        run = peer.get_list(weft.Transfers(caller.allocate(PAGE), remote, 0, numpy.arange(COUNT) * PAGE, PAGE))
        states = [run.status.state]
        assert run.cancel() and run.cancel()
        states.append(run.status.state)
        assert states == [weft.ListState.PENDING, weft.ListState.STOPPING]
        both(caller, listener, run)
        assert not run.cancel() and run.status.state is weft.ListState.CANCELLED and run.status.done < COUNT
        with pytest.raises(weft.ClosedError, match="get_list: cancelled"):
            run.result()


def test_an_urgent_list_overtakes_and_progress_is_seen() -> None:
    caller, peer, listener, remote, _ = pages()
    with caller, listener:
        caller.limit_lists(in_flight_per_peer=4)
        into = caller.allocate(PAGE)
        whole = weft.Transfers(into, remote, 0, numpy.arange(COUNT) * PAGE, PAGE)
        slow = peer.get_list(whole, priority=weft.Priority.BACKGROUND)
        fast = peer.get_list(weft.Transfers(into, remote, 0, [0, PAGE], PAGE), priority=weft.Priority.URGENT)
        both(caller, listener, fast)
        assert not slow.done() and slow.status.done < COUNT
        seen = set()
        while not slow.done():
            caller.poll(), listener.poll()
            seen.add(slow.status.done)
        assert len(seen) > 10 and slow.status.done == COUNT


def test_a_list_ends_at_its_deadline() -> None:
    caller, peer, listener, remote, _ = pages()
    with caller, listener:
        caller.limit_lists(in_flight_per_peer=1)
        run = peer.get_list(weft.Transfers(caller.allocate(PAGE), remote, 0, numpy.arange(COUNT) * PAGE, PAGE),
                            timeout=0.01)
        while run.status.state is weft.ListState.PENDING:
            caller.poll()  # the listener does not: nothing ends
        both(caller, listener, run)
        assert isinstance(run.exception(), weft.DeadlineError)


def test_more_lists_than_there_is_room_for_wait() -> None:
    caller, peer, listener, remote, _ = pages()
    with caller, listener:
        caller.limit_lists(lists=1)
        prepared = peer.prepare_get(weft.Transfers(caller.allocate(PAGE), remote, 0, 0, PAGE))
        first = prepared.post()
        with pytest.raises(weft.AgainError):
            prepared.post()
        both(caller, listener, first)
        both(caller, listener, prepared.post())


def test_lists_end_with_their_peer() -> None:
    caller, peer, listener, remote, _ = pages()
    with caller, listener:
        caller.limit_lists(in_flight_per_peer=1)
        run = peer.get_list(weft.Transfers(caller.allocate(PAGE), remote, 0, numpy.arange(COUNT) * PAGE, PAGE))
        listener.close()
        with pytest.raises(weft.PeerLostError):
            run.wait(SECONDS)
        assert run.status.state is weft.ListState.FAILED


def test_a_list_is_awaited_without_spinning() -> None:
    caller, peer, listener, remote, page = pages("tcp", sleeps=True)
    polls = 0

    async def main() -> int:
        nonlocal polls
        poll = caller.poll

        def counted() -> int:
            nonlocal polls
            polls += 1
            return poll()

        setattr(caller, "poll", counted)
        into = numpy.zeros(PAGE * COUNT, dtype=numpy.uint8)
        every = numpy.arange(COUNT) * PAGE
        async with weft.aio.attached(caller), asyncio.timeout(SECONDS):
            run = peer.get_list(weft.Transfers(caller.register(into), remote, every, every, PAGE))
            await asyncio.sleep(0.5)  # the listener does not answer: the loop sleeps
            asleep, polls = polls, 0
            async with weft.aio.attached(listener):
                await run
                gone = caller.start_expect(weft.Notice)
                assert not gone.done()
        assert bytes(into) == page.object[:]
        return asleep

    with caller, listener:
        page.object[:] = bytes(content())
        assert 0 < asyncio.run(main()) < 2000 and polls > 0
