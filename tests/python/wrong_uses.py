# SPDX-License-Identifier: Apache-2.0
"""Wrong uses, one a function: `wrong_uses.py NAME` makes that mistake. test_wrong_uses.py judges how it ends.

A function that returns says that the mistake did no harm.
"""
from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
import time
from typing import Any

import numpy
import weft
from pairs import SECONDS, both, connected, shown

EVERY = weft.REMOTE_WRITE | weft.REMOTE_READ | weft.REMOTE_ATOMIC


def alone() -> weft.Transport:
    return weft.open(node="127.0.0.1", fabrics="tcp")


def freed_array() -> None:
    caller, peer, listener, there = connected()
    remote, page = shown(caller, peer, listener, there, 1 << 20, EVERY)
    array = numpy.full(1 << 20, 7, dtype=numpy.uint8)
    put = remote.put(caller.register(array))
    del array
    gc.collect()
    filler = [bytearray(b"\1" * (1 << 20)) for _ in range(8)]
    both(caller, listener, put, peer_flush := peer.flush())
    assert peer_flush.done() and set(page.object[:]) == {7}, len(filler)


def resized_bytearray() -> None:
    memory = bytearray(64)
    kept = alone().register(memory)
    memory.extend(b"more")
    del kept


def released_view() -> None:
    view = memoryview(bytearray(64))
    kept = alone().register(view)
    view.release()
    del kept


def read_only_buffer() -> None:
    alone().register(b"only to be read", weft.REMOTE_WRITE)


def read_only_array() -> None:
    array = numpy.zeros(8)
    array.flags.writeable = False
    alone().register(array, weft.REMOTE_ATOMIC)


def get_into_bytes() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, EVERY)
    remote.get(caller.register(bytes(64)))


def array_of_objects() -> None:
    alone().register(numpy.array([1, "two", None], dtype=object))


def not_contiguous() -> None:
    alone().register(numpy.zeros((8, 8))[:, ::2])


def no_buffer() -> None:
    alone().register([1, 2, 3])


def empty_buffer() -> None:
    alone().register(bytearray())


class OnDevice:
    """A tensor of a graphics processor, as far as weft asks."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self) -> Any:
        raise AssertionError("asked for a device's memory")


def device_tensor() -> None:
    alone().register(OnDevice())


def wrong_dtype() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, EVERY)
    remote.atomic("fetch_add", 0, 1, dtype="float16")


def operand_too_large() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, EVERY)
    remote.atomic("fetch_add", 0, 1 << 40, dtype="int32")


def negative_size() -> None:
    alone().allocate(-4096)


def negative_part() -> None:
    alone().allocate(64)[-8:]


def negative_offset() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, EVERY)
    remote.put(caller.allocate(8), offset=-8)


def huge_number() -> None:
    weft.open(operations=1 << 40)


def outside_of_the_region() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, EVERY)
    remote.put(caller.allocate(64), offset=1)


def right_not_granted() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, weft.REMOTE_READ)
    put = remote.put(caller.allocate(64))
    both(caller, listener, put)
    put.result()


def forgotten_progress() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, EVERY)
    remote.get(caller.allocate(64)).result()


def deadline_of_zero() -> None:
    alone().expect(weft.Message, timeout=0)


def negative_deadline() -> None:
    alone().expect(weft.Message, timeout=-1)


def deadline_that_is_no_number() -> None:
    alone().expect(weft.Message, timeout=float("nan"))


def deadline_of_text() -> None:
    alone().connect("127.0.0.1:1", timeout="10 s")  # type: ignore[arg-type]


def closed_transport() -> None:
    net = alone()
    net.close()
    net.close()
    net.register(bytearray(8))


def closed_region() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, EVERY)
    region = caller.allocate(64)
    part = region[:8]
    region.close()
    remote.put(part)


def closed_peer() -> None:
    _, peer, _, _ = connected()
    peer.close(timeout=0)
    peer.send(b"too late")


def region_closed_too_early() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 1 << 24, EVERY)
    region = caller.allocate(1 << 24)
    get = remote.get(region)
    region.close()
    both(caller, listener, get)


def region_of_another() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, EVERY)
    remote.put(alone().allocate(64))


def put_of_bytes() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, EVERY)
    remote.put(b"not registered")  # type: ignore[arg-type]


def message_too_large() -> None:
    _, peer, _, _ = connected()
    peer.send(bytes(1 << 20))


def nobody_there() -> None:
    alone().connect("127.0.0.1:1", timeout=SECONDS)


def no_address() -> None:
    alone().connect("somewhere", timeout=SECONDS)


def port_in_use() -> None:
    first = weft.open(node="127.0.0.1", listens=True, fabrics="tcp")
    weft.open(node="127.0.0.1", service=first.listen_address.rpartition(":")[2], fabrics="tcp")


def unknown_fabric() -> None:
    weft.open(fabrics="carrier_pigeon")


def garbled_description() -> None:
    _, peer, _, _ = connected()
    peer.parse(b"no description at all")


def other_thread() -> None:
    net = weft.open(node="127.0.0.1", listens=True, fabrics="tcp", sleeps=True)
    waiting = threading.Thread(target=_expects_nothing, args=(net,))
    waiting.start()
    time.sleep(0.2)
    try:
        net.poll()
    finally:
        waiting.join()


def _expects_nothing(net: weft.Transport) -> None:
    try:
        net.expect(weft.Message, timeout=1)
    except weft.DeadlineError:
        pass


def forked() -> None:
    net = alone()
    region = net.allocate(64)
    child = os.fork()
    if child == 0:
        try:
            net.poll()
        except weft.ClosedError:
            del region
            sys.exit(3)  # through the interpreter's end, with everything open
        os._exit(4)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 3, status
    net.poll()


def forked_while_a_thread_is_inside() -> None:
    net = weft.open(node="127.0.0.1", listens=True, fabrics="tcp", sleeps=True)
    threading.Thread(target=_expects_nothing, args=(net,), daemon=True).start()
    time.sleep(0.2)
    child = os.fork()
    if child == 0:
        try:
            net.poll()
        except weft.ClosedError:
            os._exit(3)
        os._exit(4)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 3, status


def exit_under_way() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 1 << 24, EVERY)
    for _ in range(4):
        remote.get(caller.allocate(1 << 24))
    sys.exit(0)


def exit_with_a_thread_inside() -> None:
    net = weft.open(node="127.0.0.1", listens=True, fabrics="tcp")
    threading.Thread(target=lambda: net.expect(weft.Message, timeout=60), daemon=True).start()
    time.sleep(0.2)
    sys.exit(0)


def lost_references() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 1 << 20, EVERY)
    for _ in range(8):
        remote.get(caller.register(bytearray(1 << 20)))
    del caller, peer, remote
    gc.collect()
    del listener, there, _
    gc.collect()


def callback_raises() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, EVERY)
    put = remote.put(caller.allocate(64))
    put.add_done_callback(lambda _: 1 // 0)
    try:
        both(caller, listener, put)
    except ZeroDivisionError:
        both(caller, listener, remote.put(caller.allocate(64)))
        raise


def closed_in_a_callback() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, EVERY)
    first, second = remote.put(caller.allocate(64)), remote.put(caller.allocate(64))
    first.add_done_callback(lambda _: caller.close())
    both(caller, listener, first, second)
    second.result()
    caller.poll()


def _list(**wrong: Any) -> tuple[Any, ...]:
    """A list of gets of 64 pages, with one mistake."""
    caller, peer, listener, there = connected()
    remote, page = shown(caller, peer, listener, there, 64 << 16, EVERY)
    every = numpy.arange(64) << 16
    given: dict[str, Any] = {"local": caller.register(bytearray(64 << 16)), "remote": remote, "local_offsets": every,
                             "remote_offsets": every, "lengths": 1 << 16} | wrong
    return caller, listener, peer.prepare_get(weft.Transfers(**given)), page


def list_of_different_lengths() -> None:
    _list(lengths=[1, 2])


def list_of_floats() -> None:
    _list(local_offsets=numpy.zeros(64))


def list_that_shrinks() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 4096, EVERY)

    class Clearing:
        def __index__(self) -> int:
            offsets.clear()
            return 0

    offsets: list[Any] = [Clearing(), *range(10**6, 10**6 + 100_000)]
    peer.prepare_put(weft.Transfers(caller.allocate(4096), remote, offsets, 0, 1))


def list_of_texts() -> None:
    _list(lengths="many")


def list_of_negative_offsets() -> None:
    _list(remote_offsets=numpy.arange(64) - 1)


def list_of_two_dimensions() -> None:
    _list(remote_offsets=numpy.zeros((8, 8), dtype=int))


def list_without_transfers() -> None:
    _list(local_offsets=[], remote_offsets=[])


def list_into_bytes() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, EVERY)
    peer.get_list(weft.Transfers(caller.register(bytes(64)), remote, 0, 0, 64))


def list_of_freed_arrays() -> None:
    caller, peer, listener, there = connected()
    remote, page = shown(caller, peer, listener, there, 1 << 20, EVERY)
    array, offsets = numpy.full(1 << 20, 7, dtype=numpy.uint8), numpy.arange(256) << 12
    run = peer.put_list(weft.Transfers(caller.register(array), remote, offsets, offsets, 1 << 12))
    del array, offsets
    gc.collect()
    filler = [bytearray(b"\1" * (1 << 20)) for _ in range(8)]
    both(caller, listener, run, peer.flush())
    assert set(page.object[:]) == {7}, len(filler)


def list_of_a_closed_region() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, EVERY)
    region = caller.allocate(64)
    prepared = peer.prepare_put(weft.Transfers(region, remote, 0, 0, 64))
    region.close()
    prepared.post()


def list_of_another_peer() -> None:
    caller, peer, listener, there = connected()
    remote, _ = shown(caller, peer, listener, there, 64, EVERY)
    with weft.open(node="127.0.0.1", listens=True, fabrics="tcp") as third:
        accepting = threading.Thread(target=third.accept, args=(SECONDS,))
        accepting.start()
        other = caller.connect(third.listen_address, SECONDS)
        accepting.join()
        other.put_list(weft.Transfers(caller.allocate(64), remote, 0, 0, 64))


def list_after_its_end() -> None:
    caller, listener, prepared, _ = _list()
    run = prepared.post()
    both(caller, listener, run)
    prepared.close()
    prepared.close()
    assert not run.cancel() and run.status.done == 64
    prepared.post()


def list_cancelled_twice() -> None:
    caller, listener, prepared, _ = _list()
    run = prepared.post()
    assert run.cancel() and run.cancel()
    both(caller, listener, run)
    run.result()


def list_of_a_closed_transport() -> None:
    caller, _, prepared, _ = _list()
    run = prepared.post()
    caller.close()
    run.cancel()
    prepared.close()
    run.result()


def list_notice_of_gets() -> None:
    _list()[2].post(notify=1)


def list_limits_too_late() -> None:
    caller, _, _, _ = _list()
    caller.limit_lists(lists=4)


def list_never_polled() -> None:
    _list()[2].post().result()


def exit_with_a_list_under_way() -> None:
    _list()[2].post()
    sys.exit(0)


def tag_too_wide() -> None:
    _, peer, _, _ = connected()
    peer.send_tagged(b"text", 1 << 64)


def tag_of_text() -> None:
    net = alone()
    net.start_receive_tagged(net.allocate(8), tag="seven")  # type: ignore[arg-type]


def tagged_into_bytes() -> None:
    net = alone()
    net.start_receive_tagged(net.register(b"only to be read"), tag=1)


def tagged_into_a_closed_region() -> None:
    net = alone()
    page = net.allocate(8)
    page.close()
    net.start_receive_tagged(page, tag=1)


def tagged_region_closed_too_early() -> None:
    net = alone()
    page = net.allocate(8)
    net.start_receive_tagged(page, tag=1)
    page.close()


def tagged_of_freed_arrays() -> None:
    caller, peer, listener, _ = connected()
    for tag in range(16):
        listener.start_receive_tagged(listener.register(numpy.zeros(64, dtype=numpy.uint8)), tag=tag)
    gc.collect()
    filler = [numpy.ones(64, dtype=numpy.uint8) for _ in range(64)]
    both(caller, listener, *(peer.send_tagged(bytes([9] * 64), tag) for tag in range(16)))
    for _ in range(100):
        listener.poll()
    assert all(each.all() and each.max() == 1 for each in filler)


def tagged_of_a_closed_peer() -> None:
    caller, peer, listener, _ = connected()
    listener.start_expect(weft.Lost)
    peer.close()
    caller.start_receive_tagged(caller.allocate(8), tag=1, peer=peer)


def tagged_of_another_transport() -> None:
    net, other = alone(), alone()
    net.start_receive_tagged(other.allocate(8), tag=1)


def tagged_of_no_peer() -> None:
    net = alone()
    net.start_receive_tagged(net.allocate(8), tag=1, peer=7)  # type: ignore[arg-type]


def tagged_never_polled() -> None:
    net = alone()
    net.start_receive_tagged(net.allocate(8), tag=1).result()


def exit_with_a_tagged_receive() -> None:
    net = alone()
    net.start_receive_tagged(net.register(bytearray(64)), tag=1)
    sys.exit(0)


def no_callback() -> None:
    _, peer, _, _ = connected()
    peer.send(b"text").add_done_callback(7)  # type: ignore[arg-type]


def await_without_a_loop() -> None:
    async def main() -> None:
        await alone().start_expect(weft.Message)

    asyncio.run(main())


def loop_without_sleeps() -> None:
    async def main() -> None:
        async with weft.aio.attached(alone()):
            pass

    asyncio.run(main())


def interrupted() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins without it
    threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    weft.open(node="127.0.0.1", listens=True, fabrics="tcp").accept(timeout=60)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("no harm")
