# SPDX-License-Identifier: Apache-2.0
"""`weft bench --peers`: builds, lets all contenders take turns, reports."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ...errors.catalogue import INPUTS, with_id
from ...report import as_csv, as_json
from .. import provenance
from ..building import Absent
from . import page
from .claims import judged
from .contenders import KERNEL, QUICK_SIZES, SET, SIZES, Plan, all_contenders, targets, transports
from .fabtests import NotBuilt, built
from .hosts import TWO_HOSTS, why_not
from .measured import measure
from .programs import ROOT, Programs, build
from .races import race, races
from .ucx import Rival, found_here, settings_rows, tune

FABRICS = ("tcp", "tcp_rxm", "shm", "mapped", KERNEL)
OFFERED = (*FABRICS, "sockets", "udp_rxd", SET)


def planned(turns: int | None, quick: bool) -> Plan:
    """The size of a run. A requested number of turns gets the time that a slow machine needs for it."""
    usual, seconds, most_of_a_turn = (2, 80.0, 60.0) if quick else (7, 520.0, 300.0)
    return Plan(QUICK_SIZES if quick else SIZES, turns or usual, turns * most_of_a_turn if turns else seconds, quick)


def play_peers(fabrics: tuple[str, ...], turns: int | None, quick: bool, kind: str, write: bool,
               fabtests: Path | None = None) -> int:
    """Returns the exit code: 0 measured, 77 where nothing can be built here. Errors: click's, for a wrong fabric."""
    for fabric in fabrics:
        if fabric not in OFFERED:
            raise click.BadParameter(f"'{fabric}' has no peers on this machine; there are {', '.join(OFFERED)}",
                                     param_hint="--fabric")
    asked = fabrics or FABRICS
    plan = planned(turns, quick)

    def report(line: str) -> None:
        click.echo(line, err=True)

    try:
        if fabtests is not None:
            os.environ["PATH"] = f"{built(fabtests, report)}:{os.environ['PATH']}"
    except NotBuilt as error:
        raise click.BadParameter(str(error), param_hint="--fabtests") from None
    try:
        programs = build(asked, targets(asked), report)
    except Absent as absent:
        report(with_id(str(absent), INPUTS))
        return 77
    before, began = provenance.load(), provenance.now()
    rivals = _rivals(asked, plan, report)
    contenders = all_contenders(asked, programs, rivals)
    measured = measure(contenders, plan, report)
    race(races(asked, programs, rivals), plan, measured, report)
    verdicts = judged(measured, asked)
    every = page.tables(contenders, measured, plan, verdicts, rivals)
    answer = page.answer({"command": _command(fabrics, turns, quick), "date": began, "machine": provenance.machine(),
                          "versions": _versions(programs, rivals),
                          "load": {"before": before, "after": provenance.load()}}, measured, verdicts,
                         settings_rows(rivals, plan.sizes))
    _show(every, answer, kind)
    if write:
        place = ROOT / "docs" / ("performance_of_sets.md" if asked == (SET,) else "performance.md")
        place.write_text(page.page(every, answer), "utf-8")
        report(f"wrote {place}")
    return 0


def _show(every: list[page.Table], answer: dict[str, Any], kind: str) -> None:
    if kind == "json":
        click.echo(as_json("peers", answer))
    elif kind == "csv":
        header = ("contender", "operation", "bytes", "median", "low", "high", "turns")
        click.echo(as_csv(header, [[str(each[name]) for name in header] for each in answer["readings"]]))
    else:
        page.show(every)


def _command(fabrics: tuple[str, ...], turns: int | None, quick: bool) -> str:
    words = ["./weft bench --peers", *(f"--fabric {fabric}" for fabric in fabrics),
             *([f"--turns {turns}"] if turns else []), *(["--quick"] if quick else []), "--write"]
    return " ".join(words)


def _rivals(fabrics: Sequence[str], plan: Plan, report: Callable[[str], None]) -> list[Rival]:
    """Each UCX over each transport of the run, tuned."""
    here = found_here(report, plan.quick)
    found = []
    for transport in transports(fabrics):
        no_hosts = why_not() if transport.endswith(TWO_HOSTS) else ""
        for each in here:
            found.append(Rival(replace(each, absent=each.absent or no_hosts), transport) if each.absent or no_hosts else
                         tune(each, transport, plan.sizes, 1 if plan.quick else 3, report))
    return found


def _versions(programs: Programs, rivals: Sequence[Rival]) -> dict[str, str]:
    found = provenance.versions(programs.library, programs.compiler)
    found |= {each.ucx.name: each.ucx.version for each in rivals}
    return {**found, "fi_pingpong": _installed("libfabric-bin")}


def _installed(package: str) -> str:
    if shutil.which("dpkg-query") is None:
        return "unknown"
    said = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True, timeout=30,
                          check=False, env={**os.environ, "LC_ALL": "C"})
    return said.stdout if said.returncode == 0 and re.fullmatch(r"\S+", said.stdout) else "not installed"
