# SPDX-License-Identifier: Apache-2.0
"""How answers are shown: a table for people, JSON (with the name of its schema) and CSV for programs.

In a pipe a table is plain text that is never cut; in a terminal it fits the width. NO_COLOR is honoured.
"""
from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from .inspecting import BuiltFor, Preference


def as_json(schema: str, content: dict[str, Any]) -> str:
    """JSON with its schema's name (generator/schemas/<schema>.schema.json) first."""
    return json.dumps({"schema": f"weft.{schema}.1", **content}, indent=2)


def as_csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue().rstrip("\n")


def show_table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Prints a table: by rich in a terminal, aligned text in a pipe."""
    if not sys.stdout.isatty():
        if title:
            print(title)
        print(plain_table(header, rows))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*header, box=box.SIMPLE_HEAD, title=Text(title) if title else None, title_justify="left",
                  pad_edge=False, show_edge=False,
                  header_style="bold cyan")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(no_color="NO_COLOR" in os.environ, highlight=False).print(table)


def show_inspected(found: Sequence[tuple[str, BuiltFor, str]]) -> None:
    """Prints the answers of each fabric of each binary, one thing a line: answers are long."""
    for name, one, row in found:
        print(f"{name}: fabric {one.fabric}")
        for what, value in (("releases", one.releases), ("provider", one.provider or "none"),
                           ("wire version", one.wire),
                           ("made from", f"{one.made_from} ({row})"),
                           ("fingerprint", one.fingerprint), ("peers share", one.shared), ("answers", one.answers)):
            print(f"  {what:<13} {value}")


def show_sets(name: str, sets: Sequence[Sequence[Preference]]) -> None:
    """Prints which fabric of each set a pair takes: the first that serves both."""
    for one in sets:
        print(f"{name}: a set of {len(one)} fabrics; a peer is reached by the first of them that serves both sides")
        for number, each in enumerate(one, 1):
            print(f"  {number}. {each.fabric}: {each.why}")


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    every = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[i]) for row in every) for i in range(len(header))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in every)
