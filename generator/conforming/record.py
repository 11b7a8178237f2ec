# SPDX-License-Identifier: Apache-2.0
"""What docs/conformance.md was made from, and whether that is still what the tree holds.

The page ends with a record: the commit and the day, and a digest of each promise, each fabric's row and each suite. The
page is stale if a digest differs, or if many commits have changed the code since.
"""
from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..decided import Decided
from .promises import Promises

# The page takes hours of two processors, so not every change makes it anew.
# The page takes hours of two processors, so not every change to the code makes it anew.
MOST_COMMITS = 50
_FOLDERS = ("compose", "policies", "backends", "core", "wire", "tests/conformance")
_RECORD = re.compile(r"^<!-- made from: (\{.*\}) -->$", re.MULTILINE)


@dataclass(frozen=True)
class Record:
    """The sources of a page. Each mapping is from a name to a digest."""

    commit: str  # empty where git did not answer
    day: str
    promises: Mapping[str, str]
    fabrics: Mapping[str, str]
    suites: Mapping[str, str]

    def line(self) -> str:
        """The record as the page holds it."""
        return f"<!-- made from: {json.dumps(asdict(self), sort_keys=True)} -->"


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:8]


def record_of(promises: Promises, rows: Mapping[str, Decided], suites: Mapping[str, set[str]], commit: str,
              day: str) -> Record:
    """The record of the tree. Texts and evidence count for nothing: a better sentence makes no page stale."""
    return Record(
        commit, day,
        {each.name: _digest({key: value for key, value in asdict(each).items()
                             if key not in ("line", "says", "number")}) for each in promises.promises},
        {column.fabric: _row(rows[column.fabric], column.where) for column in promises.columns},
        {suite: _digest(sorted(tests)) for suite, tests in suites.items()})


def _row(row: Decided, where: str) -> str:
    """The digest of a row: its facts and answers for each range of releases, and where it runs."""
    return _digest([where, [[str(span.since), {name: str(cell.value) for name, cell in span.cells.items()},
                             {choice.family: choice.answer for choice in choices}]
                            for span, choices in zip(row.fabric.ranges, row.choices)]])


def record_in(text: str) -> Record | None:
    """The record that a page holds; nothing where it holds none that can be read."""
    found = _RECORD.search(text)
    try:
        return Record(**json.loads(found[1])) if found else None
    except (ValueError, TypeError):
        return None


def stale(text: str, now: Record, commits: int | None) -> list[str]:
    """Why the page is stale, each a sentence. `commits` is their number since the page; none where git cannot count."""
    then = record_in(text)
    if then is None:
        return ["it holds no record of what it was made from"]
    why = []
    for kind in ("promises", "fabrics", "suites"):
        before, after = getattr(then, kind), getattr(now, kind)
        for word, names in (("lacks", [name for name in after if name not in before]),
                            ("still has", [name for name in before if name not in after]),
                            ("is older than a change of", [name for name in after if name in before
                                                           and before[name] != after[name]])):
            if names:
                why.append(f"it {word} the {kind} {', '.join(sorted(names))}")
    if commits is not None and commits > MOST_COMMITS:
        why.append(f"{commits} commits since {then.commit} changed {', '.join(_FOLDERS)}; {MOST_COMMITS} are permitted")
    return why


def head(root: Path) -> str:
    """The commit of the tree, or nothing where git does not answer: an archive, or a checkout of another user."""
    return _git(root, "rev-parse", "--short=12", "HEAD") or ""


def commits_since(root: Path, commit: str) -> int | None:
    """Commits since the page's that changed code; none where git does not know the commit, as in a shallow clone."""
    if not re.fullmatch(r"[0-9a-f]{7,40}", commit):
        return None
    counted = _git(root, "rev-list", "--count", "--no-merges", f"{commit}..HEAD", "--", *_FOLDERS)
    return int(counted) if counted else None


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=60,
                              check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
