# SPDX-License-Identifier: Apache-2.0
"""Every file is in its list: lists.py ROOT. Exit 1 names the file and the list.

A header in no list is not installed; a source in no CMakeLists.txt is a test that nobody runs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sources import files, report

HEADER_FOLDERS = ("core", "wire", "policies", "backends", "compose", "coroutines", "transfers", "event_loops",
                  "threads", "history", "job")
HEADER_LIST = "cmake/headers.cmake"
PROGRAM_FOLDERS = ("tests", "bench", "examples", "probe", "docs", "fuzz", "abi")


def check(root: Path) -> list[str]:
    """One sentence per file that no list names."""
    return _headers(root) + _sources(root)


def _headers(root: Path) -> list[str]:
    listed = set((root / HEADER_LIST).read_text(encoding="utf-8").split())
    found = (path.relative_to(root).as_posix() for path in files(root, HEADER_FOLDERS, (".hpp",)))
    return [
        f"{name}: add it to {HEADER_LIST}, or it is neither installed nor compiled alone"
        for name in found
        if name not in listed
    ]


def _sources(root: Path) -> list[str]:
    problems = []
    for path in files(root, PROGRAM_FOLDERS, (".cpp",)):
        lists = _lists_above(root, path)
        if not any(_names(text, path) for text in lists):
            problems.append(f"{path.relative_to(root).as_posix()}: no CMakeLists.txt names it, so it is never built")
    return problems


def _lists_above(root: Path, path: Path) -> list[str]:
    folders = [folder for folder in path.parents if folder != root and root in folder.parents]
    return [
        (folder / "CMakeLists.txt").read_text(encoding="utf-8")
        for folder in folders
        if (folder / "CMakeLists.txt").is_file()
    ]


def _names(text: str, path: Path) -> bool:
    """The file's name, or its stem as a word (lists that append the suffix in a loop)."""
    stem = path.name.split(".", 1)[0]
    return re.search(rf"(?<![\w.]){re.escape(path.name)}\b|(?<![\w.]){re.escape(stem)}(?![\w.])", text) is not None


if __name__ == "__main__":
    sys.exit(report(check(Path(sys.argv[1])), "every file is in its list"))
