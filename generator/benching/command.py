# SPDX-License-Identifier: Apache-2.0
"""Arguments of `weft bench`; no logic."""
from __future__ import annotations

import importlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import jsonschema

from ..errors.catalogue import INPUTS, with_id
from ..matrix.loader import Refused
from ..report import as_json
from ..matrix.refusing import did_you_mean
from . import pages, showing
from .building import Absent, folder_for
from .combining import NotUnderstood
from .running import Plan
from .session import Asked, measure

SIZES = "8,64,512,1024,4096,16384,65536,1048576"
QUICK_SIZES = "8,4096,65536"
WINDOWS = "1,4,16,64"
OPERATIONS = ("put_notify", "send", "put_visible", "put_notify_rate", "send_rate", "put")
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "mb": 1 << 20}


def _numbers(_context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """`8,1024,64KiB`."""
    if value is None:
        return None
    found = []
    for word in filter(None, (each.strip() for each in value.split(","))):
        number = re.fullmatch(r"([0-9]{1,9})\s*([a-zA-Z]*)", word)
        unit = _UNITS.get(number.group(2).lower(), 0) if number else 0
        if not number or not 0 < int(number.group(1)) * unit <= 1 << 24:
            raise click.BadParameter(f"'{word}' is no number from 1 to {1 << 24}: write for example 8,1024,64KiB",
                                     param=parameter)
        found.append(int(number.group(1)) * unit)
    if not found:
        raise click.BadParameter("a number is missing: write for example 8,1024,64KiB", param=parameter)
    return tuple(dict.fromkeys(found))


def _operations(_context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    known = (*OPERATIONS, "fetch_add")
    found = tuple(filter(None, (each.strip() for each in (value or "").split(","))))
    for each in found:
        if each not in known:
            raise click.BadParameter("no operation "
                                     f"'{each}'{did_you_mean(each, known) or '; there are ' + ', '.join(known)}",
                                     param=parameter)
    return found or None


@click.command()
@click.option("--fabric", "fabrics", metavar="FABRIC", multiple=True,
              help="The row whose answers are varied; with --peers any number.")
@click.option("--vary", multiple=True, metavar="FAMILY,...",
              help="Families whose answers are varied, with each other; or FAMILY=ANSWER,FAMILY=ANSWER. Without it "
                   "every family that "
              "has a choice, one at a time.")
@click.option("--sizes", callback=_numbers, metavar="BYTES,...",
              help=f"Of a transfer.  [default: {SIZES}; --quick: {QUICK_SIZES}]")
@click.option("--windows", callback=_numbers, default=WINDOWS, show_default=True, metavar="N,...",
              help="Operations before one answer, for rates.")
@click.option("--window-bytes", type=click.IntRange(1, 1 << 20), default=8, show_default=True,
              help="Of an operation in a window.")
@click.option("--operations", callback=_operations, metavar="NAME,...",
              help=f"{', '.join(OPERATIONS)}, fetch_add.  [default: all; fetch_add where atomics are varied]")
@click.option("--turns", type=click.IntRange(1, 1000), help="Turns that count.  [default: 10; --quick: 3]")
@click.option("--quick", is_flag=True,
              help="A run of a minute: few sizes, few and short turns. Without --vary only the row's own answers.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path),
              help="Where plots go: PNG, and index.html, which holds all.")
@click.option("--build", type=click.Path(file_okay=False, path_type=Path),
              help="Where programs are built and kept.  [default: build/bench]")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="processors",
              help="Compilers at a time.")
@click.option("--node", default="", help="The local address of both processes.  [default: 127.0.0.1]")
@click.option("--from", "recorded", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="Run nothing: show the results in this file (--format json).")
@click.option("--list", "only_list", is_flag=True, help="Say which combinations there are, and build nothing.")
@click.option("--write", is_flag=True,
              help="Put the winners into the row, with provenance; with --peers: write "
                   "docs/performance.md, or for the set alone docs/performance_of_sets.md.")
@click.option("--peers", is_flag=True, help="Compare weft with other libraries and hand-written code instead.")
@click.option("--fabtests", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="With --peers: a checked-out libfabric or fabtests. Its ping-pongs are built, and take part.")
@click.option("--format", "kind", type=click.Choice(("table", "json", "csv")), default="table", show_default=True,
              help="How to answer.")
def bench(fabrics: tuple[str, ...], vary: tuple[str, ...], sizes: tuple[int, ...] | None, windows: tuple[int, ...],
          window_bytes: int, operations: tuple[str, ...] | None,
          turns: int | None, quick: bool, out: Path | None, build: Path | None, jobs: int, node: str,
          recorded: Path | None, only_list: bool,
          write: bool, peers: bool, fabtests: Path | None, kind: str) -> None:
    """Measure the legal combinations of a fabric's answers on this machine, and compare them with the row's own.

    Each combination is a program of its own; they take turns. Contents are compared before anything is timed. The
    first table has the times of the row's own answers. Others have ratios to them. Illegal combinations are listed
    with the sentence that forbids them. Exit code 77 if the fabric is not on this machine.

    \b
    Examples:
      ./weft bench --fabric tcp --quick      times of the row's own answers
      ./weft bench --fabric tcp --vary notify,liveness --out /tmp/plots
      ./weft bench --fabric shm --vary region_address --sizes 8,4KiB,1MiB --format json > shm.json
      ./weft bench --from shm.json --out /tmp/plots
    """
    if peers:
        raise SystemExit(_part("peers", "play_peers")(fabrics=fabrics, turns=turns, quick=quick, kind=kind,
                                                      write=write, fabtests=fabtests))
    if fabtests is not None:
        raise click.UsageError("--fabtests needs --peers")
    if out is not None:
        pages.require_matplotlib()
    try:
        if recorded is not None:
            answer = _recorded(recorded)
        else:
            if len(fabrics) != 1:
                raise click.UsageError("name one fabric: --fabric tcp (./weft matrix lists them)")
            plan = Plan(operations or OPERATIONS, sizes or _plain(QUICK_SIZES if quick else SIZES), windows,
                        window_bytes, .005 if quick else .02, turns or (3 if quick else 10))
            answer = measure(Asked(fabrics[0], vary, plan, folder_for(fabrics[0], build), jobs, node,
                                   adds_too=operations is None, only_list=only_list,
                                   own_only=quick and not vary and not only_list),
                             lambda line: click.echo(line, err=True))
    except NotUnderstood as error:
        raise click.BadParameter(str(error), param_hint="--vary" if "famil" in str(error) or "answer" in str(error)
                                 else "--fabric") from None
    except Absent as absent:
        click.echo(with_id(str(absent), INPUTS), err=True)
        raise SystemExit(77) from None
    except Refused as refused:
        for problem in refused.problems:
            click.echo(str(problem), err=True)
        raise SystemExit(1) from None
    _show(answer, kind)
    if out is not None:
        for path in pages.write(answer, out):
            click.echo(f"wrote {path}", err=True)
    if write:
        _part("winners", "write_winners")(answer)


def _part(module: str, name: str) -> Callable[..., Any]:
    """A part of the command in a separate module, loaded when a user calls it."""
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(f"{__package__}.{module}"), name)
    except ModuleNotFoundError as missing:
        raise click.UsageError(f"{missing}: this part of weft bench is not in this release") from None
    return found


def _plain(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(","))


def _recorded(path: Path) -> dict[str, Any]:
    """Errors: BadParameter, where the file holds something else."""
    schema = json.loads((Path(__file__).resolve().parents[1] / "schemas" / "bench.schema.json").read_text("utf-8"))
    try:
        answer: dict[str, Any] = json.loads(path.read_text("utf-8"))
        jsonschema.validate(answer, schema)
    except (ValueError, jsonschema.ValidationError) as error:
        raise click.BadParameter(f"{path} is not what ./weft bench --format json printed: {str(error).splitlines()[0]}",
                                 param_hint="--from") from None
    return answer


def _show(answer: dict[str, Any], kind: str) -> None:
    if kind == "json":
        click.echo(as_json("bench", {key: value for key, value in answer.items() if key != "schema"}))
    elif kind == "csv":
        click.echo(showing.csv_of(answer))
    else:
        showing.show(answer)
