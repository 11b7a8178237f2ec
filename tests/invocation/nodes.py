#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A manager that places executors on nodes: two daemons, as two nodes of this host, over one fabric.

Executors are spread, no call is lost, and a node may drain, die, or lose its manager.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import secrets
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "invocation"))
from running import Failed, Manager, clean_shared_memory, program  # noqa: E402

LIMIT = 60.0  # seconds, of each wait: a busy machine is slow
PAST_START = 50  # hundredths of a second of processor time


def expect(condition: bool, sentence: str) -> None:
    if not condition:
        raise Failed(sentence)


def until(condition: Callable[[], bool], sentence: str) -> None:
    end = time.monotonic() + LIMIT
    while not condition():
        expect(time.monotonic() < end, sentence)
        time.sleep(0.01)


def blocks(process: int, number: int) -> bool:
    """Whether the process blocks the signal: then it has begun to take signals by itself."""
    found = re.search(r"^SigBlk:\s*([0-9a-f]+)$", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
    return found is not None and int(found[1], 16) >> (number - 1) & 1 == 1


class Process:
    """A program with its output in a file. It heads a process group, as a step of an engine does."""

    def __init__(self, command: list[str], folder: Path, name: str, variables: dict[str, str] | None = None) -> None:
        self.path = folder / f"{name}.{secrets.token_hex(4)}"
        with self.path.open("w+b") as said:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                            process_group=0, env={**os.environ, **(variables or {})})

    def said(self) -> str:
        return self.path.read_text(errors="replace")

    def wait_for(self, text: str) -> None:
        until(lambda: text in self.said() or self.process.poll() is not None, f"it never said {text!r}: {self.said()}")
        expect(text in self.said(), f"it ended without {text!r}: {self.said()}")

    def end(self) -> int:
        try:
            return self.process.wait(LIMIT)
        except subprocess.TimeoutExpired as e:
            raise Failed(f"it does not end: {self.said()}") from e

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def executors(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        found = []
        for number in children:
            with contextlib.suppress(OSError):
                if Path(f"/proc/{number}/comm").read_text().strip() not in ("invocation-warm", "invocation-pool"):
                    found.append(int(number))
        return found


class Suite:
    def __init__(self, build: Path, fabric: str, folder: Path) -> None:
        self.build = build
        self.fabric = fabric
        self.folder = folder
        self._started: list[Process] = []

    def end(self) -> None:
        for each in self._started:
            each.kill()

    def path(self, name: str) -> str:
        return str(self.build / "examples" / "invocation" / f"{name}.{self.fabric}")

    def start(self, name: str, *arguments: str, variables: dict[str, str] | None = None) -> Process:
        self._started.append(Process([self.path(name), *arguments], self.folder, name, variables))
        return self._started[-1]

    @contextlib.contextmanager
    def manager(self, *arguments: str) -> Iterator[tuple[Manager, str]]:
        """A manager, and where its nodes register."""
        nodes = self.folder / f"nodes.{secrets.token_hex(4)}"
        with Manager(self.build, self.fabric, ("--nodes", "0", "--announce-nodes", str(nodes), *arguments)) as m:
            until(nodes.exists, "the manager did not say where nodes register")
            yield m, nodes.read_text().strip()

    def node(self, where: str, name: str, *arguments: str, workers: int = 4) -> Process:
        made = self.start("weft-node", "--manager", where, "--name", name, "--workers", str(workers), *arguments)
        made.wait_for("registered at")
        return made

    def load(self, m: Manager, *arguments: str) -> Process:
        return self.start("invocation-load", "--manager", m.address, "--limit-ms", "100000", *arguments)

    def report(self, load: Process) -> dict[str, Any]:
        code = load.end()
        lines = [line for line in load.said().splitlines() if line.startswith("{")]
        expect(len(lines) == 1, f"the load said only {load.said()!r}")
        found: dict[str, Any] = json.loads(lines[0])
        expect(code == 0, f"the load ended with {code}: {load.said()}")
        expect(found["unended"] == 0 and found["wrong"] == 0, f"{found}")
        expect(found["done"] + sum(found["failed"].values()) == found["asked"], f"{found}")
        return found

    def counts(self, m: Manager) -> dict[str, int]:
        """Ends the manager; what it counted."""
        code, said = m.stop()
        expect(code == 0, f"the manager ended with {code}: {said}")
        line = next(line for line in said.splitlines() if line.startswith("nodes: "))
        found = {name: int(number) for number, name in re.findall(r"(\d+) ([\w ]+)", line)}
        ends = sum(found[name] for name in ("ended in order", "died", "lost with their node", "not started"))
        expect(ends == found["placed"], f"an end was counted twice or never: {line}")
        return found

    def busy(self, node: Process) -> int:
        """The node's executor, after its start: it has used processor time."""
        def used(pid: int) -> int:
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                return int(fields[11]) + int(fields[12])
            return 0

        until(lambda: any(used(each) > PAST_START for each in node.executors()), f"no executor is busy: {node.said()}")
        return node.executors()[0]

    def spin(self, microseconds: int) -> str:
        path = self.folder / f"spin{microseconds}"
        path.write_bytes(struct.pack("<I", microseconds))
        return str(path)

    # ---- tests
    def executors_are_spread_and_no_call_is_lost(self) -> None:
        with self.manager() as (m, where):
            nodes = [self.node(where, name) for name in ("a", "b")]
            found = self.report(self.load(m, "--executors", "4", "--calls", "6000"))
            expect(found["done"] == 6000 and not found["failed"], f"{found}")
            expect(found["exact_bills"] == found["bills"] == 4 and found["billed_calls"] == 6000, f"{found}")
            report = m.measure("--workers", "4", "run", "checksum", "--count", "400", "--depth", "2")
            expect(report["lost"] == 0 and report["accounting"]["exact"] is True, f"{report}")
            counts = self.counts(m)
            expect(counts["placed"] == counts["ended in order"] == 5, f"{counts}")
            for node in nodes:
                expect(node.end() == 0, node.said())
            started = sorted(int(re.findall(r"(\d+) started", n.said())[-1]) for n in nodes)
            expect(started == [2, 3], f"four executors, then one, on two equal nodes: {started}")

    def a_killed_daemon_loses_only_its_own_calls(self) -> None:
        mark = self.folder / "third"
        with self.manager() as (m, where):
            first, second = self.node(where, "a"), self.node(where, "b")
            load = self.load(m, "--executors", "4", "--calls", "20000", "--mark", str(mark))
            until(mark.exists, f"the load did not begin: {load.said()}")
            theirs = first.executors()
            expect(len(theirs) == 2, f"executors of the first node: {theirs}")
            first.process.kill()
            found = self.report(load)
            expect(set(found["failed"]) <= {"executor_lost", "deadline"}, f"{found}")
            expect(found["losses"] == 2 and found["done_after_loss"] > 0, f"{found}")
            until(lambda: not any(Path(f"/proc/{each}").exists() for each in theirs), "executors outlive their daemon")
            counts = self.counts(m)
            expect(counts["lost"] == 1 and counts["lost with their node"] >= 2, f"{counts}")
            expect(second.end() == 0, second.said())

    def a_killed_executor_is_reported_by_its_daemon(self) -> None:
        with self.manager() as (m, where):
            node = self.node(where, "a")
            client = self.start("invocation-client", "--manager", m.address, "--deadline-ms", "50000",
                                "--function-limit-ms", "50000", "invoke", "spin", "--input", self.spin(40_000_000))
            os.kill(self.busy(node), signal.SIGKILL)
            expect(client.end() == 1, client.said())
            expect("executor_lost" in client.said() and "on the node a" in client.said(), client.said())
            expect("was killed by signal 9" in client.said(), client.said())
            expect(self.counts(m)["died"] == 1, "a death is counted once")

    def a_drained_node_finishes_its_running_call(self) -> None:
        result = self.folder / "spun"
        with self.manager() as (m, where):
            node = self.node(where, "a")
            client = self.start("invocation-client", "--manager", m.address, "invoke", "spin", "--input",
                                self.spin(3_000_000), "--output", str(result))
            self.busy(node)
            other = self.node(where, "b")
            os.killpg(node.process.pid, signal.SIGTERM)  # as an engine does, which signals executors too
            expect(node.end() == 0, node.said())
            client.end()
            expect(result.exists() and result.stat().st_size == 0, f"the running call was lost: {client.said()}")
            expect("1 ended in order, 0 died" in node.said(), node.said())
            done = m.client("run", "--count", "100")
            expect(done.returncode == 0, f"{done.stderr}")
            counts = self.counts(m)
            expect(counts["left"] == 1 and counts["ended in order"] == 2, f"{counts}")
            expect(other.end() == 0 and "1 started" in other.said(), other.said())

    def a_drain_ends_calls_that_are_too_long(self) -> None:
        with self.manager() as (m, where):
            node = self.node(where, "a", "--drain-limit-ms", "300")
            client = self.start("invocation-client", "--manager", m.address, "--deadline-ms", "50000",
                                "--function-limit-ms", "50000", "invoke", "spin", "--input", self.spin(40_000_000))
            self.busy(node)
            node.process.send_signal(signal.SIGUSR1)  # srun's --signal
            expect(node.end() == 0, node.said())
            expect(client.end() == 1 and "executor_lost" in client.said(), client.said())
            expect(self.counts(m)["died"] == 1, "a death is counted once")

    def an_executor_ends_with_its_lease(self) -> None:
        with self.manager("--lease-ms", "800") as (m, where):
            node = self.node(where, "a")
            done = m.client("run", "--count", "50", "--hold-ms", "30000")
            expect(done.returncode == 1 and "its lease ended" in done.stderr, f"{done.returncode} {done.stderr}")
            until(lambda: not node.executors(), "the executor outlives its lease")
            expect(self.counts(m)["ended in order"] == 1, "its bill was settled in order")

    def a_daemon_without_a_manager_ends_its_executors(self) -> None:
        with self.manager() as (m, where):
            node = self.node(where, "a", "--manager-limit-ms", "1500", "--grace-ms", "500")
            self.start("invocation-client", "--manager", m.address, "--function-limit-ms", "50000", "invoke", "spin",
                       "--input", self.spin(40_000_000))
            theirs = [self.busy(node)]
            m.process.kill()
            expect(node.end() == 1, node.said())
            expect("no manager takes this node within 1500 ms" in node.said(), node.said())
            expect(not any(Path(f"/proc/{each}").exists() for each in theirs), "executors outlive their manager")

    def a_daemon_finds_the_next_manager(self) -> None:
        with self.manager() as (first, where), self.manager() as (second, other):
            node = self.node(where, "a", "--manager", other)
            first.process.kill()
            node.wait_for(f"registered at {other}")
            done = second.client("run", "--count", "100")
            expect(done.returncode == 0, done.stderr)
            self.counts(second)
            node.kill()

    def a_daemon_passes_over_a_manager_that_refuses_it(self) -> None:
        mine = self.folder / "mine"
        mine.write_bytes(b"m" * 32)
        with self.manager("--secret", str(mine)) as (_, closed), self.manager() as (m, where):
            node = self.node(closed, "a", "--manager", where)
            expect(f"registered at {where} " in node.said(), node.said())
            self.counts(m)
            node.kill()

    def a_node_that_starts_nothing_does_not_get_every_executor(self) -> None:
        with self.manager() as (m, where):
            self.node(where, "broken", "--executor", "/nowhere", workers=16)
            self.node(where, "good", workers=2)
            found = self.report(self.load(m, "--executors", "2", "--calls", "200"))
            expect(found["done"] == 200, f"{found}")
            expect("was not started on broken: the executor /nowhere cannot be started" in m.said(), m.said())
            expect(self.counts(m)["not started"] <= 2, "the broken node was asked again and again")

    def refusals_say_what_is_free(self) -> None:
        with self.manager() as (m, where):
            done = m.client("list")
            expect(done.returncode == 1 and "no node takes executors now" in done.stderr, done.stderr)
            node = self.node(where, "a", workers=2)
            done = m.client("--workers", "3", "list")
            expect("the largest node has 2" in done.stderr, done.stderr)
            with contextlib.ExitStack() as held:
                client = self.start("invocation-client", "--manager", m.address, "run", "--count", "10", "--hold-ms",
                                    "60000")
                held.callback(client.kill)
                until(lambda: len(node.executors()) == 1, "no executor")
                done = m.client("--workers", "2", "list")
                expect("no node has 2 free workers; the freest of 1 has 1" in done.stderr, done.stderr)

    def ranks_of_a_job_meet(self) -> None:
        store = self.folder / "store"
        store.mkdir()
        variables = [{"WEFT_RANK": str(rank), "WEFT_SIZE": "3", "WEFT_STORE": f"file:{store}", "WEFT_HOST": "127.0.0.1",
                      "WEFT_JOB": "nodes"}
                     for rank in range(3)]
        manager = self.start("invocation-manager", "--nodes", "0", "--job", variables=variables[0])
        node = self.start("weft-node", "--manager", "job", "--name", "a", variables=variables[1])
        load = self.start("invocation-load", "--manager", "job", "--calls", "500", variables=variables[2])
        expect(self.report(load)["done"] == 500, load.said())
        manager.process.send_signal(signal.SIGTERM)
        expect(manager.end() == 0, manager.said())
        expect(node.end() == 0, node.said())

    def a_stranger_does_not_become_a_node(self) -> None:
        mine, other = self.folder / "mine", self.folder / "other"
        mine.write_bytes(b"m" * 32)
        other.write_bytes(b"o" * 32)
        with self.manager("--secret", str(mine)) as (m, where):
            for arguments, sentence in (
                (("--manager", where), "the secret of the nodes differs"),
                (("--manager", where, "--secret", str(other)), "the secret of the nodes differs"),
                (("--manager", m.address), "wants a greeting of protocol version"),
            ):
                stranger = self.start("weft-node", *arguments, "--manager-limit-ms", "10000")
                expect(stranger.end() == 2 and sentence in stranger.said(), stranger.said())
            self.node(where, "a", "--secret", str(mine))

    def nonsense_is_refused(self) -> None:
        short = self.folder / "short"
        short.write_bytes(b"short")
        node, manager = "weft-node", "invocation-manager"
        for name, arguments, sentence in (
            (node, (), "--manager is required"),
            (node, ("--manager", "nowhere"), 'it must be host:port, file:PATH, etcd://host:port or job'),
            (node, ("--manager", "n1:0"), 'it must be host:port, file:PATH, etcd://host:port or job'),
            (node, ("--manager", "job"), "this program needs 2 ranks"),
            (node, ("--manager", "n1:1", "--workers", "0"), "--workers"),
            (node, ("--manager", "n1:1", "--name", "n" * 65), "a node's name has 1 to 64"),
            (node, ("--manager", "n1:1", "--secret", str(short)), "fewer than 16 bytes"),
            (node, ("--manager", "n1:1", "--secret", "/nowhere"), "it cannot be read"),
            (node, ("--manager", "n1:1", "--secret", "/"), "it cannot be read"),
            (node, ("--manager", "n1:1", "--secret", "/dev/zero"), "more than 65536 bytes"),
            (node, ("--manager", "file:/dev/zero"), "that is no address"),
            (node, ("--manager", "n1:1", "--trust", "abc"), "64 hexadecimal digits"),
            (node, ("--manager", "file:/nowhere/address", "--manager-limit-ms", "50"), "no manager wrote its address"),
            (manager, ("--nodes", "70000"), "--nodes"),
            (manager, ("--nodes", "0", "--pool", "2"), "give it to weft-node"),
            (manager, ("--lease-ms", "5"), "--lease-ms is for nodes"),
            (manager, ("--nodes", "0", "--lease-ms", "0"), "--lease-ms"),
            (manager, ("--job",), "this program needs 2 ranks"),
        ):
            done = subprocess.run([self.path(name), *arguments], capture_output=True, text=True, timeout=LIMIT,
                                  check=False, stdin=subprocess.DEVNULL)
            expect(done.returncode == 2 and sentence in done.stderr + done.stdout,
                   f"{name} {arguments}: {done.returncode} {done.stderr}")
        alone = self.start(node, "--manager", "127.0.0.1:1", "--manager-limit-ms", "300")
        expect(alone.end() == 1 and "no manager takes this node within 300 ms" in alone.said(), alone.said())

    def a_node_that_waits_for_a_file_ends_when_asked(self) -> None:
        waiting = self.start("weft-node", "--manager", "file:/nowhere/address", "--manager-limit-ms", "86400000")
        until(lambda: blocks(waiting.process.pid, signal.SIGTERM), "it blocks no signals")
        waiting.process.send_signal(signal.SIGTERM)
        expect(waiting.end() == 0, waiting.said())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "clang")
    parser.add_argument("--fabric", default="tcp")
    parser.add_argument("--only", metavar="TEXT", default="", help="only tests whose name has this")
    given = parser.parse_args()
    if not program(given.build, "client", given.fabric).exists():
        parser.error(f"{given.fabric}: not built in {given.build}")
    failed = 0
    for name, test in vars(Suite).items():
        if name in ("end", "path", "start", "manager", "node", "load", "report", "counts", "busy", "spin"):
            continue
        if name.startswith("_") or given.only not in name:
            continue
        begin = time.monotonic()
        with clean_shared_memory(), tempfile.TemporaryDirectory(prefix="weft-nodes-") as folder:
            suite = Suite(given.build, given.fabric, Path(folder))
            try:
                test(suite)
                print(f"passed  {name} ({time.monotonic() - begin:.1f} s)", flush=True)
            except Failed as e:
                failed += 1
                print(f"FAILED  {name}: {e}", flush=True)
                for each in suite._started:  # noqa: SLF001 - for people who look for the reason
                    print(f"  {each.path.name}: {each.said().strip()}", flush=True)
            finally:
                suite.end()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
