# SPDX-License-Identifier: Apache-2.0
"""Why a fabric answers as it does: the content of `weft explain`, and its form for people."""
from __future__ import annotations

from typing import Any

import click

from .decided import Decided, releases
from .matrix.model import Fabric
from .report import show_table
from .rules import Family
from .matrix.trust import cells_of, count, seen_by_nobody


def explained(row: Decided, asked: tuple[Family, ...]) -> list[dict[str, Any]]:
    """One entry per family and answer; a later range only where its answer or reason differs."""
    found: list[dict[str, Any]] = []
    for family in asked:
        before = None
        for span, choices in zip(row.fabric.ranges, row.choices):
            choice = next(each for each in choices if each.family == family.name)
            if before is None or choice.reason != before:
                found.append({"family": family.name, "question": family.question, "since": str(span.since),
                              "answer": choice.answer,
                              "short": choice.short, "parts": list(choice.parts), "reason": choice.reason,
                              "not_taken": [{"answer": other, "why": why} for other, why in choice.others]})
            before = choice.reason
    return found


def show_all(row: Decided, found: list[dict[str, Any]]) -> None:
    """All answers of a row, each with the facts that decided it."""
    fabric = row.fabric
    click.echo(f"{fabric.name}: {fabric.summary} Backend {fabric.backend}, {releases(fabric)}.")
    unseen = " Nobody here has seen it run: it stands on what sources say." if seen_by_nobody(fabric) else ""
    click.echo(f"Trust: {count(cells_of(fabric)).as_text}.{unseen}")
    several = len(fabric.ranges) > 1
    rows = [(each["family"], each["answer"] + (f" (since {each['since']})" if several else ""),
             each["short"].replace(f"{fabric.name}.", ""))
            for each in found]
    show_table(("family", "answer", "because"), rows)
    for each in fabric.settings:
        click.echo(f"environment: {each.name}={each.value}, {each.reason}")
    click.echo(f"More: ./weft explain {fabric.name} FAMILY")


def show_one(fabric: Fabric, family: Family, found: list[dict[str, Any]]) -> None:
    """One answer: the facts with their evidence, and why not another."""
    click.echo(f"{fabric.name}, {family.name}: {family.question}")
    for each in found:
        since = f" (since {each['since']})" if len(fabric.ranges) > 1 else ""
        click.echo(f"\n  {each['answer']}{since}, because")
        for part in each["parts"]:
            click.echo(f"    {part}")
        for other in each["not_taken"]:
            click.echo(f"  not {other['answer']}: {other['why']}")
