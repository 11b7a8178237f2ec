# SPDX-License-Identifier: Apache-2.0
"""`./weft generate` and `./weft check`: the files that the matrix makes, and whether they are what the matrix says."""
from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from . import check as checks
from . import emit
from .matrix.facts import FACTS
from .matrix.loader import load_text, text_of
from .matrix.model import matrix_of
from .options import (
    FINE, NEGATIVE, ROOT, format_option, leave, matrix_option, output_option, read_inputs, refusing, rules_option,
    shown, written_to)
from .probing.command import check_live, node_option, program_option
from .report import as_json
from .rules import read_rules
from .matrix.trust import STALE_DAYS, cells_of, count, stale


@click.command()
@matrix_option
@rules_option
@output_option
@format_option("table", "json")
@refusing
def generate(matrix: Path, rules: Path, output: Path, kind: str) -> None:
    """Write generated/*, docs/matrix.md, docs/reference/matrix.html and README's table from the matrix.

    A file is written only if its bytes differ; running it twice changes nothing.

    \b
    Examples:
      ./weft generate
      ./weft generate --matrix trial.yaml --output /tmp/trial
    """
    files = emit.render(*read_inputs(matrix, rules), ROOT / "templates", written_to(output) / emit.README)
    written = emit.write(files, output)
    stray = checks.check_unaccounted(files, output)
    if kind == "json":
        click.echo(as_json("generate",
                           {"files": sorted(files), "written": sorted(written),
                            "unaccounted": [p.file for p in stray]}))
        return
    for name in written:
        click.echo(f"wrote {name}")
    click.echo(f"{len(files)} files, {len(written)} written, {len(files) - len(written)} unchanged")
    for problem in stray:
        click.echo(str(problem), err=True)


@click.command()
@matrix_option
@rules_option
@output_option
@click.option("--today", type=click.DateTime(["%Y-%m-%d"]), default=None,
              help="The day on which observations are judged. [default: today]")
@click.option("--stale-days", type=click.IntRange(1), default=STALE_DAYS, show_default=True,
              help="Older observations get a warning.")
@click.option("--live", is_flag=True,
              help="Compare the rows with the fabrics of this machine instead: the cheap part of `weft probe`.")
@click.option("--bench/--no-bench", "benches", default=True, show_default=True,
              help="With --live: run again, shortly, what rows have measured.")
@node_option
@program_option
@format_option("table", "json")
@refusing
def check(matrix: Path, rules: Path, output: Path, today: datetime | None, stale_days: int, live: bool, benches: bool,
          node: str, program: Path | None,
          kind: str) -> None:
    """Compare what is generated with the matrix: by bytes, by meaning, and for files from nowhere.

    Exit code 1 if they do not agree, with a file and a line for each difference. Stale observations are warnings,
    which do not change the exit code. The cells are counted by their level of trust.

    \b
    Examples:
      ./weft check
      ./weft check --format json
      ./weft check --live
    """
    text, families = text_of(matrix, shown(matrix)), read_rules(rules, shown(rules))
    read = matrix_of(load_text(text, shown(matrix)))  # read once: it may be a pipe
    if live:
        check_live(read, node=node, program=program, kind=kind, benches=benches)
    files = emit.render(read, families, ROOT / "templates", written_to(output) / emit.README)
    problems = (checks.check_bytes(files, output) + checks.check_unaccounted(files, output)
                + checks.check_meaning(text, output, families) + checks.check_core(ROOT))
    warnings = stale(read, (today or datetime.now()).date(), stale_days)
    levels = count(cell for fabric in read.fabrics for cell in cells_of(fabric))
    if kind == "json":
        click.echo(as_json("check", {"files": len(files), "problems": [asdict(p) for p in sorted(problems)],
                                     "warnings": [asdict(p) for p in warnings], "trust": asdict(levels)}))
        raise SystemExit(NEGATIVE if problems else FINE)
    for warning in warnings:
        click.echo(f"{warning.file}:{warning.line}: warning: {warning.sentence}")
    if problems:
        leave(sorted(problems))
    click.echo(f"trust: {levels.as_text}" + (f"; {len(warnings)} warnings of stale observations" if warnings else ""))
    click.echo(f"{len(files)} files agree with {read.file}: {len(read.fabrics)} fabrics, {len(families)} families, "
               f"{len(FACTS)} facts")
