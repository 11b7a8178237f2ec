# SPDX-License-Identifier: Apache-2.0
"""Whether results belong to the current sources. A program that is older than one of its files proves nothing about
them.
"""
from __future__ import annotations

import re
from functools import cache
from pathlib import Path

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


def outdated(root: Path, results: Results) -> dict[str, str]:
    """Per fabric, the file that is newer than a program of its results; nothing where all results are fresh."""
    found: dict[str, str] = {}
    for (fabric, program), built in sorted(results.built.items()):
        files = _reached(root / "tests" / "conformance" / program) | _reached(root / "generated" / f"{fabric}.hpp")
        newest = max(files, key=lambda each: each.stat().st_mtime, default=None)
        if newest is not None and newest.stat().st_mtime > built:
            found.setdefault(fabric, newest.relative_to(root.resolve()).as_posix())
    return found
