# SPDX-License-Identifier: Apache-2.0
"""Arguments and exit codes of the command `weft`; no logic.

Exit codes: 0 fine, 1 looked at and not fine (drift, a refused matrix), 2 wrong usage, 70 a fault of weft itself. 77, "skipped for
want of hardware", belongs to commands that need some; none of these does.
"""
from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import click

from . import check as checks
from . import emit, inspecting
from .adding.command import add
from .benching.command import bench
from .conforming.command import conformance
from .emulating import emulate
from .decided import Decided, answer_of, decide_all, fact_of, marked_answer_of, marked_fact_of
from .explain import explained, show_all, show_one
from .facts import FACTS, GROUPS
from .loader import Problem, Refused
from .model import Matrix, read_matrix
from .ordering import ordering_of, show_ordering
from .probing.command import check_live, node_option, probe, program_option
from .report import as_csv, as_json, show_inspected, show_table
from .rules import Family, read_rules
from .schema import did_you_mean
from .trust import LEGEND, STALE_DAYS, cells_of, count, stale
from .version import version_of

ROOT = Path(__file__).resolve().parent.parent
FINE, NEGATIVE, USAGE, INTERNAL = 0, 1, 2, 70
_MAIN = ("endpoint", "notify", "write_fault", "atomics", "progress", "wait", "liveness")

_existing = click.Path(exists=True, dir_okay=False, path_type=Path)
_matrix = click.option("--matrix", type=_existing, default=ROOT / "providers.yaml", show_default="providers.yaml of this tree",
                       help="The matrix to read.")
_rules = click.option("--rules", type=_existing, default=ROOT / "generator" / "rules.yaml", show_default="those of this tree",
                      help="The rules to apply.")
_output = click.option("--output", type=click.Path(file_okay=False, path_type=Path), default=ROOT, show_default="this tree",
                       help="The folder that has generated/ and docs/.")


def _format(*kinds: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option("--format", "kind", type=click.Choice(kinds), default=kinds[0], show_default=True, help="How to answer.")


def _shown(path: Path) -> str:
    """A file's name in sentences: below the tree or the working folder where it lies there."""
    for base in (Path.cwd(), ROOT):
        if path.resolve().is_relative_to(base):
            return path.resolve().relative_to(base).as_posix()
    return str(path)


def _read(matrix: Path, rules: Path) -> tuple[Matrix, tuple[Family, ...]]:
    return read_matrix(matrix, _shown(matrix)), read_rules(rules, _shown(rules))


def _tell(problems: list[Problem]) -> NoReturn:
    """Prints the problems on standard error and leaves with 1."""
    for problem in problems:
        click.echo(str(problem), err=True)
    raise SystemExit(NEGATIVE)


def _refusing(command: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except Refused as refused:
            _tell(refused.problems)

    return wrapped


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
             epilog="Exit codes: 0 fine, 1 not fine, 2 wrong usage, 70 a fault of weft itself.")
@click.version_option(version_of(ROOT), prog_name="weft", message="%(prog)s %(version)s")
def weft() -> None:
    """From facts about network providers to C++ transports.

    \b
    Examples:
      ./weft explain shm notify            one answer: the facts, their evidence, and why not another
      ./weft bench --fabric tcp --quick    its legal answers, measured
    """


@weft.command()
@_matrix
@_rules
@_output
@_format("table", "json")
@_refusing
def generate(matrix: Path, rules: Path, output: Path, kind: str) -> None:
    """Write generated/*.hpp, generated/fabrics.cmake and docs/matrix.md from the matrix.

    A file is written only if its bytes differ; running it twice changes nothing.

    \b
    Examples:
      ./weft generate
      ./weft generate --matrix trial.yaml --output /tmp/trial
    """
    files = emit.render(*_read(matrix, rules), ROOT / "templates", output / emit.README)
    written = emit.write(files, output)
    stray = checks.check_unaccounted(files, output)
    if kind == "json":
        click.echo(as_json("generate", {"files": sorted(files), "written": sorted(written), "unaccounted": [p.file for p in stray]}))
        return
    for name in written:
        click.echo(f"wrote {name}")
    click.echo(f"{len(files)} files, {len(written)} written, {len(files) - len(written)} unchanged")
    for problem in stray:
        click.echo(str(problem), err=True)


@weft.command()
@_matrix
@_rules
@_output
@click.option("--today", type=click.DateTime(["%Y-%m-%d"]), default=None, help="The day on which observations are judged. [default: today]")
@click.option("--stale-days", type=click.IntRange(1), default=STALE_DAYS, show_default=True, help="Older observations get a warning.")
@click.option("--live", is_flag=True, help="Compare the rows with the fabrics of this machine instead: the cheap part of `weft probe`.")
@click.option("--bench/--no-bench", "benches", default=True, show_default=True, help="With --live: run again, shortly, what rows have measured.")
@node_option
@program_option
@_format("table", "json")
@_refusing
def check(matrix: Path, rules: Path, output: Path, today: datetime | None, stale_days: int, live: bool, benches: bool, node: str, program: Path | None,
          kind: str) -> None:
    """Compare generated/ and docs/matrix.md with the matrix: by bytes, by meaning, and for files from nowhere.

    Exit code 1, with a file and a line for each difference, if they do not agree. Stale observations are warnings: they change no
    exit code. The cells are counted by their level of trust.

    \b
    Examples:
      ./weft check
      ./weft check --format json
      ./weft check --live
    """
    read, families = _read(matrix, rules)
    if live:
        check_live(read, node=node, program=program, kind=kind, benches=benches)
    files = emit.render(read, families, ROOT / "templates", output / emit.README)
    problems = (checks.check_bytes(files, output) + checks.check_unaccounted(files, output)
                + checks.check_meaning(matrix, output, families) + checks.check_core(ROOT))
    warnings = stale(read, (today or datetime.now()).date(), stale_days)
    levels = count(cell for fabric in read.fabrics for cell in cells_of(fabric))
    if kind == "json":
        click.echo(as_json("check", {"files": len(files), "problems": [asdict(p) for p in sorted(problems)],
                                     "warnings": [asdict(p) for p in warnings], "trust": asdict(levels)}))
        raise SystemExit(NEGATIVE if problems else FINE)
    for warning in warnings:
        click.echo(f"{warning.file}:{warning.line}: warning: {warning.sentence}")
    if problems:
        _tell(sorted(problems))
    click.echo(f"trust: {levels.told}" + (f"; {len(warnings)} warnings of stale observations" if warnings else ""))
    click.echo(f"{len(files)} files agree with {read.file}: {len(read.fabrics)} fabrics, {len(families)} families, {len(FACTS)} facts")


def _decided(matrix: Path, rules: Path) -> tuple[tuple[Decided, ...], tuple[Family, ...]]:
    read, families = _read(matrix, rules)
    return decide_all(read, families), families


def _pick_fabric(decided: tuple[Decided, ...], name: str) -> Decided:
    for each in decided:
        if each.fabric.name == name:
            return each
    names = [each.fabric.name for each in decided]
    raise click.BadParameter(f"no fabric '{name}'{did_you_mean(name, names) or '; there are ' + ', '.join(names)}", param_hint="FABRIC")


def _pick_family(families: tuple[Family, ...], name: str) -> Family:
    for family in families:
        if family.name == name:
            return family
    names = [family.name for family in families]
    raise click.BadParameter(f"no family '{name}'{did_you_mean(name, names) or '; there are ' + ', '.join(names)}", param_hint="FAMILY")


@weft.command()
@click.argument("fabric")
@click.argument("family", required=False)
@_matrix
@_rules
@_format("table", "json", "csv")
@_refusing
def explain(fabric: str, family: str | None, matrix: Path, rules: Path, kind: str) -> None:
    """Say what FABRIC answers to each family, or to FAMILY, and why.

    With `ordering` for a FAMILY: what is ordered with what. With a FAMILY the evidence of each fact is shown, and why the other answers were not taken.

    \b
    Examples:
      ./weft explain tcp_rxm
      ./weft explain tcp_rxm atomics
      ./weft explain cxi notify --format json
      ./weft explain tcp ordering      what is ordered with what
    """
    decided, families = _decided(matrix, rules)
    row = _pick_fabric(decided, fabric)
    if family == "ordering":
        kept = ordering_of(row)
        if kind == "json":
            click.echo(as_json("ordering", {"fabric": fabric, "orders": kept}))
        elif kind == "csv":
            click.echo(as_csv(("fabric", "order", "since", "answer", "reason"), [(fabric, *each.values()) for each in kept]))
        else:
            show_ordering(row, kept)
        return
    asked = (_pick_family(families, family),) if family else families
    found = explained(row, asked)
    if kind == "json":
        click.echo(as_json("explain", {"fabric": fabric, "answers": found}))
    elif kind == "csv":
        click.echo(as_csv(("fabric", "family", "since", "answer", "reason"),
                          [(fabric, each["family"], each["since"], each["answer"], each["reason"]) for each in found]))
    elif family:
        show_one(row.fabric, asked[0], found)
    else:
        show_all(row, found)


@weft.command(name="matrix")
@click.option("--facts", "group", type=click.Choice(GROUPS), help="Show the facts of a group instead of the answers.")
@click.option("--all", "every", is_flag=True, help="Show every family, not only those in which fabrics differ most.")
@_matrix
@_rules
@_format("table", "json", "csv")
@_refusing
def show_matrix(group: str | None, every: bool, matrix: Path, rules: Path, kind: str) -> None:
    """Show what each fabric answers, or its facts. JSON and CSV have every family, or every fact of the group.

    \b
    Examples:
      ./weft matrix
      ./weft matrix --facts order
      ./weft matrix --format csv > matrix.csv
    """
    decided, families = _decided(matrix, rules)
    marked = kind == "table"
    if group:
        names = [fact.name for fact in FACTS if fact.group == group]
        fact_told = marked_fact_of if marked else fact_of
        told = {each.fabric.name: [fact_told(each.fabric, name) for name in names] for each in decided}
    else:
        wanted = None if every or not marked else _MAIN
        names = [family.name for family in families if wanted is None or family.name in wanted]
        answer_told = marked_answer_of if marked else answer_of
        told = {each.fabric.name: [answer_told(each, name) for name in names] for each in decided}
    counts = {each.fabric.name: count(cells_of(each.fabric)) for each in decided}
    rows = [(each.fabric.name, *told[each.fabric.name]) for each in decided]
    if kind == "json":
        content = [{"fabric": each.fabric.name, "backend": each.fabric.backend, "since": str(each.fabric.since),
                    "until": str(each.fabric.until) if each.fabric.until else None,
                    "trust": asdict(counts[each.fabric.name]), "cells": dict(zip(names, told[each.fabric.name]))} for each in decided]
        click.echo(as_json("matrix", {"shows": "facts" if group else "answers", "fabrics": content}))
    elif kind == "csv":
        click.echo(as_csv(("fabric", *names), rows))
    else:
        seen = [f"{counts[each.fabric.name].observed} of {counts[each.fabric.name].cells}" for each in decided]
        show_table(("fabric", *names, "facts observed"), [(*row, part) for row, part in zip(rows, seen)])
        click.echo(f"\n{LEGEND}; all rows: {count(cell for each in decided for cell in cells_of(each.fabric)).told}")


@weft.command()
@click.argument("binaries", metavar="BINARY...", nargs=-1, required=True, type=_existing)
@_matrix
@_rules
@_format("table", "json")
@_refusing
def inspect(binaries: tuple[Path, ...], matrix: Path, rules: Path, kind: str) -> None:
    """Say which fabrics BINARY was built for: releases, wire version, answers, and whether its row is that of this tree.

    Nothing is run. With two binaries it also says whether they can talk; exit code 1 if they share no fabric on which they can.

    \b
    Examples:
      ./weft inspect build/dev/examples/hello/hello-caller.tcp
      ./weft inspect caller.tcp listener.tcp
    """
    if len(binaries) > 2:
        raise click.UsageError("one BINARY, or two that are to talk")
    decided, families = _decided(matrix, rules)
    found = [(_shown(path), inspecting.inspect(path, _shown(path))) for path in binaries]
    talk = [inspecting.unlikeness(a, b) for a in found[0][1] for b in found[-1][1]] if len(found) == 2 else []
    apart = bool(talk) and all(talk)
    if kind == "json":
        content = [{"file": name, "fabrics": [{**asdict(one), "row": inspecting.against_tree(one, decided, families)} for one in every]}
                   for name, every in found]
        click.echo(as_json("inspect", {"binaries": content, "can_talk": not apart if talk else None, "why_not": talk[0] if apart else ""}))
        raise SystemExit(NEGATIVE if apart else FINE)
    show_inspected([(name, one, inspecting.against_tree(one, decided, families)) for name, every in found for one in every])
    if talk:
        click.echo(f"they cannot talk: {talk[0]}" if apart else "they can talk")
    raise SystemExit(NEGATIVE if apart else FINE)


weft.add_command(add)
weft.add_command(bench)
weft.add_command(conformance)
weft.add_command(emulate)
weft.add_command(probe)


def main() -> NoReturn:
    """Runs the command. A fault of weft itself is one sentence and 70; WEFT_TRACEBACK=1 shows where."""
    try:
        weft.main(prog_name="weft", standalone_mode=True)
    except SystemExit:
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(FINE) from None
    except Exception as error:  # noqa: BLE001  the last place that can make a sentence of it
        if os.environ.get("WEFT_TRACEBACK"):
            raise
        click.echo(f"weft: a fault of its own: {type(error).__name__}: {error} (WEFT_TRACEBACK=1 shows where)", err=True)
        raise SystemExit(INTERNAL) from None
    raise SystemExit(FINE)
