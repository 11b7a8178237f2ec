# SPDX-License-Identifier: Apache-2.0
"""The pages of long jobs: mutation.md from docs/tables/mutation.json, nightly.md from docs/tables/nightly.json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MUTATION = "docs/tables/mutation.json"
NIGHTLY = "docs/tables/nightly.json"
_KILLED = ("killed", "killed by its time limit")
_SURVIVED, _NOT_RUN = "survived", "not run"
Mutants = list[dict[str, str]]


def mutation(root: Path) -> str:
    """How many mutants the tests noticed, per area and class; the survivors, and those that were not run."""
    results: dict[str, Any] = json.loads((root / MUTATION).read_text("utf-8"))
    mutants: Mutants = results["mutants"]
    ran = [each for each in mutants if each["verdict"] in (*_KILLED, _SURVIVED)]
    days = sorted(each["date"] for each in ran)
    when = "never" if not days else days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    commits = ", ".join(f"`{name}`" for name in sorted({each["commit"] for each in ran}))
    killed = sum(each["verdict"] in _KILLED for each in ran)
    unnoticed = [each for each in mutants if each["class"] in results["unnoticed"]]
    text = (
        "# Mutation\n\n"
        "`scripts/mutate` changes one place of the code, and runs the tests that are nearest to it. A change that no\n"
        "test notices survives. The list is `tests/mutation/lists/`. Its format is in `tests/mutation/mutants.py`.\n\n"
        f"Run: {when}, at {commits or 'no commit'} (`+`: with changes that were not committed). "
        f"Of {len(mutants)} mutants {len(ran)} were run: {killed} killed, {len(ran) - killed} survived. "
        f"**{len(mutants) - len(ran)} were not run.**\n\n## By area\n\n"
    )
    text += _table(("area", *_COUNTS), _counted(mutants, lambda each: each["id"].split(".")[0]))
    text += "\n## By class\n\nThe first table has classes of mistakes that no test noticed once.\n\n"
    text += _table(("class", *_COUNTS), _counted(unnoticed, lambda each: each["class"]))
    others = [each for each in mutants if each["class"] not in results["unnoticed"]]
    text += "\n" + _table(("other class", *_COUNTS), _counted(others, lambda each: each["class"]))
    survivors = [(f"`{each['id']}`", f"`{each['file']}`", each["reason"] or "**no reason yet**")
                 for each in mutants if each["verdict"] == _SURVIVED]
    text += "\n## Survivors\n\n" + (_table(("mutant", "file", "reason"), survivors) if survivors else "None.\n")
    elsewhere = [(f"`{each['id']}`", f"`{each['expected']}`", f"`{each['by'] or 'a crash or a refused run'}`")
                 for each in ran if each["verdict"] in _KILLED and not _named(each)]
    text += "\n## Killed first by another test than expected\n\n"
    text += _table(("mutant", "expected", "failed first"), elsewhere) if elsewhere else "None.\n"
    absent = [(f"`{each['id']}`", each["class"], f"`{each['tests']}`", each["verdict"]) for each in mutants
              if each not in ran]
    text += "\n## Not run\n\n"
    text += _table(("mutant", "class", "tests", "why"), absent) if absent else "None.\n"
    return text


def nightly(root: Path) -> str:
    """Each part of scripts/nightly: what it does, when it ran last, and how it ended."""
    parts: dict[str, dict[str, str]] = json.loads((root / NIGHTLY).read_text("utf-8"))
    rows = [(f"`{name}`", part["what"], part["ended"] or _NOT_RUN, part["date"], part["took"],
             f"`{part['commit']}`" if part["commit"] else "") for name, part in parts.items()]
    return (
        "# Long jobs\n\n"
        "`scripts/nightly` runs them: all of them, or those that are named. `--list` prints them.\n\n"
        + _table(("part", "what it does", "last run", "date", "took", "commit"), rows)
    )


_COUNTS = ("mutants", "killed", "survived", "not run")


def _counted(mutants: Mutants, by: Any) -> list[tuple[str, ...]]:
    groups: dict[str, Counter[str]] = {}
    for each in mutants:
        verdict = "killed" if each["verdict"] in _KILLED else each["verdict"]
        groups.setdefault(by(each), Counter())[verdict if verdict in ("killed", _SURVIVED) else _NOT_RUN] += 1
    return [(name, str(count.total()), str(count["killed"]), str(count[_SURVIVED]), str(count[_NOT_RUN]))
            for name, count in sorted(groups.items())]


def _named(each: dict[str, str]) -> bool:
    """Whether the test that failed first is the expected one. Names of parametrised tests have more around it."""
    suite, _, test = each["expected"].rpartition(".")
    return test in each["by"] and suite in each["by"]


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
