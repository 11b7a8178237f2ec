# SPDX-License-Identifier: Apache-2.0
"""The listener: shows a page of memory to its caller, and prints what the caller writes there."""
import sys

import weft

with weft.open(node="127.0.0.1", service=sys.argv[1] if len(sys.argv) > 1 else "7471") as net:
    page = net.allocate(64, weft.REMOTE_WRITE)
    net.accept(timeout=20).send_region(page)
    notice = net.expect(weft.Notice, timeout=20)
    print(page.object[:12].decode(), f"({notice.immediate})")
