# SPDX-License-Identifier: Apache-2.0
"""The project's files, as the checks see them: by folder, without comments, by list."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

CPP = (".hpp", ".cpp")
# Folders that a build or a tool makes.
NOT_SOURCES = frozenset(
    (".git", "build", "install", "__pycache__", ".cache", ".pytest_cache", ".mypy_cache", ".hypothesis")
)
# Files that a program writes, and a text that nobody here may change.
GENERATED = re.compile(
    r"^(generated/|docs/(.*/)?((matrix|conformance|performance(_of_(sets|transfers))?|mutation|nightly|reliability"
    r"|drift|scale)\.md$|generated/)"
    r"|generator/schemas/|docs/reference/matrix\.html$"
    r"|docs/tables/(conformance|many_peers|mutation|nightly|reliability|scale)\.json$"
    r"|docs/tables/releases/|LICENSE$|fuzz/corpus/|tests/generator/golden/|tests/[a-z_]+/recorded/)"
)

# A comment, or a literal that may look like one inside: the literal wins where it begins first.
COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"""
    r"""R"(?P<tag>[^()\s\\]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])*'""",
    re.DOTALL,
)


def files(root: Path, folders: tuple[str, ...], suffixes: tuple[str, ...] = CPP) -> Iterator[Path]:
    """Files below root/<folder> with one of the suffixes, in a stable order."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path


def project_files(root: Path) -> list[str]:
    """Names of all files of the project, generated ones too, in a stable order."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in NOT_SOURCES)
        found += [(Path(folder) / name).relative_to(root).as_posix() for name in names if name != ".git"]
    return sorted(found)


def text_of(path: Path) -> str | None:
    """The file's text; None for a file that is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def read_list(path: Path) -> list[str]:
    """Lines of a committed list; `#` begins a comment. A missing file is an empty list."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def write_list(path: Path, entries: list[str]) -> None:
    """Rewrites a committed list; the comment at its top stays."""
    head = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        if not line.startswith("#"):
            break
        head.append(line)
    path.write_text("\n".join([*head, *entries]) + "\n", encoding="utf-8")


def without_comments(text: str) -> str:
    """C++ text with comments blanked out: literals stay, and so do line numbers."""

    def blank(match: re.Match[str]) -> str:
        found = match.group(0)
        return re.sub(r"[^\n]", " ", found) if found.startswith(("//", "/*")) else found

    return COMMENT_OR_LITERAL.sub(blank, text)


def report(problems: list[str], good: str) -> int:
    """Prints what was found; returns the exit code."""
    for problem in problems:
        print(problem)
    print(f"{len(problems)} found" if problems else good)
    return 1 if problems else 0
