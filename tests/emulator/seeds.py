#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Function invocation over emulated fabrics, seed after seed.

No call is lost, every bill is exact, and no rule of the row is broken.

Each run starts a manager, its executors and a client: the unmodified programs of the fabric, over the emulator.
Exit 0: all runs succeeded. Exit 1: one failed; its line says what happened. Exit 2: usage.
"""
from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import TimeoutExpired

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "examples" / "invocation")]
from generator.emulating import EVERY_GENTLE_FAULT, FAULTS, emulator_in, environment  # noqa: E402
from running import Failed, Manager, program  # noqa: E402

BROKEN_RULE = "weft emulator: "  # every sentence of the emulator begins so


@dataclass(frozen=True)
class Run:
    """Parameters of one run."""

    build: Path
    fabric: str
    seed: int
    faults: str
    count: int
    depth: int
    limit: float


@dataclass
class Found:
    """Result of one run; `fault` is empty for success. Times in seconds."""

    fabric: str
    seed: int
    asked: int = 0
    done: int = 0
    lost: int = 0
    invocations: int = 0
    exact: bool = False
    took: float = 0.0
    fault: str = ""


def measure(run: Run, found: Found) -> None:
    """Errors: Failed, with the output."""
    with Manager(run.build, run.fabric) as manager:
        done = manager.client(
            "--json", "run", "echo", "--count", str(run.count), "--depth", str(run.depth), limit=run.limit
        )
        if not done.stdout.strip():
            raise Failed(
                f"the client printed only: {done.stderr.strip()} "
                f"(exit code {done.returncode}); {manager.said().strip()}"
            )
        report = json.loads(done.stdout)
        code, said = manager.stop()
    accounts = report["accounting"]
    found.asked, found.done, found.lost, found.invocations = (
        report["asked"],
        report["done"],
        report["lost"],
        accounts["invocations"],
    )
    found.exact = (
        accounts["exact"] is True
        and accounts["hot_ns"] == accounts["worker_hot_ns"]
        and accounts["execution_ns"] == accounts["worker_execution_ns"]
    )
    for text in (done.stderr, said):
        if BROKEN_RULE in text:
            raise Failed("a rule of the row was broken: " + text[text.index(BROKEN_RULE) :].splitlines()[0])
    if (
        done.returncode != 0
        or found.done != run.count
        or found.lost != 0
        or not found.exact
        or found.invocations < run.count
    ):
        raise Failed(f"the client ended with {done.returncode}: {report}; {done.stderr.strip()}")
    if code != 0:
        raise Failed(f"the manager ended with {code}: {said.strip()}")


def one(run: Run) -> Found:
    os.environ.update(environment(run.fabric, emulator_in(run.build), run.seed, run.faults, "", ()))
    os.environ.update(HFI_NO_BACKTRACE="1", IPATH_NO_BACKTRACE="1")
    found = Found(run.fabric, run.seed)
    begin = time.monotonic()
    try:
        measure(run, found)
    except (Failed, TimeoutExpired, OSError, ValueError, KeyError) as error:
        found.fault = str(error) or type(error).__name__
    found.took = round(time.monotonic() - begin, 1)
    return found


def summary(fabric: str, of: list[Found]) -> str:
    bad = [each.seed for each in of if each.fault]
    text = (
        f"{fabric}: {len(of)} seeds, {sum(each.done for each in of)} of {sum(each.asked for each in of)} invocations, "
    )
    text += f"lost {sum(each.lost for each in of)}, "
    text += f"accounting exact in {sum(each.exact for each in of)}, {sum(each.took for each in of):.0f} s"
    return text + (f"; BAD: seeds {', '.join(map(str, sorted(bad)))}" if bad else "")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="tests/emulator/seeds.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build",
        type=Path,
        required=True,
        help="build directory with the emulator and the programs (WEFT_EMULATED_FABRICS)",
    )
    parser.add_argument("--fabric", action="append", required=True, help="repeatable")
    parser.add_argument("--seeds", type=int, default=20, help="how many, from --first on (default: 20)")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=100_000, help="invocations per seed (default: 100000)")
    parser.add_argument("--depth", type=int, default=4, help="calls on their way at once (default: 4)")
    parser.add_argument(
        "--faults",
        default="all",
        help=f"{', '.join(FAULTS)}, each alone or as name=chance in a thousand; "
        "all: every one but those that end operations "
        "or processes (default: all)",
    )
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time (default: 1)")
    parser.add_argument(
        "--limit", type=float, help="seconds that one run may take (default: 60, and 2 for each thousand invocations)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every run")
    given = parser.parse_args()
    missing = [fabric for fabric in given.fabric if not program(given.build, "client", fabric).exists()]
    if missing:
        parser.error(
            f"{', '.join(missing)}: not built in {given.build}; "
            f"configure with -DWEFT_EMULATED_FABRICS=\"{';'.join(given.fabric)}\""
        )
    limit = given.limit or 60 + given.count / 500
    faults = EVERY_GENTLE_FAULT if given.faults == "all" else given.faults
    runs = [
        Run(given.build.resolve(), fabric, seed, faults, given.count, given.depth, limit)
        for fabric in given.fabric
        for seed in range(given.first, given.first + given.seeds)
    ]
    found: list[Found] = []
    with ProcessPoolExecutor(given.jobs) as pool:
        for each in as_completed([pool.submit(one, run) for run in runs]):
            found.append(each.result())
            last = found[-1]
            print(
                f"{last.fabric} seed {last.seed}: "
                + (
                    f"FAILED: {last.fault}"
                    if last.fault
                    else f"{last.done} done, lost {last.lost}, exact, {last.took} s"
                ),
                flush=True,
            )
    for fabric in given.fabric:
        print(summary(fabric, [each for each in found if each.fabric == fabric]))
    if given.json is not None:
        given.json.write_text(
            json.dumps([asdict(each) for each in sorted(found, key=lambda each: (each.fabric, each.seed))], indent=1)
            + "\n",
            encoding="utf-8",
        )
    return 1 if any(each.fault for each in found) else 0


if __name__ == "__main__":
    sys.exit(main())
