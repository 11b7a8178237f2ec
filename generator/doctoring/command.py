# SPDX-License-Identifier: Apache-2.0
"""`weft doctor`: runs every check, and prints each finding with what mends it."""
from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import asdict

import click

from ..options import FINE, NEGATIVE, format_option
from ..report import as_csv, as_json
from . import cards, fabrics, limits
from .library import Library
from .machine import PROBLEM, Finding, Machine

CHECKS: tuple[Callable[[Machine, Library], Iterator[Finding]], ...] = (
    fabrics.libfabric, fabrics.providers, fabrics.slow_start, fabrics.rdma_core, cards.devices, cards.permissions,
    cards.addresses, limits.locked_memory, limits.huge_pages, limits.shared_memory, limits.memory_limit,
    limits.process_limit, fabrics.ptrace)


def examine(machine: Machine) -> list[Finding]:
    """All findings, in the order of the checks."""
    library = machine.library()
    return [finding for check in CHECKS for finding in check(machine, library)]


@click.command()
@format_option("table", "json", "csv")
def doctor(kind: str) -> None:
    """Say what is on this machine, what is missing, and what mends it.

    A note tells what works and may surprise. A problem stops a fabric or a program. Nothing is changed, and root is
    not needed. Firewalls are not looked at. The exit code is 1 where there is a problem.

    \b
    Examples:
      ./weft doctor
      ./weft doctor --format json
    """
    found = examine(Machine())
    problems = sum(each.status == PROBLEM for each in found)
    if kind == "json":
        click.echo(as_json("doctor", {"findings": [asdict(each) for each in found], "problems": problems}))
    elif kind == "csv":
        click.echo(as_csv(("check", "status", "sentence", "mend"),
                          [(each.check, each.status, each.sentence, each.mend) for each in found]))
    else:
        for each in found:
            _show(each)
        click.echo(f"\n{problems} {'problem' if problems == 1 else 'problems'}")
    raise SystemExit(NEGATIVE if problems else FINE)


def _show(finding: Finding) -> None:
    head = f"{finding.status:<8} {finding.check:<14} "
    click.echo(textwrap.fill(finding.sentence, 110, initial_indent=head, subsequent_indent=" " * len(head)))
    if finding.mend:
        click.echo(textwrap.fill(finding.mend, 110, initial_indent=" " * len(head) + "mend: ",
                                 subsequent_indent=" " * (len(head) + 6)))
