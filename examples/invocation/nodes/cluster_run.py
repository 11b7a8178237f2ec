# SPDX-License-Identifier: Apache-2.0
"""One fabric of the cluster's demo, inside a cluster of scripts/cluster: who runs where, and what must hold."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

EXECUTORS = 8
LOADS = 3  # clients, on hosts of their own
MANAGER = "10.7.0.1"
SILENCE_MS = 5000  # a node that says nothing for so long is lost
TYPED = {"executor_lost", "deadline"}  # what may end a call while a node dies
LIMIT = 600.0  # seconds, of a phase


class Violation(Exception):
    """A promise was broken, or a program did not do what the demo needs."""


def until(condition: Callable[[], bool], limit: float, sentence: Callable[[], str]) -> None:
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            raise Violation(sentence())
        time.sleep(0.02)


class Program:
    """A running program with its output in a file."""

    def __init__(self, command: list[str], folder: Path, name: str) -> None:
        self.path = folder / name
        with self.path.open("wb") as said:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                            process_group=0)

    def said(self) -> str:
        return self.path.read_text(errors="replace")

    def wait_for(self, text: str, limit: float, times: int = 1) -> None:
        until(lambda: self.said().count(text) >= times or self.process.poll() is not None, limit,
              lambda: f"{self.path.name} did not say {text!r} within {limit:.0f} s: {self.said().strip()}")
        if self.said().count(text) < times:
            raise Violation(f"{self.path.name} ended without {text!r}: {self.said().strip()}")

    def ends(self, limit: float) -> int:
        until(lambda: self.process.poll() is not None, limit,
              lambda: f"{self.path.name} did not end within {limit:.0f} s: {self.said().strip()}")
        return self.process.wait()

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Run:
    def __init__(self, build: Path, fabric: str, nodes: int, calls: int, folder: Path) -> None:
        """`folder`: for outputs, and for the files by which the programs of this host meet."""
        self.programs = build / "examples" / "invocation"
        self.fabric = fabric
        self.nodes = [f"n{k}" for k in range(1, nodes + 1)]
        self.calls = calls
        self.folder = folder
        self.violations: list[str] = []
        self._running: list[Program] = []

    def end(self) -> None:
        for each in self._running:
            each.kill()

    def start(self, name: str, command: list[str]) -> Program:
        self._running.append(Program(command, self.folder, name))
        return self._running[-1]

    def path(self, name: str) -> str:
        return str(self.programs / f"{name}.{self.fabric}")

    def check(self, good: bool, sentence: str) -> None:
        if not good:
            self.violations.append(sentence)

    def all(self, *, kills: bool) -> dict[str, Any]:
        def phases(report: dict[str, Any]) -> None:
            manager, daemons = self.platform()
            say("calm", self.fabric)
            report["calm"] = self.calm()
            if kills:
                say("a node is killed in the middle", self.fabric)
                report["killed"] = self.killed()
            report["manager"] = self.drained(manager, daemons, lost=int(kills))

        return self.reported(phases)

    def reported(self, phases: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        report: dict[str, Any] = {}
        try:
            phases(report)
        except (Violation, OSError, subprocess.SubprocessError) as e:
            self.violations.append(str(e))
        report["violations"] = self.violations
        if self.violations:  # what the platform said, for the search of the reason
            report["said"] = [f"{each.path.name}: {line}" for each in self._running
                              for line in each.said().strip().splitlines()[-20:]]
        return report

    def announced(self, manager: Program, clients: Path, nodes: Path) -> tuple[str, str]:
        """The addresses that a manager writes into these files."""
        until(lambda: clients.exists() and nodes.exists() or manager.process.poll() is not None, 30,
              lambda: f"the manager does not listen: {manager.said().strip()}")
        if not clients.exists() or not nodes.exists():
            raise Violation(f"the manager ended: {manager.said().strip()}")
        return clients.read_text().strip(), nodes.read_text().strip()

    def platform(self) -> tuple[Program, Program]:
        """The manager, and a daemon on each node."""
        clients, nodes = self.folder / "clients", self.folder / "nodes"
        manager = self.start("manager", [
            self.path("invocation-manager"), "--node", MANAGER, "--nodes", "0", "--announce", str(clients),
            "--announce-nodes", str(nodes), "--node-silence-ms", str(SILENCE_MS), "--start-limit-ms", "30000"])
        self.address, register = self.announced(manager, clients, nodes)
        # The executors of a dead node need room on the others.
        room = -(-EXECUTORS // max(1, len(self.nodes) - 1))
        count = str(len(self.nodes))
        daemons = self.start("srun", [
            "srun", "--mpi=none", "-N", count, "-n", count, "--ntasks-per-node=1", "--no-kill", "--kill-on-bad-exit=0",
            self.path("weft-node"), "--manager", register, "--workers", str(room)])
        try:
            manager.wait_for("entered: ", 60, len(self.nodes))
        except Violation as e:
            raise Violation(f"{e}; srun said: {daemons.said().strip()}") from e
        return manager, daemons

    def executors_on(self, node: str) -> int:
        pids = subprocess.run(["ip", "netns", "pids", node], capture_output=True, text=True, check=True, timeout=30)
        found = 0
        for pid in pids.stdout.split():
            try:
                found += Path(f"/proc/{pid}/comm").read_text().startswith("invocation-exec")
            except OSError:
                continue  # it has ended
        return found

    def spread(self) -> list[int]:
        """Executors of each node. A warm parent that starts has their name for a moment, so it may look again."""
        end = time.monotonic() + 10
        while True:
            found = [self.executors_on(node) for node in self.nodes]
            if sum(found) == EXECUTORS or time.monotonic() > end:
                return found
            time.sleep(0.1)

    def loads(self, phase: str) -> list[Program]:
        """Three clients, each on a host of its own, with the executors divided among them."""
        made = []
        for k in range(LOADS):
            executors = EXECUTORS // LOADS + int(k < EXECUTORS % LOADS)
            made.append(self.start(f"{phase}.client{k + 1}", [
                "ip", "netns", "exec", f"c{k + 1}", self.path("invocation-load"), "--manager", self.address, "--node",
                f"10.7.0.{201 + k}", "--executors", str(executors), "--calls", str(self.calls), "--go",
                str(self.folder / f"{phase}.go"), "--mark", str(self.folder / f"{phase}.mark{k + 1}"), "--limit-ms",
                str(int(LIMIT * 1000)), "--retry-limit-ms", "60000", "--function-limit-ms", "5000",
                "--deadline-ms", "15000",
                *(["--resume", str(self.folder / "killed.resume")] if phase == "killed" else [])]))
        for each in made:
            each.wait_for("ready\n", 120)
        return made

    def sums(self, loads: list[Program]) -> dict[str, Any]:
        """What the clients saw, together. Each must have ended with 0."""
        total: dict[str, Any] = {"failed": {}}
        for each in loads:
            code = each.ends(LIMIT)
            line = next((line for line in each.said().splitlines() if line.startswith("{")), "")
            if not line:
                raise Violation(f"{each.path.name} ended with {code} and no report: {each.said().strip()}")
            seen = json.loads(line)
            self.check(code == 0, f"{each.path.name} ended with {code}: {each.said().strip()}")
            for name, number in seen.pop("failed").items():
                total["failed"][name] = total["failed"].get(name, 0) + number
            for name, number in seen.items():
                total[name] = total.get(name, 0) + number
            self.check(seen["done"] > 0, f"{each.path.name}: not one call was done")
            if seen["losses"] > 0:
                self.check(seen["done_after_loss"] > 0, f"{each.path.name}: its work did not go on after a loss")
        total["lost"] = total["asked"] - total["done"] - sum(total["failed"].values())
        self.check(total["asked"] == LOADS * self.calls, f"{total['asked']} calls were asked for")
        self.check(total["lost"] == 0 and total["unended"] == 0, f"{total['lost']} calls were lost")
        self.check(total["wrong"] == 0, f"{total['wrong']} results were wrong")
        return total

    def calm(self) -> dict[str, Any]:
        loads = self.loads("calm")
        spread = self.spread()
        self.check(sum(spread) == EXECUTORS, f"{sum(spread)} executors run on the nodes, and not {EXECUTORS}")
        self.check(max(spread) - min(spread) <= 1, f"executors are not spread: {spread}")
        begin = time.monotonic()
        (self.folder / "calm.go").touch()
        total = self.sums(loads)
        total["seconds"] = time.monotonic() - begin
        total["spread"] = " ".join(str(each) for each in spread)
        self.check(not total["failed"] and total["done"] == total["asked"], f"calls failed: {total['failed']}")
        self.check(total["bills"] == total["exact_bills"] == EXECUTORS,
                   f"accounts: {total['exact_bills']} of {total['bills']} are exact, and {EXECUTORS} were due")
        self.check(total["billed_calls"] == total["done"],
                   f"{total['billed_calls']} calls are in the accounts, and {total['done']} were done")
        return total

    def killed(self) -> dict[str, Any]:
        """As if its plug were pulled: its link is silent, then all its processes are gone."""
        loads = self.loads("killed")
        begin = time.monotonic()
        (self.folder / "killed.go").touch()
        marks = [self.folder / f"killed.mark{k + 1}" for k in range(LOADS)]
        until(lambda: all(mark.exists() for mark in marks), LIMIT, lambda: "the clients did not do a third of the work")
        spread = self.spread()
        busy = [k for k, executors in enumerate(spread) if executors > 0]  # of many nodes some have none
        if not busy:
            raise Violation(f"no executor runs: {spread}")
        victim, had = self.nodes[busy[-1]], spread[busy[-1]]
        subprocess.run(["ip", "link", "set", f"v{victim[1:]}", "down"], check=True, timeout=30)
        pids = subprocess.run(["ip", "netns", "pids", victim], capture_output=True, text=True, check=True, timeout=30)
        for pid in pids.stdout.split():
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                continue
        (self.folder / "killed.resume").touch()
        total = self.sums(loads)
        total["seconds"] = time.monotonic() - begin
        total["node"] = victim
        self.check(set(total["failed"]) <= TYPED, f"calls ended with {total['failed']}")
        self.check(total["losses"] == had, f"{had} executors died, and the clients saw {total['losses']} losses")
        self.check(total["bills"] == EXECUTORS + had and total["exact_bills"] == EXECUTORS,
                   f"accounts: {total['exact_bills']} of {total['bills']} are exact; {EXECUTORS} of "
                   f"{EXECUTORS + had} were due")
        return total

    def cancel_jobs(self, due: int) -> None:
        jobs = subprocess.run(["squeue", "--noheader", "--format=%A"], capture_output=True, text=True, check=True,
                              timeout=60).stdout.split()
        if len(jobs) != due:
            raise Violation(f"Slurm has the jobs {jobs}, and {due} were due")
        subprocess.run(["scancel", "--signal=TERM", *jobs], check=True, timeout=60)

    def drained(self, manager: Program, daemons: Program, lost: int) -> str:
        """The engine cancels the step; the daemons drain, and the manager's sums agree."""
        self.cancel_jobs(1)
        left = len(self.nodes) - lost
        manager.wait_for(" left", 90, left)
        daemons.wait_for(" ended in order, ", 30, left)
        if lost == 0:
            code = daemons.ends(60)
            self.check(code == 0, f"srun ended with {code}: {daemons.said().strip()}")
        for started, in_order, died in re.findall(r"(\d+) started, (\d+) ended in order, (\d+) died", daemons.said()):
            self.check(started == in_order and died == "0",
                       f"a daemon counted {started} executors started, {in_order} ended in order, {died} died")
        manager.process.send_signal(signal.SIGTERM)
        code = manager.ends(60)
        self.check(code == 0, f"the manager ended with {code}: {manager.said().strip()}")
        lines = manager.said().splitlines()
        line = next((each for each in lines if each.startswith("nodes: ")), "")
        found = {name: int(number) for number, name in re.findall(r"(\d+) ([\w ]+)", line)}
        ends = sum(found.get(name, 0) for name in ("ended in order", "died", "lost with their node", "not started"))
        self.check(found.get("placed") == ends, f"an end was counted twice or never: {line}")
        self.check(found.get("lost") == lost and found.get("left") == left, f"nodes: {line}")
        bills = next((each for each in lines if each.startswith("allocations billed: ")), "")
        return f"{line}; {bills}"


def say(what: str, fabric: str) -> None:
    print(f"{fabric}: {what}", file=sys.stderr, flush=True)
