# SPDX-License-Identifier: Apache-2.0
"""`./weft clean`: lists shared memory that killed processes left behind, and removes it on request.

libfabric's provider for one host names its files "<pid>:<uid>:<endpoint>", and the copy of a large message
"<pid>:<uid>:<endpoint>_<message>". A killed process cannot remove its files, so 16 MiB per endpoint stay.
"""
from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from ..options import FINE, NEGATIVE, format_option
from ..report import as_csv, as_json

_NAME = re.compile(r"([1-9][0-9]{0,8}):[0-9]+:[0-9]+(_[0-9]+)?")


@dataclass(frozen=True)
class Leftover:
    """A file of a process that has ended."""
    path: Path
    process: int
    size: int


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def leftovers(folder: Path) -> Iterator[Leftover]:
    """The files of this user whose process has ended. Links, folders and files with other names are not listed."""
    for path in sorted(folder.iterdir()):
        named = _NAME.fullmatch(path.name)
        if named is None:
            continue
        try:
            what = path.lstat()
        except FileNotFoundError:
            continue  # another process removed it
        if stat.S_ISREG(what.st_mode) and what.st_uid == os.geteuid() and not is_alive(int(named[1])):
            yield Leftover(path, int(named[1]), what.st_size)


def _mebibytes(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"


@click.command()
@click.option("--remove", is_flag=True, help="Remove the files. Without this option they are listed only.")
@format_option("table", "json", "csv")
@click.option("--folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path("/dev/shm"),
              show_default=True, help="The folder of shared memory.")
def clean(remove: bool, kind: str, folder: Path) -> None:
    """List shared memory of killed processes; --remove removes it.

    Only regular files of your user count, with a name of libfabric's shm provider, whose process has ended. A container
    that shares /dev/shm with others does not see their processes: run the command outside of it.

    \b
    Examples:
      ./weft clean            what killed processes left in /dev/shm
      ./weft clean --remove   the same, and removes it
    """
    found = list(leftovers(folder))
    ends = [_removed(each) if remove else "left" for each in found]
    if kind == "json":
        click.echo(as_json("clean", {"folder": str(folder), "files": [
            {"file": str(each.path), "bytes": each.size, "process": each.process, "end": end}
            for each, end in zip(found, ends)]}))
    elif kind == "csv":
        click.echo(as_csv(("file", "bytes", "process", "end"),
                          [(str(each.path), str(each.size), str(each.process), end)
                           for each, end in zip(found, ends)]))
    else:
        _show(folder, found, ends)
    raise SystemExit(FINE if {*ends} <= {"left", "removed"} else NEGATIVE)


def _removed(one: Leftover) -> str:
    """What became of a file: "removed", or why it was not."""
    try:
        one.path.unlink(missing_ok=True)
    except OSError as error:
        return f"not removed: {error.strerror}"
    return "removed"


def _show(folder: Path, found: list[Leftover], ends: list[str]) -> None:
    for each, end in zip(found, ends):
        tail = "" if end == "left" else f", {end}"
        click.echo(f"{each.path}  {_mebibytes(each.size)}  process {each.process} has ended{tail}")
    removed = [each for each, end in zip(found, ends) if end == "removed"]
    if not found:
        click.echo(f"nothing of killed processes in {folder}")
    elif "left" in ends:
        click.echo(f"{len(found)} in all: {_mebibytes(sum(each.size for each in found))}; --remove removes them")
    else:
        click.echo(f"removed {len(removed)} of {len(found)}: {_mebibytes(sum(each.size for each in removed))}")
