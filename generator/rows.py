# SPDX-License-Identifier: Apache-2.0
"""`./weft explain` and `./weft matrix`: what rows answer, and why."""
from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from .decided import answer_of, fact_of, marked_answer_of, marked_fact_of
from .errors.catalogue import is_id
from .errors.showing import explain_error, list_errors
from .manual.completion import fabrics_and_errors
from .explain import explained, show_all, show_one
from .matrix.facts import FACTS, GROUPS
from .options import decided_rows, format_option, matrix_option, pick_fabric, pick_family, refusing, rules_option
from .ordering import ordering_of, show_ordering
from .report import as_csv, as_json, show_table
from .matrix.trust import LEGEND, cells_of, count

_MAIN = ("endpoint", "notify", "write_fault", "atomics", "progress", "wait", "liveness")


@click.command()
@click.argument("fabric", required=False, shell_complete=fabrics_and_errors)
@click.argument("family", required=False)
@click.option("--list", "every", is_flag=True, help="List the ids of all errors.")
@matrix_option
@rules_option
@format_option("table", "json", "csv")
@refusing
def explain(fabric: str | None, family: str | None, every: bool, matrix: Path, rules: Path, kind: str) -> None:
    """Say what FABRIC answers to each family, or to FAMILY, and why.

    With a FAMILY, the evidence of each fact is shown, and why the other answers were not taken.
    With `ordering` in place of a FAMILY: which operations are ordered.
    With the id of an error in place of FABRIC: its cause, how to see it, and what mends it.

    \b
    Examples:
      ./weft explain tcp_rxm
      ./weft explain tcp_rxm atomics
      ./weft explain cxi notify --format json
      ./weft explain tcp ordering      what is ordered with what
      ./weft explain WEFT-C006         what an error means
    """
    if every:
        if fabric is not None:
            raise click.UsageError("--list lists all errors: FABRIC has no place beside it")
        list_errors(kind)
        return
    if fabric is None:
        raise click.UsageError("FABRIC is missing: name a fabric, or the id of an error, or give --list")
    if is_id(fabric):
        if family is not None:
            raise click.UsageError("the page of an error has no families: give the id alone")
        explain_error(fabric, kind)
        return
    decided, families = decided_rows(matrix, rules)
    row = pick_fabric(decided, fabric)
    if family == "ordering":
        kept = ordering_of(row)
        if kind == "json":
            click.echo(as_json("ordering", {"fabric": fabric, "orders": kept}))
        elif kind == "csv":
            click.echo(as_csv(("fabric", "order", "since", "answer", "reason"),
                              [(fabric, *each.values()) for each in kept]))
        else:
            show_ordering(row, kept)
        return
    asked = (pick_family(families, family),) if family else families
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


@click.command(name="matrix")
@click.option("--facts", "group", type=click.Choice(GROUPS), help="Show the facts of a group instead of the answers.")
@click.option("--all", "every", is_flag=True, help="Show every family, not only those in which fabrics differ most.")
@matrix_option
@rules_option
@format_option("table", "json", "csv")
@refusing
def show_matrix(group: str | None, every: bool, matrix: Path, rules: Path, kind: str) -> None:
    """Show what each fabric answers, or its facts. JSON and CSV have every family, or every fact of the group.

    \b
    Examples:
      ./weft matrix
      ./weft matrix --facts order
      ./weft matrix --format csv > matrix.csv
    """
    decided, families = decided_rows(matrix, rules)
    marked = kind == "table"
    if group:
        names = [fact.name for fact in FACTS if fact.group == group]
        text_of_fact = marked_fact_of if marked else fact_of
        texts = {each.fabric.name: [text_of_fact(each.fabric, name) for name in names] for each in decided}
    else:
        wanted = None if every or not marked else _MAIN
        names = [family.name for family in families if wanted is None or family.name in wanted]
        text_of_answer = marked_answer_of if marked else answer_of
        texts = {each.fabric.name: [text_of_answer(each, name) for name in names] for each in decided}
    counts = {each.fabric.name: count(cells_of(each.fabric)) for each in decided}
    rows = [(each.fabric.name, *texts[each.fabric.name]) for each in decided]
    if kind == "json":
        content = [{"fabric": each.fabric.name, "backend": each.fabric.backend, "since": str(each.fabric.since),
                    "until": str(each.fabric.until) if each.fabric.until else None,
                    "trust": asdict(counts[each.fabric.name]), "cells": dict(zip(names, texts[each.fabric.name]))}
                   for each in decided]
        click.echo(as_json("matrix", {"shows": "facts" if group else "answers", "fabrics": content}))
    elif kind == "csv":
        click.echo(as_csv(("fabric", *names), rows))
    else:
        seen = [f"{counts[each.fabric.name].observed} of {counts[each.fabric.name].cells}" for each in decided]
        show_table(("fabric", *names, "facts observed"), [(*row, part) for row, part in zip(rows, seen)])
        click.echo(f"\n{LEGEND}; all rows: {count(cell for each in decided for cell in cells_of(each.fabric)).as_text}")
