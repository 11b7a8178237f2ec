# SPDX-License-Identifier: Apache-2.0
"""docs/tables/mutation.json: each mutant of the list with its last verdict, one a line. The page is made of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mutants import UNNOTICED, Mutant
from state import Kept, State

RESULTS = "docs/tables/mutation.json"
NOT_RUN = "not run"


def results(mutants: Sequence[Mutant], state: State, before: dict[str, Any]) -> dict[str, Any]:
    """`before`: the results in the tree. They stay for unchanged mutants that this state does not know."""
    known = {each["id"]: each for each in before.get("mutants", ())}
    rows = []
    for mutant in mutants:
        kept = state.valid(mutant)
        old = known.get(mutant.id, {})
        if kept is None and old.get("key") == mutant.key() and old["verdict"] != NOT_RUN:
            kept = Kept(old["key"], "", old["verdict"], old["by"], 0.0, old["date"], old["commit"])
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
                "key": mutant.key(),
            }
        )
    return {"unnoticed": list(UNNOTICED), "mutants": rows}


def write(root: Path, mutants: Sequence[Mutant], state: State) -> None:
    path = root / RESULTS
    made = results(mutants, state, json.loads(path.read_text("utf-8")) if path.exists() else {})
    lines = ",\n".join(json.dumps(each) for each in made["mutants"])
    text = f'{{"unnoticed": {json.dumps(made["unnoticed"])},\n"mutants": [\n{lines}\n]}}\n'
    path.write_text(text, encoding="utf-8")
