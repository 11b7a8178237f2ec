# SPDX-License-Identifier: Apache-2.0
"""Weft's own instruction counts, committed in counts.yaml: fabric, compiler, operation.

A count may fall. A count that rises needs a new line of reason in the file. The versions that git holds show whether
a committed count rose.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

COUNTS = Path(__file__).resolve().parents[1] / "counts.yaml"
TOLERANCE = 1.0  # counts are whole numbers, but for batches of 16
HEAD = """\
# SPDX-License-Identifier: Apache-2.0
#
# Instructions of weft per operation: fabric, compiler, operation. Each is the least over all visits of several runs.
# `bench/instructions/run --gate` fails if weft needs more. After a fall: --write. A rise needs a reason:
# `bench/instructions/run --fabric F --write --because REASON`.
"""


@dataclass(frozen=True)
class Count:
    """One committed count, and the reason of its last rise."""

    instructions: float
    because: str = ""


Counts = dict[str, dict[str, dict[str, Count]]]


def parsed(text: str) -> Counts:
    """The file's counts. An entry is a number, or {count: number, because: reason}. Raises ValueError on others."""
    try:
        read = YAML(typ="safe").load(text) or {}
    except YAMLError as wrong:
        raise ValueError(f"counts.yaml: {wrong}") from None
    counts: Counts = {}
    try:
        for fabric, compilers in read.items():
            for compiler, operations in compilers.items():
                of_these = counts.setdefault(fabric, {}).setdefault(compiler, {})
                for operation, entry in operations.items():
                    of_these[operation] = entry_of(entry)
    except (AttributeError, KeyError, TypeError, ValueError) as wrong:
        raise ValueError(f"counts.yaml: fabric, compiler, operation, number: {wrong!r}") from None
    return counts


def entry_of(entry: object) -> Count:
    """A number, or a number with the reason of its rise."""
    if isinstance(entry, dict):
        if set(entry) != {"count", "because"} or not str(entry["because"]).strip():
            raise ValueError(f"{entry}: count and because, and nothing else")
        return Count(number(entry["count"]), str(entry["because"]).strip())
    return Count(number(entry))


def number(value: object) -> float:
    """Finite and not negative."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e9:
        raise ValueError(f"{value!r} is no count")
    return float(value)


def read(path: Path) -> Counts:
    """A missing file has no counts."""
    return parsed(path.read_text("utf-8")) if path.is_file() else {}


def shown(counts: Counts) -> str:
    """The file's text."""
    lines = [HEAD.rstrip("\n")]
    for fabric, compilers in sorted(counts.items()):
        lines.append(f"{fabric}:")
        for compiler, operations in sorted(compilers.items()):
            lines.append(f"  {compiler}:")
            for operation, count in operations.items():
                text = count.because.replace("\\", "\\\\").replace('"', '\\"')
                lines.append(f"    {operation}: {count.instructions}" if not text else
                             f'    {operation}: {{count: {count.instructions}, because: "{text}"}}')
    return "\n".join(lines) + "\n"


def raised(before: dict[str, Count], measured: dict[str, float], because: str) -> tuple[dict[str, Count], list[str]]:
    """New counts of one fabric and compiler, and the rises that have no reason. Falls are taken as they are."""
    after, refused = dict(before), []
    for operation, instructions in measured.items():
        old = before.get(operation)
        if old is None or instructions < old.instructions:
            after[operation] = Count(instructions, old.because if old else "")
        elif instructions > old.instructions + TOLERANCE:
            after[operation] = Count(instructions, because)
            if because in ("", old.because):
                refused.append(f"{operation}: {old.instructions} -> {instructions}: a rise needs a new reason "
                               "(--because REASON)")
    return after, refused


def unexplained(now: Counts, versions: Iterable[Counts]) -> list[str]:
    """One sentence for each count above one of its earlier versions, with no reason or with that version's reason."""
    sentences: dict[str, None] = {}
    for before in versions:
        for fabric, compilers in now.items():
            for compiler, operations in compilers.items():
                for operation, count in operations.items():
                    old = before.get(fabric, {}).get(compiler, {}).get(operation)
                    if old and count.instructions > old.instructions and count.because in ("", old.because):
                        sentences[f"{fabric}, {compiler}, {operation}: {old.instructions} -> {count.instructions} in "
                                  "counts.yaml: a rise needs a new reason (because)"] = None
    return list(sentences)


def versions(path: Path) -> list[Counts]:
    """Every version of the file that git holds, newest first; none outside of a repository."""
    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(path.parent), *arguments], capture_output=True, text=True, check=True,
                              timeout=60).stdout

    found = []
    try:
        for commit in git("log", "--full-history", "--format=%H", "--", path.name).split():
            try:
                found.append(parsed(git("show", f"{commit}:./{path.name}")))
            except (subprocess.CalledProcessError, ValueError):
                continue  # a version without the file, or of another form
    except (OSError, subprocess.SubprocessError):
        return []
    return found
