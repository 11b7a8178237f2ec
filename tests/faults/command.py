# SPDX-License-Identifier: Apache-2.0
"""Makes each call of a program fail at its n-th occurrence, one run for each n, and judges how the program ends.

Calls into the allocator, the kernel and libfabric (tests/faults/calls.yaml), by a library that is loaded first. A run
without a failure counts the calls. Then each run makes one call fail with one error. Good is the right result, or
exit 1 with one sentence: no signal, no hang, no leak, nothing in /dev/shm, no process left; the peers end as well.
An interrupted run continues (build/faults/results.jsonl). A failure prints the command that repeats it.

Exit codes: 0 each point was good; 1 a defect, or a program that fails without a failing call; 2 usage.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import outcomes
from judging import GOOD, Judgement, judge
from points import FROM, Point, WrongCall, points_of, read_calls
from processes import Report, Run, adopt, isolate, isolated
from programs import PROGRAMS, ROWS, Command, Program

ROOT = Path(__file__).resolve().parents[2]


def asked_for(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [each.name for each in PROGRAMS]
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "clang", metavar="DIR",
                        help="programs and interposer (default: build/clang)")
    parser.add_argument("--program", action="append", choices=names, help="default: all")
    parser.add_argument("--command", metavar="WORDS", help="fail in this program instead; it shall exit with 0")
    parser.add_argument("--row", action="append", choices=ROWS, help="default: all that are built")
    parser.add_argument("--role", action="append", help="fail in this process of the program; default: each")
    parser.add_argument("--from", dest="callers", choices=FROM, default="weft",
                        help="weft: calls of the program itself; all: those of libraries too (default: weft)")
    parser.add_argument("--only", action="append", metavar="CALL", help="a call or a kind, as malloc or kernel")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="fail at every K-th call (default: 1)")
    parser.add_argument("--at", type=int, metavar="N", help="fail at the N-th call only")
    parser.add_argument("--error", metavar="NAME", help="fail with this error only, as ENOMEM")
    parser.add_argument("--kill", action="store_true", help="the process is killed there (SIGKILL) instead")
    parser.add_argument("--limit", type=int, metavar="N", help="run at most N points")
    parser.add_argument("--minutes", type=float, default=float("inf"), metavar="N", help="begin no run after N minutes")
    parser.add_argument("--fresh", action="store_true", help="also run points that have a result")
    parser.add_argument("--patience", type=float, default=30.0, metavar="S", help="limit of --command (default: 30 s)")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "faults", metavar="DIR",
                        help="results (default: build/faults)")
    parser.add_argument("--list", action="store_true", help="count the calls and print the points; make none fail")
    parser.add_argument("--verbose", action="store_true", help="also print outputs and the stack of the failing call")
    asked = parser.parse_args(words)
    if asked.every < 1 or (asked.at is not None and asked.at < 1):
        parser.error("--every and --at begin at 1")
    return asked


class Campaign:
    """All points of one program on one row."""

    def __init__(self, asked: argparse.Namespace, program: Program, row: str, kept: outcomes.Outcomes) -> None:
        self.asked = asked
        self.program = program
        self.row = row
        self.kept = kept
        self.interposer = asked.build / "tests" / "faults" / "libweft_faults.so"
        self.calls = read_calls()
        self.before: dict[str, Report] = {}

    def count(self) -> dict[str, dict[str, int]]:
        """The calls of each role in a run without a failure. It must succeed."""
        with tempfile.TemporaryDirectory(prefix="weft-faults-") as folder:
            run = Run(Path(folder), self.interposer, self.asked.callers)
            ended = self.program.play(run, self.row)
            reports = run.reports()
            left = run.leftovers()
        bad = [each for each in ended if each.code != 0 or not self.program.right(each)]
        if bad or left:
            said = "; ".join(f"{each.role} exited with {each.code}: {each.text.strip()[-300:]}" for each in bad)
            raise outcomes.Unfit(f"{self.program.name} on {self.row} fails without a failing call: {said} {left}")
        by_role = {each.role: each.report for each in ended if each.report is not None}
        for role in self.program.roles:
            name = self.program.path(role, self.row).name
            spawned = [each for each in reports if role in self.program.spawned and each.program == name]
            if role in by_role or spawned:
                self.before[role] = by_role[role] if role in by_role else spawned[0]
        return {role: report.calls for role, report in self.before.items()}

    def points(self) -> list[Point]:
        found = []
        for role, seen in self.count().items():
            if self.asked.role is not None and role not in self.asked.role:
                continue
            found += points_of(self.program.name, self.row, role, self.asked.callers, seen, self.calls,
                               self.asked.every, self.asked.kill)
        return [each for each in found if self._asked(each)]

    def _asked(self, point: Point) -> bool:
        only = self.asked.only
        return ((only is None or point.call in only or self.calls[point.call].kind in only)
                and (self.asked.at is None or point.at == self.asked.at)
                and (self.asked.error is None or point.error == self.asked.error))

    def fail(self, point: Point) -> Judgement:
        """Runs the program with one failing call."""
        with tempfile.TemporaryDirectory(prefix="weft-faults-") as folder:
            run = Run(Path(folder), self.interposer, point.callers)
            run.aim(point, self.program.path(point.role, self.row).name,
                    self.program.spawned.get(point.role, point.role))
            ended = self.program.play(run, self.row)
            fired = run.fired()
            seen = run.reports()
            left = run.leftovers()
        if self.asked.verbose:
            for each in ended:
                print(f"-- {each.role}: exit {each.code}\n{each.text}", end="")
            print(f"-- failed:\n{fired}")
        return judge(self.program, point.role, ended, fired != "", point.kills, left, self.before, seen)

    def repeat(self, point: Point) -> str:
        """The command that repeats a point."""
        words = ["scripts/faults", "--build", str(self.asked.build), "--fresh", "--verbose"]
        if isinstance(self.program, Command):
            words += ["--command", self.asked.command]
        else:
            words += ["--program", point.program, "--row", point.row, "--role", point.role]
        words += ["--from", point.callers, "--only", point.call, "--at", str(point.at)]
        words += ["--kill"] if point.kills else ["--error", point.error]
        return shlex.join(words)


def programs_of(asked: argparse.Namespace) -> list[tuple[Program, str]]:
    if asked.command is not None:
        return [(Command(shlex.split(asked.command), asked.patience), "")]
    made = [each(asked.build) for each in PROGRAMS if asked.program is None or each.name in asked.program]
    return [(each, row) for each in made for row in asked.row or ROWS if each.built(row)]


def run(asked: argparse.Namespace, kept: outcomes.Outcomes) -> int:
    pairs = programs_of(asked)
    if not pairs:
        print(f"scripts/faults: none of the programs is built in {asked.build}", file=sys.stderr)
        return 2
    end = time.monotonic() + 60 * asked.minutes
    left, bad, unfit = asked.limit if asked.limit is not None else sys.maxsize, 0, 0
    for program, row in pairs:
        campaign = Campaign(asked, program, row, kept)
        title = f"{program.name} on {row}" if row else asked.command
        try:
            points = campaign.points()
        except outcomes.Unfit as error:
            print(f"{title}: {error}", flush=True)
            unfit += 1
            continue
        done = set() if asked.fresh else {each for each in points if kept.has(each, program)}
        todo = [each for each in points if each not in done][:left]
        print(f"{title}: {len(points)} points, {len(done)} with a result, {len(todo)} to run", flush=True)
        if asked.list:
            print("\n".join(each.name() for each in points))
            continue
        left -= len(todo)
        for number, point in enumerate(todo, 1):
            if time.monotonic() >= end:
                break
            judged = campaign.fail(point)
            kept.keep(point, program, judged, campaign.repeat(point))
            print(f"[{number}/{len(todo)}] {point.name()}: {judged.outcome}", flush=True)
            if judged.outcome not in GOOD:
                bad += 1
                print("".join(f"    {each}\n" for each in judged.defects) + f"    again: {campaign.repeat(point)}",
                      flush=True)
        bad += sum(kept.outcome(each) not in GOOD for each in done)
    print(kept.write_summary())
    return 1 if bad or unfit else 0


def main(words: Sequence[str]) -> int:
    asked = asked_for(words)
    asked.build, asked.work = asked.build.resolve(), asked.work.resolve()
    isolate([sys.executable, "-B", str(ROOT / "scripts" / "faults"), *words])
    adopt()
    if not isolated():
        print("scripts/faults: no namespaces here: other programs' ports and shared memory may disturb", flush=True)
    try:
        kept = outcomes.Outcomes(asked.work)
        return run(asked, kept)
    except WrongCall as wrong:
        print(f"scripts/faults: {wrong}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("scripts/faults: interrupted; the next run continues", file=sys.stderr)
        return 1
