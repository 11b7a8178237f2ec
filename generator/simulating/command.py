# SPDX-License-Identifier: Apache-2.0
"""Arguments of `weft simulate`, and its summary."""
from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ..matrix.loader import Refused
from ..matrix.model import read_matrix
from ..matrix.refusing import did_you_mean
from ..options import FINE, NEGATIVE, NumberRange, format_option, leave
from ..report import as_json
from .building import ROOT, build_program
from .running import Campaign, Failure, Record, run

SYSTEMS = ("transport", "invocation", "paged_writer")
RESULTS = ROOT / "build" / "simulate"


def failures_of(record: Record) -> list[Failure]:
    return sorted((failure for chunk in record.chunks.values() for failure in chunk.failures),
                  key=lambda failure: failure.seed)


def summary_of(campaign: Campaign, record: Record, real_seconds: float) -> dict[str, Any]:
    """Every number that a page may quote. `rate` counts seeds of one processor."""
    chunks = record.chunks.values()
    ran = sum(chunk.ran for chunk in chunks)
    seconds = sum(chunk.seconds for chunk in chunks)
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True,
                            check=False).stdout.strip()
    return {"row": campaign.row, "system": campaign.system, "faults": campaign.faults, "commit": commit,
            "seeds": ran, "failed": [asdict(failure) for failure in failures_of(record)],
            "operations": sum(chunk.operations for chunk in chunks), "processor_seconds": round(seconds, 1),
            "virtual_seconds": round(sum(chunk.virtual_seconds for chunk in chunks), 1),
            "rate": round(ran / seconds, 1) if seconds > 0 else 0, "real_seconds": round(real_seconds, 1)}


@click.command()
@click.argument("row")
@click.option("--seeds", type=click.IntRange(min=1), help="How many seeds.  [default: 1000, or no limit with --hours]")
@click.option("--first", default=1, show_default=True, type=click.IntRange(min=0), help="The first seed.")
@click.option("--hours", type=NumberRange(min=0, min_open=True), help="No new seeds begin after so long.")
@click.option("--system", type=click.Choice(SYSTEMS), default="transport", show_default=True, help="What runs.")
@click.option("--faults", default="all", show_default=True, metavar="LIST",
              help="all, none, or names with commas (docs/reference/simulation.md).")
@click.option("--jobs", default=min(2, os.cpu_count() or 1), show_default=True, type=click.IntRange(1, 256),
              help="Processes at once.")
@click.option("--build", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="A configured build directory.  [default: build/simulate/tree, made by the command]")
@click.option("--fresh", is_flag=True, help="Forget the seeds that ran before with the same program.")
@format_option("table", "json")
def simulate(row: str, seeds: int | None, first: int, hours: float | None, system: str, faults: str, jobs: int,
             build: Path | None, fresh: bool, kind: str) -> None:
    """Simulate whole systems over the fabric ROW, one run for each seed.

    A seed decides everything: traffic, faults and their times. Seeds that ran before with the same program are not
    repeated. A failing seed is shrunk, and the output has the command that repeats it. The summary is
    build/simulate/ROW.SYSTEM.json. The exit code is 1 if a seed failed.

    \b
    Examples:
      ./weft simulate loopback --seeds 10000
      ./weft simulate efa --hours 8 --jobs 2
      ./weft simulate udp_rxd --system invocation --faults loss,delay
    """
    try:
        rows = [each.name for each in read_matrix(ROOT / "providers.yaml", "providers.yaml").fabrics]
    except Refused as refused:
        leave(refused.problems)
    if row not in rows:
        raise click.BadParameter(f"no fabric '{row}'{did_you_mean(row, rows) or '; there are ' + ', '.join(rows)}",
                                 param_hint="ROW")
    program = build_program(row, build)
    campaign = Campaign(program, row, system, faults)
    record = Record(RESULTS, campaign, fresh)
    if seeds is None and hours is None:
        seeds = 1000
    begin = time.monotonic()
    shown: set[int] = set()

    def progress(now: Record) -> None:
        for failure in failures_of(now):
            if failure.seed not in shown and kind == "table":
                shown.add(failure.seed)
                show(failure)
        ran = sum(chunk.ran for chunk in now.chunks.values())
        click.echo(f"{campaign.name()}: {ran} seeds, {len(failures_of(now))} failed", err=True)

    run(campaign, record, first, seeds, hours, jobs, progress)
    progress(record)
    summary = summary_of(campaign, record, time.monotonic() - begin)
    (RESULTS / f"{campaign.name()}.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    click.echo(as_json("simulate", summary) if kind == "json" else
               f"{summary['seeds']} seeds, {summary['operations']} operations, {summary['virtual_seconds']} s of "
               f"virtual time, {summary['rate']} seeds/s per processor, {len(summary['failed'])} failed")
    raise SystemExit(NEGATIVE if summary["failed"] else FINE)


def show(failure: Failure) -> None:
    click.echo(f"seed {failure.seed}: {failure.finding}: {failure.sentence}\n  repeat: {failure.repeat}")
    if failure.shortest:
        click.echo(f"  shortest: {failure.shortest}")
