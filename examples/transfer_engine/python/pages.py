# SPDX-License-Identifier: Apache-2.0
"""Lists of pages from Python: 256 pages of 64 KiB in one request, with one notice.

pages.py listen PORT, then pages.py call HOST:PORT. The listener compares every byte.
"""
import asyncio
import sys

import numpy
import weft

PAGE, COUNT, ROUNDS = 65536, 256, 4
role, where = sys.argv[1:]


def listen(net: weft.Transport) -> None:
    memory = numpy.zeros((COUNT, PAGE), dtype=numpy.uint8)
    peer = net.accept(timeout=20)
    peer.send_region(net.register(memory, weft.REMOTE_WRITE))
    for _ in range(ROUNDS):
        version = net.expect(weft.Notice, timeout=60).immediate
        right = (memory == numpy.arange(COUNT, dtype=numpy.uint8)[::-1, None] + numpy.uint8(version)).all()
        print(f"version {version}: {COUNT} pages,", "every byte is right" if right else "WRONG BYTES")
        net.retry(lambda: peer.send(b"next"), timeout=20)
    net.expect(weft.Lost, timeout=20)


async def call(net: weft.Transport) -> None:
    memory = numpy.zeros((COUNT, PAGE), dtype=numpy.uint8)
    async with weft.aio.attached(net), asyncio.timeout(60):
        peer = await net.start_connect(where)
        there = await peer.start_receive_region()
        offsets = numpy.arange(COUNT) * PAGE
        # Page i goes to the place of page COUNT - 1 - i. Checked once, posted for each version.
        pages = peer.prepare_put(weft.Transfers(net.register(memory), there, offsets, offsets[::-1], PAGE))
        for version in range(ROUNDS):
            memory[:] = numpy.arange(COUNT, dtype=numpy.uint8)[:, None] + numpy.uint8(version)
            run = pages.post(notify=version)
            await run
            print(f"version {version}: {run.status.done} pages, {run.status.bytes_done} bytes")
            await net.start_expect(weft.Message)


with weft.open(node="127.0.0.1", service=where if role == "listen" else None, sleeps=role == "call") as net:
    listen(net) if role == "listen" else asyncio.run(call(net))
