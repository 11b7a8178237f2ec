# SPDX-License-Identifier: Apache-2.0
"""One run of `weft bench`, from a row to its result: enumerate, build, run, rank."""
from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..decided import Decided, decide_all
from ..matrix.model import Range, read_matrix
from ..probing.compare import range_for
from ..rules import Family, read_rules
from ..matrix.refusing import did_you_mean
from . import provenance, ranking
from .building import Absent, built
from .combining import Combination, NotUnderstood, combinations, wanted_families
from .running import Plan, Turn, play

ROOT = Path(__file__).resolve().parents[2]
MOST = 64  # programs: a larger run takes hours, and its table is too long to read


@dataclass(frozen=True)
class Asked:
    """The arguments of the command."""

    fabric: str
    vary: tuple[str, ...]
    plan: Plan
    folder: Path
    jobs: int
    node: str
    adds_too: bool = True  # fetch_add where atomics are varied
    only_list: bool = False
    own_only: bool = False  # nothing is varied


def measure(asked: Asked, report: Callable[[str], None]) -> dict[str, Any]:
    """What generator/schemas/bench.schema.json describes, without the schema's name. Errors: NotUnderstood; Absent;
    Refused.
    """
    families = read_rules(ROOT / "generator" / "rules.yaml", "generator/rules.yaml")
    row = _row(asked.fabric, families)
    wanted = {} if asked.own_only else wanted_families(asked.vary, families) if asked.vary else None
    index = row.fabric.ranges.index(_span(row))
    found = combinations(row.fabric, row.fabric.ranges[index], row.choices[index], families, wanted)
    legal = [each for each in found if each.legal]
    if len(legal) > MOST:
        raise NotUnderstood(f"{len(legal)} combinations are legal, and {MOST} are the most for one run: vary fewer "
                            "families, or name answers (family=answer)")
    plan = asked.plan
    if asked.adds_too and "atomics" in (family for family, _ in found[0].answers):
        plan = replace(plan, operations=(*plan.operations, "fetch_add"))
    before, date = provenance.load(), provenance.now()
    report(f"{len(legal)} legal combinations, {len(found) - len(legal)} illegal")
    turns: list[Turn] = []
    failed: dict[Combination, str] = {}
    library = compiler = "none"
    if not asked.only_list:
        programs = built(asked.fabric, legal, asked.folder, asked.jobs, report)
        _baseline_is_there(programs.failed, asked.fabric)
        turns, fallen = play(programs.programs, plan, asked.node, report)
        failed, library, compiler = {**programs.failed, **fallen}, programs.library, programs.compiler
    return {"fabric": asked.fabric, "varied": [family for family, _ in found[0].answers], "turns": len(turns),
            "date": date, "machine": provenance.machine(),
            "versions": provenance.versions(library, compiler), "load": {"before": before, "after": provenance.load()},
            "results": ranking.results(found, turns, failed), "ranking": ranking.ranking(found, turns, failed)}


def _baseline_is_there(failed: dict[Combination, str], fabric: str) -> None:
    for each, why in failed.items():
        if each.baseline:
            raise Absent(f"the row's own answers of fabric {fabric} cannot be built here: {why}")


def _row(name: str, families: tuple[Family, ...]) -> Decided:
    rows = {each.fabric.name: each for each in decide_all(read_matrix(ROOT / "providers.yaml", "providers.yaml"),
                                                          families)}
    if name not in rows:
        raise NotUnderstood(f"no fabric '{name}'{did_you_mean(name, rows) or '; there are ' + ', '.join(rows)}")
    if rows[name].fabric.backend == "loopback":
        raise NotUnderstood(f"fabric {name} is a simulation in one process, in virtual time: nothing of it can be "
                            "timed")
    return rows[name]


def _span(row: Decided) -> Range:
    """The part of the row for the installed release; the newest where that release is unknown."""
    release = release_here(row.fabric.backend)
    if not release:
        return row.fabric.ranges[-1]
    span = range_for(row.fabric, release)
    if span is None:
        raise Absent(f"fabric {row.fabric.name} is not on this machine: its row describes releases since "
                     f"{row.fabric.since}"
                     + (f" to before {row.fabric.until}" if row.fabric.until else "") + f", and {release} is installed")
    return span


def release_here(backend: str) -> str:
    """Of the backend's library: major.minor, or empty."""
    if backend in ("mapped", "streams"):
        text = platform.release()
    else:
        package = {"libfabric": "libfabric", "verbs": "libibverbs"}[backend]
        try:
            text = subprocess.run(["pkg-config", "--modversion", package], capture_output=True, text=True, timeout=10,
                                  check=False).stdout.strip()
        except (OSError, subprocess.TimeoutExpired):
            return ""
        if backend == "verbs":  # it calls itself 1.14.44.0 in rdma-core 44.0
            text = ".".join(text.split(".")[2:])
    found = re.match(r"[0-9]+\.[0-9]+", text)
    return found.group(0) if found else ""
