# SPDX-License-Identifier: Apache-2.0
"""bench/instructions/run: counts the caller's own instructions per operation under callgrind. Three programs:
- bare: by hand for one peer, without checks.
- by_hand: by hand with the same checks as weft.
- weft.

The comparison has the program's own instructions only. Instructions of libfabric and of the C library under either
side's calls are in the column "library". That column has no kernel part. It has the library's rare work, as
connecting at first use, where that work happened. Prints one table per fabric.

Every figure is the least over the visits of the operation, for each side alone. With --gate:
- limits.json says how many instructions weft may need more than by hand with the same checks: 0, or more with a reason.
- counts.yaml has the counts of all three. A rise fails, so no contender can be padded. --write commits falls, and with
  --because rises.
- bare may not need more than by hand with the same checks.
- With a trusted caller (F-trusted) weft may need 4 more than bare. limits.json has a reason for each that needs more.
- A fabric without counts fails.
- An operation of either file without a row fails.
Without --fabric: every fabric of limits.json whose program is built.

Exit codes: 0 counted, 1 a run failed, a limit is exceeded or a count rose, 2 usage, 77 valgrind or the programs are
missing.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import counting
import judging
import object_code
import ratchet

Judged = tuple[list[judging.Row], list[str]]  # rows, and one sentence for each problem
RUNS_TO_WRITE = 3


def complain(sentence: str) -> None:
    print(f"bench/instructions: {sentence}", file=sys.stderr)


def asked_for(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build"), help="build directory")
    parser.add_argument("--fabric", action="append", help="default: all of limits.json that are built")
    parser.add_argument("--visits", type=int, default=4, help="times that an operation is counted in one run")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--gate", action="store_true",
                        help="fail where limits.json is exceeded, or a count of counts.yaml rose; counts only these")
    either.add_argument("--write", action="store_true",
                        help=f"write counts.yaml from the least of {RUNS_TO_WRITE} runs; refuses a rise without reason")
    parser.add_argument("--because", default="", metavar="REASON", help="one line: why counts rise")
    parser.add_argument("--limits", type=Path, default=ratchet.COUNTS.with_name("limits.json"))
    parser.add_argument("--counts", type=Path, default=ratchet.COUNTS)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--csv", type=Path)
    arguments = parser.parse_args(words)
    if arguments.because and not arguments.write:
        parser.error("--because needs --write")
    if len(arguments.because.splitlines()) > 1:
        parser.error("--because is one line")
    return arguments


def of_limits_and_counts(limits: dict[str, float], counts: dict[str, ratchet.Count]) -> tuple[str, ...]:
    """All operations that the gate judges, in the order of the table."""
    return tuple(each for each in counting.OPERATIONS if each in limits or each in counts)


def gate(program: Path, fabric: str, compiler: str, arguments: argparse.Namespace) -> Judged:
    """Rows at their least, and all problems."""
    limits = judging.read_limits(arguments.limits).get(fabric, {})
    compilers = ratchet.read(arguments.counts).get(fabric, {})
    counts = compilers.get(compiler, {})
    if compilers and not counts:
        complain(f"{fabric}: {arguments.counts.name} has no counts of {compiler}; no rise is judged")
    judge = judging.judge(limits, arguments.limits.name, counts)
    rows = judging.at_their_least(
        lambda operations: counting.table(program, fabric, arguments.visits, operations),
        of_limits_and_counts(limits, counts), judge)
    problems = [each for row in rows for each in judge(row)] + judging.missing(fabric, rows, limits, counts)
    if not compilers:
        problems.append(f"{fabric}: {arguments.counts.name} has no counts, so no rise would be noticed; --write")
    return rows, problems


def write(program: Path, fabric: str, compiler: str, arguments: argparse.Namespace) -> Judged:
    """The least of several runs goes into the file, unless a count rises without a reason."""
    rows = counting.table(program, fabric, arguments.visits)
    for _ in range(RUNS_TO_WRITE - 1):
        rows = [judging.least(*both) for both in zip(rows, counting.table(program, fabric, arguments.visits))]
    return rows, ratchet.take(arguments.counts, (fabric, compiler), judging.measured(rows), arguments.because)


def save(rows: list[judging.Row], arguments: argparse.Namespace) -> None:
    """Writes the rows to the files that were asked for."""
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    if arguments.csv:
        with arguments.csv.open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["fabric", "operation", *counting.CONTENDERS])
            for row in rows:
                writer.writerow([row.fabric, row.operation, *("" if side is None else round(side.instructions, 1)
                                                              for side in (row.weft, row.by_hand, row.bare))])


def main(words: Sequence[str]) -> int:
    arguments = asked_for(words)
    if shutil.which("valgrind") is None:
        complain("valgrind is not installed (Debian: valgrind)")
        return 77
    rows: list[judging.Row] = []
    try:
        problems = (ratchet.unexplained(ratchet.read(arguments.counts), ratchet.versions(arguments.counts))
                    if arguments.gate else [])
        for fabric in arguments.fabric or judging.read_limits(arguments.limits):
            program = arguments.build / "bench" / "instructions" / f"bench-instructions.{fabric}"
            if not program.exists():
                complain(f"{program} is not built")
                if arguments.fabric:
                    return 77
                continue
            if arguments.gate or arguments.write:
                what = gate if arguments.gate else write
                found, more = what(program, fabric, object_code.compiler(program), arguments)
                rows, problems = rows + found, problems + more
            else:
                rows += counting.table(program, fabric, arguments.visits)
    except (RuntimeError, ValueError) as failure:
        complain(str(failure))
        return 1
    if not rows and not problems:
        return 77
    counting.show(rows)
    save(rows, arguments)
    for sentence in problems:
        complain(sentence)
    return 1 if problems else 0
