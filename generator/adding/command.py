# SPDX-License-Identifier: Apache-2.0
"""`./weft add`: its arguments, the order of its steps, and what it prints."""
from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import NoReturn

import click

from .. import emit
from ..decided import Decided, decide_all
from ..matrix.loader import Problem, Refused
from ..matrix.model import read_matrix
from ..probing import CellFinding, Demands, Finding, Provenance, probe, provenance
from ..probing.patch import difference
from ..report import show_table
from ..matrix.reserved import RESERVED
from ..rules import Family, read_rules
from ..matrix.schema import NAME
from .row import NewCell, added, cells_of, spelt
from .trying import Tried, conform

ROOT = Path(__file__).resolve().parents[2]
_ENDPOINTS = {"msg": "connected", "rdm": "addressed"}


@click.command()
@click.argument("fabric")
@click.option("--provider", required=True, help="The library's name for the provider, as fi_info prints it.")
@click.option("--endpoint", type=click.Choice(list(_ENDPOINTS)),
              help="msg: connected, rdm: addressed.  [default: msg where the provider has it]")
@click.option("--node", default="127.0.0.1", show_default=True,
              help="A local address that both processes of the probe use.")
@click.option("--dry-run", is_flag=True,
              help="Print the findings and the row; write and build nothing.")
@click.option("--program", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="A weft-probe that is built already.")
@click.option("--build", type=click.Path(file_okay=False, path_type=Path), help="Where to build.  [default: build/add]")
def add(fabric: str, provider: str, endpoint: str | None, node: str, dry_run: bool, program: Path | None,
        build: Path | None) -> None:
    """Make a working fabric of a provider that has no row.

    Probes the provider and writes a row with the evidence to providers.yaml. Then generates, compiles, runs every
    conformance suite, and prints the results. Exit code 1 if a suite fails (the row is kept for correction), or if
    no row can be made (nothing is changed).

    \b
    Examples:
      ./weft add net --provider net --endpoint msg
      ./weft add net_rxm --provider 'net;ofi_rxm' --dry-run
    """
    matrix = ROOT / "providers.yaml"
    try:
        _refuse_name(fabric, matrix)
        demands, findings, made = _probed(provider, endpoint, node, program)
        cells = cells_of(demands, findings)
        _print_findings(fabric, demands, made, cells)
        before = matrix.read_text(encoding="utf-8")
        after = added(before, fabric, cells, demands, made)
        _print_answers(_decided(matrix, fabric, after))
        if dry_run:
            click.echo(difference(before, after, matrix.name).strip("\n"))
            return
        _write(matrix, after)
        click.echo(f"wrote row {fabric} to {matrix.name}, generated/{fabric}.hpp")
        tried = conform(ROOT, fabric, build or ROOT / "build" / "add")
    except Refused as refused:
        _leave(refused.problems)
    _print_conformance(fabric, tried)
    raise SystemExit(1 if tried.failed else 0)


def _leave(problems: list[Problem]) -> NoReturn:
    for problem in problems:
        click.echo(str(problem), err=True)
    raise SystemExit(1)


def _refuse_name(fabric: str, matrix: Path) -> None:
    """Errors: Refused, where the matrix cannot take a row of this name."""
    if not re.fullmatch(NAME, fabric) or fabric in RESERVED:
        raise Refused([Problem("weft add", 1,
                               f"'{fabric}' cannot be the name of a row: write one in snake_case that C++ and weft do "
                               f"not use")])
    row = read_matrix(matrix, matrix.name).fabric(fabric)
    if row:
        raise Refused([Problem(matrix.name, row.line,
                               f"there is a row {fabric} already: choose another name, or probe it with ./weft "
                               f"probe {fabric}")])


def _probed(provider: str, endpoint: str | None, node: str,
            program: Path | None) -> tuple[Demands, list[CellFinding], Provenance]:
    """Probes the requested endpoints, or the first kind that the provider has. Errors: Refused."""
    kinds = [_ENDPOINTS[endpoint]] if endpoint else list(_ENDPOINTS.values())
    for kind in kinds:
        demands = Demands(provider=provider, endpoint_type=kind, node=node)
        try:
            click.echo(f"probing provider \"{provider}\", {kind} endpoints", err=True)
            findings = probe(demands, program=program, report=_print_behaviour)
            return demands, findings, provenance(demands, program=program)
        except Refused:
            if kind == kinds[-1]:
                raise
    raise AssertionError("kinds is never empty")


def _print_behaviour(finding: Finding) -> None:
    click.echo(f"  {finding.behaviour}: {finding.ended} ({finding.seconds:.1f} "
               f"s){': ' + finding.why if finding.why else ''}", err=True)


def _rules() -> tuple[Family, ...]:
    return read_rules(ROOT / "generator" / "rules.yaml", "generator/rules.yaml")


def _decided(matrix: Path, fabric: str, text: str) -> Decided:
    """The answers that the rules choose for the row. Errors: Refused, where a family has no legal answer."""
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder) / matrix.name
        trial.write_text(text, encoding="utf-8")
        decided = decide_all(read_matrix(trial, f"{matrix.name} with the row {fabric}"), _rules())
    return next(each for each in decided if each.fabric.name == fabric)


def _write(matrix: Path, text: str) -> None:
    """Writes the matrix and generates."""
    matrix.write_text(text, encoding="utf-8")
    emit.write(emit.render(read_matrix(matrix, matrix.name), _rules(), ROOT / "templates", ROOT / emit.README), ROOT)


def _print_findings(fabric: str, demands: Demands, made: Provenance, cells: list[NewCell]) -> None:
    levels = [cell.level for cell in cells]
    click.echo(f"{fabric}: provider \"{demands.provider}\", {demands.endpoint_type} endpoints; {made}")
    click.echo(f"{len(cells)} cells: {levels.count('observed')} observed, {levels.count('claimed')} claimed, "
               f"{levels.count('assumed')} assumed")
    show_table(("cell", "is", "because"), [(cell.name, cell.as_text, cell.level) for cell in cells])
    lies = 0
    for cell in cells:
        if cell.differs is not None:
            lies += 1
            click.echo(f"claim and behaviour differ: {cell.name} is {cell.as_text}, though "
                       f"{spelt(cell.name, cell.differs)} is claimed: {cell.observed}")
    if lies == 0:
        click.echo("no claim differs from what was seen")


def _print_answers(row: Decided) -> None:
    click.echo("answers: " + ", ".join(f"{choice.family}::{choice.answer}" for choice in row.choices[-1]))


def _print_conformance(fabric: str, tried: Tried) -> None:
    click.echo(f"compiled in {tried.compiled:.0f} s; {len(tried.passed)} of {len(tried.passed) + len(tried.failed)} "
               f"conformance suites "
               f"passed in {tried.ran:.0f} s")
    for name in tried.failed:
        click.echo(f"failed: {name}; {tried.log} has its words", err=True)
    if tried.failed:
        click.echo(f"the row {fabric} is kept: correct the wrong cell (./weft probe {fabric}), or delete the row",
                   err=True)
    else:
        click.echo(f"{fabric} is a working fabric: weft::{fabric} in CMake, scripts/test --fabric {fabric}")
