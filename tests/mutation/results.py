# SPDX-License-Identifier: Apache-2.0
"""docs/tables/mutation.json: each mutant of the list with its last verdict, one a line. The page is made of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mutants import UNNOTICED, Mutant
from state import State

RESULTS = "docs/tables/mutation.json"
NOT_RUN = "not run"


def results(mutants: Sequence[Mutant], state: State) -> dict[str, Any]:
    rows = []
    for mutant in mutants:
        kept = state.valid(mutant)
        rows.append(
            {
                "id": mutant.id,
                "file": mutant.file,
                "class": mutant.kind,
                "tests": " ".join((*mutant.ctest, *mutant.pytest)),
                "expected": mutant.killed_by,
                "verdict": kept.verdict if kept else NOT_RUN,
                "by": kept.by if kept else "",
                "date": kept.date if kept else "",
                "commit": kept.commit if kept else "",
                "reason": mutant.survives,
            }
        )
    return {"unnoticed": list(UNNOTICED), "mutants": rows}


def write(root: Path, mutants: Sequence[Mutant], state: State) -> None:
    made = results(mutants, state)
    lines = ",\n".join(json.dumps(each) for each in made["mutants"])
    text = f'{{"unnoticed": {json.dumps(made["unnoticed"])},\n"mutants": [\n{lines}\n]}}\n'
    (root / RESULTS).write_text(text, encoding="utf-8")
