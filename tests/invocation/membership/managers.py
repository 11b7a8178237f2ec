# SPDX-License-Identifier: Apache-2.0
"""Several managers share clients over an etcd of this test; one is killed, and another takes its clients over.

No limit here is short: the program reports how long nobody served it, and this prints the figure.
"""
from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "examples" / "invocation"), str(ROOT / "tests" / "job")]

import etcd_process  # noqa: E402
from running import Manager  # noqa: E402

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


class Follower:
    """A running invocation-follower."""

    def __init__(self, program: Path, manager: str, *arguments: str) -> None:
        self.process = subprocess.Popen([str(program), "--manager", manager, *arguments], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        first = self.process.stderr.readline()
        if not first.startswith("served by "):
            raise Wrong(f"the client said {first!r}")
        self.manager = first.split()[-1]

    def report(self) -> dict[str, object]:
        output, errors = self.process.communicate(timeout=SECONDS)
        expect(self.process.returncode == 0, errors)
        report: dict[str, object] = json.loads(output)
        return report

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def shared_and_taken_over(build: Path, fabric: str, store: str) -> None:
    program = build / "examples" / "invocation" / f"invocation-follower.{fabric}"
    option = ("--membership", f"{store}/shared")
    with Manager(build, fabric, option) as one, Manager(build, fabric, option) as two:
        by_address = {one.address: one, two.address: two}
        # Clients ask the first manager; each is served by its own, so every second one is sent on.
        served: set[str] = set()
        clients = 0
        while served != set(by_address):
            clients += 1
            expect(clients < 40, f"all {clients} clients were served by {served}")
            with Follower(program, one.address, "--for-ms", "20") as client:
                served.add(client.manager)
                report = client.report()
                expect(report["exact"] is True and report["takeovers"] == 0, report)
        with Follower(program, one.address, "--until-taken-over", "--for-ms", "200") as client:
            victim, heir = by_address[client.manager], next(m for a, m in by_address.items() if a != client.manager)
            time.sleep(0.2)  # some calls
            os.kill(victim.process.pid, signal.SIGKILL)
            report = client.report()
        expect(report["takeovers"] == 1 and report["manager"] == heir.address, report)
        expect(report["wrong"] == 0 and report["unbilled"] == 1 and report["exact"] is True, report)
        expect(set(report["failed"]) <= {"manager_lost", "executor_lost"}, report)  # type: ignore[call-overload]
        print(f"{fabric}: taken over within {report['longest_takeover_ms']} ms; "
              f"{report['longest_gap_ms']} ms between two results")
        # The survivor alone serves every client, also before etcd has noticed.
        with Follower(program, heir.address, "--for-ms", "20") as client:
            expect(client.report()["manager"] == heir.address, "the survivor serves")
        said = heir.stop()[1]
        expect("taken over from managers that are gone: 1" in said, said)


def refused(build: Path, fabric: str) -> None:
    program = build / "examples" / "invocation" / f"invocation-manager.{fabric}"
    for store, sentence in (("n1:2379", '"n1:2379" is no place of members: it must be etcd://host:port'),
                            ("etcd://127.0.0.1:1", "no etcd answers at 127.0.0.1:1 (Connection refused)")):
        done = subprocess.run([str(program), "--membership", store], capture_output=True, text=True, timeout=SECONDS,
                              check=False)
        expect(done.returncode == 2 and sentence in done.stderr and done.stderr.count("\n") == 1,
               (done.returncode, done.stderr))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--fabric", required=True)
    chosen = parser.parse_args()
    if etcd_process.missing():
        print(f"skipped: {etcd_process.missing()}")
        return SKIPPED
    with etcd_process.etcd() as where:
        shared_and_taken_over(chosen.build, chosen.fabric, f"etcd://{where}")
    refused(chosen.build, chosen.fabric)
    return 0


if __name__ == "__main__":
    sys.exit(main())
