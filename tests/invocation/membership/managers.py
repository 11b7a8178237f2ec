# SPDX-License-Identifier: Apache-2.0
"""Several managers share clients over an etcd of this test. One is killed or stopped, and another takes over.

No limit here is short: this prints when the client noticed, and when another manager had taken it over.
"""
from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "examples" / "invocation"), str(ROOT / "tests" / "job")]

import etcd_process  # noqa: E402
from running import Manager, clean_shared_memory  # noqa: E402

SECONDS = 60
SKIPPED = 77


class Wrong(Exception):
    """What was seen, and what was expected."""


def expect(good: bool, seen: object) -> None:
    if not good:
        raise Wrong(str(seen))


def until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        expect(time.monotonic() < end, f"not within {SECONDS} s: {what}")
        time.sleep(0.02)


class Program:
    """A running program with what it says in a file."""

    def __init__(self, program: Path, folder: Path, *arguments: str) -> None:
        self.path = folder / f"{program.name}.{secrets.token_hex(4)}"
        with self.path.open("wb") as said:
            self.process = subprocess.Popen([str(program), *arguments], stdin=subprocess.DEVNULL, stdout=said,
                                            stderr=said)

    def said(self) -> str:
        return self.path.read_text(errors="replace")

    def wait_for(self, text: str) -> str:
        """Waits for a whole line that begins so. Returns its rest."""
        def found() -> list[str]:
            return [line[len(text):-1] for line in self.said().splitlines(keepends=True)
                    if line.startswith(text) and line.endswith("\n")]

        until(lambda: bool(found()) or self.process.poll() is not None, f"{text!r} in {self.said()!r}")
        expect(bool(found()), f"it ended without {text!r}: {self.said()!r}")
        return found()[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


class Follower(Program):
    """A running invocation-follower that has a manager."""

    def __init__(self, build: Path, fabric: str, folder: Path, *arguments: str) -> None:
        super().__init__(build / "examples" / "invocation" / f"invocation-follower.{fabric}", folder, *arguments)
        self.manager = self.wait_for("served by ")

    def report(self) -> dict[str, Any]:
        expect(self.process.wait(SECONDS) == 0, self.said())
        report: dict[str, Any] = json.loads(next(line for line in self.said().splitlines() if line.startswith("{")))
        return report


class Suite:
    def __init__(self, build: Path, fabric: str, store: str, folder: Path) -> None:
        self.build, self.fabric, self.store, self.folder = build, fabric, store, folder

    def managers(self, name: str, *arguments: str) -> tuple[Manager, Manager]:
        """Two that share clients; nobody else does."""
        option = ("--membership", f"{self.store}/{name}", *arguments)
        return Manager(self.build, self.fabric, option), Manager(self.build, self.fabric, option)

    def follower(self, *arguments: str) -> Follower:
        return Follower(self.build, self.fabric, self.folder, *arguments)

    def clients_are_shared(self) -> None:
        one, two = self.managers("shared")
        with one, two:
            # Clients ask the first manager; each is served by its own, so every second one is sent on.
            served: set[str] = set()
            clients = 0
            while served != {one.address, two.address}:
                clients += 1
                expect(clients < 40, f"all {clients} clients were served by {served}")
                with self.follower("--manager", one.address, "--for-ms", "20") as client:
                    served.add(client.manager)
                    report = client.report()
                    expect(report["exact"] is True and report["takeovers"] == 0, report)

    def a_killed_manager_is_taken_over(self) -> None:
        one, two = self.managers("killed")
        with one, two, self.follower("--manager", one.address, "--until-taken-over", "--for-ms", "200", "--say-every",
                                     "20") as client:
            victim, heir = (one, two) if client.manager == one.address else (two, one)
            client.wait_for("done ")
            self.taken_over(client, victim, heir, signal.SIGKILL)
            # The survivor alone serves every client, also before etcd has noticed.
            with self.follower("--manager", heir.address, "--for-ms", "20") as later:
                expect(later.report()["manager"] == heir.address, "the survivor serves")
            said = heir.stop()[1]
            expect("taken over from managers that are gone: 1" in said, said)

    def a_stopped_manager_is_taken_over_once_etcd_doubts_it(self) -> None:
        """Its sockets stand, so nothing but silence tells. The client's own limit is long: etcd's word shortens it."""
        one, two = self.managers("stopped")
        with one, two, self.follower("--membership", f"{self.store}/stopped", "--until-taken-over", "--for-ms", "200",
                                     "--say-every", "20", "--manager-silence-ms", "300000") as client:
            victim, heir = (one, two) if client.manager == one.address else (two, one)
            client.wait_for("done ")
            try:
                report = self.taken_over(client, victim, heir, signal.SIGSTOP)
                expect(client.wait_for("lost: ") == "the manager said nothing for 500 ms", client.said())
                expect(report["doubted"] == 1, report)
            finally:
                victim.process.send_signal(signal.SIGCONT)

    def taken_over(self, client: Follower, victim: Manager, heir: Manager, by: signal.Signals, *,
                   unbilled: int = 1) -> dict[str, Any]:
        begin = time.monotonic()
        os.kill(victim.process.pid, by)
        client.wait_for("lost: ")
        noticed = time.monotonic()
        client.wait_for("taken over by ")
        over = time.monotonic()
        report = client.report()
        expect(report["takeovers"] == 1 and report["manager"] == heir.address, report)
        expect(report["wrong"] == 0 and report["unbilled"] == unbilled and report["exact"] is True, report)
        expect(set(report["failed"]) <= {"manager_lost", "executor_lost"}, report)
        print(f"{self.fabric}, {by.name}: noticed {1000 * (noticed - begin):.0f} ms after it, taken over "
              f"{1000 * (over - begin):.0f} ms after it; {report['longest_gap_ms']:.0f} ms between two results; "
              f"{client.wait_for('lost: ')}; taken over by {client.wait_for('taken over by ')}")
        return report

    def node(self, name: str, *managers: str) -> Program:
        """`managers`: addresses and places in etcd, then options."""
        words = [word for each in managers if ":" in each for word in ("--manager", each)]
        words += [each for each in managers if ":" not in each]
        daemon = self.build / "examples" / "invocation" / f"weft-node.{self.fabric}"
        return Program(daemon, self.folder, *words, "--name", name, "--workers", "2")

    @staticmethod
    def nodes_of(manager: Manager) -> str:
        """Where its nodes register."""
        said = manager.said().splitlines()
        return next(line for line in said if line.startswith("nodes register at ")).split()[-1]

    def has_daemon(self) -> bool:
        name = f"weft-node.{self.fabric}"
        if (self.build / "examples" / "invocation" / name).exists():
            return True
        print(f"{name} is not built: its tests are left out")
        return False

    def the_next_manager_bills_what_the_dead_one_cannot(self) -> None:
        if not self.has_daemon():
            return
        one, two = self.managers("accounts", "--nodes", "0")
        store = f"{self.store}/accounts"
        with one, two, self.node("a", self.nodes_of(one), store) as first, \
                self.node("b", self.nodes_of(two), store) as second:
            first.wait_for(f"a: registered at {self.nodes_of(one)} ")
            second.wait_for(f"b: registered at {self.nodes_of(two)} ")
            with self.follower("--manager", one.address, "--until-taken-over", "--for-ms", "200", "--say-every", "20",
                               "--accounts-ms", str(1000 * SECONDS)) as client:
                victim, heir = (one, two) if client.manager == one.address else (two, one)
                client.wait_for("done ")
                report = self.taken_over(client, victim, heir, signal.SIGKILL, unbilled=0)
            expect(report["inherited"] == 1, report)
            # A call in flight at the death may have been executed, and ended without its result.
            done, failed = report["done"] - report["done_after_takeover"], sum(report["failed"].values())
            expect(done <= report["inherited_calls"] <= done + failed, report)
            expect(report["billed"] == report["done_after_takeover"], report)
            said = heir.stop()[1]
            expect("accounts inherited from managers that are gone: 1" in said, said)

    def a_daemon_finds_managers_in_etcd(self) -> None:
        if not self.has_daemon():
            return
        one, two = self.managers("nodes", "--nodes", "0")
        with one, two, self.node("a", f"{self.store}/nodes") as node:
            nodes_of = self.nodes_of
            node.wait_for("a: registered at ")
            victim, heir = (one, two) if f"registered at {nodes_of(one)} " in node.said() else (two, one)
            victim.process.kill()
            node.wait_for(f"a: registered at {nodes_of(heir)} ")
            done = heir.client("run", "--count", "20")
            expect(done.returncode == 0, done.stderr)

    def a_daemon_waits_for_the_first_manager(self) -> None:
        """None is known at its start, so only etcd's news can end the wait; and a signal."""
        if not self.has_daemon():
            return
        with self.node("a", f"{self.store}/late", "--manager-limit-ms", "600000") as node:
            time.sleep(0.5)  # it has read that there is none
            with Manager(self.build, self.fabric, ("--membership", f"{self.store}/late", "--nodes", "0")) as one:
                node.wait_for(f"a: registered at {self.nodes_of(one)} ")
        with self.node("b", f"{self.store}/nobody", "--manager-limit-ms", "600000") as node:
            time.sleep(0.5)
            node.process.send_signal(signal.SIGTERM)
            expect(node.process.wait(SECONDS) == 0, node.said())


def refused(build: Path, fabric: str) -> None:
    no_store = '"n1:2379" is no place of members: it must be etcd://host:port'
    no_etcd = "no etcd answers at 127.0.0.1:1 (Connection refused)"
    two_stores = ("--manager", "etcd://n1:1", "--manager", "etcd://n2:1")
    for name, arguments, sentence in (
        ("invocation-manager", ("--membership", "n1:2379"), no_store),
        ("invocation-manager", ("--membership", "etcd://127.0.0.1:1"), no_etcd),
        ("invocation-follower", ("--membership", "n1:2379"), no_store),
        ("invocation-follower", (), "it knows no manager: give --manager host:service, or --membership etcd://"),
        ("invocation-follower", ("--manager", "n1:1", "--manager-every-ms", "60", "--manager-silence-ms", "100"),
         "--manager-silence-ms must be at least twice --manager-every-ms"),
        ("weft-node", ("--manager", "etcd://127.0.0.1:1"), no_etcd),
        ("weft-node", two_stores, "--manager names 2 places in etcd: give one"),
    ):
        program = build / "examples" / "invocation" / f"{name}.{fabric}"
        if name == "weft-node" and not program.exists():
            continue
        done = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=SECONDS, check=False)
        expect(done.returncode == 2 and sentence in done.stderr and done.stderr.count("\n") == 1,
               (name, arguments, done.returncode, done.stderr))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--fabric", required=True)
    parser.add_argument("--only", metavar="TEXT", default="", help="only tests whose name has this")
    chosen = parser.parse_args()
    if etcd_process.missing():
        print(f"skipped: {etcd_process.missing()}")
        return SKIPPED
    with clean_shared_memory(), etcd_process.etcd() as where, \
            tempfile.TemporaryDirectory(prefix="weft-managers-") as folder:
        suite = Suite(chosen.build, chosen.fabric, f"etcd://{where}", Path(folder))
        for test in (suite.clients_are_shared, suite.a_killed_manager_is_taken_over,
                     suite.a_stopped_manager_is_taken_over_once_etcd_doubts_it, suite.a_daemon_finds_managers_in_etcd,
                     suite.a_daemon_waits_for_the_first_manager, suite.the_next_manager_bills_what_the_dead_one_cannot):
            if chosen.only in test.__name__:
                test()
                print(f"passed  {test.__name__}", flush=True)
    refused(chosen.build, chosen.fabric)
    return 0


if __name__ == "__main__":
    sys.exit(main())
