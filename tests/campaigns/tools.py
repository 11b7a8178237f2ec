# SPDX-License-Identifier: Apache-2.0
"""Campaigns that other tools of the tree run: each function runs one, and makes a figure of its results.

Output of the tool passes through. Errors: Missing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from record import ROOT, Figure

SIMULATED = ("loopback", "udp_rxd", "efa", "ibverbs_roce", "cxi", "udp_rxd.paged_writer", "udp_rxd.invocation")
RECONNECTED = ("loopback", "tcp", "mapped", "kernel_tcp")
FAILING = ("tcp", "tcp_rxm", "sockets", "kernel_tcp", "shm", "udp_rxd", "mapped", "loopback")
_ROUNDS = "many_rounds_of_connecting_and_closing_leave_nothing_behind"
_BUG = re.compile(r"^(\w+): (?:found as \w+ after (\d+) seeds|(?:not found as|does not compile)\b)")


class Missing(Exception):
    """A program that the campaign needs does not exist; the text says which."""


def run(words: Sequence[str], more: Mapping[str, str] | None = None, keep: bool = False) -> tuple[int, str]:
    """Runs a command from the tree's root. Returns its exit code, and its output where `keep`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("FI_", "GTEST_"))}
    done = subprocess.run(words, cwd=ROOT, env={**environment, **(more or {})}, check=False, text=True,
                          errors="replace", stdout=subprocess.PIPE if keep else None)
    if keep:
        print(done.stdout, end="", flush=True)
    return done.returncode, done.stdout or ""


def simulate(place: str, seeds: int, first: int, jobs: int, build: Path | None = None) -> Figure:
    """`place` is a row, or row.system."""
    row, _, system = place.partition(".")
    asked = ["./weft", "simulate", row, *(["--system", system] if system else []), "--seeds", str(seeds),
             *(["--first", str(first)] if first != 1 else []), "--jobs", str(jobs)]
    code, _ = run([*asked, "--fresh", *(["--build", str(build)] if build else [])])
    if code not in (0, 1):
        raise Missing(f"{' '.join(asked)} ended with {code}")
    return simulated(json.loads((ROOT / "build" / "simulate" / f"{row}.{system or 'transport'}.json").read_text()),
                     " ".join(asked))


def simulated(said: Mapping[str, Any], command: str) -> Figure:
    """Of the summary that ./weft simulate writes."""
    text = (f"{said['seeds']:,} seeds, {len(said['failed'])} failed; {said['operations']:,} operations in "
            f"{said['virtual_seconds'] / 60:,.0f} virtual minutes, {said['rate']:g} seeds/s of a processor")
    return Figure(not said["failed"] and said["seeds"] > 0, text, command)


def faults(row: str, build: Path, every: int, kill_every: int, minutes: float) -> Figure:
    """Calls fail in turn, then the process is killed there. At most `minutes` for each half."""
    work = ROOT / "build" / "campaign" / "faults"
    asked = ["scripts/faults", "--build", str(build), "--row", row]
    limit = ["--minutes", f"{minutes:g}"] if minutes else []
    words = [[*asked, "--every", str(every), *limit], [*asked, "--kill", "--every", str(kill_every), *limit]]
    if {run([*each, "--work", str(work)])[0] for each in words} - {0, 1}:
        raise Missing(f"{' '.join(asked)} needs its programs")
    table = json.loads((work / "summary.json").read_text("utf-8"))["table"]
    shown = [" ".join(each).replace(f"{build}", "BUILD") for each in words]
    return failed_in_turn([each for each in table if each["row"] == row], " && ".join(shown))


def failed_in_turn(table: Sequence[Mapping[str, Any]], command: str) -> Figure:
    """Of the lines of one row in the summary of scripts/faults.

    A process that is killed before it met anybody, or after its goodbye, leaves its file in /dev/shm: nobody can know
    it (SECURITY.md). That is counted, and breaks nothing.
    """
    counts = {what: (sum(each["points"] for each in table if each["what"] == what),
                     sum(each["good"] for each in table if each["what"] == what))
              for what in ("call fails", "killed there")}
    programs = ", ".join(sorted({each["program"] for each in table}))
    (failed, good), (killed, good_kills) = counts["call fails"], counts["killed there"]
    left = sum(each.get("outcomes", {}).get("left", 0) for each in table
               if each["what"] == "killed there" and each.get("row") == "shm")
    text = (f"{failed:,} failing calls, {good:,} ended well; {killed:,} kills at a call, {good_kills:,} ended well "
            f"({programs})")
    text += f"; {left} left a file in /dev/shm, which no survivor could know" if left else ""
    return Figure(failed > 0 and failed == good and killed == good_kills + left, text, command)


def fuzz(target: str, runs: int) -> Figure:
    """One target of scripts/fuzz, as it is built."""
    if not (ROOT / "build" / "fuzz" / "fuzz" / f"fuzz.{target}").exists():
        raise Missing(f"no fuzz.{target}: scripts/fuzz --list builds it")
    code, _ = run(["scripts/fuzz", target, "--runs", str(runs), "--no-build"])
    ran = json.loads((ROOT / "build" / "fuzz" / "state.json").read_text("utf-8"))[target]
    return fuzzed(ran, code, f"scripts/fuzz {target} --runs {runs}")


def fuzzed(ran: Mapping[str, Any], code: int, command: str) -> Figure:
    """Of a target's line in build/fuzz/state.json."""
    text = (f"{ran['executions']:,} executions in {ran['seconds'] / 60:.1f} minutes, {ran['edges']:,} edges, "
            f"{ran['crashes']} crashes")
    return Figure(code == 0 and ran["crashes"] == 0 and ran["executions"] > 0, text, command)


def _ran(words: Sequence[str], more: Mapping[str, str]) -> bool:
    """Runs a test program. Whether it passed, with at least one test."""
    if not Path(words[0]).exists():
        raise Missing(f"{words[0]} does not exist")
    code, said = run(words, more, keep=True)
    return code == 0 and re.search(r"^\[  PASSED  \] [1-9]", said, re.MULTILINE) is not None


def forged_hellos(build: Path, count: int) -> Figure:
    """Strangers without the secret, by hand, over three kinds of connection."""
    words = [str(build / "tests" / "loopback" / "authentication" / "loopback.authentication_strangers"),
             "--gtest_filter=*forged_hellos*"]
    passed = _ran(words, {"WEFT_FORGED_HELLOS": str(count)})
    shown = " ".join([f"WEFT_FORGED_HELLOS={count}", *words]).replace(f"{build}", "BUILD")
    kept = "none met the application, honest peers met within 1 s" if passed else "the test failed"
    return Figure(passed, f"{count:,} forged hellos on each of three kinds of connection; {kept}", shown)


def connections(row: str, build: Path, rounds: int) -> Figure:
    """The test of many rounds counts descriptors, memory and bytes of operator new on both sides."""
    program = build / "tests" / ("loopback/loopback.reconnecting" if row == "loopback" else
                                 f"conformance/conformance.{row}")
    words = [str(program), *([] if row == "loopback" else [f"--gtest_filter=*{_ROUNDS}*"])]
    passed = _ran(words, {"WEFT_ROUNDS": str(rounds)})
    shown = " ".join([f"WEFT_ROUNDS={rounds}", *words]).replace(f"{build}", "BUILD")
    kept = "memory and descriptors as after the first quarter" if row != "loopback" else "0 bytes kept"
    return Figure(passed, f"{rounds:,} rounds; {kept if passed else 'the test failed'}", shown)


def planted(build: Path, jobs: int) -> Figure:
    """Every bug of tests/simulation/planted.yaml."""
    words = [sys.executable, "-B", "tests/simulation/planted.py", "--build", str(build), "--jobs", str(jobs)]
    code, said = run(words, keep=True)
    if code not in (0, 1):
        raise Missing(f"tests/simulation/planted.py ended with {code}")
    return planted_bugs(said, code, "tests/simulation/planted.py --build BUILD")


def planted_bugs(said: str, code: int, command: str) -> Figure:
    """Of the output of planted.py."""
    judged = [found for line in said.splitlines() if (found := _BUG.match(line))]
    seeds = [int(each[2]) for each in judged if each[2]]
    missed = [each[1] for each in judged if not each[2]]
    text = f"{len(seeds)} of {len(judged)} bugs found by name, after {max(seeds, default=0)} seeds at most"
    return Figure(code == 0 and bool(seeds) and not missed, text + (f"; not: {', '.join(missed)}" if missed else ""),
                  command)
