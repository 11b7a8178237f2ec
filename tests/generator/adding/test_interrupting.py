# SPDX-License-Identifier: Apache-2.0
"""A signal ends what runs: descendants in sessions and groups of their own, and those that ignore SIGTERM too."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
_HEAD = """
import os, signal, subprocess, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from generator.adding.interrupting import Interrupted, interruptible
def say(word): print(word, flush=True)
"""
# A child whose child has left its session, ignores SIGTERM, and outlives its parent.
_FAMILY = """
shell = ('trap "" TERM; setsid sh -c \\'trap "" TERM HUP INT; echo $$ > child; while :; do sleep 5; done\\' & '
         'while [ ! -s child ]; do sleep 0.01; done; exit 0')
"""


def _run(tmp_path: Path, body: str, *signals: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Runs a program; each signal is sent when it says `ready`."""
    program = tmp_path / "program.py"
    program.write_text(_HEAD + _FAMILY + body, "utf-8")
    with subprocess.Popen([sys.executable, "-B", str(program), str(ROOT)], cwd=tmp_path, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout and running.stderr
        told = ""
        for number in signals:
            while "ready" not in (line := running.stdout.readline()):
                assert line, running.stderr.read()
                told += line
            running.send_signal(number)
        rest, errors = running.communicate(timeout=120)
    return subprocess.CompletedProcess([], running.returncode, told + rest, errors)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_runs_after_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    done = _run(tmp_path, """
try:
    with interruptible():
        subprocess.run(["sh", "-c", shell], start_new_session=True)
        say("ready")
        time.sleep(100)
except Interrupted:
    say("interrupted")
    sys.exit(3)
""", number)
    assert (done.returncode, done.stdout) == (3, "interrupted\n"), done.stderr
    assert not _lives(int((tmp_path / "child").read_text("utf-8")))


def test_nothing_runs_after_an_ordinary_end_or_error(tmp_path: Path) -> None:
    done = _run(tmp_path, """
try:
    with interruptible():
        subprocess.run(["sh", "-c", shell], start_new_session=True)
        raise ValueError("its own")
except ValueError as error:
    say(str(error))
""")
    assert (done.returncode, done.stdout) == (0, "its own\n"), done.stderr
    assert not _lives(int((tmp_path / "child").read_text("utf-8")))


def test_a_wait_for_a_child_ends_at_once(tmp_path: Path) -> None:
    """Between the start of a child and its wait a signal finds no handler of that child."""
    begin = time.monotonic()
    done = _run(tmp_path, """
try:
    with interruptible():
        with subprocess.Popen(["sleep", "300"]):
            say("ready")
            time.sleep(100)
except Interrupted:
    say("interrupted")
""", signal.SIGINT)
    assert done.stdout == "interrupted\n" and time.monotonic() - begin < 60


def test_a_part_is_not_disturbed(tmp_path: Path) -> None:
    done = _run(tmp_path, """
try:
    with interruptible() as state:
        with state.undisturbed():
            say("ready")
            time.sleep(1)
            say("whole")
        say("never")
except Interrupted:
    say("interrupted")
""", signal.SIGINT)
    assert done.stdout == "whole\ninterrupted\n", done.stderr


def test_a_lost_exception_is_asked_for(tmp_path: Path) -> None:
    """An exception in a destructor is lost: the next step asks whether a signal came."""
    done = _run(tmp_path, """
class Odd:
    def __del__(self):
        say("ready")
        for _ in range(100): time.sleep(0.1)
try:
    with interruptible() as state:
        odd = Odd()
        del odd
        say("goes on")
        state.check()
        say("never")
except Interrupted:
    say("interrupted")
""", signal.SIGTERM)
    assert done.stdout == "goes on\ninterrupted\n"


def test_a_second_signal_does_no_harm(tmp_path: Path) -> None:
    done = _run(tmp_path, """
try:
    with interruptible():
        subprocess.run(["sh", "-c", shell], start_new_session=True)
        try:
            say("ready")
            time.sleep(100)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
except Interrupted:
    os.kill(os.getpid(), 0)
    say("interrupted")
""", signal.SIGINT)
    assert done.stdout == "interrupted\n", done.stderr
    assert not _lives(int((tmp_path / "child").read_text("utf-8")))
    assert os.getpid()
