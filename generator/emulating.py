# SPDX-License-Identifier: Apache-2.0
"""`./weft emulate`: runs a program with a provider that behaves as a fabric's row permits, where the fabric is absent.
"""
from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

import click

from .matrix import atomics
from .matrix.facts import FACT, UNLIMITED, Fact
from .matrix.interfaces import DEFAULT, format_numbers, interface
from .matrix.loader import Refused
from .matrix.refusing import did_you_mean
from .matrix.words import wrong_text
from .tracing.command import data_option, memory_option
from .tracing.running import Tracing, module_folder

ROOT = Path(__file__).resolve().parent.parent
MODULE = "libweft-emulator-fi.so"
FAULTS = ("reorder", "again", "early", "shuffle", "slow", "partial", "failing", "dying")
EVERY_GENTLE_FAULT = ",".join(fault for fault in FAULTS if fault not in ("failing", "dying"))  # what `all` means
_SETTING = re.compile(r"([a-z_]+)(?:=([0-9]{1,18}))?")
MOST_CHANCE = 1000
# Cells that no call of an emulated provider shows: emulator/cells.cpp sets nothing for them.
UNSEEN = frozenset({"address_resolution", "connects_lazily", "same_host", "bytes_visible_in_order", "fused_bytes",
                    "shared_receives", "extended_posting", "split_queues", "thread_levels", "full_queue",
                    "virtual_addressing_optional", "virtual_addressing_costs_order"})


def emulator_in(build: Path | None) -> Path:
    """The folder of the emulator, as module_folder() finds it. Errors: UsageError."""
    return module_folder(MODULE, "weft-emulator-fi", build)


def profile_of(fabric: str) -> Path:
    """Errors: BadParameter, with the known rows."""
    folder = ROOT / "generated" / "profiles"
    path = folder / f"{fabric}.profile"
    if not path.is_file():
        known = ", ".join(sorted(each.stem for each in folder.glob("*.profile")))
        raise click.BadParameter(f"no row {fabric} over libfabric; there are {known}", param_hint="FABRIC")
    return path


def environment(fabric: str, folder: Path, seed: int, faults: str, shape: str,
                cells: tuple[str, ...]) -> dict[str, str]:
    """The program's environment, in which libfabric finds the emulated provider. `cells` as the emulator reads them."""
    wanted = {"WEFT_EMULATOR_PROFILE": str(profile_of(fabric)), "WEFT_EMULATOR_SEED": str(seed),
              "WEFT_EMULATOR_FAULTS": faults,
              "WEFT_EMULATOR_SHAPE": shape, "WEFT_EMULATOR_CELLS": ",".join(cells)}
    before = os.environ.get("FI_PROVIDER_PATH")
    return {**os.environ, **wanted, "FI_PROVIDER_PATH": f"{folder}:{before}" if before else str(folder)}


def _cells(_context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(_as_emulated, value))


def _as_emulated(cell: str) -> str:
    """Formats of addresses are numbers to the emulator. Errors: UsageError."""
    name, equals, text = (part.strip() for part in cell.partition("="))
    fact, attributes = FACT.get(name), [attribute for attribute, _ in interface(DEFAULT)]
    wrong = ""
    if not equals:
        wrong = "write NAME=VALUE"
    elif name in UNSEEN:
        wrong = f"no call of an emulated provider shows {name}, so it cannot be changed"
    elif fact is not None:
        wrong = _wrong_value(fact, text)
    elif name not in attributes:
        wrong = f"no cell '{name}'{did_you_mean(name, [*FACT, *attributes])}"
    try:
        if not wrong:
            return f"{name}={format_numbers(text) if name == 'address_formats' else text}"
    except Refused as refused:
        wrong = refused.problems[0].sentence
    raise click.UsageError(f"--cell {cell}: {wrong}")


def _wrong_value(fact: Fact, text: str) -> str:
    """What is wrong with a cell's value, as the matrix would say it; else empty."""
    value: bool | int | str = text
    if fact.cpp == "bool" and text in ("true", "false"):
        value = text == "true"
    elif fact.is_number and re.fullmatch("[0-9]{1,20}|unlimited", text):
        value = UNLIMITED if text == "unlimited" else int(text)
    if not fact.fits(value):
        return f"{fact.name} is {text or 'empty'}: expected {fact.expects()}"
    if "," in text:
        return f"{fact.name} has a comma, which begins another cell for the emulator"
    wrong = atomics.read(text).wrong if fact.name == "atomic_operations" else ()
    return wrong[0] if wrong else wrong_text(fact.name, text)


def _faults(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if value == "all":
        return EVERY_GENTLE_FAULT
    for each in filter(None, value.split(",")):
        found = _SETTING.fullmatch(each)
        if not found or found[1] not in FAULTS or (found[1] != "dying" and int(found[2] or 0) > MOST_CHANCE):
            raise click.BadParameter(f"\"{each}\" is not one of {', '.join(FAULTS)} (each alone, or as name=chance, 0 "
                                     f"to {MOST_CHANCE} in a thousand; dying=N: at the N-th post), nor \"all\"")
    return value


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("fabric")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--seed", default=1, show_default=True,
              help="Of every decision; the n-th of an endpoint is the same in each run.")
@click.option("--faults", default="", callback=_faults, metavar="NAME[=N],...",
              help=f"Misbehaviour that the row permits: {', '.join(FAULTS)}; N in a thousand. "
              "dying=N kills the process at its N-th post. all: every one but failing and dying.")
@click.option("--shape", default="", metavar="latency=NS,bandwidth=BYTES",
              help="Time: nanoseconds one way, bytes per second.")
@click.option("--cell", "cells", multiple=True, callback=_cells, metavar="NAME=VALUE",
              help="A cell of the row that is otherwise in this run (repeatable).")
@click.option("--processes", default=1, show_default=True, type=click.IntRange(1, 1024),
              help="How many run COMMAND; WEFT_EMULATED_PROCESS counts them from 0.")
@click.option("--record", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write what the program asks and is answered; with --processes to FILE.0, FILE.1 and so on.")
@click.option("--replay", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Answer the program from FILE; the first call that differs ends it with a sentence.")
@data_option
@memory_option
@click.option("--build", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="The build directory that has the emulator.  [default: the newest]")
def emulate(fabric: str, command: tuple[str, ...], seed: int, faults: str, shape: str, cells: tuple[str, ...],
            processes: int, record: Path | None, replay: Path | None, data: int, memory: int,
            build: Path | None) -> None:
    """Run COMMAND with an emulated FABRIC in place of the library's provider of that name.

    The program is not rebuilt: libfabric loads the emulator in addition to its own providers. The emulator reports
    each broken rule of the row on standard error. A run proves that a program keeps to the row. Only ./weft probe on
    the hardware proves the row. Exit code: the program's (the first that is not 0).

    \b
    Examples:
      ./weft emulate efa -- fi_info -p efa
      ./weft emulate efa --faults all --seed 7 -- examples/hello/both_sides LISTENER CALLER
      ./weft emulate unordered --faults all -- COMMAND     # the worst of all fabrics: it promises nothing
      ./weft emulate cxi --cell write_immediate_bytes=8 -- COMMAND
      ./weft emulate efa --faults all --record RUN -- COMMAND     # then --replay RUN gives the same outcome
    """
    profile_of(fabric)  # the row first: a wrong name is reported before a missing build
    if replay is not None and (record is not None or faults or shape or cells):
        raise click.UsageError("--replay takes every answer from its file: --record, --faults, --shape and --cell "
                               "have no place beside it")
    folder = emulator_in(build)
    variables = {**environment(fabric, folder, seed, faults, shape, cells),
                 **Tracing(record, replay, data, memory).environment(folder)}
    try:
        if processes == 1:
            os.execvpe(command[0], list(command), variables)
        started = [subprocess.Popen(command, env={**variables, "WEFT_EMULATED_PROCESS": str(index)})
                   for index in range(processes)]
    except OSError as error:
        raise click.UsageError(f"{command[0]} cannot be run: {error.strerror}") from None

    def end(number: int, _frame: FrameType | None) -> None:
        for each in started:
            each.send_signal(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    codes = [each.wait() for each in started]
    sys.exit(next((code if code > 0 else 128 - code for code in codes if code != 0), 0))
