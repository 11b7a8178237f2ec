# SPDX-License-Identifier: Apache-2.0
"""The writer of bench/python/run in Python: what puts.c does, in the blocking style."""
import sys
import time
from collections import deque

import weft

LARGEST = 4 << 20

with weft.open(node="127.0.0.1", fabrics="tcp", silence_limit=300) as net:
    page = net.connect(sys.argv[1], timeout=20).receive_region(timeout=20)
    memory = net.allocate(LARGEST)
    memory.object[:] = b"\7" * LARGEST
    for line in sys.stdin:
        size, window, count = map(int, line.split())
        source = memory[:size]
        begin = time.monotonic_ns()
        flying: deque[weft.Operation[None]] = deque()
        for _ in range(count):
            if len(flying) >= window:
                flying.popleft().wait(10)
            try:
                flying.append(page.put(source))
            except weft.AgainError:
                flying.append(net.retry(lambda: page.put(source), 10))
        while flying:
            flying.popleft().wait(10)
        print(time.monotonic_ns() - begin, flush=True)
