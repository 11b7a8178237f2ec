#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Executors that are copies of a warm parent, over one fabric: who starts them, what each death leaves, what they may.

Each way of starting is counted by the manager and compared; nothing is timed.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "invocation"))
from running import Failed, Manager, clean_shared_memory, program  # noqa: E402

LIMIT = 60.0 * int(os.environ.get("WEFT_TEST_SLOWNESS", "1"))  # seconds until something must have happened


def expect(condition: bool, sentence: str) -> None:
    if not condition:
        raise Failed(sentence)


def until(done: Callable[[], bool], sentence: str) -> None:
    end = time.monotonic() + LIMIT
    while not done():
        expect(time.monotonic() < end, f"{sentence}, after {LIMIT:.0f} s")
        time.sleep(0.01)


def lives(process: int) -> bool:
    """Whether it runs: an ended one that nobody has reaped does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def status_of(process: int, name: str) -> str:
    try:
        text = Path(f"/proc/{process}/status").read_text()
    except OSError:  # it has ended
        return ""
    found = re.search(rf"^{name}:\s*(.*)$", text, re.MULTILINE)
    return found[1] if found else ""


class LeftOut(Exception):
    """A test that does not apply here; holds the reason."""


class Suite:
    def __init__(self, build: Path, fabric: str, folder: Path) -> None:
        self.build, self.fabric, self.folder = build, fabric, folder

    @contextlib.contextmanager
    def _warm(self, *arguments: str, pool: int = 0) -> Iterator[Manager]:
        """A manager with a warm parent and a full pool. At its end the accounting is exact, and nobody is left."""
        with Manager(self.build, self.fabric, (*arguments, *(("--pool", str(pool)) if pool else ()))) as m:
            until(lambda: m.warm_parent() is not None, "there is no warm parent")
            until(lambda: len(m.pool()) == pool, f"the pool has not {pool} executors")
            yield m
            if m.process.poll() is None:
                seen = [each for each in (m.warm_parent(), *m.pool()) if each is not None]
                code, told = m.stop()
                expect(code == 0, f"the manager ended with {code}: {told}")
                expect(not any(map(lives, seen)), f"of {seen} some outlived the manager")
                for each in seen:
                    self._nothing_of(each)

    @staticmethod
    def _serve(m: Manager, *arguments: str) -> None:
        report = m.measure(*arguments, "run", "echo", "--count", "50", "--warm-up", "0")
        expect(report["lost"] == 0 and report["accounting"]["exact"], f"a client: {report}")

    @contextlib.contextmanager
    def _client(self, m: Manager, *more: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
        """A client that calls without end, and its executor."""
        before = m.executors()
        # A client of libfabric's shm that is killed within a call leaves its executor's memory locked, for ever
        # (docs/limitations.md). So it waits there.
        work = ("--count", "1", "--hold-ms", "600000") if self.fabric == "shm" else ("--count", "100000000")
        words = m.client_command(*more, "--function-limit-ms", "1000", "run", "echo", *work)
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as client:
            def confined() -> list[int]:
                return [each for each in m.executors() if each not in before and status_of(each, "Seccomp") == "2"]

            try:
                until(lambda: bool(confined()), "no executor was confined")
                yield client, confined()[0]
            finally:
                client.kill()

    def _started(self, m: Manager, *, pool: int, copied: int, executed: int) -> None:
        """Ends the manager, and compares how it started executors."""
        code, told = m.stop()
        wanted = f"executors: {pool} of the pool, {copied} copied from the warm parent, {executed} executed\n"
        expect(code == 0 and wanted in told, f"exit code {code}, wanted {wanted!r}: {told}")

    def clients_are_served_by_copies(self) -> None:
        with self._warm() as m:
            first = m.warm_parent()
            for workers in ("1", "2", "1"):
                self._serve(m, "--workers", workers)
            expect(m.warm_parent() == first, "the warm parent was replaced")
            self._started(m, pool=0, copied=3, executed=0)

    def a_pool_is_used_in_order_and_filled_again(self) -> None:
        with self._warm(pool=2) as m:
            for _ in range(3):
                until(lambda: len(m.pool()) == 2, "the pool was not filled again")
                waiting = m.pool()
                with self._client(m) as (_, executor):
                    expect(executor == waiting[0], f"{executor} serves, but {waiting} waited in this order")
                until(lambda: not m.executors(), "an executor outlived its client")
                expect(len(m.pool()) <= 2, f"{m.pool()} is more than the pool")
            self._started(m, pool=3, copied=0, executed=0)

    def a_pool_that_is_empty_is_helped_by_copies(self) -> None:
        with self._warm(pool=1) as m:
            with self._client(m), self._client(m), self._client(m):
                expect(len(m.executors()) == 3, f"{m.executors()} serve three clients")
            until(lambda: not m.executors(), "an executor outlived its client")
            code, told = m.stop()
            found = re.search(r"executors: (\d+) of the pool, (\d+) copied from the warm parent, 0 executed", told)
            expect(code == 0 and found is not None and int(found[1]) + int(found[2]) == 3, f"{code}: {told}")

    def executors_are_executed_on_demand(self) -> None:
        with Manager(self.build, self.fabric, ("--fresh-executors",)) as m:
            self._serve(m)
            expect(m.warm_parent() is None and not m.pool(), "there is a warm parent")
            self._started(m, pool=0, copied=0, executed=1)
        for rules_out in (("--fresh-executors",), ("--executor", str(program(self.build, "executor", self.fabric)))):
            done = subprocess.run([program(self.build, "manager", self.fabric), *rules_out, "--pool", "2"],
                                  capture_output=True, text=True, check=False, timeout=LIMIT)
            expect(done.returncode == 2 and f"{rules_out[0]} rules out; leave one of them out" in done.stderr,
                   f"{done.returncode}, {done.stderr!r}")

    def a_chosen_program_is_started_for_each_executor(self) -> None:
        wrapper, places = self.folder / "wrapper", self.folder / "places"
        wrapper.write_text(f'#!/bin/sh\necho here >> {places}\n'
                           f'exec {program(self.build, "executor", self.fabric).resolve()} "$@"\n')
        wrapper.chmod(0o700)
        with Manager(self.build, self.fabric, ("--executor", str(wrapper))) as m:
            for _ in range(3):
                self._serve(m)
            self._started(m, pool=0, copied=0, executed=3)
        expect(places.read_text() == 3 * "here\n", f"the wrapper ran {places.read_text().count('here')} times, not 3")

    def a_killed_warm_parent_harms_no_executor(self) -> None:
        with self._warm(pool=1) as m:
            with self._client(m) as (client, executor):
                first = m.warm_parent()
                assert first is not None
                os.kill(first, signal.SIGKILL)
                until(lambda: m.warm_parent() not in (None, first), "there is no new warm parent")
                expect(not lives(first) and lives(executor) and client.poll() is None, "its executor ended")
            until(lambda: not m.executors() and len(m.pool()) == 1, "the pool was not filled again")
            self._serve(m)

    def a_stopped_warm_parent_is_replaced(self) -> None:
        with self._warm() as m:
            first = m.warm_parent()
            assert first is not None
            os.kill(first, signal.SIGSTOP)
            self._serve(m)
            until(lambda: m.warm_parent() not in (None, first), "there is no new warm parent")
            expect(not lives(first), "the stopped warm parent lives")
            self._started(m, pool=0, copied=0, executed=1)

    def a_warm_parent_that_stops_while_it_starts_is_replaced(self) -> None:
        # The limit is short, so the one that is not stopped needs some tries on a loaded machine.
        with Manager(self.build, self.fabric, ("--start-limit-ms", "3000")) as m:
            first = m.starting_parent()
            if first is None:
                raise LeftOut("it was ready at once: no library needs time before main")
            os.kill(first, signal.SIGSTOP)
            until(lambda: m.warm_parent() not in (None, first), "there is no new warm parent")
            expect(not lives(first), "the stopped warm parent lives")
            self._serve(m)

    def killed_executors_of_the_pool_are_replaced(self) -> None:
        with self._warm(pool=2) as m:
            before = m.pool()
            for each in before:
                os.kill(each, signal.SIGKILL)
            self._serve(m)
            for each in before:
                self._nothing_of(each)
            until(lambda: len(m.pool()) == 2 and not set(m.pool()) & set(before), "the pool was not filled again")

    def a_pool_that_cannot_live_is_not_started_all_the_time(self) -> None:
        if self.fabric in ("shm", "mapped"):
            raise LeftOut("the executors' user is chosen over fabrics beyond one host")
        with Manager(self.build, self.fabric, ("--executor-user", "absent-user", "--pool", "1")) as m:
            begin = time.monotonic()
            until(lambda: m.said().count("there is no user absent-user") >= 3, "the pool was not tried again")
            tried, took = m.said().count("there is no user absent-user"), time.monotonic() - begin
            expect(tried <= took + 2, f"the pool was tried {tried} times in {took:.1f} s; once a second is permitted")

    def a_killed_copy_is_reported(self) -> None:
        with self._warm(pool=1) as m:
            for _ in range(2):
                with self._client(m) as (client, executor):
                    os.kill(executor, signal.SIGKILL)
                    _, said = client.communicate(timeout=LIMIT)
                # Who tells of it: the link, or the manager, if the client has not met the executor yet.
                told = "executor was lost" in said or f"(process {executor}) was killed by signal 9" in said
                expect(client.returncode == 1 and told, f"{client.returncode}, {said!r}")
                self._nothing_of(executor)
            self._serve(m)

    def nobody_outlives_a_killed_manager(self) -> None:
        with self._warm(pool=2) as m, self._client(m) as (client, executor):
            until(lambda: len(m.pool()) == 2, "the pool was not filled again")
            warm = m.warm_parent()
            assert warm is not None
            all_of_it = [warm, executor, *m.pool()]
            expect(len(all_of_it) == 4, f"{all_of_it}")
            m.process.kill()
            m.process.wait()
            until(lambda: not any(map(lives, all_of_it)), f"of {all_of_it} some outlived a killed manager")
            for each in all_of_it[2:]:  # they waited, and closed what they had opened
                self._nothing_of(each)
            _, said = client.communicate(timeout=LIMIT)
            expect(client.returncode == 1 and "lost" in said, f"{client.returncode}, {said!r}")

    def descriptors_do_not_grow(self) -> None:
        with self._warm() as m:
            counts = []
            for _ in range(4):
                self._serve(m)
                until(lambda: not m.executors(), "an executor outlived its client")
                counts.append(len(os.listdir(f"/proc/{m.process.pid}/fd")))
            until(lambda: len(os.listdir(f"/proc/{m.process.pid}/fd")) <= counts[0], f"the descriptors grow: {counts}")

    def a_copy_is_confined_as_an_executed_one(self) -> None:
        seen = []
        started: list[contextlib.AbstractContextManager[Manager]] = [
            Manager(self.build, self.fabric, ("--fresh-executors",)), self._warm(), self._warm(pool=1)]
        for each_way in started:
            with each_way as m, self._client(m) as (_, executor):
                proc = Path(f"/proc/{executor}")
                open_files = [os.readlink(each) for each in (proc / "fd").iterdir()]
                kinds = sorted(re.sub(r"-invocation-\w+|\d+", "", each) for each in open_files)
                limits = re.findall(r"^Max (?:core file size|address space).*$", (proc / "limits").read_text(), re.M)
                name = (proc / "comm").read_text()
                signals = [status_of(executor, each) for each in ("SigBlk", "SigIgn")]
                numbers = [line.rsplit(maxsplit=2)[0] for line in limits if "core" in line]
                expect("unlimited" not in limits[-1].split()[3], f"memory has no limit: {limits}")
                seen.append((kinds, numbers, name, signals, status_of(executor, "NoNewPrivs"),
                             status_of(executor, "Uid"), status_of(executor, "PPid") == str(m.process.pid)))
        expect(seen[0] == seen[1] == seen[2] and seen[0][-1], f"executed, copied, of the pool: {seen}")

    def an_object_does_not_reach_the_warm_parent(self) -> None:
        hostile = self.build / "tests" / "invocation" / "hostile_functions.so"
        kept, names = self.folder / "kept", self.folder / "attempts"
        kept.mkdir()
        wanted = {"read_manager": "error 1", "read_warm_parent": "error 1", "fork_process": "error 1"}
        names.write_text("".join(f"{each}\n" for each in wanted))
        trusted = ("--functions", str(kept), "--trust", hashlib.sha256(hostile.read_bytes()).hexdigest())
        for pool in (0, 1):
            with self._warm(*trusted, pool=pool) as m:
                done = m.client("--object", str(hostile), "invoke", "try_each", "--input", str(names))
                expect(done.returncode == 0, f"{done.returncode}, {done.stderr!r}")
                seen = dict(line.split(" ", 1) for line in done.stdout.splitlines())
                expect(seen == wanted, f"{seen}, wanted {wanted}")

    def copies_have_the_user_that_was_asked_for(self) -> None:
        if self.fabric in ("shm", "mapped") or os.geteuid() != 0:
            raise LeftOut("it needs root, and a fabric beyond one host")
        with self._warm("--executor-user", "nobody", pool=1) as m:
            until(lambda: bool(m.pool()) and "0" not in status_of(m.pool()[0], "Uid").split(), "the pool is root's")
            self._serve(m)

    def a_user_that_does_not_exist_is_named(self) -> None:
        if self.fabric in ("shm", "mapped"):
            raise LeftOut("the executors' user is chosen over fabrics beyond one host")
        with self._warm("--executor-user", "absent-user") as m:
            done = m.client("list")
            expect(done.returncode == 1 and "exit code 2" in done.stderr, f"{done.returncode}, {done.stderr!r}")
            expect("there is no user absent-user" in m.said(), m.said())

    @staticmethod
    def _nothing_of(process: int) -> None:
        left = [each.name for each in Path("/dev/shm").iterdir()  # noqa: S108 - where providers put their queues
                if each.name.startswith(f"{process}:")]
        expect(not left, f"the killed process left {left} in /dev/shm")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--fabric", required=True)
    parser.add_argument("--only", metavar="NAME", action="append", help="only this test (repeatable)")
    given = parser.parse_args()
    failed = 0
    with clean_shared_memory(), tempfile.TemporaryDirectory(prefix="weft-warm-") as folder:
        suite = Suite(given.build, given.fabric, Path(folder))
        for name in vars(Suite):
            if name.startswith("_") or (given.only and name not in given.only):
                continue
            begin = time.monotonic()
            try:
                getattr(suite, name)()
                print(f"passed  {name} ({time.monotonic() - begin:.1f} s)", flush=True)
            except LeftOut as e:
                print(f"left out  {name}: {e}", flush=True)
            except (Failed, subprocess.TimeoutExpired) as e:
                failed += 1
                print(f"FAILED  {name}: {e}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
