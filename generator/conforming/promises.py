# SPDX-License-Identifier: Apache-2.0
"""The meaning of tests/conformance/promises.yaml: each promise and capability with its tests, or why it has none."""
from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..matrix.loader import Document, Problem, Refused, load
from ..rules import Family
from ..matrix.refusing import did_you_mean, require
from ..matrix.schema import NAME, SENTENCE, SNAKE, Schema

_TEST = r"^([a-z]+/)?[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?$"
_CTEST = r"^[a-z][a-z0-9_-]*(\.([a-z0-9_-]+|\{fabric\}))+$"
# their results are read by weft conformance
_PROGRAMS = ("main.cpp", "watched.cpp", "coalescing.cpp", "options.cpp", "tagged/tagged.cpp")
_INSTANTIATED = re.compile(
    r"^(?:WEFT_INSTANTIATE\((?!WEFT_ONLY_SUITE)|INSTANTIATE_TYPED_TEST_SUITE_P\((\w+), )(\w+)", re.MULTILINE)
_OF_ONE_FABRIC = re.compile(r"\n#if(?!ndef WEFT_ONLY_SUITE)")  # suites after this line are for one fabric alone
_DEFINED = re.compile(r"^TYPED_TEST_P\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)


HERE, GUEST = "on this machine", "in a guest"
# by ./weft emulate: it shows that weft keeps to the row, and proves nothing about the hardware
EMULATOR = "over the emulator"
PLACES = {"columns": HERE, "guests": GUEST, "emulated": EMULATOR}  # by the part of the file that names the fabric


@dataclass(frozen=True)
class Promise:
    """One row of the table. `tests` are conformance suites or tests of them.

    `everywhere` and `live` are ctests, for all fabrics and for each.
    """

    name: str
    section: str
    number: int
    says: str
    tests: tuple[str, ...]
    everywhere: tuple[str, ...]
    live: tuple[tuple[str, ...], ...]  # alternatives: the first that ran counts
    lacking: Mapping[str, str]  # fabric to the sentence why `live` does not exist there
    # family to the answers of the rows that the promise is about; empty: all rows
    applies: Mapping[str, tuple[str, ...]]
    native: Mapping[str, tuple[str, ...]]  # family to the answers that are the library's own
    # family to the answer that its tests select by hand: rows that refuse it refuse the promise
    asks: Mapping[str, str]
    not_applicable: str
    refused: str
    long_runs: bool  # scripts/test runs only a part of its tests
    line: int


@dataclass(frozen=True)
class Column:
    """One fabric of the table."""

    fabric: str
    runs: str  # where its results come from, for people
    where: str  # one of PLACES


@dataclass(frozen=True)
class Source:
    """A build folder whose tests ran, for some columns, and the commands that make it."""

    folder: str  # below this tree
    fabrics: tuple[str, ...]
    made_by: tuple[str, ...]  # commands, one after the other, from this tree


@dataclass(frozen=True)
class Promises:
    """The file."""

    file: str
    columns: tuple[Column, ...]
    sources: tuple[Source, ...]
    promises: tuple[Promise, ...]


def _closed(properties: Schema, required: list[str], description: str) -> Schema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False,
            "description": description}


def promises_schema() -> Schema:
    """The JSON schema of promises.yaml."""
    test: Schema = {"type": "string", "pattern": _TEST,
                    "x-right": "suite, or suite.test, as the conformance headers name them; before a slash who asks "
                               "for another answer"}
    ctest: Schema = {"type": "string", "pattern": _CTEST,
                     "x-right": "the name of a ctest, as unit.wire or invocation.live.{fabric}"}
    promise = _closed({
        "section": {"enum": ["contract", "capability", "answer", "layer"],
                    "description": "which part of the table it is in",
                    "x-right": "contract, capability, answer or layer"},
        "number": {"type": "integer", "minimum": 1, "description": "its place in its section", "x-right": "a number"},
        "says": {**SENTENCE, "description": "what is promised"},
        "tests": {"type": "array", "minItems": 1, "items": test,
                  "description": "conformance suites and tests, run on each fabric", "x-right": "a list of tests"},
        "everywhere": {"type": "array", "minItems": 1, "items": ctest,
                       "description": "ctests that speak for every fabric", "x-right": "a list of ctests"},
        "live": {"type": "array", "minItems": 1, "items": {"type": "array", "minItems": 1, "items": ctest,
                                                           "x-right": "a list of alternatives"},
                 "description": "ctests of each fabric; of several in one list the first that ran counts",
                 "x-right": "a list of lists of ctests"},
        "lacking": {"type": "object", "additionalProperties": SENTENCE,
                    "description": "fabrics where live tests do not exist, and why"},
        "applies": {"type": "object", "minProperties": 1,
                    "description": "by family, the answers of the rows that it is about; it does not apply to others",
                    "additionalProperties": {"type": "array", "minItems": 1, "items": {"type": "string"},
                                             "x-right": "a list of answers"}},
        "native": {"type": "object", "minProperties": 1,
                   "description": "by family, the answers that are the library's own; any other is weft's emulation",
                   "additionalProperties": {"type": "array", "minItems": 1, "items": {"type": "string"},
                                            "x-right": "a list of answers"}},
        "asks": {"type": "object", "minProperties": 1, "maxProperties": 1,
                 "additionalProperties": {"type": "string", "minLength": 1, "x-right": "an answer"},
                 "description": "by family, the answer that its tests ask for by hand; a row that refuses it refuses "
                                "the promise"},
        "not_applicable": {**SENTENCE, "description": "why it does not apply to any fabric"},
        "refused": {**SENTENCE, "description": "why no fabric has it"},
        "long_runs": {"const": True, "description": "some of its tests run in long jobs alone, so results may be older",
                      "x-right": "true, or nothing"},
    }, ["section", "number", "says"], "one promise")
    source = _closed({
        "fabrics": {"type": "array", "items": {"type": "string"},
                    "description": "its columns; none where only tests without a fabric run there",
                    "x-right": "a list of fabrics"},
        "made_by": {"type": "array", "minItems": 1, "items": SENTENCE, "description": "commands, one after the other",
                    "x-right": "a list of commands"},
    }, ["fabrics", "made_by"], "a build folder whose tests ran, and how it is made")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "weft: promises and the tests that show them",
            **_closed({
                "columns": {"type": "object", "minProperties": 1,
                            "additionalProperties": {**SENTENCE, "description": "where its results come from"},
                            "description": "the fabrics of the table that run on this machine"},
                "guests": {"type": "object", "additionalProperties": {**SENTENCE,
                                                                      "description": "where its results come from"},
                           "description": "fabrics of the table that run in a guest, over a soft device"},
                "emulated": {"type": "object", "additionalProperties": {**SENTENCE,
                                                                        "description": "where its results come from"},
                             "description": "fabrics of the table that nobody has here: their programs met the "
                                            "emulator"},
                "sources": {"type": "object", "minProperties": 1, "additionalProperties": source,
                            "description": "the folders that the results of the columns are in"},
                "promises": {"type": "object", "minProperties": 1, "propertyNames": {"pattern": NAME, "x-right": SNAKE},
                             "additionalProperties": promise,
                             "description": "one entry per promise"}},
                ["columns", "sources", "promises"], "the table")}


def read_promises(path: Path, shown: str, families: tuple[Family, ...]) -> Promises:
    """Errors: Refused for another shape, for an unknown family or answer, and for a row without evidence."""
    document = load(path, shown)
    require(document, promises_schema())
    answers = {family.name: family.answers for family in families}
    problems: list[Problem] = []
    promises = []
    columns = tuple(Column(fabric, runs, where) for part, where in PLACES.items()
                    for fabric, runs in document.data.get(part, {}).items())
    fabrics = [column.fabric for column in columns]
    for name, raw in document.data["promises"].items():
        problems += _wrong(document, name, raw, answers)
        problems += [document.problem(("promises", name, "lacking", fabric),
                                      f"{name}: {fabric} is no column{did_you_mean(fabric, fabrics)}")
                     for fabric in raw.get("lacking", {}) if fabric not in fabrics]
        promises.append(Promise(name, raw["section"], raw["number"], raw["says"], tuple(raw.get("tests", ())),
                                tuple(raw.get("everywhere", ())),
                                tuple(tuple(each) for each in raw.get("live", ())), raw.get("lacking", {}),
                                {family: tuple(each) for family, each in raw.get("applies", {}).items()},
                                {family: tuple(each) for family, each in raw.get("native", {}).items()},
                                raw.get("asks", {}), raw.get("not_applicable", ""),
                                raw.get("refused", ""), raw.get("long_runs", False),
                                document.line(("promises", name))))
    places = [(each.section, each.number) for each in promises]
    for each in promises:
        if places.count((each.section, each.number)) > 1:
            problems.append(Problem(shown, each.line,
                                    f"{each.name} is {each.section} {each.number}, and another row too: give each its "
                                    "own number"))
    sources = tuple(Source(folder, tuple(raw["fabrics"]), tuple(raw["made_by"]))
                    for folder, raw in document.data["sources"].items())
    problems += _unsourced(document, sources)
    if problems:
        raise Refused(problems)
    return Promises(shown, columns, sources, tuple(promises))


def _unsourced(document: Document, sources: tuple[Source, ...]) -> list[Problem]:
    """Each column has one source, and each source only columns."""
    columns = {fabric: part for part in PLACES for fabric in document.data.get(part, {})}
    named = [fabric for source in sources for fabric in source.fabrics]
    problems = [document.problem((part, fabric), f"{fabric} is a column of {named.count(fabric)} sources: name it in "
                                                 "one") for fabric, part in columns.items()
                if named.count(fabric) != 1]
    return problems + [document.problem(("sources", source.folder),
                                        f"{fabric} is no column{did_you_mean(fabric, columns)}")
                       for source in sources for fabric in source.fabrics if fabric not in columns]


def _wrong(document: Document, name: str, raw: Mapping[str, object],
           answers: Mapping[str, tuple[str, ...]]) -> list[Problem]:
    where = ("promises", name)
    kinds = [key for key in ("not_applicable", "refused") if key in raw]
    shows = [key for key in ("tests", "everywhere", "live") if key in raw]
    problems = []
    if len(kinds) + bool(shows) != 1:
        problems.append(document.problem(where, f"{name} must have tests (tests, everywhere, live), or not_applicable, "
                                                "or refused: one of the three"))
    applies, native, asked = raw.get("applies", {}), raw.get("native", {}), raw.get("asks", {})
    assert isinstance(applies, dict) and isinstance(native, dict) and isinstance(asked, dict)
    for key, family, wanted in [*(("applies", *each) for each in applies.items()),
                                *(("native", *each) for each in native.items()),
                                *(("asks", family, [answer]) for family, answer in asked.items())]:
        if family not in answers:
            problems.append(document.problem((*where, key, family),
                                             f"{name}: there is no family '{family}'{did_you_mean(family, answers)}"))
            continue
        problems += [document.problem((*where, key, family),
                                      f"{name}: family {family} has no answer "
                                      f"'{each}'{did_you_mean(each, answers[family])}")
                     for each in wanted if each not in answers[family]]
    return problems


def defined_tests(folder: Path) -> dict[str, set[str]]:
    """The suites of the programs, each with its tests.

    Where a program selects another answer than the row's, the name is `who/suite`, as the program prints it.
    """
    tests: dict[str, set[str]] = {}
    for file in (*sorted(folder.rglob("*.hpp")), *(folder / program for program in _PROGRAMS)):
        for suite, test in _DEFINED.findall(file.read_text(encoding="utf-8")):
            tests.setdefault(suite, set()).add(test)
    texts = [_OF_ONE_FABRIC.split((folder / program).read_text(encoding="utf-8"))[0] for program in _PROGRAMS]
    return {(suite if who in ("", "fabric") else f"{who}/{suite}"): tests[suite] for text in texts
            for who, suite in _INSTANTIATED.findall(text)}


def unlike_the_suites(promises: Promises, defined: Mapping[str, set[str]]) -> list[Problem]:
    """Mapped tests that do not exist, and suites that no promise names."""
    every = {f"{suite}.{test}" for suite, tests in defined.items() for test in tests} | set(defined)
    problems = [Problem(promises.file, promise.line,
                        f"{promise.name} names the test {test}, which no conformance header "
                        f"defines{did_you_mean(test, every)}")
                for promise in promises.promises for test in promise.tests if test not in every]
    named = {test.split(".")[0] for promise in promises.promises for test in promise.tests}
    problems += [Problem(promises.file, 1,
                         f"the conformance suite {suite} is named by no promise: add it to the tests of one")
                 for suite in sorted(defined) if suite not in named]
    return problems


def unlike_the_rows(promises: Promises, rows: list[str]) -> list[Problem]:
    """Rows without a column, and columns without a row: a fabric that nobody tests would be on no page."""
    columns = [column.fabric for column in promises.columns]
    return [Problem(promises.file, 1, f"the row {row} has no column: add it to columns, guests or emulated")
            for row in rows if row not in columns] + [
        Problem(promises.file, 1, f"{fabric} is a column, and no row{did_you_mean(fabric, rows)}")
        for fabric in columns if fabric not in rows]
