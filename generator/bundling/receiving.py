# SPDX-License-Identifier: Apache-2.0
"""Reads a bundle into the matrix: the row's cells get the bundle as evidence, and what it shows otherwise is corrected.

A fabric without a row gets one. Nothing is run: the provider is where the bundle came from.
"""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from .. import emit
from ..adding.row import added, cells_of
from ..adding.staging import replace_all
from ..matrix.facts import FACT, UNLIMITED, Value
from ..matrix.layout import require_lines
from ..matrix.loader import Problem, Refused, load_text, text_of
from ..matrix.model import Fabric, matrix_of
from ..matrix.reserved import wrong_name
from ..matrix.writing import edited, write
from ..probing.compare import Verdict, compare, range_for
from ..probing.findings import CellFinding, Provenance
from ..probing.judging import Fault, faults
from ..probing.patch import difference, mended
from ..probing.report import as_rows
from ..probing.running import read_cells
from ..report import show_table
from ..rules import read_rules
from .bundle import Bundle, Tampered, read_bundle
from .signing import fingerprint

ROOT = Path(__file__).resolve().parents[2]
MATRIX = ROOT / "providers.yaml"


@dataclass(frozen=True)
class Received:
    """A bundle whose digest and signature are right, and what it says of each cell."""

    bundle: Bundle
    found_by: Provenance
    cells: list[CellFinding]
    faults: list[Fault]
    release: str


def received(path: Path, sender: Path | None) -> Received:
    """Errors: Tampered; UsageError."""
    bundle = read_bundle(path)
    key = fingerprint(path, bundle, sender)
    raw = bundle.provenance
    by = Provenance(raw.library, raw.api, raw.kernel, raw.device, raw.date,
                    bundle.name + (f", signed by {key}" if key else ", not signed"))
    try:
        release = bundle.seen.claim("library")
        if not isinstance(release, str) or f" {release}." not in f"{raw.library}.":
            raise Tampered(f"{path}: the findings are of libfabric {release}, and its head says {raw.library}")
        cells = read_cells(bundle.seen)
        if wrong := next((each.cell for each in cells if not (_fits(each.cell, each.claimed)
                                                              and _fits(each.cell, each.shown))), None):
            raise TypeError(wrong)
        return Received(bundle, by, cells, faults(bundle.seen), release)
    except (TypeError, ValueError, KeyError, AttributeError, IndexError):
        raise Tampered(f"{path}: a fact of its findings has another type than a probe writes") from None


def _fits(cell: str, value: Value | None) -> bool:
    """A cell of the matrix can have the value."""
    fact = FACT[cell]
    if value is None:
        return True
    if fact.values:
        return value in fact.values
    if fact.is_number:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= UNLIMITED
    return isinstance(value, bool if fact.cpp == "bool" else str)


def receive(path: Path, sender: Path | None, matrix: Path, dry_run: bool) -> None:
    """Reads the bundle, prints what it says, and writes the matrix and what is made from it.

    Errors: Tampered; Refused; UsageError.
    """
    got = received(path, sender)
    name = got.bundle.fabric
    before = text_of(matrix, matrix.name)
    row = matrix_of(load_text(before, matrix.name)).fabric(name)
    click.echo(f"{name}: {got.found_by}, {got.found_by.bundle}")
    for fault in got.faults:
        click.echo(f"{name}: {fault.sentence}", err=True)
    after = edited(before, lambda text: _new_row(text, matrix.name, got) if row is None
                   else _mended(text, row, matrix.name, got))
    click.echo(difference(before, after, matrix.name).strip("\n"))
    if dry_run or before == after:
        click.echo("nothing is written" + ("" if dry_run else ": the row has all of it already"), err=True)
        return
    _write(matrix, after)


def _mended(before: str, row: Fabric, file: str, got: Received) -> str:
    wanted, said = got.bundle.demands, row.ranges[0].cells
    for name in ("provider", "endpoint_type"):
        if said[name].value != getattr(wanted, name):
            raise Refused([Problem(file, said[name].line, f"{row.name}.{name} is {said[name].as_text}, and the bundle "
                                                          f"is of {getattr(wanted, name)}: it is of another row")])
    span = range_for(row, got.release)
    if span is None:
        raise Refused([Problem(file, row.line, f"{row.name} describes libfabric from {row.since} to before "
                                               f"{row.until or 'any later'}, and the bundle is of {got.release}")])
    verdicts = compare(row.name, span.cells, got.cells, got.release)
    _tell(verdicts)
    return mended(before, row, verdicts, got.found_by, got.release, observe=True, file=file)


def _tell(verdicts: list[Verdict]) -> None:
    show_table(("cell", "row says", "library claims", "test shows", "verdict"), as_rows(verdicts))
    for each in verdicts:
        if each.wrong or each.unseen:
            click.echo(each.sentence, err=True)


def _new_row(before: str, file: str, got: Received) -> str:
    name, demands = got.bundle.fabric, got.bundle.demands
    wrong = wrong_name(name)
    if demands.backend != "libfabric":
        wrong = f"is of backend {demands.backend}, whose rows are made by hand"
    if wrong:
        raise Refused([Problem("weft add", 1, f"'{name}' cannot be the name of a row: it {wrong}")])
    require_lines(before, file)
    click.echo(f"{name} has no row yet: one is made. No suite ran; where the provider is, run scripts/test --fabric "
               f"{name}", err=True)
    return added(before, name, cells_of(demands, got.cells), demands, got.found_by)


def _write(matrix: Path, text: str) -> None:
    """The matrix, and what is made from it where it is the tree's. All or nothing. Errors: Refused."""
    rules = read_rules(ROOT / "generator" / "rules.yaml", "generator/rules.yaml")
    read = matrix_of(load_text(text, matrix.name))
    made = emit.render(read, rules, ROOT / "templates", ROOT / emit.README)  # also refuses a row without answers
    if matrix.resolve() != MATRIX:
        write(matrix, text)
        click.echo(f"wrote {matrix}", err=True)
        return
    written = replace_all(ROOT, {**made, MATRIX.name: text.encode("utf-8")})
    click.echo(f"wrote {', '.join(written)}", err=True)
