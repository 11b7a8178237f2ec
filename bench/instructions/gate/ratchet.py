# SPDX-License-Identifier: Apache-2.0
"""Committed instruction counts, in counts.yaml: fabric, compiler, operation, and a column for each program.

A count may fall. A count that rises needs a new line of reason in the file. The versions that git holds show whether
a committed count rose.
"""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

COUNTS = Path(__file__).resolve().parents[1] / "counts.yaml"
COLUMNS = ("bare", "same_checks", "weft")
TOLERANCE = 1.0  # counts are whole numbers, but for batches of 16
HEAD = """\
# SPDX-License-Identifier: Apache-2.0
#
# Instructions per operation: fabric, compiler, operation. Each is the least over all visits of several runs.
# bare: by hand for one peer, without checks. same_checks: by hand with the checks of weft.
# `bench/instructions/COMMAND --gate` fails if one of them needs more. After a fall: --write. A rise needs a reason:
# `bench/instructions/COMMAND --fabric F --write --because REASON`. docs/reference/instructions.md shows this file.
"""
COMPOSED = COUNTS.with_name("composed_counts.yaml")
MEASURED = "measured"  # the key of the date, among the operations


@dataclass(frozen=True)
class Count:
    """Committed counts of one operation, and the reason of their last rise. None: no such program."""

    weft: float
    because: str = ""
    same_checks: float | None = None
    bare: float | None = None

    def of(self, column: str) -> float | None:
        value: float | None = getattr(self, column)
        return value


Counts = dict[str, dict[str, dict[str, Count]]]
Dates = dict[tuple[str, str], str]  # of a fabric and a compiler


def parsed(text: str) -> Counts:
    """The file's counts. An entry is a number, or a number for each column with a reason. Raises ValueError on others.
    Earlier versions of the file have weft's count alone.
    """
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
                    if operation != MEASURED:
                        of_these[operation] = entry_of(entry)
    except (AttributeError, KeyError, TypeError, ValueError) as wrong:
        raise ValueError(f"counts.yaml: fabric, compiler, operation, number: {wrong!r}") from None
    return counts


def entry_of(entry: object) -> Count:
    """A number of weft, or numbers of columns with the reason of their rise."""
    if not isinstance(entry, dict):
        return Count(number(entry))
    weft = "count" if "count" in entry else "weft"
    if weft not in entry or not set(entry) <= {weft, "same_checks", "bare", "because"} or (
            "because" in entry and not str(entry["because"]).strip()) or set(entry) == {"count"}:
        raise ValueError(f"{entry}: {', '.join(COLUMNS)} and because, and nothing else")
    others = {column: number(entry[column]) for column in ("same_checks", "bare") if column in entry}
    return Count(number(entry[weft]), str(entry.get("because", "")).strip(), **others)


def number(value: object) -> float:
    """Finite and not negative."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e9:
        raise ValueError(f"{value!r} is no count")
    return float(value)


def read(path: Path) -> Counts:
    """A missing file has no counts."""
    return parsed(path.read_text("utf-8")) if path.is_file() else {}


def dates(path: Path) -> Dates:
    """When each fabric was last counted into the file."""
    read = YAML(typ="safe").load(path.read_text("utf-8")) if path.is_file() else {}
    return {(fabric, compiler): str(operations[MEASURED]) for fabric, compilers in (read or {}).items()
            for compiler, operations in compilers.items() if MEASURED in operations}


def shown(counts: Counts, measured: Dates, command: str = "run") -> str:
    """The file's text."""
    lines = [HEAD.replace("COMMAND", command).rstrip("\n")]
    for fabric, compilers in sorted(counts.items()):
        lines.append(f"{fabric}:")
        for compiler, operations in sorted(compilers.items()):
            lines.append(f"  {compiler}:")
            if date := measured.get((fabric, compiler)):
                lines.append(f"    {MEASURED}: {date}")
            for operation, count in operations.items():
                parts = [f"{column}: {count.of(column)}" for column in COLUMNS if count.of(column) is not None]
                text = count.because.replace("\\", "\\\\").replace('"', '\\"')
                parts += [f'because: "{text}"'] if text else []
                lines.append(f"    {operation}: {{{', '.join(parts)}}}")
    return "\n".join(lines) + "\n"


def raised(before: dict[str, Count], measured: dict[str, Count], because: str) -> tuple[dict[str, Count], list[str]]:
    """New counts of one fabric and compiler, and the rises that have no reason. Falls are taken as they are."""
    after, refused = dict(before), []
    for operation, new in measured.items():
        old = before.get(operation, new)
        rises, values = [], {}
        for column in COLUMNS:
            was, now = old.of(column), new.of(column)
            if was is not None and now is not None and now > was + TOLERANCE:
                rises.append(f"{named(operation, column)}: {was} -> {now}: a rise needs a new reason "
                             "(--because REASON)")
            elif was is not None and (now is None or now > was):
                now = was
            values[column] = now
        if rises and because in ("", old.because):
            refused += rises
        after[operation] = replace(new, **values, because=because if rises else old.because)
    return after, refused


def take(path: Path, where: tuple[str, str], measured: dict[str, Count], because: str) -> list[str]:
    """Writes the counts of a fabric and a compiler with today's date, unless a count rises without a reason."""
    counts, (fabric, compiler) = read(path), where
    after, refused = raised(counts.get(fabric, {}).get(compiler, {}), measured, because)
    if not refused:
        counts.setdefault(fabric, {})[compiler] = after
        today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        command = "composed" if path.name == COMPOSED.name else "run"
        path.write_text(shown(counts, dates(path) | {where: today}, command))
    return [f"{fabric} {sentence}" for sentence in refused]


def named(operation: str, column: str) -> str:
    return operation if column == "weft" else f"{operation} ({column})"


def unexplained(now: Counts, versions: Iterable[Counts]) -> list[str]:
    """One sentence for each count above one of its earlier versions, with no reason or with that version's reason."""
    sentences: dict[str, None] = {}
    for before in versions:
        for fabric, compilers in now.items():
            for compiler, operations in compilers.items():
                for operation, count in operations.items():
                    old = before.get(fabric, {}).get(compiler, {}).get(operation)
                    if old is None or count.because not in ("", old.because):
                        continue
                    for column in COLUMNS:
                        was, today = old.of(column), count.of(column)
                        if was is not None and today is not None and today > was:
                            sentences[f"{fabric}, {compiler}, {named(operation, column)}: {was} -> {today} in "
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
