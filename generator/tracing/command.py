# SPDX-License-Identifier: Apache-2.0
"""`./weft trace`: records a program over any provider, replays a record, and shows what a record has."""
from __future__ import annotations

import collections
import json
import os
from pathlib import Path

import click

from .chrome import chrome
from .reading import NoRecord, Record, read_record
from .running import Tracing, files_of, recorder_in

_BUILD = click.option("--build", type=click.Path(exists=True, file_okay=False, path_type=Path),
                      help="The build directory that has the recorder.  [default: the newest]")
_COMMAND = click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
_RUNS = {"ignore_unknown_options": True}
data_option = click.option("--data", default=4096, show_default=True, type=click.IntRange(0, 1 << 30), metavar="BYTES",
                           help="How many bytes of each message a record keeps.")
memory_option = click.option("--memory", default=4 << 20, show_default=True, type=click.IntRange(0, 1 << 32),
                             metavar="BYTES",
                             help="How much registered memory is compared at each poll, for bytes that peers wrote.")


@click.group()
def trace() -> None:
    """Record what a program asks of its fabric, over any provider, and replay it at a desk.

    \b
    Examples:
      ./weft trace record RUN -- PROGRAM       over the provider that PROGRAM chooses, such as a card's
      ./weft trace replay RUN -- PROGRAM       without that provider
      ./weft trace show RUN
      ./weft trace chrome RUN RUN.json         for https://ui.perfetto.dev and chrome://tracing
    """


def run(command: tuple[str, ...], variables: dict[str, str]) -> None:
    try:
        os.execvpe(command[0], list(command), {**os.environ, **variables})
    except OSError as error:
        raise click.UsageError(f"{command[0]} cannot be run: {error.strerror}") from None


@trace.command(context_settings=_RUNS)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@_COMMAND
@data_option
@memory_option
@_BUILD
def record(file: Path, command: tuple[str, ...], data: int, memory: int, build: Path | None) -> None:
    """Run COMMAND, and write to FILE what it asks of libfabric and what it is answered.

    A process with a number (mpirun, srun) writes FILE.0, FILE.1 and so on. FILE has the data of the program: keep it
    as secret as these. Exit code: the program's.
    """
    run(command, Tracing(record=file, data=data, memory=memory).environment(recorder_in(build)))


@trace.command(context_settings=_RUNS)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@_COMMAND
@_BUILD
def replay(file: Path, command: tuple[str, ...], build: Path | None) -> None:
    """Run COMMAND, and answer its calls of libfabric from FILE. No provider takes part.

    The first call that differs ends it with one sentence and exit code 2. Otherwise the exit code is the program's.
    """
    run(command, Tracing(replay=file).environment(recorder_in(build)))


def _records(file: Path) -> list[Record]:
    """Errors: UsageError."""
    there = files_of(file)
    if not there:
        raise click.UsageError(f"{file} does not exist, nor {file}.0")
    try:
        return [read_record(each) for each in there]
    except NoRecord as error:
        raise click.UsageError(str(error)) from None


@trace.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def show(file: Path) -> None:
    """Print for each process of FILE its calls by number, its errors, and how the record ends."""
    for each in _records(file):
        calls = collections.Counter(f"{event.object.rstrip('0123456789')}.{event.verb}" for event in each.events)
        click.echo(f"{each.path}: {each.program}")
        click.echo("  calls: " + ", ".join(f"{name} {count}" for name, count in calls.most_common()))
        for event in each.events:
            if (event.answer or 0) < 0 or "err" in event.results:
                error = event.results.get("err", str(event.answer))
                click.echo(f"  line {event.line}: {event.object}.{event.verb} was answered {error}")
        last = each.events[-1] if each.events else None
        if each.whole:
            click.echo("  the program ended")
        elif last is not None and last.answer is None:
            click.echo(f"  the record ends in {last.object}.{last.verb} (line {last.line}): the program was killed")
        else:
            click.echo("  the record has no end: it was cut, or the program was killed")


@trace.command("chrome")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("output", type=click.Path(dir_okay=False, path_type=Path))
def to_chrome(file: Path, output: Path) -> None:
    """Write FILE, and the records of its other processes, to OUTPUT as Chrome trace events (JSON)."""
    document = chrome(_records(file))
    try:
        output.write_text(json.dumps(document), encoding="ascii")
    except OSError as error:
        raise click.UsageError(f"{output} cannot be written: {error.strerror}") from None
