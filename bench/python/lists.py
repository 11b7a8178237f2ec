# SPDX-License-Identifier: Apache-2.0
"""The writer of bench/python/run --lists in Python: what lists.cpp does, in the blocking style."""
import sys
import time

import numpy
import weft

LARGEST = 4 << 20

with weft.open(node="127.0.0.1", fabrics="tcp", silence_limit=300) as net:
    peer = net.connect(sys.argv[1], timeout=20)
    there = peer.receive_region(timeout=20)
    here = net.allocate(LARGEST)
    net.limit_lists(in_flight_per_peer=16)
    for line in sys.stdin:
        size, window, count = map(int, line.split())
        at = numpy.arange(count) * size % LARGEST
        prepared = peer.prepare_put(weft.Transfers(here, there, at, at, size))
        begin = time.monotonic_ns()
        prepared.post(notify=1).wait(60)
        print(time.monotonic_ns() - begin, flush=True)
