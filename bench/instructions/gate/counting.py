# SPDX-License-Identifier: Apache-2.0
"""Counts the caller's own instructions per operation under callgrind, for weft and for hand-written programs.

A program enters its measured function in several visits for each operation, and says how many polls of each found
nothing. callgrind writes one part of its profile per visit. Most of a run is its start, so one run counts many
operations. The visit with the fewest instructions counts: work that is due by the clock,
or once in many polls, belongs to no operation. Programs without visits are counted as a whole.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import object_code
from judging import Row, Side

OPERATIONS = ("inject", "send", "put", "put_notify", "put_notify_signalled", "put_signalled", "get", "send_batch",
              "put_batch", "put_notify_batch", "fetch_add",
              "fetch_add_batch", "add_u32", "fetch_max_i32", "poll_empty", "poll_one", "poll_batch", "receive")
FINDING = ("poll_one", "poll_batch", "receive")
CONTENDERS = ("weft", "by_hand", "bare")
SECONDS = 300  # of one run on a busy machine; the programs end themselves before that


@dataclass
class Profile:
    """The program's own part of a callgrind profile, and the instructions of the libraries that it called."""

    instructions: int = 0
    library: int = 0
    conditional: int = 0
    indirect: int = 0
    functions: set[str] = field(default_factory=set)


def own_part(profile: Path, program: str) -> Profile:
    """Exclusive cost of all functions of the program in a callgrind profile; the cost of a call is the callee's."""
    objects: dict[str, str] = {}
    names: dict[str, str] = {}
    here, function, own, skip = "", "", Profile(), False
    at = {"Ir": 1, "Bc": 0, "Bi": 0}
    for line in profile.read_text().splitlines():
        if line.startswith("events: "):
            at = {event: place for place, event in enumerate(line.split())}
        elif match := re.match(r"(c?)ob=(\(\d+\))(?: (.*))?$", line):
            if match[3]:
                objects[match[2]] = match[3]
            here = here if match[1] else objects.get(match[2], "")
        elif match := re.match(r"(c?)fn=(\(\d+\))(?: (.*))?$", line):
            if match[3]:
                names[match[2]] = match[3]
            function = function if match[1] else names.get(match[2], "")
        elif line.startswith("calls="):
            skip = True
        elif re.match(r"[+\-*\d]", line):
            cost = [int(each) for each in line.split()[1:]]
            cost += [0] * (5 - len(cost))
            if not skip and Path(here).name != program:
                own.library += cost[at["Ir"] - 1]
            elif not skip:
                own.instructions += cost[at["Ir"] - 1]
                own.conditional += cost[at["Bc"] - 1] if at["Bc"] else 0
                own.indirect += cost[at["Bi"] - 1] if at["Bi"] else 0
                own.functions.add(function.split("'")[0])
            skip = False
    return own


# The counted function jumps into its cold part (".cold"). A toggle there would end the collection.
COUNTED_IN = ("--toggle-collect=*measured_*_", "--toggle-collect=*measured_*.constprop.?")


Options = tuple[str, ...]


@dataclass(frozen=True)
class Visit:
    """One part of a run: operations, polls that found nothing, and what ran in the measured function."""

    operations: float
    empty: int
    own: Profile


@dataclass(frozen=True)
class Run:
    """One contender's run of one operation."""

    visits: list[Visit]

    def functions(self) -> set[str]:
        """Of all visits, also of those with rare work."""
        return set().union(*(visit.own.functions for visit in self.visits))

    def least(self, empty: Side | None = None) -> Side:
        """The cost of one operation in the cheapest visit, without the polls that found nothing."""
        return min((per_operation(visit, empty) for visit in self.visits), key=lambda side: side.instructions)


def callgrind(folder: Path, program: Path, arguments: list[str], options: Options = ()) -> tuple[int, str]:
    """Runs the program; the folder gets the profiles. Returns the process id and the output; nothing after exit code
    77.
    """
    command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", *COUNTED_IN, "--fair-sched=yes", "-q",
               "--branch-sim=yes",
               "--demangle=no", f"--callgrind-out-file={folder}/profile.%p", *options, str(program), *arguments]
    what = " ".join([program.name, *arguments])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            said, complaints = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise RuntimeError(f"{what}: not done after {SECONDS} s") from None
    if process.returncode not in (0, 77):
        raise RuntimeError(f"{what}: exit code {process.returncode}\n{said[-300:]}{complaints[-600:]}")
    return process.pid, said if process.returncode == 0 else ""


def parts_of(folder: Path, process: int, program: Path) -> list[Profile]:
    """The parts of a profile in their order, without those in which nothing ran."""
    numbered = sorted(folder.glob(f"profile.{process}.*"), key=lambda each: int(each.suffix[1:]))
    parts = [own_part(each, program.name) for each in (*numbered, folder / f"profile.{process}") if each.exists()]
    return [part for part in parts if part.instructions > 0]


def count(program: Path, operations: Sequence[str], contender: str, visits: int) -> dict[str, Run]:
    """One run. It leaves out what this contender does not have on this fabric."""
    arguments = [word for each in operations for word in ("--operation", each)]
    with tempfile.TemporaryDirectory(prefix="weft-instructions-") as made:
        folder = Path(made)
        process, said = callgrind(folder, program, [*arguments, "--contender", contender, "--visits", str(visits)],
                                  ("--dump-after=*visit_ended*",))
        parts, runs = parts_of(folder, process, program) if said else [], {}
        for result in map(json.loads, said.splitlines()):
            empty = result["empty"] if isinstance(result["empty"], list) else [result["empty"]]
            each = result["operations"] / len(empty)
            own, parts = parts[:len(empty)], parts[len(empty):]
            if len(own) != len(empty):
                raise RuntimeError(f"{program.name} {result['operation']} {contender}: {len(empty)} visits, and "
                                   f"{len(own)} counted")
            runs[result["operation"]] = Run([Visit(each, nothing, part) for nothing, part in zip(empty, own)])
        if parts:
            raise RuntimeError(f"{program.name} {contender}: {len(parts)} more visits counted than it said: {said!r}")
        return runs


def count_alone(program: Path, operations: Sequence[str], contender: str, visits: int) -> dict[str, Run]:
    """Of a program that has an end of its own for each operation: a run for each."""
    runs: dict[str, Run] = {}
    for each in operations:
        runs |= count(program, (each,), contender, visits)
    return runs


def per_operation(visit: Visit, empty: Side | None) -> Side:
    """Takes out the polls that found nothing before the one that found something."""
    def cost(what: int, of_empty: float) -> float:
        return (what - visit.empty * of_empty) / visit.operations

    own, nothing = visit.own, empty or Side(0.0)
    return Side(cost(own.instructions, nothing.instructions), cost(own.library, nothing.library),
                cost(own.conditional, nothing.branches), cost(own.indirect, nothing.indirect))


Counting = Callable[[Path, Sequence[str], str, int], Mapping[str, Run]]


def table(program: Path, fabric: str, visits: int, operations: tuple[str, ...] = OPERATIONS,
          count_all: Counting = count, contenders: tuple[str, ...] = CONTENDERS) -> list[Row]:
    """A row for each operation."""
    text = object_code.functions(program)
    asked = operations
    if "poll_empty" not in asked and set(FINDING) & set(asked) & set(OPERATIONS):
        asked = ("poll_empty", *asked)  # its cost is taken out of the others
    runs = {contender: count_all(program, asked, contender, visits) for contender in contenders}

    def side(operation: str, contender: str) -> Side | None:
        run, of_nothing = runs[contender].get(operation), runs[contender].get("poll_empty")
        if run is None:
            return None
        of_empty = of_nothing.least() if of_nothing and operation in FINDING else None
        if of_empty is None and operation != "poll_empty" and any(visit.empty for visit in run.visits):
            raise RuntimeError(f"{program.name} {operation} {contender}: polls found nothing, and cannot be taken out")
        cost, static = run.least(of_empty), object_code.of(text, run.functions())
        return Side(cost.instructions, cost.library, cost.branches, cost.indirect, static.bytes, static.allocating)

    return [Row(fabric, each, *(side(each, contender) for contender in contenders)) for each in operations]


def show(rows: list[Row]) -> None:
    """Own instructions of each program. Of weft / by hand with the same checks: instructions of the called libraries,
    conditional branches, calls through pointers, and bytes of the functions that ran.
    """
    print(f"{'fabric':<12} {'operation':<20} {'bare':>7} {'checks':>7} {'weft':>7} {'more':>6}  {'library':>15}  "
          f"{'branches':>11}  {'indirect':>9}  {'bytes':>11}  {'allocating':>10}")
    for row in rows:
        if row.weft is None:
            continue
        sides = [side for side in (row.weft, row.by_hand) if side is not None]
        more = "" if row.by_hand is None else f"{row.weft.instructions - row.by_hand.instructions:+.1f}"
        bare, by_hand = ("-" if side is None else f"{side.instructions:.1f}" for side in (row.bare, row.by_hand))
        pairs = ["/".join(f"{each:.1f}" for each in each_side) for each_side in
                 ([side.library for side in sides], [side.branches for side in sides],
                  [side.indirect for side in sides])]
        pairs += ["/".join(str(each) for each in each_side) for each_side in
                  ([side.bytes for side in sides], [side.allocating for side in sides])]
        print(f"{row.fabric:<12} {row.operation:<20} {bare:>7} {by_hand:>7} {row.weft.instructions:>7.1f} {more:>6}  "
              f"{pairs[0]:>15}  {pairs[1]:>11}  {pairs[2]:>9}  {pairs[3]:>11}  {pairs[4]:>10}")
