# SPDX-License-Identifier: Apache-2.0
"""The committed list of mutants fits the tree: each one applies, and the tests that judge it exist. Runs no mutant."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import results
from mutants import UNNOTICED, LEAST, MOST_SURVIVORS, Mutant, WrongList, read_mutants

ROOT = Path(__file__).resolve().parents[2]
MUTANTS = read_mutants(ROOT)


def test_there_are_enough_mutants() -> None:
    assert len(MUTANTS) >= LEAST


def test_each_mutant_applies() -> None:
    wrong = []
    for mutant in MUTANTS:
        try:
            mutant.applied((ROOT / mutant.file).read_text("utf-8"))
        except (OSError, WrongList) as error:
            wrong.append(str(error))
    assert wrong == []


def test_no_mutant_is_there_twice() -> None:
    assert [name for name, count in Counter(each.id for each in MUTANTS).items() if count > 1] == []
    changes = Counter((each.file, each.line, each.nth, each.becomes) for each in MUTANTS)
    assert [change for change, count in changes.items() if count > 1] == []


def test_every_class_that_was_unnoticed_has_mutants() -> None:
    assert [kind for kind in UNNOTICED if not any(each.kind == kind for each in MUTANTS)] == []


def test_few_mutants_may_survive() -> None:
    assert sum(bool(each.survives) for each in MUTANTS) <= MOST_SURVIVORS * len(MUTANTS)


def test_the_expected_tests_exist() -> None:
    code = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.[hc]pp"))
    google = set(re.findall(r"TEST\w*\(\s*(\w+),\s*(\w+)\s*\)", code))
    python = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    functions = set(re.findall(r"^def (test_\w+)", python, re.MULTILINE))
    absent = [f"{each.id}: {each.killed_by}" for each in MUTANTS
              if (each.killed_by not in functions if each.pytest else tuple(each.killed_by.split(".")) not in google)]
    assert absent == []
    assert [name for each in MUTANTS for name in each.pytest if not (ROOT / name).exists()] == []


def test_the_ctests_exist() -> None:
    """In a build of all software fabrics. Others lack some of these tests."""
    build = os.environ.get("WEFT_BUILD")
    if build is None:
        pytest.skip("WEFT_BUILD names no build")
    done = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True,
                          timeout=60, check=True)
    there = {test["name"] for test in json.loads(done.stdout)["tests"]}
    if not {"backends.verbs_parts", "conformance.waiting.tcp", "conformance.waiting.mapped"} <= there:
        pytest.skip("this build has not every software fabric")
    assert sorted({name for each in MUTANTS for name in each.ctest} - there) == []


def test_the_results_are_of_this_list() -> None:
    """After a change of the list: scripts/mutate --limit 0 --write."""
    written = json.loads((ROOT / results.RESULTS).read_text("utf-8"))["mutants"]
    assert [(each["id"], each["file"], each["reason"]) for each in written] == [
        (each.id, each.file, each.survives) for each in MUTANTS]


@pytest.mark.parametrize(("change", "sentence"), [
    ({"line": "nothing"}, "has no line `nothing`"),
    ({"line": "twice"}, "has 2 lines `twice`; say `nth`"),
    ({"line": "twice", "nth": 3}, "has 2 lines `twice`, not 3"),
    ({"becomes": "once"}, "changes nothing"),
])
def test_a_mutant_that_does_not_apply_is_refused(change: dict[str, object], sentence: str) -> None:
    fields = {"id": "a.b", "file": "f", "line": "once", "becomes": "", "nth": 0, "kind": "bounds", "killed_by": "t",
              "survives": "", "ctest": (), "targets": (), "pytest": ("t.py",), **change}
    with pytest.raises(WrongList, match=re.escape(sentence)):
        Mutant(**fields).applied("  twice\n  once\n  twice\n")  # type: ignore[arg-type]
