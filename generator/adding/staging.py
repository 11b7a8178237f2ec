# SPDX-License-Identifier: Apache-2.0
"""A row is tried in a copy of the tree. What has passed goes into the tree at once, or not at all."""
from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..matrix.loader import Problem, Refused
from ..matrix.writing import replace

# What a build or a tool makes, and what has a history of its own.
_NOT_COPIED = frozenset((".git", "build", "install", "__pycache__", ".cache", ".pytest_cache", ".mypy_cache",
                         ".hypothesis"))


def stage(tree: Path, at: Path) -> None:
    """Makes `at` a copy of the tree. A second time only what differs is copied, so that a build goes on."""
    wanted = set()
    for path in _files(tree):
        name = path.relative_to(tree)
        wanted.add(name)
        copy = at / name
        if not _alike(path, copy):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
    for path in list(_files(at)):
        if path.relative_to(at) not in wanted:
            path.unlink()


def replace_all(tree: Path, files: Mapping[str, bytes]) -> list[str]:
    """Writes what differs; returns the names of what it wrote. Errors: Refused; then every file is as it was."""
    before = {name: (tree / name).read_bytes() if (tree / name).is_file() else None for name in files}
    written: list[str] = []
    try:
        for name, data in files.items():
            if before[name] != data:
                written.append(name)
                replace(tree / name, data)
    except OSError as error:
        for name in written:
            old = before[name]
            if old is None:
                (tree / name).unlink(missing_ok=True)
            else:
                replace(tree / name, old)
        raise Refused([Problem(written[-1], 1, f"cannot be written: {error.strerror}; nothing was changed")]) from None
    return written


def _files(tree: Path) -> Iterator[Path]:
    """Files of the tree, without what builds made anywhere in it."""
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders
                      if name not in _NOT_COPIED and not (Path(folder) / name / "CMakeCache.txt").exists()]
        yield from (Path(folder) / name for name in names if (Path(folder) / name).is_file())


def _alike(path: Path, copy: Path) -> bool:
    """Same size and time: a copy takes over the time last, so that half a copy is not alike."""
    if not copy.is_file():
        return False
    one, other = path.stat(), copy.stat()
    return (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)
