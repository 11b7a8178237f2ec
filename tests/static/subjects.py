# SPDX-License-Identifier: Apache-2.0
"""Subjects of commits: subjects.py ROOT. Exit 1 names each that is too long or ends in a full stop.

CONTRIBUTING.md states the rule. Commits before SINCE are older than this check. A program cannot judge whether a
subject is imperative. Exit 77: ROOT is no git checkout.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sources import report

COLUMNS = 72
SINCE = 1795622400  # 2026-11-25 16:00 UTC


def problems_of(subjects: list[tuple[str, str]]) -> list[str]:
    """One sentence per subject (hash, text) that breaks the rule."""
    problems = []
    for commit, text in subjects:
        if len(text) > COLUMNS:
            problems.append(f"{commit}: the subject has {len(text)} characters, {COLUMNS} are the limit: {text}")
        if text.endswith("."):
            problems.append(f"{commit}: the subject ends in a full stop: {text}")
    return problems


def subjects_of(root: Path) -> list[tuple[str, str]] | None:
    """The commits since SINCE. None: no git checkout."""
    log = subprocess.run(["git", "-C", str(root), "log", f"--since={SINCE}", "--format=%h %s"], capture_output=True,
                         text=True, check=False)
    if log.returncode != 0:
        return None
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in log.stdout.splitlines()]


if __name__ == "__main__":
    found = subjects_of(Path(sys.argv[1]))
    if found is None:
        print("this is no git checkout")
        sys.exit(77)
    sys.exit(report(problems_of(found), f"each of {len(found)} subjects is short"))
