# SPDX-License-Identifier: Apache-2.0
"""`weft explain WEFT-C017` and `weft explain --list`."""
from __future__ import annotations

import textwrap
from typing import Any

import click

from ..report import as_csv, as_json, show_table
from .catalogue import KINDS, Error, all_errors, nearest, spelt

_WIDTH = 100
_PARTS = (("it says", "says"), ("cause", "cause"), ("how to see it", "see"), ("mend", "mend"))


def content(error: Error) -> dict[str, Any]:
    return {"id": error.id, "kind": KINDS[error.id[5]], "title": error.title, "says": error.says,
            "cause": error.cause, "see": error.see, "mend": error.mend, "example": error.example,
            "programs": [f"tests/fail/{each}.cpp" for each in error.programs]}


def explain_error(word: str, kind: str) -> None:
    """Prints one page. Errors: BadParameter, with the nearest ids."""
    error = all_errors().get(spelt(word))
    if error is None:
        near = nearest(word)
        hint = f"the nearest are {', '.join(near)}" if near else "./weft explain --list has all"
        raise click.BadParameter(f"no error has the id '{spelt(word)}'; {hint}", param_hint="FABRIC")
    if kind == "json":
        click.echo(as_json("errors", {"errors": [content(error)]}))
    elif kind == "csv":
        click.echo(_csv([error]))
    else:
        _show(error)


def list_errors(kind: str) -> None:
    """Prints all of them, a line each."""
    every = list(all_errors().values())
    if kind == "json":
        click.echo(as_json("errors", {"errors": [content(each) for each in every]}))
    elif kind == "csv":
        click.echo(_csv(every))
    else:
        show_table(("id", "kind", "error"), [(each.id, KINDS[each.id[5]], each.title) for each in every])


def _csv(errors: list[Error]) -> str:
    fields = ("id", "kind", "title", "says", "cause", "see", "mend", "example")
    return as_csv(fields, [[content(each)[field] for field in fields] for each in errors])


def _show(error: Error) -> None:
    click.echo(f"{error.id}: {error.title} ({KINDS[error.id[5]].lower()})\n")
    for head, part in _PARTS:
        click.echo(textwrap.fill(getattr(error, part), _WIDTH, initial_indent=f"  {head + ':':<15} ",
                                 subsequent_indent=" " * 18))
    click.echo(f"\n      {error.example}")
    if error.programs:
        click.echo("\n  wrong and right in one file: "
                   + ", ".join(f"tests/fail/{each}.cpp" for each in error.programs[:2]))
