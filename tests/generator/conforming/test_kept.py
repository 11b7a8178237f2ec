# SPDX-License-Identifier: Apache-2.0
"""docs/tables/conformance.json: a cell keeps its day, and is stale after days or a change of what it was made from."""
from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import pytest
from command import Run
from generator.conforming import kept
from generator.conforming.freshness import CTESTS
from generator.conforming.judging import BROKEN, NOT_RUN, REFUSED, SHOWN, Cell
from generator.conforming.kept import DAYS, DAYS_OF_LONG_RUNS, Key, KeptCell, Table, merged, stale
from generator.conforming.promises import Promises, defined_tests, read_promises
from generator.conforming.record import Record, record_of
from generator.conforming.results import Results
from generator.decided import Decided
from generator.rules import Family

_PROMISES = """
columns: {tcp: "here"}
guests: {verbs: "in a guest"}
emulated: {cxi: "over it"}
sources: {build/here: {fabrics: [tcp, verbs, cxi], made_by: ["make it"]}}
promises:
  told: {section: contract, number: 1, says: "The target hears of it.", tests: [put_notify]}
  wired: {section: contract, number: 2, says: "It is wired.", everywhere: [unit.wire]}
  asked: {section: answer, number: 1, says: "It is asked.", tests: [little/put_notify]}
  long: {section: contract, number: 3, says: "It is long.", tests: [put_notify], long_runs: true}
"""
_TODAY = date(2026, 11, 27)
_SHOWN, _NOTHING = Cell(SHOWN, "native", "immediate", ("a note", "another")), Cell(NOT_RUN, "", "", ("no results",))


@pytest.fixture
def promises(tmp_path: Path, families: tuple[Family, ...]) -> Promises:
    (tmp_path / "p.yaml").write_text(_PROMISES)
    return read_promises(tmp_path / "p.yaml", "p.yaml", families)


@pytest.fixture
def made_from(promises: Promises) -> dict[Key, str]:
    return {(each.name, column.fabric): f"{each.name} {column.fabric}" for each in promises.promises
            for column in promises.columns}


@pytest.fixture
def fresh(made_from: dict[Key, str]) -> Table:
    return Table({key: KeptCell(_SHOWN, _TODAY.isoformat(), digest) for key, digest in made_from.items()},
                 {"tcp": "libfabric 1.17"})


def _ran(day: str) -> Results:
    return Results(libraries={"tcp": "libfabric 1.17"}, days={"tcp": {day, "", "2026-11-26"}},
                   ctests_ran={"unit.wire": datetime(2026, 11, 24, 12).timestamp()})


def test_a_table_is_read_as_it_was_written(tmp_path: Path, fresh: Table) -> None:
    fresh.cells["told", "cxi"] = KeptCell(_NOTHING, "", "")
    (tmp_path / "t.json").write_text(kept.text_of(fresh), encoding="utf-8")
    assert kept.read(tmp_path / "t.json") == fresh
    assert kept.read(tmp_path / "none.json") == Table()


def test_a_whole_table_is_fresh(promises: Promises, made_from: dict[Key, str], fresh: Table) -> None:
    assert stale(fresh, promises, made_from, _TODAY) == []


def test_a_cell_that_is_absent_is_said_on_every_fabric(
    promises: Promises, made_from: dict[Key, str], fresh: Table
) -> None:
    for fabric in ("tcp", "cxi"):
        del fresh.cells["told", fabric]
    fresh.cells["gone", "tcp"] = fresh.cells["wired", "tcp"]
    assert stale(fresh, promises, made_from, _TODAY) == [
        "tcp: it lacks cells: told", "cxi: it lacks cells: told", "it still has gone on tcp"]


@pytest.mark.parametrize(("change", "reason"), [
    ({"made_from": "before"}, "older than a change of the promise, the row or a suite"),
    ({"cell": _NOTHING}, "did not run"),
    ({"day": "2026-11-12"}, f"results of more than {DAYS} days ago"),
])
def test_only_cells_of_long_runs_may_be_older(
    promises: Promises, made_from: dict[Key, str], fresh: Table, change: dict[str, object], reason: str
) -> None:
    for key in fresh.cells:
        fresh.cells[key] = replace(fresh.cells[key], **change)  # type: ignore[arg-type]
    assert stale(fresh, promises, made_from, _TODAY) == [f"tcp: {reason}: told, wired"]


def test_a_page_is_fresh_for_days(promises: Promises, made_from: dict[Key, str], fresh: Table) -> None:
    def after(days: int) -> list[str]:
        return stale(fresh, promises, made_from, date.fromordinal(_TODAY.toordinal() + days))

    assert after(DAYS) == []
    assert stale(fresh, promises, made_from, None) == []
    assert after(DAYS + 1) == [f"tcp: results of more than {DAYS} days ago: told, wired"]
    assert [each.split(":")[0] for each in after(DAYS_OF_LONG_RUNS + 1)] == ["tcp", "tcp", "verbs", "cxi"]


def test_a_failed_cell_is_said_on_every_fabric(promises: Promises, made_from: dict[Key, str], fresh: Table) -> None:
    for fabric in ("tcp", "verbs"):
        fresh.cells["told", fabric] = replace(fresh.cells["told", fabric], cell=Cell(BROKEN, "", "", ()))
    assert stale(fresh, promises, made_from, _TODAY) == ["tcp: failed: told", "verbs: failed: told"]


def test_results_change_their_cells_and_no_others(promises: Promises, made_from: dict[Key, str], fresh: Table) -> None:
    found = {key: Cell(REFUSED, "", "", ("row tcp has none",)) if key[1] == "tcp" else _NOTHING for key in made_from}
    before = Table({**fresh.cells, ("gone", "tcp"): fresh.cells["told", "tcp"]}, fresh.libraries)
    del before.cells["told", "verbs"]
    after = merged(before, promises, found, _ran("2026-11-25"), {}, made_from)
    assert after.cells["told", "tcp"] == KeptCell(found["told", "tcp"], "2026-11-25", "told tcp")
    assert after.cells["wired", "tcp"] == KeptCell(found["wired", "tcp"], "2026-11-24", "wired tcp")
    assert after.cells["told", "cxi"] == fresh.cells["told", "cxi"]
    assert after.cells["told", "verbs"] == KeptCell(_NOTHING, "", "")
    assert after.cells.keys() == made_from.keys()
    found["told", "verbs"] = Cell(REFUSED, "", "", ("the row has none",))
    after = merged(before, promises, found, _ran("2026-11-25"), {}, made_from)
    assert after.cells["told", "verbs"] == KeptCell(found["told", "verbs"], "", "told verbs"), "no result made it"
    assert stale(after, promises, made_from, _TODAY) == []


@pytest.mark.parametrize(("old", "taken"), [({"tcp": "a.hpp"}, {"wired"}), ({CTESTS: "a.hpp"}, {"told"}),
                                            ({"cxi": "emulator/a.cpp"}, {"told", "wired"})])
def test_outdated_results_change_no_cell(
    promises: Promises, made_from: dict[Key, str], fresh: Table, old: dict[str, str], taken: set[str]
) -> None:
    found = {key: Cell(BROKEN, "", "", ()) if key[1] == "tcp" else _NOTHING for key in made_from}
    after = merged(fresh, promises, found, _ran("2026-11-25"), old, made_from)
    broken = {key[0] for key, each in after.cells.items() if each.cell.verdict == BROKEN}
    assert broken & {"told", "wired"} == taken
    marked = merged(fresh, promises, found, _ran("2026-11-25"), old, made_from, old_too=True)
    assert {key[0] for key, each in marked.cells.items() if not each.made_from} & {"told", "wired"} == (
        set() if "cxi" in old else {"told", "wired"} - taken)


@pytest.fixture
def now(root: Path, decided: dict[str, Decided], families: tuple[Family, ...]) -> tuple[Promises, Record]:
    every = read_promises(root / "tests" / "conformance" / "promises.yaml", "promises.yaml", families)
    return every, record_of(every, decided, defined_tests(root / "tests" / "conformance"))


def _changed(every: Promises, now: Record, then: Record) -> set[Key]:
    before, after = kept.sources_of_cells(every, then), kept.sources_of_cells(every, now)
    return {key for key in after if before[key] != after[key]}


def test_a_test_less_an_answer_more_or_another_promise_changes_its_cells(
    now: tuple[Promises, Record], root: Path, decided: dict[str, Decided]
) -> None:
    every, record = now
    suites = defined_tests(root / "tests" / "conformance")
    fabrics, names = {each.fabric for each in every.columns}, {each.name for each in every.promises}
    fewer = record_of(every, decided, {**suites, "waiting": set(sorted(suites["waiting"])[1:])})
    waits = {each.name for each in every.promises if any(test.split(".")[0] == "waiting" for test in each.tests)}
    assert waits and _changed(every, record, fewer) == {(name, fabric) for name in waits for fabric in fabrics}
    tcp = record_of(every, {**decided, "tcp": replace(decided["tcp"], choices=decided["sockets"].choices)}, suites)
    assert _changed(every, record, tcp) == {(name, "tcp") for name in names}
    first, *rest = every.promises
    for each, expected in ((replace(first, says="Said better.", line=1), set()),
                           (replace(first, everywhere=()), {(first.name, fabric) for fabric in fabrics})):
        other = record_of(replace(every, promises=(each, *rest)), decided, suites)
        assert _changed(every, record, other) == expected


def test_the_command_names_a_page_of_another_text(weft: Run, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# A page\n", encoding="utf-8")
    done = weft("conformance", "--check", "--page", tmp_path / "page.md")
    assert done.returncode == 1
    assert "page.md is stale: its text is not of docs/tables/conformance.json and promises.yaml" in done.stdout
