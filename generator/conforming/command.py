# SPDX-License-Identifier: Apache-2.0
"""Arguments of `weft conformance`; no logic."""
from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import NoReturn

import click
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..decided import decide_all
from ..matrix.loader import Problem, Refused
from ..matrix.model import read_matrix
from ..report import as_csv, as_json, show_table
from ..rules import read_rules
from . import kept
from .freshness import outdated
from .judging import GOOD, Cell, Judge, judge
from .page import page, shown, sources_of
from .promises import Promises, defined_tests, read_promises, unlike_the_rows, unlike_the_suites
from .record import record_of
from .results import Results, join, read_results

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "conformance.md"
TABLE = ROOT / "docs" / "tables" / "conformance.json"
_FOLDER = ROOT / "tests" / "conformance"


@click.command()
@click.option("--results", "folders", type=click.Path(exists=True, file_okay=False, path_type=Path), multiple=True,
              show_default="those of --sources that exist",
              help="A build folder whose tests ran; repeat it. Of a fabric in several the first counts.")
@click.option("--promises", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              default=_FOLDER / "promises.yaml",
              show_default="tests/conformance/promises.yaml", help="What is promised, and which tests show it.")
@click.option("--mapping", is_flag=True,
              help="Look at the promises alone: does every test exist that they name, and is every suite named?")
@click.option("--sources", is_flag=True, help="Which folders the results come from, how each is made, and whether they "
                                              "are there and as new as the tree.")
@click.option("--write", is_flag=True,
              help="Write docs/conformance.md. Cells without fresh results stay as they are, with their day.")
@click.option("--outdated", "old_too", is_flag=True,
              help="With --write: write cells of results that are older than their sources too, each marked.")
@click.option("--check", "checks", is_flag=True,
              help="Only whether docs/conformance.md is stale: a cell is missing, failed or too old, or is older than "
                   "its promise, row or suites.")
@click.option("--any-age", is_flag=True, help="With --check: only changes make a cell stale, and no number of days.")
@click.option("--page", "file_of_page", type=click.Path(exists=True, dir_okay=False, path_type=Path), default=PAGE,
              show_default="docs/conformance.md", help="The page of --check.")
@click.option("--format", "kind", type=click.Choice(("table", "json", "csv")), default="table", show_default=True,
              help="How to answer.")
def conformance(folders: tuple[Path, ...], file: Path, mapping: bool, sources: bool, write: bool, old_too: bool,
                checks: bool, any_age: bool, file_of_page: Path, kind: str) -> None:
    """Print the promises, and the tests that show each.

    A cell is made from the results of tests, fabric by fabric. The exit code is 1 in three cases. A test of a cell
    failed or did not run. Results are older than their sources. The promises name a test that does not exist.

    \b
    Examples:
      ./weft conformance --sources     what to run first
      ./weft conformance               from the results that are there
      ./weft conformance --write       the page docs/conformance.md
      ./weft conformance --mapping     only whether promises and suites agree
      ./weft conformance --check       only whether the page is stale
    """
    try:
        _run(folders, file, mapping, sources, write, old_too, file_of_page if checks else None, any_age, kind)
    except Refused as refused:
        for problem in refused.problems:
            click.echo(str(problem), err=True)
        raise SystemExit(1) from None


def _run(folders: tuple[Path, ...], file: Path, mapping: bool, sources: bool, write: bool, old_too: bool,
         checked: Path | None, any_age: bool, kind: str) -> NoReturn:
    families = read_rules(ROOT / "generator" / "rules.yaml", "generator/rules.yaml")
    promises = read_promises(file, file.name, families)
    tests = defined_tests(_FOLDER)
    rows = {each.fabric.name: each for each in decide_all(read_matrix(ROOT / "providers.yaml", "providers.yaml"),
                                                          families)}
    problems = unlike_the_suites(promises, tests) + unlike_the_rows(promises, list(rows))
    if mapping and kind != "table":
        _show_mapping(promises, problems, kind)
        raise SystemExit(1 if problems else 0)
    if problems:
        raise Refused(problems)
    if mapping:
        click.echo(f"{len(promises.promises)} promises, {len(promises.columns)} fabrics: every test that they name "
                   "exists, every suite is named")
        raise SystemExit(0)
    made_from = kept.sources_of_cells(promises, record_of(promises, rows, tests))
    today = datetime.now().date()
    if checked is not None:
        table = kept.read(TABLE)
        why = kept.stale(table, promises, made_from, None if any_age else today)
        if checked.read_text(encoding="utf-8") != _text(promises, table, made_from):
            why.append("its text is not of docs/tables/conformance.json and promises.yaml: ./weft conformance --write")
        for each in why:
            click.echo(f"{checked.name} is stale: {each}")
        if not why:
            click.echo(f"{checked.name} was made from these promises, rows and suites")
        raise SystemExit(1 if why else 0)
    results = join([read_results(folder) for folder in folders
                    or [ROOT / each.folder for each in promises.sources if (ROOT / each.folder).is_dir()]])
    old = outdated(ROOT, results, promises)
    if sources:
        _show_sources(sources_of(promises, results, old), kind)
        raise SystemExit(0 if all(column.fabric in results.libraries for column in promises.columns) and not old else 1)
    cells = judge(promises, results, Judge(rows, families, tests))
    for fabric, changed in old.items():
        click.echo(f"the results of {fabric} are older than {changed}", err=True)
    if write:
        table = kept.merged(kept.read(TABLE), promises, cells, results, old, made_from, old_too)
        TABLE.write_text(kept.text_of(table), encoding="utf-8")
        PAGE.write_text(_text(promises, table, made_from), encoding="utf-8")
        why = kept.stale(table, promises, made_from, today)
        for each in why:
            click.echo(f"{PAGE.name} is stale: {each}", err=True)
        raise SystemExit(1 if why else 0)
    _show(promises, cells, results, kind)
    raise SystemExit(0 if all(cell.verdict in GOOD for cell in cells.values()) and not old else 1)


def _text(promises: Promises, table: kept.Table, made_from: dict[kept.Key, str]) -> str:
    """The page's text."""
    environment = Environment(  # noqa: S701  Markdown
        loader=FileSystemLoader(str(ROOT / "templates")), undefined=StrictUndefined, autoescape=False,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    return environment.get_template("conformance.md.j2").render(**page(promises, table, made_from))


def _show_sources(rows: list[tuple[str, ...]], kind: str) -> None:
    header = ("folder", "fabrics", "results", "made by")
    if kind == "table":
        show_table(header, rows)
    elif kind == "csv":
        click.echo(as_csv(header, rows))
    else:
        click.echo(as_json("sources", {"sources": [
            {"folder": folder, "fabrics": fabrics.split(", ") if fabrics else [], "results": state,
             "made_by": made_by.split("\n")}
            for folder, fabrics, state, made_by in rows]}))


def _show_mapping(promises: Promises, problems: list[Problem], kind: str) -> None:
    """Whether promises and suites agree, for programs: nothing but JSON or CSV."""
    if kind == "csv":
        click.echo(as_csv(("file", "line", "sentence"), [(each.file, str(each.line), each.sentence)
                                                         for each in problems]))
        return
    click.echo(as_json("mapping", {"promises": len(promises.promises),
                                   "fabrics": [column.fabric for column in promises.columns],
                                   "problems": [asdict(each) for each in problems]}))


def _show(promises: Promises, cells: dict[tuple[str, str], Cell], results: Results, kind: str) -> None:
    names = [column.fabric for column in promises.columns]
    if kind == "json":
        click.echo(as_json("conformance", {
            "fabrics": [{"fabric": column.fabric, "library": results.libraries.get(column.fabric, ""),
                         "where": column.where} for column in promises.columns],
            "promises": [{"name": each.name, "section": each.section, "number": each.number, "says": each.says,
                          "cells": [{"fabric": name, "verdict": cells[each.name, name].verdict,
                                     "kind": cells[each.name, name].kind,
                                     "answers": cells[each.name, name].answers,
                                     "notes": list(cells[each.name, name].notes)} for name in names]}
                         for each in promises.promises]}))
        return
    rows = [(f"{each.section} {each.number}", each.name, *(shown(cells[each.name, name]).replace("*", "")
                                                           for name in names)) for each in promises.promises]
    if kind == "csv":
        click.echo(as_csv(("place", "promise", *names), rows))
        return
    show_table(("place", "promise", *names), rows)
    bad = [(each.name, name, note) for each in promises.promises for name in names
           if cells[each.name, name].verdict not in GOOD
           for note in cells[each.name, name].notes]
    for promise, name, note in bad[:40]:
        click.echo(f"{promise} on {name}: {note}", err=True)
    if len(bad) > 40:
        click.echo(f"and {len(bad) - 40} more", err=True)
