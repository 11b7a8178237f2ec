# SPDX-License-Identifier: Apache-2.0
"""The command `weft`: its commands and its exit codes.

Exit codes: 0 fine, 1 not fine (drift, a refused matrix), 2 wrong usage, 70 a fault of weft itself.
A command that needs hardware ends with 77 where there is none.
"""
from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator, MutableMapping
from typing import Any, NoReturn

import click

from .errors.ending import Closed, flushed, prepared, silence, tell, told
from .errors.missing import sentence
from .options import FINE, NEGATIVE, ROOT, builds_programs
from .version import version_of

# Where each command is. A start loads the module of its own command alone: all of them take three times as long.
_PLACES = {
    "add": "adding.command:add",
    "bench": "benching.command:bench",
    "check": "generated:check",
    "clean": "cleaning.command:clean",
    "completion": "manual.command:completion",
    "conformance": "conforming.command:conformance",
    "doctor": "doctoring.command:doctor",
    "emulate": "emulating:emulate",
    "explain": "rows:explain",
    "generate": "generated:generate",
    "inspect": "binaries:inspect",
    "list": "listing.command:list_fabrics",
    "manual": "manual.command:manual",
    "matrix": "rows:show_matrix",
    "probe": "probing.command:probe",
    "run": "running.command:run",
    "simulate": "simulating.command:simulate",
    "top": "watching.command:top",
    "trace": "tracing.command:trace",
}
_BUILD_PROGRAMS = {"add", "bench", "conformance", "simulate"}

INTERNAL = 70


class _Commands(MutableMapping[str, click.Command]):
    """The commands by name. Each is loaded when somebody asks for it."""

    def __init__(self) -> None:
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            module, _, attribute = _PLACES[name].partition(":")
            command: click.Command = getattr(importlib.import_module(f".{module}", __package__), attribute)
            self._loaded[name] = builds_programs(command) if name in _BUILD_PROGRAMS else command
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*_PLACES, *self._loaded]))

    def __len__(self) -> int:
        return len(dict.fromkeys([*_PLACES, *self._loaded]))


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
    except BrokenPipeError as left:
        raise Closed from left
    except click.ClickException as error:
        from .errors.catalogue import USAGE, with_id  # its YAML takes long, and few starts end here
        said = error.format_message()
        named = with_id(said, USAGE)
        vars(error)["format_message"] = lambda: named
        raise


@click.group(cls=_WithIds, commands=_Commands(),
             context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(version_of(ROOT), prog_name="weft", message="%(prog)s %(version)s")
def weft() -> None:
    """Exit codes: 0 fine, 1 not fine, 2 wrong usage, 70 a fault of weft itself."""


def main() -> NoReturn:
    """Runs the command. A fault of weft itself is one sentence and 70; WEFT_TRACEBACK=1 shows where."""
    raise SystemExit(flushed(_code()) if prepared() else NEGATIVE)


def _code() -> int:
    try:
        weft.main(prog_name="weft", standalone_mode=True)
    except SystemExit as ending:
        if isinstance(ending.code, str):
            tell(ending.code)
            return NEGATIVE
        return ending.code or FINE
    except (Closed, BrokenPipeError):
        silence(sys.stdout)
    except ModuleNotFoundError as missing:  # a command's module is loaded late
        click.echo(sentence(missing), err=True)
        return INTERNAL
    except Exception as error:  # noqa: BLE001  the last place that can make a sentence of it
        if os.environ.get("WEFT_TRACEBACK"):
            raise
        if isinstance(error, OSError) and told(error):
            return NEGATIVE
        from .errors.catalogue import USAGE, with_id
        click.echo(with_id(f"weft: a fault of its own: {type(error).__name__}: {error} (WEFT_TRACEBACK=1 shows where)",
                           USAGE), err=True)
        return INTERNAL
    return FINE
