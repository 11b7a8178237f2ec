# SPDX-License-Identifier: Apache-2.0
"""An etcd of a test: Debian's server on free ports of this machine, its data in a temporary folder."""
from __future__ import annotations

import contextlib
import ctypes
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator

SECONDS = 60


def missing() -> str:
    """Why a test with etcd is skipped here; empty where it can run."""
    return "" if shutil.which("etcd") else "etcd is not installed (Debian: etcd-server)"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _dies_with_this_process() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


@contextlib.contextmanager
def etcd() -> Iterator[str]:
    """Runs etcd. Gives host:port of its clients."""
    with tempfile.TemporaryDirectory(prefix="weft-etcd-") as folder:
        port, peers = _free_port(), f"http://127.0.0.1:{_free_port()}"
        own = f"http://127.0.0.1:{port}"
        process = subprocess.Popen(
            ["etcd", "--name", "test", "--data-dir", f"{folder}/data", "--listen-client-urls", own,
             "--advertise-client-urls", own, "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
             "--initial-cluster", f"test={peers}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=_dies_with_this_process)
        try:
            end = time.monotonic() + SECONDS
            while not _is_healthy(own):
                assert process.poll() is None and time.monotonic() < end, "etcd does not start"
                time.sleep(0.05)
            yield f"127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def _is_healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=SECONDS) as answer:
            return b'"true"' in answer.read()
    except OSError:
        return False
