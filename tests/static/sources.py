# SPDX-License-Identifier: Apache-2.0
"""The project's files, as the checks see them: by folder, without comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

CPP = (".hpp", ".cpp")

# A comment, or a literal that may look like one inside: the literal wins where it begins first.
_COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\s\\]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])*'""", re.DOTALL
)


def files(root: Path, folders: tuple[str, ...], suffixes: tuple[str, ...] = CPP) -> Iterator[Path]:
    """Files below root/<folder> with one of the suffixes, in a stable order."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path


def without_comments(text: str) -> str:
    """C++ text with comments blanked out: literals stay, and so do line numbers."""

    def blank(match: re.Match[str]) -> str:
        found = match.group(0)
        return re.sub(r"[^\n]", " ", found) if found.startswith(("//", "/*")) else found

    return _COMMENT_OR_LITERAL.sub(blank, text)


def report(problems: list[str], good: str) -> int:
    """Prints what was found; returns the exit code."""
    for problem in problems:
        print(problem)
    print(f"{len(problems)} found" if problems else good)
    return 1 if problems else 0
