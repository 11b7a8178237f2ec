# SPDX-License-Identifier: Apache-2.0
"""The command `weft`: its commands and its exit codes.

Exit codes: 0 fine, 1 not fine (drift, a refused matrix), 2 wrong usage, 70 a fault of weft itself.
A command that needs hardware ends with 77 where there is none.
"""
from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

import click

from .adding.command import add
from .benching.command import bench
from .binaries import inspect
from .cleaning.command import clean
from .conforming.command import conformance
from .errors.catalogue import USAGE, with_id
from .doctoring.command import doctor
from .emulating import emulate
from .generated import check, generate
from .listing.command import list_fabrics
from .manual.command import completion, manual
from .options import FINE, ROOT, builds_programs
from .probing.command import probe
from .rows import explain, show_matrix
from .running.command import run
from .simulating.command import simulate
from .tracing.command import trace
from .version import version_of
from .watching.command import top

INTERNAL = 70


class _WithIds(click.Group):
    """Each sentence about a wrong use gets its id."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _named():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _named():
            return super().invoke(ctx)


@contextlib.contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except click.ClickException as error:
        said = error.format_message()
        named = with_id(said, USAGE)
        vars(error)["format_message"] = lambda: named
        raise


@click.group(cls=_WithIds, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(version_of(ROOT), prog_name="weft", message="%(prog)s %(version)s")
def weft() -> None:
    """Exit codes: 0 fine, 1 not fine, 2 wrong usage, 70 a fault of weft itself."""


for command in (check, clean, completion, doctor, emulate, explain, generate, inspect, list_fabrics, manual, probe, run,
                show_matrix, top, trace):
    weft.add_command(command)
for command in (add, bench, conformance, simulate):
    weft.add_command(builds_programs(command))


def main() -> NoReturn:
    """Runs the command. A fault of weft itself is one sentence and 70; WEFT_TRACEBACK=1 shows where."""
    try:
        weft.main(prog_name="weft", standalone_mode=True)
    except SystemExit:
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(FINE) from None
    except Exception as error:  # noqa: BLE001  the last place that can make a sentence of it
        if os.environ.get("WEFT_TRACEBACK"):
            raise
        click.echo(with_id(f"weft: a fault of its own: {type(error).__name__}: {error} (WEFT_TRACEBACK=1 shows where)",
                           USAGE), err=True)
        raise SystemExit(INTERNAL) from None
    raise SystemExit(FINE)
