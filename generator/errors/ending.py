# SPDX-License-Identifier: Apache-2.0
"""How the command ends where a file or its own output fails: a sentence with an id, and an exit code."""
from __future__ import annotations

import errno
import io
import os
import sys
from typing import IO, Any

import click

NEGATIVE = 1
_OF_A_WRITE = (errno.EBADF, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC)


class Closed(Exception):
    """The reader of the output left. click makes a failure of the error that says so, but it is none."""


def prepared() -> bool:
    """Makes both outputs take every character. False: there is no output, and a sentence says so."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    if sys.stdout is None:
        tell("the output cannot be written: it is closed")
        return False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return True


def tell(sentence: str) -> None:
    """Prints a sentence with its id on standard error, where that can be written."""
    from .catalogue import INPUTS, with_id  # its YAML takes long
    try:
        click.echo(with_id(sentence, INPUTS), err=True)
    except OSError:
        silence(sys.stderr)


def silence(stream: IO[Any]) -> None:
    """Drops what the stream holds and what comes, so that no later write fails."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def told(error: OSError) -> bool:
    """Prints which file failed and why. False: the error is of no file, so a fault of weft."""
    reason = error.strerror or str(error)
    if isinstance(error.filename, (str, bytes)):
        tell(f"{os.fsdecode(error.filename)} cannot be read or written: {reason}")
    elif error.errno in _OF_A_WRITE:
        silence(sys.stdout)
        tell(f"the output cannot be written: {reason}")
    elif not _has_folder():
        tell(f"the working folder cannot be read: {reason}")
    else:
        return False
    return True


def _has_folder() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def flushed(code: int) -> int:
    """The exit code, after all output is written. A reader that left is no failure."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError as error:
        told(error)
        return code or NEGATIVE
    return code
