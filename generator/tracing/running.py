# SPDX-License-Identifier: Apache-2.0
"""Runs a program that is recorded, or that is answered by a record: sets what emulator/recording/ reads."""
from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from .reading import NoRecord, read_record

ROOT = Path(__file__).resolve().parents[2]
RECORDER = "libweft-recorder.so"
OF_PROCESSES = "[0-9]*"
PREFIXES = tuple(dict.fromkeys(map(Path, (sys.prefix, "/usr/local", "/usr"))))  # of cmake --install


@dataclass(frozen=True)
class Tracing:
    """What was asked for on the command line: at most one of both files."""

    record: Path | None = None
    replay: Path | None = None
    data: int = 4096
    memory: int = 4 << 20

    def environment(self, folder: Path) -> dict[str, str]:
        """What a program needs beside its own environment: nothing where nothing was asked for.

        Errors: UsageError, where a record exists, is none, or the recorder is not built.
        """
        if self.record is None and self.replay is None:
            return {}
        if not (folder / RECORDER).is_file():
            raise click.UsageError(f"no {RECORDER} in {folder}: build the target weft-recorder")
        before = os.environ.get("LD_PRELOAD")
        wanted = {"LD_PRELOAD": f"{folder / RECORDER}:{before}" if before else str(folder / RECORDER)}
        if self.record is not None:
            return {**wanted, "WEFT_TRACE_RECORD": str(_new(self.record)), "WEFT_TRACE_DATA": str(self.data),
                    "WEFT_TRACE_MEMORY": str(self.memory)}
        assert self.replay is not None
        return {**wanted, "WEFT_TRACE_REPLAY": str(_readable(self.replay))}


def files_of(path: Path) -> list[Path]:
    """The records of one run: the file itself, and one for each process with a number."""
    numbered = (each for each in path.parent.glob(f"{path.name}.{OF_PROCESSES}") if each.suffix[1:].isdigit())
    return ([path] if path.is_file() else []) + sorted(numbered, key=lambda each: int(each.suffix[1:]))


def _new(path: Path) -> Path:
    there = files_of(path.resolve())
    if there:
        raise click.UsageError(f"{there[0]} exists; a record is never written over another file")
    if not path.resolve().parent.is_dir():
        raise click.UsageError(f"{path.resolve().parent} is no folder, so {path.name} cannot be written there")
    return path.resolve()


def _readable(path: Path) -> Path:
    there = files_of(path.resolve())
    if not there:
        raise click.UsageError(f"{path} does not exist, nor {path}.0; --replay names a file that --record wrote")
    try:
        for each in there:
            read_record(each)
    except NoRecord as error:
        raise click.UsageError(str(error)) from None
    return path.resolve()


def recorder_in(build: Path | None) -> Path:
    """The folder of the recorder, as module_folder() finds it. Errors: UsageError."""
    return module_folder(RECORDER, "weft-recorder", build)


def module_folder(module: str, target: str, build: Path | None) -> Path:
    """Where a module is: in `build`; else in the newest build directory of this tree; else where it was installed.

    Errors: UsageError.
    """
    built = sorted((ROOT / "build").glob("*"), key=lambda place: -place.stat().st_mtime)
    installed = (folder / "weft" for prefix in PREFIXES for folder in sorted(
        {prefix / "lib", prefix / "lib64", *(prefix / "lib").glob("*-linux-gnu")}))
    for place in [build] if build is not None else [*built, *installed]:
        for folder in (place / "emulator", place):
            if (folder / module).is_file():
                return folder
    where = f"in {build}" if build else "in a build directory of this tree, nor installed"
    raise click.UsageError(f"no {module} {where}: build the target {target}, or name its folder with --build")
