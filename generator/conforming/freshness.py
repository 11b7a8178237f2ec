# SPDX-License-Identifier: Apache-2.0
"""Whether results belong to the current sources. A program that is older than one of its files proves nothing about
them.
"""
from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from .promises import EMULATOR, Promises
from .results import Results

_INCLUDED = re.compile(r'^\s*#\s*include "([^"]+)"', re.MULTILINE)


@cache
def _reached(file: Path) -> frozenset[Path]:
    """The files that a file of the tree includes, and itself."""
    found: set[Path] = set()
    open_ = [file.resolve()]
    while open_:
        each = open_.pop()
        if each in found or not each.is_file():
            continue
        found.add(each)
        open_ += [(each.parent / name).resolve() for name in _INCLUDED.findall(each.read_text(encoding="utf-8"))]
    return frozenset(found)


CTESTS = "tests without a fabric"
_CODE = ("core", "wire", "policies", "compose", "backends", "history", "coroutines", "transfers", "generated")


def _newest(root: Path, folders: tuple[str, ...]) -> tuple[float, str]:
    """The newest C++ file of some folders, with its time; 0 where there is none."""
    return max(((file.stat().st_mtime, file.relative_to(root).as_posix()) for folder in folders
                for file in (root / folder).rglob("*.[hc]pp")), default=(0.0, ""))


def outdated(root: Path, results: Results, promises: Promises | None = None) -> dict[str, str]:
    """Per fabric, the file that is newer than a program of its results; nothing where all results are fresh.

    With promises: emulated fabrics are also compared with the emulator, and ctests that promises name (CTESTS) with all
    code, because nothing says which files such a test is made of.
    """
    found: dict[str, str] = {}
    for (fabric, program), built in sorted(results.built.items()):
        files = _reached(root / "tests" / "conformance" / program) | _reached(root / "generated" / f"{fabric}.hpp")
        newest = max(files, key=lambda each: each.stat().st_mtime, default=None)
        if newest is not None and newest.stat().st_mtime > built:
            found.setdefault(fabric, newest.relative_to(root.resolve()).as_posix())
    if promises is None:
        return found
    changed, file = _newest(root, ("emulator",))
    for column in promises.columns:
        if column.where == EMULATOR and results.ran.get(column.fabric, changed) < changed:
            found.setdefault(column.fabric, file)
    changed, file = _newest(root, _CODE)
    named = {name.replace("{fabric}", column.fabric) for each in promises.promises for column in promises.columns
             for name in (*each.everywhere, *(name for names in each.live for name in names))}
    if any(ran < changed for name, ran in results.ctests_ran.items() if name in named):
        found[CTESTS] = file
    return found
