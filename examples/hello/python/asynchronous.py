# SPDX-License-Identifier: Apache-2.0
"""Both sides in asyncio: the loop sleeps while nothing arrives.

asynchronous.py listen PORT, or asynchronous.py call HOST:PORT.
"""
import asyncio
import sys

import weft

role, where = sys.argv[1:]


async def listen(net: weft.Transport) -> None:
    page = net.allocate(64, weft.REMOTE_WRITE)
    peer = await net.start_accept()
    peer.send_region(page)
    notice = await net.start_expect(weft.Notice)
    print(page.object[:12].decode(), f"({notice.immediate})")


async def call(net: weft.Transport) -> None:
    text = net.register(b"hello, world")
    peer = await net.start_connect(where)
    page = await peer.start_receive_region()
    await page.put_notify(text, immediate=7)
    print("written")


async def main() -> None:
    with weft.open(node="127.0.0.1", service=where if role == "listen" else None, sleeps=True) as net:
        async with asyncio.timeout(20), weft.aio.attached(net):
            await (listen(net) if role == "listen" else call(net))


asyncio.run(main())
