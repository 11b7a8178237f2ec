# SPDX-License-Identifier: Apache-2.0
"""Several managers in the cluster's demo: two of them share clients by etcd, and one is killed while all work.

Each manager has daemons of its own. Those of the dead one go to the other, and so do its clients.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from nodes.cluster_run import EXECUTORS, LOADS, SILENCE_MS, Program, Run, Violation, say

MANAGERS = 2  # on hosts of their own, after those of the clients
TAKE_OVER_MS = 2000.0  # a client of the dead manager has a result again by then
TYPED = {"manager_lost", "executor_lost"}  # what may end a call while a manager dies
SAID_CALLS = 50  # a client says each time that it has done so many
LIMIT = 120.0  # seconds, of a step


def reason_to_leave_out(manager: Path) -> str:
    """Why no manager is killed; empty: it can be."""
    if not any(os.access(Path(folder) / "etcd", os.X_OK) for folder in os.get_exec_path()):
        return 'etcd is not installed; "scripts/setup cluster" installs it'
    # A place that is none: the program refuses it, and says so first where it was built without etcd.
    said = subprocess.run([manager, "--membership", "none"], capture_output=True, text=True, check=False, timeout=60)
    return said.stderr.strip() if "built without etcd" in said.stderr else ""


class Manager:
    """A manager on a host of its own, with its daemons."""

    def __init__(self, host: str, nodes: list[str]) -> None:
        self.host = host
        self.nodes = nodes
        self.program: Program
        self.daemons: Program
        self.address = ""  # for clients
        self.register = ""  # for daemons


class Follower:
    """A client that goes to another manager when its own is gone."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.report: dict[str, Any] = {}
        self.name = program.path.name

    def does_more_calls(self, times: int = 2) -> None:
        """Waits until it has said more often how many calls are done."""
        self.program.wait_for("done ", LIMIT, self.program.said().count("done ") + times)

    def served_by(self) -> str:
        return self.program.said().partition("served by ")[2].split(maxsplit=1)[0]


class ManagersRun(Run):
    def all_managers(self) -> dict[str, Any]:
        def phases(report: dict[str, Any]) -> None:
            say("a manager is killed in the middle", self.fabric)
            report["managers"] = self.killed_manager()

        return self.reported(phases)

    def follower(self, name: str, k: int, addresses: list[str]) -> Follower:
        host = k % LOADS + 1
        managers = [word for each in addresses for word in ("--manager", each)]
        return Follower(self.start(name, [
            "ip", "netns", "exec", f"c{host}", self.path("invocation-follower"), *managers, "--node",
            f"10.7.0.{200 + host}", "--warm", "--say-every", str(SAID_CALLS), "--for-ms", str(int(LIMIT * 3000)),
            "--until", str(self.folder / "managers.stop"), "--accounts-ms", str(int(LIMIT * 500))]))

    def store(self) -> str:
        """Where the managers are members, and where the daemons of a dead one find another."""
        return os.environ["WEFT_CLUSTER_ETCD"] + "/demo"

    def shared_platform(self) -> list[Manager]:
        """More nodes than executors would hide whether those of the dead manager are in use."""
        used = self.nodes[:EXECUTORS]
        managers = [Manager(f"c{LOADS + 1 + k}", used[k::MANAGERS]) for k in range(MANAGERS)]
        for k, each in enumerate(managers):
            node = f"10.7.0.{200 + int(each.host[1:])}"
            clients, nodes = self.folder / f"clients{k + 1}", self.folder / f"nodes{k + 1}"
            each.program = self.start(f"manager.{each.host}", [
                "ip", "netns", "exec", each.host, self.path("invocation-manager"), "--node", node, "--nodes", "0",
                "--announce", str(clients), "--announce-nodes", str(nodes), "--node-silence-ms", str(SILENCE_MS),
                "--start-limit-ms", "30000", "--membership", self.store()])
            each.address, each.register = self.announced(each.program, clients, nodes)
        for each in managers:
            room = -(-EXECUTORS // len(each.nodes))  # all clients may have the same manager
            count = str(len(each.nodes))
            each.daemons = self.start(f"srun.{each.host}", [
                "srun", "--mpi=none", "-w", ",".join(each.nodes), "-N", count, "-n", count, "--ntasks-per-node=1",
                "--no-kill", "--kill-on-bad-exit=0", self.path("weft-node"), "--manager", each.register, "--manager",
                self.store(), "--workers", str(room)])
        for each in managers:
            try:
                each.program.wait_for("entered: ", LIMIT, len(each.nodes))
            except Violation as e:
                raise Violation(f"{e}; srun said: {each.daemons.said().strip()}") from e
        return managers

    def killed_manager(self) -> dict[str, Any]:
        managers = self.shared_platform()
        addresses = [each.address for each in managers]
        begin = time.monotonic()
        # Each client asks one manager, and is sent to its own.
        clients = [self.follower(f"follower{k + 1}", k, [addresses[k % MANAGERS]]) for k in range(EXECUTORS)]
        for client in clients:
            client.program.wait_for("works with ", LIMIT)
        served = [client.served_by() for client in clients]
        dead = max(managers, key=lambda each: served.count(each.address))
        heir = next(each for each in managers if each is not dead)
        orphans = [client for client, by in zip(clients, served, strict=True) if by == dead.address]
        for client in clients:
            client.does_more_calls()
        dead.program.kill()
        killed_at = time.monotonic()
        for client in orphans:
            client.program.wait_for("lost: ", LIMIT)
        noticed_ms = 1000 * (time.monotonic() - killed_at)
        for client in orphans:
            client.program.wait_for("works with ", LIMIT, 2)
        works_ms = 1000 * (time.monotonic() - killed_at)
        dead.daemons.wait_for(f"registered at {heir.register} ", LIMIT, len(dead.nodes))
        joined_ms = 1000 * (time.monotonic() - killed_at)
        # The heir's own nodes are full, or fuller than these.
        later = [self.follower(f"follower.late{k + 1}", k, [dead.address, heir.address]) for k in range(LOADS)]
        for client in later:
            client.program.wait_for("works with ", LIMIT)
        inherited = sum(self.executors_on(node) for node in dead.nodes)
        self.check(inherited > 0, f"no executor of the heir runs on the nodes of the dead manager, {dead.nodes}")
        for client in [*clients, *later]:
            client.does_more_calls()
        (self.folder / "managers.stop").touch()
        total = self.sums_of([*clients, *later])
        for client in orphans:
            self.check_orphan(client, heir)
        for client in (each for each in [*clients, *later] if each not in orphans):
            seen = client.report
            self.check(seen["manager"] == heir.address and seen["takeovers"] == seen["unbilled"] == 0
                       and not seen["failed"], f"{client.name}: its manager lived, and it saw {seen}")
            self.check(seen["billed"] == seen["done"],
                       f"{client.name}: {seen['billed']} calls are in its account, and {seen['done']} were done")
        total |= {"host": dead.host, "clients": len(clients), "orphans": len(orphans), "later": len(later),
                  "inherited_nodes": inherited, "daemons": len(dead.nodes), "joined_ms": joined_ms,
                  "noticed_ms": noticed_ms, "works_ms": works_ms,
                  "takeover_ms": max(each.report["longest_takeover_ms"] for each in orphans),
                  "gap_ms": max(each.report["longest_gap_ms"] for each in orphans)}
        self.check(works_ms <= TAKE_OVER_MS, f"the last client worked again {works_ms:.0f} ms after the death; "
                   f"{TAKE_OVER_MS:.0f} are allowed")
        total["manager"] = self.ended_in_order(managers, heir, len(orphans), len(clients) + len(later))
        total["seconds"] = time.monotonic() - begin
        return total

    def sums_of(self, clients: list[Follower]) -> dict[str, Any]:
        """What the clients saw, together. Each must have ended with 0."""
        total: dict[str, Any] = {"failed": {}, "exact": 0}
        for client in clients:
            code = client.program.ends(LIMIT)
            line = next((line for line in client.program.said().splitlines() if line.startswith("{")), "")
            if not line:
                raise Violation(f"{client.name} ended with {code} and no report: {client.program.said().strip()}")
            client.report = seen = json.loads(line)
            self.check(code == 0 and seen["exact"], f"{client.name} ended with {code}: {seen}")
            self.check(seen["wrong"] == 0 and seen["asked"] == seen["done"] + sum(seen["failed"].values()),
                       f"{client.name}: calls were lost or wrong: {seen}")
            self.check(set(seen["failed"]) <= TYPED, f"{client.name}: calls ended with {seen['failed']}")
            total["exact"] += int(seen["exact"])
            for name, number in seen["failed"].items():
                total["failed"][name] = total["failed"].get(name, 0) + number
            for name in ("asked", "done", "done_after_takeover", "unbilled", "billed", "inherited"):
                total[name] = total.get(name, 0) + seen[name]
        return total

    def check_orphan(self, client: Follower, heir: Manager) -> None:
        seen = client.report
        self.check(seen["takeovers"] == 1 and seen["manager"] == heir.address,
                   f"{client.name}: it was not taken over once, by {heir.address}: {seen}")
        # The time between two results holds the take-over, and also how late the client saw the death.
        self.check(max(seen["longest_takeover_ms"], seen["longest_gap_ms"]) <= TAKE_OVER_MS,
                   f"{client.name}: the take-over took {seen['longest_takeover_ms']:.0f} ms, with "
                   f"{seen['longest_gap_ms']:.0f} ms between two results; {TAKE_OVER_MS:.0f} are allowed")
        self.check(seen["done_after_takeover"] > 0, f"{client.name}: its work did not go on after the take-over")
        # A call in flight at the death may have been executed, and ended without its result.
        before, failed = seen["done"] - seen["done_after_takeover"], sum(seen["failed"].values())
        self.check(seen["unbilled"] == 0 and before <= seen["inherited_calls"] <= before + failed,
                   f"{client.name}: the heir billed {seen['inherited_calls']} calls of the dead manager; {before} were "
                   f"done, and {failed} failed")
        self.check(seen["billed"] == seen["done_after_takeover"],
                   f"{client.name}: {seen['billed']} calls are in its account, and {seen['done_after_takeover']} were "
                   "done after the take-over")

    def ended_in_order(self, managers: list[Manager], heir: Manager, orphans: int, bills: int) -> str:
        """All daemons drain at the heir, and its sums agree with those of the clients."""
        self.cancel_jobs(len(managers))
        daemons = sum(len(each.nodes) for each in managers)
        heir.program.wait_for(" left", 90, daemons)
        for each in managers:
            code = each.daemons.ends(60)
            self.check(code == 0, f"{each.daemons.path.name} ended with {code}: {each.daemons.said().strip()}")
        heir.program.process.send_signal(signal.SIGTERM)
        code = heir.program.ends(60)
        said = heir.program.said()
        self.check(code == 0, f"the heir ended with {code}: {said.strip()}")
        lines = [line for line in said.splitlines() if re.match("allocations billed|clients sent|nodes: ", line)]
        for sentence in (f"allocations billed: {bills}, exactly: {bills}\n",
                         f"accounts inherited from managers that are gone: {orphans}\n",
                         f"taken over from managers that are gone: {orphans}\n"):
            self.check(sentence in said, f"the heir did not say {sentence.strip()!r}: {lines}")
        return "; ".join(lines)


def line_of(fabric: str, found: dict[str, Any], failures: str) -> str:
    """What was found, for people."""
    accounts = found["clients"] + found["later"]
    return (f"{fabric:8} manager on {found['host']} killed in the middle: {found['orphans']} of {found['clients']} "
            f"clients taken over, all noticed within {found['noticed_ms']:.0f} ms and work again within "
            f"{found['works_ms']:.0f} ms, the largest take-over {found['takeover_ms']:.0f} ms, "
            f"{found['gap_ms']:.0f} ms between two results; {found['done']} of {found['asked']} calls done; typed "
            f"errors: {failures}; calls done after that: {found['done_after_takeover']}; accounts exact: "
            f"{found['exact']} of {accounts}, of the dead manager {found['inherited']}, said to be unbilled: "
            f"{found['unbilled']}; its {found['daemons']} daemons joined the heir within {found['joined_ms']:.0f} ms, "
            f"executors there: {found['inherited_nodes']}; {found['seconds']:.1f} s\n"
            f"{fabric:8} heir: {found['manager']}")
