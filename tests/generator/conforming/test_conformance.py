# SPDX-License-Identifier: Apache-2.0
"""`weft conformance`: promises and suites agree, and a cell is what the results say, never better."""
from __future__ import annotations

import json
import os
import re
from pathlib import Path

import jsonschema
import pytest
from command import Run
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from generator.conforming.freshness import CTESTS, outdated
from generator.conforming.judging import (
    BROKEN,
    ELSEWHERE,
    NOT_APPLICABLE,
    NOT_RUN,
    NOT_SHOWN,
    REFUSED,
    SHOWN,
    Cell,
    Judge,
    judge,
    range_of,
)
from generator.conforming.kept import KeptCell, Table
from generator.conforming.page import counted, page, shown
from generator.conforming.promises import (
    defined_tests,
    promises_schema,
    read_promises,
    unlike_the_rows,
    unlike_the_suites,
)
from generator.conforming.results import join, read_results
from generator.decided import Decided
from generator.matrix.loader import Refused
from generator.rules import Family
from generator.schemas import all_schemas

_TINY = """
columns:
  tcp: "here"
  cxi: "nowhere"
sources:
  build/here:
    fabrics: [tcp, cxi]
    made_by: ["make it"]
promises:
  told:
    section: contract
    number: 1
    says: "It is told."
    tests: [put_notify]
    everywhere: [unit.wire]
    native: {notify: [immediate]}
"""


def _suite(fabric: str, *cases: str, library: str = "libfabric 1.17") -> str:
    told = "".join(cases)
    return (
        f'<testsuites library="{library}"><testsuite name="fabric/put_notify/{fabric}">{told}</testsuite></testsuites>'
    )


def _case(name: str, inside: str = "") -> str:
    return f'<testcase name="{name}" status="run" timestamp="2026-11-20T10:00:00">{inside}</testcase>'


_SKIP = '<skipped message="/x/put_notify.hpp:7&#x0A;row cxi has none"/>'
_RUNNER = '<testsuite name="x"><testcase name="unit.wire" status="run"/></testsuite>'


@pytest.fixture
def cells(tmp_path: Path, families: tuple[Family, ...], decided: dict[str, Decided]):  # type: ignore[no-untyped-def]
    """From result files to (verdict, kind, notes) by fabric."""

    def of(told: str = _TINY, **files: str) -> dict[str, tuple[str, str, tuple[str, ...]]]:
        mapping = tmp_path / "promises.yaml"
        mapping.write_text(told)
        (tmp_path / "results").mkdir(exist_ok=True)
        for name, text in files.items():
            (tmp_path / "results" / f"{name}.xml").write_text(text)
        promises = read_promises(mapping, "promises.yaml", families)
        by = Judge(decided, families, {"put_notify": {"one"}, "rounds": {"many"}, "who/put_notify": {"one"}})
        return {
            fabric: (cell.verdict, cell.kind, cell.notes)
            for (_, fabric), cell in judge(promises, join([read_results(tmp_path)]), by).items()
        }

    return of


def test_what_passed_is_native_or_emulated_as_the_row_answers(cells) -> None:  # type: ignore[no-untyped-def]
    found = cells(a=_suite("tcp", _case("one")), b=_suite("cxi", _case("one")), c=_RUNNER)
    assert found == {"tcp": (SHOWN, "native", ()), "cxi": (SHOWN, "emulated", ())}


def test_the_library_is_an_attribute_or_a_property_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    noted = '<properties><property name="library" value="libfabric 2.1"/></properties>'
    (tmp_path / "results" / "new.xml").write_text(
        _suite("tcp_rdm", _case("a"), library="").replace('<testsuites library="">', "<testsuites>" + noted)
    )
    (tmp_path / "results" / "old.xml").write_text(_suite("tcp", _case("a")))
    assert read_results(tmp_path).libraries == {"tcp_rdm": "libfabric 2.1", "tcp": "libfabric 1.17"}


def test_what_failed_did_not_run_or_was_skipped_is_said(cells) -> None:  # type: ignore[no-untyped-def]
    failed = _suite("tcp", _case("one", '<failure message="no"/>'), _case("two"))
    found = cells(a=failed, b=_suite("cxi", _case("one", _SKIP)), c=_RUNNER)
    assert found == {"tcp": (BROKEN, "", ("failed: put_notify.one",)), "cxi": (REFUSED, "", ("row cxi has none",))}
    assert cells(a=_suite("cxi", _case("one")))["tcp"] == (NOT_RUN, "", ("no results of fabric tcp were given",))
    other = cells(a=_suite("tcp", _case("one")).replace("put_notify", "waiting"))
    assert other["tcp"] == (NOT_RUN, "", ("did not run: put_notify",))


_HERE = '<skipped message="/x/put_notify.hpp:7&#x0A;here: no device"/>'


@pytest.mark.parametrize("reason", [_HERE, _HERE.replace("here: no device", "")])
def test_a_suite_skipped_whole_for_the_environment_did_not_run(
    cells, reason: str  # type: ignore[no-untyped-def]
) -> None:
    found = cells(a=_suite("tcp", _case("one", reason), _case("two", _SKIP)), c=_RUNNER)
    verdict, _, notes = found["tcp"]
    assert verdict == NOT_RUN
    said = "here: no device" if reason == _HERE else "skipped without a reason"
    assert notes == (f"did not run: put_notify.one ({said})",)
    partly = cells(a=_suite("tcp", _case("one", _HERE), _case("two")), c=_RUNNER)
    assert partly["tcp"] == (SHOWN, "native", ("here: no device",))


@pytest.mark.parametrize("key", ["everywhere: [unit.wire]", "live: [[unit.wire]]"])
def test_a_ctest_that_the_machine_skips_did_not_run(cells, key: str) -> None:  # type: ignore[no-untyped-def]
    skipped = '<testsuite><testcase name="unit.wire" status="notrun">'
    skipped += '<skipped message="SKIP_RETURN_CODE=77"/></testcase></testsuite>'
    found = cells(_TINY.replace("everywhere: [unit.wire]", key), a=_suite("tcp", _case("one")), c=skipped)
    assert found["tcp"][::2] == (NOT_RUN, ("did not run: unit.wire (unit.wire says that this machine cannot run it)",))


def test_each_skip_of_a_suite_says_whether_the_row_or_the_environment_is_its_reason(root: Path) -> None:
    told = [(file.name, reason) for file in sorted((root / "tests" / "conformance").glob("*.[hc]pp"))
            for reason in re.findall(r"GTEST_SKIP\(\)\s*<<\s*([^;]*);", file.read_text(encoding="utf-8"))]
    assert len(told) > 20
    assert [each for each in told if not re.match(r'"(row |the row |the library |here: )|refused$', each[1])] == []


def test_tests_in_which_the_fabric_takes_no_part_are_shown_elsewhere(cells) -> None:  # type: ignore[no-untyped-def]
    told = _TINY.replace("    tests: [put_notify]\n", "").replace("    native: {notify: [immediate]}\n", "")
    found = cells(told, a=_suite("tcp", _case("one")), c=_RUNNER)
    assert found["tcp"] == (SHOWN, ELSEWHERE, ("shown by unit.wire: this fabric takes no part",))
    assert shown(Cell(SHOWN, ELSEWHERE, "", ())) == "(✓)"


def test_a_promise_about_other_rows_does_not_apply(cells) -> None:  # type: ignore[no-untyped-def]
    told = _TINY.replace("native: {notify", "applies: {endpoint: [addressed]}\n    native: {notify")
    found = cells(told, a=_suite("tcp", _case("one")), b=_suite("cxi", _case("one")), c=_RUNNER)
    reason = "it is about rows with endpoint::addressed, and this row has endpoint::connected"
    assert found["tcp"] == (NOT_APPLICABLE, "", (reason,))
    assert found["cxi"] == (SHOWN, "emulated", ())


def test_a_fabric_without_the_live_test_is_not_shown(cells) -> None:  # type: ignore[no-untyped-def]
    told = _TINY.replace("tests: [put_notify]", 'live: [["threads.{fabric}"]]').split("    native")[0]
    told = told.replace("everywhere: [unit.wire]", 'lacking: {cxi: "nobody runs it"}')
    threads = _RUNNER.replace("unit.wire", "threads.tcp")
    found = cells(told, a=_suite("tcp", _case("one")), b=_suite("cxi", _case("one")), c=threads)
    assert found == {"tcp": (SHOWN, "", ()), "cxi": (NOT_SHOWN, "", ("nobody runs it",))}


def test_the_page_counts_each_place_apart(
    tmp_path: Path, root: Path, families: tuple[Family, ...], decided: dict[str, Decided]
) -> None:
    mapping = tmp_path / "promises.yaml"
    told = _TINY.replace('  cxi: "nowhere"\n', 'guests:\n  verbs: "in a guest"\nemulated:\n  cxi: "over it"\n')
    told = told.replace("[tcp, cxi]", "[tcp, verbs, cxi]")
    told += '  wired:\n    section: contract\n    number: 2\n    says: "It is."\n    everywhere: [unit.wire]\n'
    mapping.write_text(told)
    (tmp_path / "results").mkdir()
    for name, text in (("a", _suite("tcp", _case("one"))), ("b", _suite("verbs", _case("one", _SKIP))),
                       ("c", _suite("cxi", _case("one"))), ("d", _RUNNER)):
        (tmp_path / "results" / f"{name}.xml").write_text(text)
    promises = read_promises(mapping, "promises.yaml", families)
    results = join([read_results(tmp_path)])
    found = judge(promises, results, Judge(decided, families, {"put_notify": {"one"}}))
    every = {key: KeptCell(cell, "2026-11-20", "as now") for key, cell in found.items()}
    every["told", "tcp"] = KeptCell(found["told", "tcp"], "2026-11-19", "changed since")
    made_from = dict.fromkeys(found, "as now")
    nothing = {"elsewhere": 0, "shown": 0, "refused": 0, "not_shown": 0, "not_applicable": 0, "failed": 0, "not_run": 0,
               "older": 0}
    assert counted(promises, every, made_from) == [
        {**nothing, "where": "on this machine", "fabrics": "tcp", "cells": 2, "shown": 1, "elsewhere": 1,
         "older": 1},
        {**nothing, "where": "in a guest", "fabrics": "verbs", "cells": 2, "refused": 1, "elsewhere": 1},
        {**nothing, "where": "over the emulator", "fabrics": "cxi", "cells": 2, "shown": 1, "not_applicable": 1},
    ]
    environment = Environment(loader=FileSystemLoader(str(root / "templates")), undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)
    text = environment.get_template("conformance.md.j2").render(
        **page(promises, Table(every, results.libraries), made_from))
    assert "\n6 cells. Shown: 1 on this machine, 0 in a guest, 1 over the emulator.\n" in text
    assert "| on this machine | tcp | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 1 |\n" in text
    assert "| in a guest | verbs | 0 | 1 | 1 | 0 | 0 | 0 | 0 | 0 |\n" in text
    assert "| over the emulator | cxi | 1 | 0 | 0 | 0 | 1 | 0 | 0 | 0 |\n" in text
    assert "| tcp | libfabric 1.17 | here | 2026-11-19 to 2026-11-20 |\n" in text
    assert "| 1 | told | ✓ native ° | refused [1](#n1) | ✓ emulated" in text
    assert "| | promise | tcp | verbs *(guest)* | cxi *(emulated)* |" in text


def test_each_suite_is_of_the_first_folder_that_has_it(tmp_path: Path) -> None:
    suites = {"first": (_suite("tcp", _case("one")), "2026-11-20"),
              "second": (_suite("tcp", _case("one", '<failure message="no"/>'))
                         + "", "2026-11-18"),
              "third": (_suite("tcp", _case("one")).replace("put_notify", "messages"), "2026-11-19")}
    for folder, (text, day) in suites.items():
        (tmp_path / folder / "results").mkdir(parents=True)
        (tmp_path / folder / "results" / "a.xml").write_text(text.replace("2026-11-20", day))
    joined = join([read_results(tmp_path / folder) for folder in suites])
    assert joined.suites["tcp", "put_notify", "one"].how == "passed"
    assert joined.suites["tcp", "messages", "one"].how == "passed"
    assert joined.days == {"tcp": {"2026-11-20", "2026-11-19"}}, "the second folder shows nothing"


def test_a_program_that_was_not_built_did_not_run(cells) -> None:  # type: ignore[no-untyped-def]
    unbuilt = '<testsuite><testcase name="unit.wire" status="notrun">'
    unbuilt += '<skipped message="Unable to find executable"/></testcase></testsuite>'
    found = cells(a=_suite("tcp", _case("one")), c=unbuilt)
    assert found["tcp"] == (NOT_RUN, "", ("did not run: unit.wire",))


def test_a_suite_of_which_a_test_is_absent_did_not_run(cells) -> None:  # type: ignore[no-untyped-def]
    found = cells(a=_suite("tcp", _case("two")), c=_RUNNER)
    assert found["tcp"] == (NOT_RUN, "", ("did not run: put_notify.one",))


def test_an_answer_by_hand_is_another_suite_and_a_row_that_forbids_it_says_why(
    cells,  # type: ignore[no-untyped-def]
) -> None:
    asked = _TINY.replace("[put_notify]", "[who/put_notify]").replace(
        "native: {notify: [immediate]}", "asks: {notify: watched_word}"
    )
    by_default = cells(asked, a=_suite("tcp", _case("one")), c=_RUNNER)
    assert by_default["tcp"] == (NOT_RUN, "", ("did not run: who/put_notify",))
    verdict, _, notes = by_default["cxi"]
    assert verdict == REFUSED and "bytes_visible_in_order" in notes[0]
    by_hand = cells(asked, b=_suite("tcp", _case("one")).replace("fabric/", "who/"))
    assert by_hand["tcp"] == (SHOWN, "", ())


def test_what_rounds_kept_is_told_with_their_number(cells) -> None:  # type: ignore[no-untyped-def]
    figures = "".join(
        f'<property name="{name}" value="{value}"/>'
        for name, value in (("rounds", 1000), ("kept_kib", 64), ("kept_descriptors", 0))
    )
    found = cells(
        _TINY.replace("[put_notify]", "[rounds]"),
        c=_RUNNER,
        a=_suite("tcp", _case("many", f"<properties>{figures}</properties>")).replace("put_notify", "rounds"),
    )
    assert found["tcp"][2] == ("1,000 rounds; since the first quarter +64 KiB and +0 descriptors",)


def test_bytes_of_a_peer_are_told_with_the_number_of_peers(cells) -> None:  # type: ignore[no-untyped-def]
    figures = '<property name="bytes_per_peer" value="64"/><property name="counted_peers" value="100000"/>'
    found = cells(a=_suite("tcp", _case("one", f"<properties>{figures}</properties>")), c=_RUNNER)
    assert found["tcp"][2] == ("64 bytes for each peer, counted by opening for 100,000 more peers",)


def test_results_of_a_program_that_is_older_than_its_files_are_named(tmp_path: Path) -> None:
    for file, text in (
        ("tests/conformance/main.cpp", '#include "../../compose/a.hpp"\n'),
        ("compose/a.hpp", ""),
        ("generated/tcp.hpp", ""),
        ("compose/b.hpp", ""),
    ):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
        os.utime(tmp_path / file, (1000, 1000))
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "a.xml").write_text(
        _suite("tcp", _case("one")).replace("<testsuites", '<testsuites built="2000" source="main.cpp"')
    )
    results = read_results(tmp_path)
    os.utime(tmp_path / "compose" / "b.hpp", (3000, 3000))  # nothing includes it
    assert outdated(tmp_path, results) == {}
    os.utime(tmp_path / "compose" / "a.hpp", (3000, 3000))
    assert outdated(tmp_path, results) == {"tcp": "compose/a.hpp"}


def test_emulated_results_and_ctests_age_with_the_emulator_and_with_all_code(
    tmp_path: Path, families: tuple[Family, ...]
) -> None:
    def touch(file: str, when: int, text: str = "") -> None:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text or "x")
        os.utime(tmp_path / file, (when, when))

    touch("p.yaml", 1, _TINY.replace('  cxi: "nowhere"\n', 'emulated:\n  cxi: "over it"\n'))
    promises = read_promises(tmp_path / "p.yaml", "p.yaml", families)
    for name, text in (("a", _suite("tcp", _case("one"))), ("b", _suite("cxi", _case("one"))), ("c", _RUNNER)):
        touch(f"results/{name}.xml", 2000, text)
    touch("emulator/a.cpp", 1000)
    touch("compose/a.hpp", 1000)
    assert outdated(tmp_path, read_results(tmp_path), promises) == {}
    touch("emulator/a.cpp", 3000)
    assert outdated(tmp_path, read_results(tmp_path), promises) == {"cxi": "emulator/a.cpp"}
    touch("emulator/a.cpp", 1000)
    touch("compose/a.hpp", 3000)
    assert outdated(tmp_path, read_results(tmp_path), promises) == {CTESTS: "compose/a.hpp"}
    touch("results/d.xml", 4000, _RUNNER)
    assert outdated(tmp_path, read_results(tmp_path), promises) == {}


def test_the_sources_say_what_is_absent_and_how_it_is_made(weft: Run, tmp_path: Path) -> None:
    said = weft("conformance", "--results", tmp_path, "--sources")
    assert said.returncode == 1
    assert "none of tcp" in said.stdout and "cmake --workflow --preset page" in said.stdout


def test_a_test_that_is_partly_skipped_keeps_the_reason(cells) -> None:  # type: ignore[no-untyped-def]
    found = cells(a=_suite("tcp", _case("one"), _case("two", _SKIP)), c=_RUNNER)
    assert found["tcp"] == (SHOWN, "native", ("row cxi has none",))


def test_a_file_that_is_cut_off_is_refused(cells) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Refused, match="no whole XML file"):
        cells(a="<testsuites><testsu")


def test_the_tree_agrees_with_its_promises(weft: Run) -> None:
    said = weft("conformance", "--mapping")
    assert said.returncode == 0, said.stderr


@pytest.mark.parametrize(("option", "schema"), [("--mapping", "mapping"), ("--sources", "sources")])
def test_json_of_promises_and_of_sources_is_json_alone(weft: Run, tmp_path: Path, option: str, schema: str) -> None:
    said = weft("conformance", "--results", tmp_path, option, "--format", "json")
    answer = json.loads(said.stdout)
    assert answer["schema"] == f"weft.{schema}.1"
    jsonschema.Draft202012Validator(all_schemas()[schema]).validate(answer)
    assert said.stderr == ""
    assert weft("conformance", "--results", tmp_path, option, "--format", "csv").stdout.count("exists") == 0


def test_json_of_promises_that_do_not_fit_names_the_problems(weft: Run, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(_TINY.replace("[put_notify]", "[put_notifi]"))
    said = weft("conformance", "--mapping", "--promises", tmp_path / "p.yaml", "--format", "json")
    assert said.returncode == 1
    problems = json.loads(said.stdout)["problems"]
    assert any("names the test put_notifi" in each["sentence"] and each["line"] > 0 for each in problems)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "[put_notify]",
            "[put_notifi]",
            "names the test put_notifi, which no conformance header defines; did you mean 'put_notify'?",
        ),
        ("[put_notify]", "[put_notify.nothing]", "names the test put_notify.nothing"),
        ("[immediate]", "[immediat]", "family notify has no answer 'immediat'; did you mean 'immediate'?"),
        (
            "    native: {notify: [immediate]}",
            "    asks: {notify: watched_wort}",
            "family notify has no answer 'watched_wort'; did you mean 'watched_word'?",
        ),
        ("[tcp, cxi]", "[tcp]", "cxi is a column of 0 sources: name it in one"),
        ("[tcp, cxi]", "[tcp, cxi, cxj]", "cxj is no column"),
        ("    native:", '    lacking: {tcq: "none"}\n    native:', "tcq is no column; did you mean 'tcp'?"),
        ("    native: {notify", "    applies: {endpoin: [addressed]}\n    native: {notify", "no family 'endpoin'"),
        ("notify: [", "notifi: [", "there is no family 'notifi'; did you mean 'notify'?"),
        ("    says:", '    refused: "no"\n    says:', "one of the three"),
    ],
)
def test_a_promise_that_does_not_fit_is_refused(
    tmp_path: Path, root: Path, families: tuple[Family, ...], old: str, new: str, sentence: str
) -> None:
    (tmp_path / "p.yaml").write_text(_TINY.replace(old, new))
    try:
        said = " ".join(
            map(
                str,
                unlike_the_suites(
                    read_promises(tmp_path / "p.yaml", "p.yaml", families),
                    defined_tests(root / "tests" / "conformance"),
                ),
            )
        )
    except Refused as refused:
        said = str(refused)
    assert sentence in said


def test_a_row_without_a_column_is_said(tmp_path: Path, families: tuple[Family, ...]) -> None:
    (tmp_path / "p.yaml").write_text(_TINY)
    promises = read_promises(tmp_path / "p.yaml", "p.yaml", families)
    assert unlike_the_rows(promises, ["tcp", "cxi"]) == []
    assert [each.sentence for each in unlike_the_rows(promises, ["tcp", "shm"])] == [
        "the row shm has no column: add it to columns, guests or emulated", "cxi is a column, and no row"]


def test_a_suite_that_no_promise_names_is_said(tmp_path: Path, root: Path, families: tuple[Family, ...]) -> None:
    (tmp_path / "p.yaml").write_text(_TINY)
    said = unlike_the_suites(
        read_promises(tmp_path / "p.yaml", "p.yaml", families), defined_tests(root / "tests" / "conformance")
    )
    assert any("the conformance suite waiting is named by no promise" in each.sentence for each in said)


def test_json_is_as_its_schema_and_what_did_not_run_is_negative(weft: Run, tmp_path: Path) -> None:
    said = weft("conformance", "--results", tmp_path, "--format", "json")
    assert said.returncode == 1
    answer = json.loads(said.stdout)
    jsonschema.Draft202012Validator(all_schemas()["conformance"]).validate(answer)
    jsonschema.Draft202012Validator.check_schema(promises_schema())
    verdicts = {cell["verdict"] for promise in answer["promises"] for cell in promise["cells"]}
    assert verdicts <= {"not run", "refused", "not shown", "not applicable"}


def test_results_are_judged_by_the_range_of_their_release(decided: dict[str, Decided]) -> None:
    row = next(each for each in decided.values() if len(each.fabric.ranges) > 1)
    first, newest = row.fabric.ranges[0], row.fabric.ranges[-1]
    assert range_of(row, f"library {first.since}")[0] is first
    assert range_of(row, f"library {newest.since}")[0] is newest
    assert range_of(row, "library of today")[0] is newest
