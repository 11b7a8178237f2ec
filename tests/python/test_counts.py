# SPDX-License-Identifier: Apache-2.0
"""`weft top` shows programs in Python, and so every program of weft.h, where they or their environment ask for it."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import weft
from pairs import SECONDS, both, connected

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "weft"


def shown() -> list[dict[str, Any]]:
    """The transports that `weft top` sees."""
    done = subprocess.run([str(ROOT / "weft"), "top", "--format", "json"], capture_output=True, text=True, timeout=60,
                          check=True)
    transports: list[dict[str, Any]] = json.loads(done.stdout)["transports"]
    return transports


def test_a_transport_that_counts_is_shown_with_its_peers(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    caller, _, listener, _ = connected()
    with caller, listener:
        assert not folder.exists(), "nobody asked for counters"
    monkeypatch.setenv("WEFT_COUNTS", "1")
    caller, peer, listener, _ = connected()
    with caller, listener:
        page = listener.allocate(64)
        receive = listener.start_receive_tagged(page, tag=7)
        both(caller, listener, peer.send(b"three"), peer.send_tagged(b"seven", 7), receive,
             listener.start_expect(weft.Message))
        seen = {bool(one["listens_at"]): one for one in shown()}
        assert {one["process"] for one in seen.values()} == {os.getpid()} and len(seen) == 2
        sent = seen[False]["peers"][0]["traffic"]["operations"]["send"]
        assert (sent["posted"], sent["bytes"], sent["completed"]) == (2, 10, 2)
        taken = seen[True]["peers"][0]["traffic"]["others"]
        assert (taken["messages"], taken["message_bytes"]) == (2, 10)
    assert list(folder.iterdir()) == []


def test_an_option_asks_and_the_environment_can_say_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_COUNTS", "0")
    with weft.open(node="127.0.0.1", fabrics="tcp"), weft.open(node="127.0.0.1", fabrics="tcp", counts=True):
        assert len(shown()) == 1


def test_a_folder_that_others_may_enter_is_refused(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(weft.DeniedError, match="needs a folder that only its user may enter"):
        weft.open(node="127.0.0.1", fabrics="tcp", counts=True)


def test_an_owner_that_opens_its_own_file_stays_shown(folder: Path) -> None:
    with weft.open(node="127.0.0.1", fabrics="tcp", counts=True):
        file, = folder.iterdir()
        with file.open("rb+") as again:
            assert again.read(7) == b"weftcnt"
        assert len(shown()) == 1
        assert file.exists()


def test_a_child_of_fork_does_not_keep_the_file_of_its_parent(folder: Path) -> None:
    program = ("import os, sys, time, weft\n"
               "net = weft.open(node='127.0.0.1', fabrics='tcp', counts=True)\n"
               "if os.fork() == 0:\n"
               "    time.sleep(60)\n"
               "    os._exit(0)\n"
               "print('ready', flush=True)\n"
               "time.sleep(60)\n")
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as parent:
        assert parent.stdout is not None and parent.stdout.readline() == "ready\n"
        assert len(shown()) == 1
        parent.kill()
        parent.wait(SECONDS)
        try:
            assert shown() == [] and list(folder.iterdir()) == []
        finally:
            os.killpg(parent.pid, 9)
