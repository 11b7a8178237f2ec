# SPDX-License-Identifier: Apache-2.0
"""Records of programs over an emulated fabric and over a real provider, and their replays.

WEFT_BUILD names the build directory that has the emulator and recorded-program.
"""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("WEFT_BUILD", ROOT / "build" / "dev"))
PROGRAM = BUILD / "tests" / "emulator" / "recording" / "recorded-program"
FAULTS = ("--faults", "again=200,early=300,shuffle=300,slow=300,reorder=300,failing=60", "--seed", "11")
Ended = subprocess.CompletedProcess[str]

pytestmark = pytest.mark.skipif(not PROGRAM.is_file(), reason=f"{PROGRAM} is not built (WEFT_BUILD)")


def weft(*arguments: str | Path, limit: float = 60) -> Ended:
    return subprocess.run([sys.executable, "-B", ROOT / "weft", *arguments], capture_output=True, text=True,
                          timeout=limit, check=False)


def emulate(*arguments: str | Path, change: str = "", limit: float = 60) -> Ended:
    program = [str(PROGRAM), "efa", *([change] if change else [])]
    return weft("emulate", "efa", "--build", BUILD, *arguments, "--", *program, limit=limit)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """A run with faults, which ends in errors too."""
    path = tmp_path_factory.mktemp("records") / "run"
    said = emulate("--record", path, *FAULTS)
    assert "error 5" in said.stdout and "0 refused" in said.stdout, said
    return path, said


def test_a_replay_has_the_same_outcome_byte_for_byte(recorded: tuple[Path, Ended]) -> None:
    path, first = recorded
    again = emulate("--replay", path)
    assert (again.stdout, again.returncode) == (first.stdout, first.returncode)
    # and the run itself is not the same each time: its bytes are random
    assert emulate(*FAULTS).stdout != first.stdout


def test_a_program_that_nobody_records_loads_nothing(tmp_path: Path) -> None:
    said = weft("emulate", "efa", "--build", BUILD, "--", "sh", "-c", "env; ls", limit=20)
    assert "LD_PRELOAD" not in said.stdout and "WEFT_TRACE" not in said.stdout
    assert not list(tmp_path.iterdir())


def line_of(path: Path, text: str, count: int) -> int:
    """The line that has the text for the count-th time, counted from 0."""
    numbered = [number for number, line in enumerate(path.read_text("ascii").splitlines(), 1) if text in line]
    return numbered[count]


@pytest.mark.parametrize("change, call", [("larger", "getrandom size=702"), ("earlier", "getrandom size=701")])
def test_a_changed_program_is_stopped_at_the_first_call_that_differs(recorded: tuple[Path, Ended], change: str,
                                                                     call: str) -> None:
    path, first = recorded
    said = emulate("--replay", path, change=change)
    line = line_of(path, "getrandom", 7)
    assert said.returncode == 2
    assert f"{path}:{line}: " in said.stderr and call in said.stderr and len(said.stderr.splitlines()) == 1
    assert said.stdout.startswith("a after") or said.stdout.startswith("b after")
    assert first.stdout.startswith(said.stdout.rsplit("\n", 2)[0])  # until there it was the same


def test_two_threads_replay_in_the_recorded_order(tmp_path: Path) -> None:
    said = emulate("--record", tmp_path / "run", change="threads")
    assert said.returncode == 0, said
    events = [line.split(" ")[2] for line in (tmp_path / "run").read_text("ascii").splitlines()[2:]]
    assert {"t1", "t2", "t3"} <= set(events)
    for _ in range(3):
        again = emulate("--replay", tmp_path / "run", change="threads")
        assert (again.returncode, again.stdout) == (0, said.stdout), again.stderr


def test_a_program_that_polls_for_ever_is_stopped(recorded: tuple[Path, Ended]) -> None:
    said = emulate("--replay", recorded[0], change="waits", limit=100)
    assert said.returncode == 2
    line = line_of(recorded[0], "getrandom", 7)
    assert f"{recorded[0]}:{line}: the program called \"cq2.read room=1\"" in said.stderr


def test_a_killed_program_leaves_what_it_asked(tmp_path: Path) -> None:
    said = emulate("--record", tmp_path / "run", change="dies")
    assert said.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    shown = weft("trace", "show", tmp_path / "run")
    assert shown.returncode == 0 and "the record has no end" in shown.stdout
    assert "ep.send 7" in shown.stdout
    again = emulate("--replay", tmp_path / "run")  # a program that lives goes on where the record ends
    assert again.returncode == 2 and "the record ends here without \"end\"" in again.stderr


def test_a_program_killed_in_a_post_has_a_last_event_without_an_answer(tmp_path: Path) -> None:
    said = emulate("--record", tmp_path / "run", "--faults", "dying=9")
    assert said.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    shown = weft("trace", "show", tmp_path / "run").stdout
    assert "the record ends in ep1." in shown
    again = emulate("--replay", tmp_path / "run")
    assert again.returncode == 2 and "the record ends in the call \"ep1." in again.stderr


def test_each_process_has_a_record(tmp_path: Path) -> None:
    said = weft("emulate", "efa", "--build", BUILD, "--processes", "2", "--record", tmp_path / "run", "--", PROGRAM,
                "efa")
    assert said.returncode == 0, said
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run.0", "run.1"]
    again = weft("emulate", "efa", "--build", BUILD, "--processes", "2", "--replay", tmp_path / "run", "--", PROGRAM,
                 "efa")
    assert again.returncode == 0 and sorted(again.stdout.splitlines()) == sorted(said.stdout.splitlines())


def test_ranks_of_open_mpi_replay_each_its_own(tmp_path: Path) -> None:
    program = BUILD / "tests" / "emulator" / "mpi" / "mpi-exchanges"
    if not program.is_file():
        pytest.skip(f"{program} is not built")
    command = ["--", "env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "mpirun", "-n", "2",
               "--oversubscribe", "--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca",
               "opal_common_ofi_provider_include", "efa", str(program), "4096", "ring"]
    said = weft("emulate", "efa", "--build", BUILD, "--faults", "again,shuffle,slow", "--record", tmp_path / "run",
                *command)
    assert said.returncode == 0, said
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run.0", "run.1"]
    again = weft("emulate", "efa", "--build", BUILD, "--replay", tmp_path / "run", *command)
    assert (again.returncode, again.stdout) == (0, said.stdout), again


@pytest.mark.parametrize("provider", ["tcp;ofi_rxm", "sockets"])
def test_a_record_of_a_real_provider_replays_without_it(tmp_path: Path, provider: str) -> None:
    said = weft("trace", "record", tmp_path / "run", "--build", BUILD, "--", PROGRAM, provider)
    assert said.returncode == 0, said
    again = weft("trace", "replay", tmp_path / "run", "--build", BUILD, "--", "env", "FI_PROVIDER=none", PROGRAM,
                 provider)
    assert (again.stdout, again.returncode) == (said.stdout, 0), again.stderr


def test_the_chrome_document_has_every_call_and_its_operations(recorded: tuple[Path, Ended], tmp_path: Path) -> None:
    said = weft("trace", "chrome", recorded[0], tmp_path / "run.json")
    assert said.returncode == 0, said
    events = json.loads((tmp_path / "run.json").read_text("ascii"))["traceEvents"]
    needed = {"X": {"name", "ts", "dur", "pid", "tid"}, "b": {"name", "cat", "id", "ts", "pid", "tid"},
              "e": {"name", "cat", "id", "ts", "pid", "tid"}, "M": {"name", "pid", "args"}}
    for each in events:
        assert needed[each["ph"]] <= set(each), each
    calls = [each for each in events if each["ph"] == "X"]
    assert len(calls) == len(recorded[0].read_text("ascii").splitlines()) - 3  # two lines before, one after
    begun = {each["id"]: each["ts"] for each in events if each["ph"] == "b"}
    ended = {each["id"]: each["ts"] for each in events if each["ph"] == "e"}
    assert len(begun) == 36 and begun.keys() == ended.keys()
    assert all(begun[each] <= ended[each] for each in begun)


SPOILT: dict[str, tuple[Callable[[str], str], str]] = {
    "foreign": (lambda text: "#!/bin/sh\nexit 0\n", ":1: this is no record of weft"),
    "empty": (lambda text: "", ":1: this is no record of weft"),
    "other version": (lambda text: text.replace("weft-trace 1", "weft-trace 2", 1), ":1: this is no record of weft"),
    "only a head": (lambda text: "weft-trace 1\nprog", ":2: the second line of a record begins"),
    "a removed line": (lambda text: "".join(text.splitlines(True)[:5] + text.splitlines(True)[6:]),
                       ":6: the line does not begin with its number"),
    "after the end": (lambda text: text + "x\n", "a line follows the end of the record"),
    "no time": (lambda text: text.replace("\n3 ", "\n3 -", 1), ":3: the second word is not a time"),
    "no answer": (lambda text: text.replace(" = ", " ", 1), ":3: the event has no answer"),
    "answer of words": (lambda text: text.replace(" = 0", " = many", 1), ":3: the answer is not a number"),
}


@pytest.mark.parametrize("how", SPOILT)
@pytest.mark.parametrize("directly", [False, True])
def test_a_spoilt_record_is_refused(recorded: tuple[Path, Ended], tmp_path: Path, how: str, directly: bool) -> None:
    """By the command, and by the library where the command did not look."""
    spoil, sentence = SPOILT[how]
    path = tmp_path / "run"
    path.write_text(spoil(recorded[0].read_text("ascii")), "ascii")
    said = replay_directly(path) if directly else emulate("--replay", path)
    assert said.returncode == 2 and sentence in said.stderr, said


def test_a_time_of_words_is_refused(recorded: tuple[Path, Ended], tmp_path: Path) -> None:
    """By the command alone: the library reads no times."""
    path = tmp_path / "run"
    path.write_text(recorded[0].read_text("ascii").replace(" took=", " took=abc", 1), "ascii")
    said = emulate("--replay", path)
    assert said.returncode == 2 and ":3: took is not a time such as 0.000012345" in said.stderr, said


def replay_directly(path: Path) -> Ended:
    preload = {"LD_PRELOAD": str(BUILD / "emulator" / "libweft-recorder.so"), "WEFT_TRACE_REPLAY": str(path)}
    return subprocess.run([PROGRAM, "efa"], env={**os.environ, **preload}, capture_output=True, text=True, timeout=60,
                          check=False)


HOSTILE = {
    "bytes beyond a buffer": (";bytes:", ";bytes:" + "41" * 5000, "has more bytes than the buffers of line"),
    "another place": (";offset:0", ";offset:99999999", "is outside of the buffer of line"),
    "a post that is none": ("entry0=of:", "entry0=of:9", "posted nothing that is open"),
    "more entries than room": (" = 1 ", " = 5 ", "more completions than the program has room"),
    "random numbers without end": ("bytes=", "bytes=" + "00" * 64, "and the program has room for"),
    "memory of nobody": ("landed=mr2+", "landed=mr2+99999999", "outside of every open region"),
    "an info that is none": ("info0=caps", "info0=claws", "is no attribute of fi_info"),
    "no infos": ("count=1 ", "count=99999999 ", "has no count of infos"),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_hostile_record_harms_no_memory(recorded: tuple[Path, Ended], tmp_path: Path, how: str) -> None:
    before, after, sentence = HOSTILE[how]
    text = recorded[0].read_text("ascii")
    assert before in text, how
    place = text.index(before, text.index("cq") if before == " = 1 " else 0)
    if before == " = 1 ":
        place = text.index(before, text.index(".read room"))
    (tmp_path / "run").write_text(text[:place] + after + text[place + len(before):], "ascii")
    said = replay_directly(tmp_path / "run")
    assert said.returncode == 2 and sentence in said.stderr, (said, how)


def test_a_record_is_never_written_over_another_file(recorded: tuple[Path, Ended]) -> None:
    before = recorded[0].read_bytes()
    said = emulate("--record", recorded[0])
    assert said.returncode == 2 and "exists; a record is never written over another file" in said.stderr
    assert recorded[0].read_bytes() == before


@pytest.mark.parametrize("arguments, sentence", [
    (("--replay", "/nowhere/run"), "does not exist"),
    (("--record", "/nowhere/run"), "is no folder"),
    (("--replay", "/dev/null", "--faults", "all"), "--replay takes every answer from its file"),
])
def test_wrong_usage_is_refused(arguments: tuple[str, ...], sentence: str) -> None:
    said = emulate(*arguments)
    assert said.returncode == 2 and sentence in said.stderr
