# SPDX-License-Identifier: Apache-2.0
"""Changes one place of the code at a time, runs the narrowest tests, and reports the changes that no test noticed.

The list of mutants is tests/mutation/lists/. They are planted in a copy of the tree, build/mutation/tree. An
interrupted run continues: build/mutation/state.json keeps each verdict, and killed mutants of unchanged files do not
run again. Mutants of Python files come first, then those of one set of programs after those of another.

Exit codes: 0 no survivor without a reason; 1 survivors, or mutants that could not be judged; 2 usage.
"""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import os
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import results
from mutants import MOST_SURVIVORS, Mutant, WrongList, read_mutants
from running import KILLED, LATE, SURVIVED, Runner, Verdict
from state import Kept, State, content_of
from tree import Copy

ROOT = Path(__file__).resolve().parents[2]


def asked_for(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/mutate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", metavar="PATTERN",
                        help="ids, files or classes, as wire.*; repeatable")
    parser.add_argument("--limit", type=int, metavar="N", help="judge at most N mutants, and leave the others")
    parser.add_argument("--minutes", type=float, metavar="N", help="begin no mutant after N minutes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="jobs of a build")
    parser.add_argument("--prefix", default="", metavar="WORDS",
                        help='words before each build and test, as "nice -n 9"')
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "mutation", metavar="DIR",
                        help="copy, state and logs; two runs at once need two (default: build/mutation)")
    parser.add_argument("--list", action="store_true", help="print the mutants and their last verdicts; run nothing")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--resume", action="store_true", help="continue an earlier run (the default)")
    either.add_argument("--fresh", action="store_true", help="judge every mutant anew")
    parser.add_argument("--write", action="store_true",
                        help=f"write {results.RESULTS} and the page made of it; --limit 0 runs nothing before")
    return parser.parse_args(words)


def chosen(mutants: Sequence[Mutant], patterns: Sequence[str] | None) -> list[Mutant]:
    def matches(mutant: Mutant) -> bool:
        names = (mutant.id, mutant.file, mutant.kind)
        return not patterns or any(fnmatch.fnmatchcase(name, each) for each in patterns for name in names)

    # A file that is changed twice in a row is compiled from the same state.
    return sorted(filter(matches, mutants), key=lambda each: (not each.pytest, each.targets, each.file))


def judge(mutant: Mutant, copy: Copy, runner: Runner) -> Verdict:
    if (unfit := runner.baseline(mutant)) is not None:
        return unfit
    copy.plant(mutant)
    try:
        return runner.judge(mutant)
    finally:
        copy.restore(mutant)


def run(mutants: Sequence[Mutant], asked: argparse.Namespace, state: State) -> None:
    copy = Copy(ROOT, asked.work / "tree")
    copy.refresh()
    runner = Runner(copy.at, asked.jobs, shlex.split(asked.prefix))
    logs = asked.work / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    left = [each for each in mutants if asked.fresh or not state.done(each, ROOT)]
    left = sorted(left, key=lambda each: state.valid(each) is not None)[: asked.limit]  # survivors run again, last
    commit = copy.commit()
    end = time.monotonic() + 60 * (asked.minutes or float("inf"))
    for number, mutant in enumerate(left, 1):
        if time.monotonic() >= end:
            break
        judged = judge(mutant, copy, runner)
        (logs / f"{mutant.id}.txt").write_text(judged.output, encoding="utf-8")
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        kept = Kept(mutant.key(), content_of(ROOT / mutant.file), judged.verdict, judged.by, judged.seconds, today,
                    commit)
        state.keep(mutant, kept)
        by = f" by {judged.by}" if judged.by else ""
        print(f"[{number}/{len(left)}] {mutant.id}: {judged.verdict}{by} ({judged.seconds} s)", flush=True)


def summary(mutants: Sequence[Mutant], state: State) -> int:
    """Prints the figures and the problems. The exit code."""
    verdicts = {mutant.id: kept.verdict for mutant in mutants if (kept := state.valid(mutant)) is not None}
    counts = Counter(verdicts.values())
    survivors = [mutant for mutant in mutants if verdicts.get(mutant.id) == SURVIVED]
    ran = len(verdicts)
    print(f"{len(mutants)} mutants, {ran} judged, {counts[KILLED]} killed, {counts[LATE]} killed by a time limit, "
          f"{len(survivors)} survived, {len(mutants) - ran} not run")
    code = 0
    for mutant in survivors:
        print(f"survived: {mutant.id}: {mutant.survives or 'NO REASON'}")
        code = code if mutant.survives else 1
    for mutant in mutants:
        if verdicts.get(mutant.id, SURVIVED) not in (SURVIVED, KILLED, LATE):
            print(f"not judged: {mutant.id}: {verdicts[mutant.id]}; logs/{mutant.id}.txt says more")
            code = 1
    if ran and len(survivors) > ran * MOST_SURVIVORS:
        print(f"{len(survivors)} of {ran} survived: more than {MOST_SURVIVORS:.0%}")
        code = 1
    return code


def main(words: Sequence[str]) -> int:
    asked = asked_for(words)
    asked.work = asked.work.resolve()
    try:
        every = read_mutants(ROOT)
        mutants = chosen(every, asked.only)
        state = State(asked.work / "state.json")
        if asked.list:
            for mutant in mutants:
                kept = state.valid(mutant)
                print(f"{mutant.id}  {mutant.kind}  {mutant.file}  {kept.verdict if kept else results.NOT_RUN}")
        else:
            run(mutants, asked, state)
    except WrongList as wrong:
        print(f"scripts/mutate: {wrong}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("scripts/mutate: interrupted; the next run continues", file=sys.stderr)
    if asked.write:
        results.write(ROOT, every, state)
        subprocess.run([ROOT / "scripts" / "docs", "--pages"], check=True)
    return summary(mutants, state)
