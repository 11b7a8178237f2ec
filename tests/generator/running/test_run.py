# SPDX-License-Identifier: Apache-2.0
"""./weft run: what ranks get, how they end together, and what is refused. A script stands for ssh."""
from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from generator.cli import weft

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 60


def weft_run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "weft", "run", *words], capture_output=True, text=True, timeout=SECONDS, check=False,
                          env={**os.environ, **more})


def script(text: str) -> tuple[str, ...]:
    return ("--", "sh", "-c", text)


def until(condition: object, what: str) -> None:
    """Waits for a condition, at most SECONDS."""
    assert callable(condition)
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def processes(folder: Path, number: int) -> list[int]:
    until(lambda: len(list(folder.glob("pid-*"))) == number, "every rank writes its number")
    return [int(each.name.removeprefix("pid-")) for each in folder.glob("pid-*")]


@pytest.fixture
def ssh(tmp_path: Path) -> str:
    """A script that does what ssh does, on this machine. It writes down the host.

    As on another host, signals to the script do not reach the ranks.
    """
    path = tmp_path / "ssh"
    path.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/hosts.txt\ncd /\nexec setsid -w sh -c "$2"\n')
    path.chmod(0o755)
    return str(path)


def test_each_rank_gets_its_place_and_each_line_its_rank() -> None:
    done = weft_run("-n", "11", *script("echo $WEFT_RANK of $WEFT_SIZE at $WEFT_STORE; printf 'no end' >&2"))
    assert done.returncode == 0, done.stderr
    lines = sorted(done.stdout.splitlines())
    store = done.stderr.split("store ")[1].splitlines()[0]
    assert lines == [f"[{rank:>2}] {rank} of 11 at {store}" for rank in range(11)]
    assert sorted(line for line in done.stderr.splitlines() if line.startswith("[")) == [
        f"[{rank:>2}] no end" for rank in range(11)]
    assert "11 of 11 ranks ended well" in done.stderr.splitlines()[-1]


def test_without_prefix_and_words_the_output_is_that_of_the_ranks() -> None:
    done = weft_run("-n", "2", "--no-prefix", "-q", *script("echo same"))
    assert (done.stdout, done.stderr) == ("same\nsame\n", "")


def test_each_run_has_a_name_of_its_own() -> None:
    names = {weft_run("-n", "1", "-q", *script("echo $WEFT_JOB")).stdout for _ in range(2)}
    assert len(names) == 2


def test_only_rank_0_inherits_the_sockets_number() -> None:
    done = weft_run("-n", "2", "-q", *script("echo ${WEFT_STORE_FD:-none}"), WEFT_STORE_FD="99")
    zero, one = sorted(done.stdout.splitlines())
    assert one == "[1] none"
    assert zero not in ("[0] none", "[0] 99")


def test_a_line_without_an_end_is_cut() -> None:
    done = weft_run("-n", "1", "-q", *script("head -c 200000 /dev/zero | tr '\\0' x"))
    assert [len(line) for line in done.stdout.splitlines()] == [4 + 65536] * 3 + [4 + 200000 - 3 * 65536]


@pytest.mark.parametrize(("how", "code", "sentence"), [
    ("exit 7", 7, "rank 2 ended with 7; the 3 others are ended"),
    ("kill -KILL $$", 137, "rank 2 was ended by SIGKILL; the 3 others are ended"),
])
def test_one_failure_ends_all(tmp_path: Path, how: str, code: int, sentence: str) -> None:
    rank = (f"touch {tmp_path}/pid-$$; if [ $WEFT_RANK = 2 ]; then while [ $(ls {tmp_path} | wc -l) -lt 4 ]; do "
            f"sleep 0.01; done; {how}; fi; sleep 1000")
    done = weft_run("-n", "4", *script(rank))
    assert done.returncode == code
    assert sentence in done.stderr
    assert "0 of 4 ranks ended well" in done.stderr
    assert not [each for each in processes(tmp_path, 4) if is_alive(each)]


def test_ranks_that_ignore_sigterm_are_killed_with_their_children(tmp_path: Path) -> None:
    rank = (f"trap '' TERM; sleep 1000 & touch {tmp_path}/pid-$! {tmp_path}/pid-$$; "
            f"if [ $WEFT_RANK = 0 ]; then while [ $(ls {tmp_path} | wc -l) -lt 4 ]; do sleep 0.01; done; exit 3; fi; "
            "while :; do sleep 1; done")
    done = weft_run("-n", "2", "--grace", "0.2", *script(rank))
    assert done.returncode == 3
    assert not [each for each in processes(tmp_path, 4) if is_alive(each)]


def test_a_child_that_keeps_the_output_does_not_keep_the_command() -> None:
    done = weft_run("-n", "1", *script("sleep 1000 & echo done"))
    assert (done.returncode, done.stdout) == (0, "[0] done\n")


def test_the_limit_ends_the_job() -> None:
    done = weft_run("-n", "2", "--timeout", "0.2", *script("sleep 1000"))
    assert done.returncode == 124
    assert "the limit of 0.2 s is over; the 2 others are ended" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_all(tmp_path: Path, number: int, code: int) -> None:
    command = subprocess.Popen([ROOT / "weft", "run", "-n", "3", *script(f"touch {tmp_path}/pid-$$; sleep 1000")],
                               stderr=subprocess.PIPE, text=True)
    ranks = processes(tmp_path, 3)
    command.send_signal(number)
    _, errors = command.communicate(timeout=SECONDS)
    assert command.returncode == code
    assert f"{signal.Signals(number).name} came; the 3 others are ended" in errors
    assert not [each for each in ranks if is_alive(each)]


def test_hosts_get_ranks_in_order_and_whole_arguments(tmp_path: Path, ssh: str) -> None:
    hosts = tmp_path / "machines"
    hosts.write_text("# two\nuser@n1 slots=3\nn2   # the rest\n")
    done = weft_run("-n", "4", "-q", "--hosts", str(hosts), "--ssh", ssh, "--env", "COLOUR=deep blue", "--",
                    "sh", "-c", 'echo "$WEFT_RANK $WEFT_STORE $COLOUR $1 $(pwd)"', "sh", "a b'c")
    assert done.returncode == 0, done.stderr
    lines = sorted(done.stdout.splitlines())
    store = lines[0].split()[2]
    assert store.startswith("n1:")
    assert lines == [f"[{rank}] {rank} {store} deep blue a b'c {os.getcwd()}" for rank in range(4)]
    assert sorted((tmp_path / "hosts.txt").read_text().split()) == ["n2", "user@n1", "user@n1", "user@n1"]


def test_a_failure_ends_ranks_on_other_hosts_too(tmp_path: Path, ssh: str) -> None:
    folder = tmp_path / "ranks"
    folder.mkdir()
    rank = (f"trap '' TERM; touch {folder}/pid-$$; if [ $WEFT_RANK = 1 ]; then while [ $(ls {folder} | wc -l) -lt 3 ]; "
            "do sleep 0.01; done; exit 9; fi; while :; do sleep 1; done")
    done = weft_run("-n", "3", "--hosts", "n1,n2", "--ssh", ssh, "--grace", "0.3", *script(rank))
    assert done.returncode == 9, done.stderr
    until(lambda: not [each for each in processes(folder, 3) if is_alive(each)], "no rank is left on a host")


def test_ranks_on_other_hosts_get_sigterm_before_the_end_of_the_grace(tmp_path: Path, ssh: str) -> None:
    rank = (f"touch {tmp_path}/pid-$$; if [ $WEFT_RANK = 1 ]; then while [ $(ls {tmp_path}/pid-* | wc -l) -lt 2 ]; "
            "do sleep 0.01; done; exit 9; fi; trap 'echo bye; exit 0' TERM; while :; do sleep 0.01; done")
    done = weft_run("-n", "2", "--hosts", "n1,n2", "--ssh", ssh, "--grace", "20", *script(rank))
    assert (done.returncode, done.stdout) == (9, "[0] bye\n"), done.stderr


@pytest.mark.parametrize("elsewhere", [False, True])
def test_ranks_do_not_outlive_a_killed_command(tmp_path: Path, ssh: str, elsewhere: bool) -> None:
    folder = tmp_path / "ranks"
    folder.mkdir()
    where = ("--hosts", "n1", "--ssh", ssh) if elsewhere else ()
    command = subprocess.Popen([ROOT / "weft", "run", "-n", "2", *where, "--grace", "0.2",
                                *script(f"touch {folder}/pid-$$; exec sleep 1000")], stderr=subprocess.DEVNULL)
    processes(folder, 2)
    command.kill()
    command.wait(timeout=SECONDS)
    until(lambda: not [each for each in processes(folder, 2) if is_alive(each)], "no rank is left")


@pytest.mark.parametrize(("words", "sentence"), [
    (("-n", "0", "--", "true"), "0 is not in the range 1<=x<=65536"),
    (("-n", "many", "--", "true"), "'many' is not a valid integer"),
    (("-n", "2", "--", "/no/such/program"), "/no/such/program is no program that can be run here"),
    (("-n", "2",), "Missing argument 'COMMAND...'"),
    (("-n", "2", "--store", "n1", "--", "true"), '"n1" must be host:port, file:FOLDER or etcd://host:port/prefix'),
    (("-n", "2", "--store", "n1:70000", "--", "true"), '"n1:70000" must be host:port'),
    (("-n", "2", "--store", "etcd://n1", "--", "true"), '"etcd://n1" must be host:port'),
    (("-n", "2", "--store", "etcd://n1:2379,n2/weft", "--", "true"), '"etcd://n1:2379,n2/weft" must be host:port'),
    (("-n", "2", "--store", "etcd://n1:2379/weft/", "--", "true"), '"etcd://n1:2379/weft/" must be host:port'),
    (("-n", "2", "--store", "file:/no/folder", "--", "true"), "/no/folder is no folder"),
    (("-n", "2", "--env", "NOT_SET_ANYWHERE", "--", "true"), "NOT_SET_ANYWHERE is not set here"),
    (("-n", "2", "--env", "WEFT_RANK=3", "--", "true"), "no name of weft's own"),
    (("-n", "2", "--hosts", "n1", "--ssh", "no-such-ssh", "--", "true"), "--ssh: no-such-ssh is no program"),
    (("-n", "2", "--hosts", "/no/such/file", "--", "true"), "/no/such/file cannot be read: No such file"),
    (("-n", "2", "--hosts", "n1,n1", "--", "true"), "n1 is named twice"),
    (("-n", "2", "--hosts", "-oProxyCommand=evil", "--", "true"), '"-oProxyCommand=evil" is no host'),
])
def test_nonsense_is_refused(words: tuple[str, ...], sentence: str) -> None:
    done = CliRunner().invoke(weft, ["run", *words])
    assert done.exit_code == 2, done.output
    assert sentence in " ".join(done.output.split())


@pytest.mark.parametrize(("text", "sentence"), [
    (b"", "names no host"),
    (b"# nothing\n\n", "names no host"),
    (b"n1\nn2 slots\n", 'machines:2: "n2 slots" is no host: it must be `host` or `host slots=N`'),
    (b"n1 slots=0\n", "machines:1: n1 has 0 slots; it must have 1 to 65536"),
    (b"n1 slots=-3\n", 'machines:1: "n1 slots=-3" is no host'),
    (b"n1 slots=1\n", "2 ranks need 2 slots, and the hosts have 1"),
    (b"n1; rm -rf /\n", 'machines:1: "n1; rm -rf /" is no host'),
    (b"\x1b[2J\n", 'machines:1: "\\x1b[2J" is no host'),
    (b"\xff\xfe\n", "cannot be read: it is no text"),
    (b"n1\nn1\n", "n1 is named twice; give it slots=N instead"),
])
def test_a_hosts_file_with_nonsense_is_refused(tmp_path: Path, text: bytes, sentence: str) -> None:
    hosts = tmp_path / "machines"
    hosts.write_bytes(text)
    done = CliRunner().invoke(weft, ["run", "-n", "2", "--hosts", str(hosts), "--ssh", "true", "--", "true"])
    assert done.exit_code == 2, done.output
    assert sentence in " ".join(done.output.split())


@pytest.mark.parametrize(("into", "why"), [("| head -n 1", "Broken pipe"), ("> /dev/full", "No space left on device")])
def test_output_that_nobody_takes_ends_the_ranks(tmp_path: Path, into: str, why: str) -> None:
    rank = f"trap 'touch {tmp_path}/term-$WEFT_RANK; exit' TERM; echo $WEFT_RANK; while :; do echo y; sleep 0.1; done"
    done = subprocess.run(["/bin/bash", "-c", f"\"$0\" run -n 2 -- sh -c \"$1\" {into}; exit ${{PIPESTATUS[0]}}",
                           str(ROOT / "weft"), rank], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if "cannot be" in line]
    assert told == [f"weft run: its output cannot be written: {why}; the 2 others are ended"]
    assert {each.name for each in tmp_path.iterdir()} <= {"term-0", "term-1"}  # a rank may end before it has a trap


def test_words_of_ssh_that_do_not_end_are_refused() -> None:
    done = CliRunner().invoke(weft, ["run", "-n", "1", "--hosts", "a", "--ssh", 'ssh "x', "--", "true"])
    assert done.exit_code == 2 and "no closing quotation" in " ".join(done.output.split())
