#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The invocation platform on a cluster of this machine: scripts/cluster --nodes N -- demo [option...]

A manager, a daemon on each node by Slurm, 8 executors, and 3 clients on hosts of their own. First a calm run: no call
is lost, and the accounting is exact. Then one node is killed while all work: calls end with a result or with a typed
error, and the work goes on. At last, in a cluster of its own with etcd, two managers share 8 clients and one manager
is killed: the other takes its clients and its daemons over, within 2 s. Exit code 1 at any violation.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from nodes.cluster_managers import MANAGERS, ManagersRun, line_of, reason_to_leave_out  # noqa: E402
from nodes.cluster_run import EXECUTORS, LOADS  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
FABRICS = ("tcp", "tcp_rxm")
PROGRAMS = ("invocation-manager", "invocation-executor", "invocation-load", "invocation-follower", "weft-node")
TOTAL = 100_000  # calls of all clients, where --calls does not say how many
LEAST_CALLS = 90  # of a client: each executor has more calls left when it dies than are in flight


def missing(build: Path, fabric: str) -> list[str]:
    folder = build / "examples" / "invocation"
    return [name for each in PROGRAMS if not (folder / (name := f"{each}.{fabric}")).exists()]


def in_a_cluster(given: argparse.Namespace, fabric: str, *, managers: bool) -> dict[str, Any]:
    """Runs one fabric, or its phase of several managers, inside a cluster of its own: what it found."""
    with tempfile.TemporaryDirectory(prefix="weft-cluster-demo-") as folder:
        found = Path(folder) / "found.json"
        command = [
            "setpriv", "--pdeathsig", "TERM", str(ROOT / "scripts" / "cluster"), "--nodes", str(given.nodes), "--hosts",
            str(LOADS + MANAGERS), "--slots", "64", *(["--etcd"] if managers else []), "--", sys.executable, "-B",
            str(Path(__file__).resolve()), "--inside", str(found), "--nodes", str(given.nodes), "--calls",
            str(given.calls), "--fabric", fabric, "--build", str(given.build), *(["--calm"] if given.calm else []),
            *(["--managers"] if managers else []),
        ]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, cwd=given.build, process_group=0) as cluster:
            try:
                code = cluster.wait(given.limit)
            except BaseException as e:
                cluster.send_signal(signal.SIGTERM)  # scripts/cluster ends all that it began
                cluster.wait(60)
                if not isinstance(e, subprocess.TimeoutExpired):
                    raise
                return {"violations": [f"the cluster did not end within {given.limit} s"]}
        if code == 77:
            sys.exit(77)
        if not found.exists():
            return {"violations": [f"the cluster ended with {code} and no result"]}
        report: dict[str, Any] = json.loads(found.read_text())
        return report


def add(report: dict[str, Any], of_managers: dict[str, Any]) -> None:
    """The phase of several managers belongs to the report of its fabric."""
    if "managers" in of_managers:
        report["managers"] = of_managers["managers"]
    for name in ("violations", "said"):
        report[name] = report.get(name, []) + of_managers.get(name, [])


def failures(found: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(found.items())) or "none"


def print_summary(given: argparse.Namespace, reports: dict[str, dict[str, Any]]) -> bool:
    print(f"\n== functions on {given.nodes} nodes: {EXECUTORS} executors by Slurm, {LOADS} clients on other hosts, "
          f"{given.calls} calls per client and fabric")
    good = True
    for fabric, report in reports.items():
        if calm := report.get("calm"):
            print(f"{fabric:8} calm: {calm['done']} of {calm['asked']} calls done, {calm['lost']} lost; accounts "
                  f"exact: {calm['exact_bills']} of {calm['bills']}, of {calm['billed_calls']} calls; executors per "
                  f"node: {calm['spread']}; {calm['seconds']:.1f} s")
        if killed := report.get("killed"):
            print(f"{fabric:8} node {killed['node']} killed in the middle: {killed['done']} of {killed['asked']} calls "
                  f"done, {killed['lost']} lost; typed errors: {failures(killed['failed'])}; executors replaced: "
                  f"{killed['losses']}; calls done after that: {killed['done_after_loss']}; {killed['seconds']:.1f} s")
        if found := report.get("managers"):
            print(line_of(fabric, found, failures(found["failed"])))
        if reason := report.get("no_managers"):
            print(f"{fabric:8} no manager killed: {reason}")
        if said := report.get("manager"):
            print(f"{fabric:8} manager: {said}")
        for each in report["violations"]:
            good = False
            print(f"{fabric:8} VIOLATION: {each}")
    for fabric, report in reports.items():
        for line in report.get("said", []):
            print(f"{fabric:8} said: {line}")
    print("all promises kept" if good else "promises were broken: see VIOLATION above")
    return good


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/cluster --nodes N -- demo", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=4, help=argparse.SUPPRESS)
    parser.add_argument("--calls", type=int, default=-(-TOTAL // LOADS), metavar="N",
                        help=f"calls of each client, over each fabric (default: {TOTAL} of {LOADS} clients)")
    parser.add_argument("--fabric", action="append", choices=FABRICS, help="only this fabric (repeatable)")
    parser.add_argument("--calm", action="store_true", help="kill no node, and no manager")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", metavar="DIR",
                        help="build directory with the programs; without it scripts/cluster builds them")
    parser.add_argument("--limit", type=int, default=1200, metavar="S", help="seconds for each fabric")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found as JSON")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--managers", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not 1 <= given.calls <= 100_000_000:
        parser.error(f"--calls is {given.calls}; it must be 1 to 100000000")
    if given.nodes < 2 and not given.calm:
        parser.error(f"--nodes is {given.nodes}, and one node is killed: give 2 or more, or --calm")
    if given.calls < LEAST_CALLS and not given.calm:
        parser.error(f"--calls is {given.calls}; a node cannot be killed in the middle of fewer than {LEAST_CALLS}")
    given.build = given.build.resolve()
    given.fabric = list(dict.fromkeys(given.fabric or FABRICS))
    for fabric in given.fabric:
        if lacks := missing(given.build, fabric):
            parser.error(f"{', '.join(lacks)}: not in {given.build}; leave --build out, and they are built")
    return given


def main() -> int:
    given = parsed()
    if given.inside is not None:
        run = ManagersRun(given.build, given.fabric[0], given.nodes, given.calls, given.inside.parent)
        try:
            report = run.all_managers() if given.managers else run.all(kills=not given.calm)
        finally:
            run.end()
        given.inside.write_text(json.dumps(report))
        return 1 if report["violations"] else 0
    # also where a shell started this in the background, and so ignores SIGINT for it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda taken, _: sys.exit(128 + taken))
    reports = {}
    begin = time.monotonic()
    try:
        for fabric in given.fabric:
            print(f"== {fabric}: a cluster of {given.nodes} nodes", file=sys.stderr, flush=True)
            reports[fabric] = report = in_a_cluster(given, fabric, managers=False)
            if given.calm:
                continue
            report["no_managers"] = reason_to_leave_out(
                given.build / "examples" / "invocation" / f"invocation-manager.{fabric}")
            if not report["no_managers"]:
                add(report, in_a_cluster(given, fabric, managers=True))
    except KeyboardInterrupt:
        print("interrupted: the cluster has ended", file=sys.stderr)
        return 130
    good = print_summary(given, reports)
    print(f"{time.monotonic() - begin:.0f} s in all")
    if given.json is not None:
        given.json.write_text(json.dumps({"schema": "weft.cluster_demo.1", "nodes": given.nodes, "calls": given.calls,
                                          "good": good, "fabrics": reports}, indent=2) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    os.environ.setdefault("HFI_NO_BACKTRACE", "1")
    os.environ.setdefault("IPATH_NO_BACKTRACE", "1")
    sys.exit(main())
