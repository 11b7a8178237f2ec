# SPDX-License-Identifier: Apache-2.0
"""Hello between two processes, in each style and over each fabric that every machine has."""
from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

PLACE = Path(__file__).resolve().parents[2] / "examples" / "hello" / "python"
STYLES = {"blocking": (("listener.py",), ("caller.py",)),
          "callbacks": (("callbacks.py", "listen"), ("callbacks.py", "call")),
          "asyncio": (("asynchronous.py", "listen"), ("asynchronous.py", "call"))}
SECONDS = 60


def free_port() -> str:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return str(asked.getsockname()[1])


def listens(port: str) -> bool:
    table = Path("/proc/net/tcp").read_text("ascii")
    return re.search(rf":{int(port):04X} 00000000:0000 0A ", table) is not None


@pytest.mark.parametrize("fabric", ["mapped", "tcp"])
@pytest.mark.parametrize("style", STYLES)
def test_hello(style: str, fabric: str) -> None:
    port = free_port()
    environment = {**os.environ, "WEFT_FABRICS": fabric}
    (listener, *role), (caller, *other) = STYLES[style]

    def start(*words: str) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-B", *words], env=environment, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    with start(str(PLACE / listener), *role, port) as listening:
        end = time.monotonic() + SECONDS
        while not listens(port) and listening.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        with start(str(PLACE / caller), *other, f"127.0.0.1:{port}") as calling:
            said, wrong = calling.communicate(timeout=SECONDS)
        heard, amiss = listening.communicate(timeout=SECONDS)
    assert (calling.returncode, wrong, listening.returncode, amiss) == (0, "", 0, "")
    assert heard == "hello, world (7)\n"
    assert said == ("" if style == "blocking" else "written\n")
