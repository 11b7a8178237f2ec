#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Open MPI over emulated fabrics: calm, and with every legal fault, seed after seed.

Each run is `./weft emulate FABRIC -- mpirun ... mpi-exchanges`, and mpi-exchanges checks every byte. Two-sided
exchanges take pml cm with mtl ofi, one-sided ones osc rdma with btl ofi. A failure that findings.yaml describes is the
client's own: --findings makes each of them happen.
Exit 0: as it should be. Exit 1: a run failed; its line says how. Exit 2: usage.
"""
from __future__ import annotations

import argparse
import functools
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FABRICS = ("efa", "psm2", "psm3", "opx", "gni")
LARGEST = 1 << 20  # bytes: the largest message of the row that carries the smallest
TWO_SIDED = ("ring", "tags", "waiting", "claims", "synchronous", "cancel", "order", "collectives", "communicators")
ONE_SIDED = ("puts", "accumulated", "counters")
GENTLE = "reorder,again,early,shuffle,slow,partial"
# What a fabric needs so that Open MPI's own mistakes (findings.yaml) do not end each run. From release 5 on its
# one-sided runs have no fault `again` for the same reason. A card of cxi makes the keys
# where the hints permit it, and Open MPI's do.
FAULTS = {"opx": GENTLE.removeprefix("reorder,")}
CELLS = {"opx": ("--cell", "key_bytes=8"), "cxi": ("--cell", "key_owner=provider", "--cell", "key_bytes=8")}
BROKEN_RULE = "weft emulator: "


@dataclass(frozen=True)
class Run:
    """One run of mpirun; `arguments` are those of ./weft emulate, or None without the emulator."""

    fabric: str
    one_sided: bool
    exchanges: tuple[str, ...]
    arguments: tuple[str, ...] | None = ()
    ranks: int = 3

    def title(self) -> str:
        how = "natively" if self.arguments is None else " ".join(self.arguments)
        return f"{self.fabric}, {'one' if self.one_sided else 'two'}-sided, {how or 'calm'}"


@dataclass
class Found:
    """How it ended: exit code, output, and what is wrong with it (empty: nothing)."""

    code: int = 0
    said: str = ""
    fault: str = ""
    took: float = field(default=0.0, compare=False)


@functools.cache
def release() -> int:
    """The first number of Open MPI's version."""
    said = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=True).stdout
    return int(said.split("(Open MPI) ")[1].split(".")[0])


def parts_of_open_mpi(run: Run) -> list[str]:
    """From release 5 on pml cm starts no btl, so ob1 takes its messages over btl ofi too (mode 2)."""
    if not run.one_sided:
        return ["--mca", "pml", "cm", "--mca", "mtl", "ofi"]
    if run.arguments is None:
        return ["--mca", "pml", "ob1", "--mca", "btl", "ofi,self,tcp", "--mca", "osc", "rdma"]
    if release() < 5:
        return ["--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "btl", "ofi,self", "--mca", "osc", "rdma"]
    return ["--mca", "pml", "ob1", "--mca", "btl", "ofi,self", "--mca", "btl_ofi_mode", "2", "--mca", "osc", "rdma"]


def command(run: Run, build: Path) -> list[str]:
    words = ["mpirun", "-n", str(run.ranks), "--oversubscribe", *parts_of_open_mpi(run),
             "--mca", "opal_common_ofi_provider_include", run.fabric,
             str(build / "tests" / "emulator" / "mpi" / "mpi-exchanges"), str(LARGEST), *run.exchanges]
    if run.arguments is None:
        return words
    return [sys.executable, "-B", str(ROOT / "weft"), "emulate", run.fabric, "--build", str(build), *run.arguments,
            "--", *words]


def execute(run: Run, build: Path, limit: float) -> Found:
    begin = time.monotonic()
    # root in a container may run it, and programs of hardware that is not here write no backtraces
    variables = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                 "HFI_NO_BACKTRACE": "1", "IPATH_NO_BACKTRACE": "1", "WEFT_EMULATOR_EXPLAIN": "1"}
    with subprocess.Popen(command(run, build), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", env=variables, start_new_session=True) as process:
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
            said += f"\nno end in {limit:.0f} s"
    found = Found(process.returncode, said, took=time.monotonic() - begin)
    missing = [name for name in run.exchanges if f"{name}: right" not in said]
    if found.code != 0 or missing:
        found.fault = f"exit code {found.code}, not right: {', '.join(missing) or 'none'}; {shortened(said)}"
    return found


def shortened(said: str) -> str:
    """The last lines that are no hints of fi_getinfo."""
    lines = [line for line in said.splitlines() if line.strip() and "offers nothing" not in line]
    return " | ".join(lines[-6:])


def rules_in(said: str) -> list[str]:
    """The sentences of broken rules. What is explained of orders breaks none."""
    return [line for line in said.splitlines()
            if BROKEN_RULE in line and "as this fabric permits" not in line and "offers nothing" not in line
            and "rule order_hints_checked" not in line]


def runs_of(fabric: str, seeds: range) -> list[Run]:
    """A calm run and one for each seed, two-sided and one-sided."""
    def arguments(one_sided: bool, seed: int | None) -> tuple[str, ...]:
        cells = CELLS.get(fabric, ()) if one_sided else ()
        if seed is None:
            return cells
        faults = FAULTS.get(fabric, GENTLE)
        if one_sided and release() >= 5:
            faults = faults.replace("again,", "")
        return ("--faults", faults, "--seed", str(seed), *cells)

    return [Run(fabric, one_sided, ONE_SIDED if one_sided else TWO_SIDED, arguments(one_sided, seed))
            for one_sided in (False, True) for seed in (None, *seeds)]


def check_run(run: Run, build: Path, limit: float) -> bool:
    found = execute(run, build, limit)
    broken = rules_in(found.said)
    fault = found.fault or (f"a rule was broken: {broken[0]}" if broken else "")
    print(f"{run.title()}: " + (f"FAILED: {fault}" if fault else f"right, {found.took:.1f} s"), flush=True)
    return not fault


def check_finding(name: str, about: dict[str, Any], build: Path) -> bool:
    """A finding is as described if the run fails, and if the emulator names the rule."""
    if not about.get("since", 0) <= release() < about.get("until", 1000):
        return True
    limit = about.get("limit", 60)
    run = Run(about["fabric"], about["sided"] == "one", tuple(about["exchanges"]), tuple(about["arguments"]))
    as_described = True
    said = ""
    for each in [run] + ([Run(about["natively"], run.one_sided, run.exchanges, None)] if "natively" in about else []):
        found = execute(each, build, limit)
        named = not about["rule"] or f"rule {about['rule']}: " in found.said or each.arguments is None
        as_described = as_described and bool(found.fault) and named
        said = found.fault or "every exchange was right"
    print(f"finding {name}: " + ("the client's own fault, as described" if as_described else
                                 f"NOT as described: {said}"), flush=True)
    return as_described


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/emulator/mpi/run.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="build directory with the emulator and mpi-exchanges")
    parser.add_argument("--fabric", action="append", help=f"repeatable (default: {', '.join(FABRICS)})")
    parser.add_argument("--seeds", type=int, default=10, help="runs with faults, beside a calm one (default: 10)")
    parser.add_argument("--first", type=int, default=1, help="the first seed (default: 1)")
    parser.add_argument("--findings", action="store_true", help="also make each finding happen")
    parser.add_argument("--limit", type=float, default=120, help="seconds that one run may take (default: 120)")
    given = parser.parse_args()
    build = given.build.resolve()
    if not (build / "tests" / "emulator" / "mpi" / "mpi-exchanges").is_file():
        parser.error(f"{build} has no tests/emulator/mpi/mpi-exchanges; build this target (it needs Open MPI)")
    right = True
    for fabric in given.fabric or FABRICS:
        for run in runs_of(fabric, range(given.first, given.first + given.seeds)):
            right = check_run(run, build, given.limit) and right
    if given.findings:
        findings = YAML(typ="safe").load((HERE / "findings.yaml").read_text("utf-8"))
        for name, about in findings.items():
            right = check_finding(name, about, build) and right
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
