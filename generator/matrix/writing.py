# SPDX-License-Identifier: Apache-2.0
"""How commands write a file that people keep: the old bytes or the new ones, and line ends as they were."""
from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from .loader import Problem, Refused


def replace(path: Path, data: bytes) -> None:
    """The file has the old bytes or the new ones at each moment. A link stays one. Errors: OSError."""
    place = path.resolve()
    if path.exists() and not place.is_file():  # a pipe, a device
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    if place.exists() and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    new = place.with_name(f".{place.name}.new")
    try:
        new.write_bytes(data)
        if place.exists():
            shutil.copymode(place, new)
        os.replace(new, place)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None


def write(path: Path, text: str) -> None:
    """Errors: Refused; then the file is as it was."""
    try:
        replace(path, text.encode("utf-8"))
    except OSError as error:
        raise Refused([Problem(path.name, 1, f"cannot be written: {error.strerror}; nothing was changed")]) from None


def edited(text: str, edit: Callable[[str], str]) -> str:
    """What `edit` makes of the text. Where each line ends with a carriage return, `edit` does not see them."""
    if text.count("\r\n") != text.count("\n"):
        return edit(text)
    return edit(text.replace("\r\n", "\n")).replace("\n", "\r\n")
