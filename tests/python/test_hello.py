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
import weft

PLACE = Path(__file__).resolve().parents[2] / "examples" / "hello" / "python"
STYLES = {"blocking": (("listener.py",), ("caller.py",)),
          "callbacks": (("callbacks.py", "listen"), ("callbacks.py", "call")),
          "asyncio": (("asynchronous.py", "listen"), ("asynchronous.py", "call"))}
PYTHON = (sys.executable, "-B")
SECONDS = 60


def free_port() -> str:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return str(asked.getsockname()[1])


def listens(port: str) -> bool:
    table = Path("/proc/net/tcp").read_text("ascii")
    return re.search(rf":{int(port):04X} 00000000:0000 0A ", table) is not None


def meet(listener: list[str], caller: list[str], fabric: str) -> tuple[str, str]:
    """Runs both. Returns what the listener and the caller print."""
    port = free_port()
    environment = {**os.environ, "WEFT_FABRICS": fabric}

    def start(*words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(words, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    with start(*listener, port) as listening:
        end = time.monotonic() + SECONDS
        while not listens(port) and listening.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        with start(*caller, f"127.0.0.1:{port}") as calling:
            said, wrong = calling.communicate(timeout=SECONDS)
        heard, amiss = listening.communicate(timeout=SECONDS)
    assert (calling.returncode, wrong, listening.returncode, amiss) == (0, "", 0, "")
    return heard, said


@pytest.mark.parametrize("fabric", ["mapped", "tcp"])
@pytest.mark.parametrize("style", STYLES)
def test_hello(style: str, fabric: str) -> None:
    (listener, *role), (caller, *other) = STYLES[style]
    heard, said = meet([*PYTHON, str(PLACE / listener), *role], [*PYTHON, str(PLACE / caller), *other], fabric)
    assert heard == "hello, world (7)\n"
    assert said == ("" if style == "blocking" else "written\n")


@pytest.mark.parametrize("fabric", ["mapped", "tcp"])
@pytest.mark.parametrize("caller", ["hello-caller-in-c", "hello-caller.anywhere"])
def test_a_program_of_another_language_calls(caller: str, fabric: str) -> None:
    program = Path(weft._weft.__file__).parents[2] / "examples" / "hello" / caller
    if not program.is_file():
        pytest.skip(f"{caller} is not built")
    heard, _ = meet([*PYTHON, str(PLACE / "listener.py")], [str(program)], fabric)
    assert heard == "hello, world (7)\n"


@pytest.mark.parametrize("fabric", ["mapped", "tcp"])
def test_lists_of_pages(fabric: str) -> None:
    program = str(PLACE.parents[1] / "transfer_engine" / "python" / "pages.py")
    heard, said = meet([*PYTHON, program, "listen"], [*PYTHON, program, "call"], fabric)
    assert heard == "".join(f"version {each}: 256 pages, every byte is right\n" for each in range(4))
    assert said == "".join(f"version {each}: 256 pages, 16777216 bytes\n" for each in range(4))
