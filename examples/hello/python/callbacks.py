# SPDX-License-Identifier: Apache-2.0
"""Both sides by callbacks: the program polls, and functions are called at the end of each step.

callbacks.py listen PORT, or callbacks.py call HOST:PORT.
"""
import sys
import time

import weft

role, where = sys.argv[1:]
done: list[str] = []


def listen(net: weft.Transport) -> None:
    page = net.allocate(64, weft.REMOTE_WRITE)

    def written(event: weft.Event) -> None:
        if isinstance(event, weft.Notice):
            done.append(f"{page.object[:12].decode()} ({event.immediate})")

    net.on_event = written
    net.start_accept().add_done_callback(lambda accepted: accepted.result().send_region(page))


def call(net: weft.Transport) -> None:
    text = net.register(b"hello, world")
    peer = net.connect(where, timeout=20)
    peer.start_receive_region().add_done_callback(lambda shown: shown.result().put_notify(
        text, immediate=7).add_done_callback(lambda put: done.append(str(put.exception() or "written"))))


with weft.open(node="127.0.0.1", service=where if role == "listen" else None) as net:
    listen(net) if role == "listen" else call(net)
    limit = time.monotonic() + 20
    while not done and time.monotonic() < limit:
        net.poll()
    print(*done)
