# SPDX-License-Identifier: Apache-2.0
"""What `./weft add` prints."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from ..decided import Decided
from ..probing import Demands, Finding, Provenance
from ..report import show_table
from .blaming import rests_on, subject_of
from .row import SAFE, NewCell, spelt
from .trying import Tried


def behaviour(finding: Finding) -> None:
    """One behaviour of the probe, as it ends."""
    click.echo(f"  {finding.behaviour}: {finding.ended} ({finding.seconds:.1f} "
               f"s){': ' + finding.why if finding.why else ''}", err=True)


def findings(fabric: str, demands: Demands, made: Provenance, cells: Sequence[NewCell]) -> None:
    """The cells of the row, and where claim and behaviour differ."""
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


def answers(row: Decided) -> None:
    """The answers that the rules choose."""
    click.echo("answers: " + ", ".join(f"{choice.family}::{choice.answer}" for choice in row.choices[-1]))


def mended(cells: Sequence[NewCell], wrong: Mapping[str, Sequence[str]], tried: Tried) -> None:
    """Which cells get their safe value, and why."""
    click.echo(f"{len(tried.failed)} of {len(tried.passed) + len(tried.failed)} conformance suites failed: "
               f"{', '.join(subject_of(test) for test in tried.failed)}")
    for cell in cells:
        if cell.name in wrong:
            suites = ", ".join(subject_of(test) for test in wrong[cell.name])
            click.echo(f"{cell.name} was only claimed: {cell.as_text} becomes {spelt(cell.name, SAFE[cell.name])} "
                       f"(failed suites that rest on it: {suites})")
    click.echo("the suites run again")


def failures(row: Decided, cells: Sequence[NewCell], tried: Tried) -> None:
    """Each failed suite with the cells that it rests on, those without proof first."""
    level = {cell.name: cell.level for cell in cells}
    order = ("assumed", "claimed", "observed")
    for test in tried.failed:
        names = sorted(rests_on(test, row), key=lambda name: order.index(level[name]))
        click.echo(f"failed: {test}; it rests on {', '.join(f'{name} ({level[name]})' for name in names)}", err=True)
    click.echo(f"{tried.log} has the suites' words", err=True)


def end(fabric: str, tried: Tried, keep: bool) -> None:
    """The outcome, and what to do next."""
    click.echo(f"compiled in {tried.compiled:.0f} s; {len(tried.passed)} of {len(tried.passed) + len(tried.failed)} "
               f"conformance suites passed in {tried.ran:.0f} s")
    if not tried.failed:
        click.echo(f"{fabric} is a working fabric: weft::{fabric} in CMake, scripts/test --fabric {fabric}")
    elif keep:
        click.echo(f"the row {fabric} is kept: correct the wrong cell (./weft probe {fabric}), or delete the row",
                   err=True)
    else:
        click.echo("the tree is as it was; --keep writes the row all the same, to correct it by hand", err=True)
