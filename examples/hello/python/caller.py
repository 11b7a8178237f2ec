# SPDX-License-Identifier: Apache-2.0
"""The caller: writes 12 bytes into another process and sends the number 7 with them."""
import sys

import weft

with weft.open(node="127.0.0.1") as net:
    text = net.register(b"hello, world")
    peer = net.connect(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7471", timeout=20)
    page = peer.receive_region(timeout=20)
    net.retry(lambda: page.put_notify(text, immediate=7), timeout=20).wait(timeout=20)
