# SPDX-License-Identifier: Apache-2.0
"""`./weft inspect`: which fabrics a binary was built for, and whether two binaries can talk."""
from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from . import inspecting
from .options import EXISTING, FINE, NEGATIVE, decided_rows, format_option, matrix_option, refusing, rules_option, shown
from .report import as_json, show_inspected, show_sets


@click.command()
@click.argument("binaries", metavar="BINARY...", nargs=-1, required=True, type=EXISTING)
@matrix_option
@rules_option
@format_option("table", "json")
@refusing
def inspect(binaries: tuple[Path, ...], matrix: Path, rules: Path, kind: str) -> None:
    """Say which fabrics BINARY was built for.

    For each fabric: releases, wire version, answers, and whether the row is that of this tree. For a set of fabrics
    also which of them is preferred, and why. Nothing is run.
    With two binaries, the command also says whether they can talk. Exit code 1 if no fabric of both can.

    \b
    Examples:
      ./weft inspect build/dev/examples/hello/hello-caller.tcp
      ./weft inspect caller.tcp listener.tcp
    """
    if len(binaries) > 2:
        raise click.UsageError("one BINARY, or two that are to talk")
    decided, families = decided_rows(matrix, rules)
    found = [(shown(path), inspecting.inspect(path, shown(path))) for path in binaries]
    talk = [inspecting.incompatibility(a, b) for a in found[0][1] for b in found[-1][1]] if len(found) == 2 else []
    apart = bool(talk) and all(talk)
    if kind == "json":
        content: list[dict[str, Any]] = [
            {"file": name,
             "fabrics": [{**asdict(one), "row": inspecting.against_tree(one, decided, families)} for one in every],
             "sets": [[asdict(each) for each in one] for one in inspecting.sets_of(path)]}
            for path, (name, every) in zip(binaries, found)]
        click.echo(as_json("inspect",
                           {"binaries": content, "can_talk": not apart if talk else None,
                            "why_not": talk[0] if apart else ""}))
        raise SystemExit(NEGATIVE if apart else FINE)
    show_inspected([(name, one, inspecting.against_tree(one, decided, families))
                    for name, every in found for one in every])
    for path, (name, _) in zip(binaries, found):
        show_sets(name, inspecting.sets_of(path))
    if talk:
        click.echo(f"they cannot talk: {talk[0]}" if apart else "they can talk")
    raise SystemExit(NEGATIVE if apart else FINE)
