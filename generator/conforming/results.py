# SPDX-License-Identifier: Apache-2.0
"""The results of test programs: GoogleTest's XML of each conformance suite, and the test runner's JUnit file of the
rest.

The contents tell the files apart, not the names: <testsuites> is GoogleTest's, <testsuite> the runner's.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from ..matrix.loader import Problem, Refused

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
_BY_ROW = re.compile(r"(the )?(row|library) ")


@dataclass(frozen=True)
class Outcome:
    """How one test ended."""

    how: str
    sentence: str  # of a skip: the row's reason (by_row), or the environment's
    when: str  # "2026-11-20T17:00:00", or empty where the file does not say
    figures: Mapping[str, str] = field(default_factory=dict)  # what the test noted, by name

    @property
    def by_row(self) -> bool:
        """Whether the row or its library is the reason of a skip. Any other reason is the environment's."""
        return self.how == SKIPPED and _BY_ROW.match(self.sentence) is not None


@dataclass
class Results:
    """All results. A test that ran several times has its last result."""

    suites: dict[tuple[str, str, str], Outcome] = field(default_factory=dict)  # (fabric, suite, test)
    ctests: dict[str, Outcome] = field(default_factory=dict)
    libraries: dict[str, str] = field(default_factory=dict)  # fabric to the library's name and release
    days: dict[str, set[str]] = field(default_factory=dict)  # fabric to the days of its results
    # (fabric, source of the program) to its build time; else to the time of the result
    built: dict[tuple[str, str], float] = field(default_factory=dict)
    ran: dict[str, float] = field(default_factory=dict)  # fabric to the time of its oldest result
    ctests_ran: dict[str, float] = field(default_factory=dict)

    def tests_of(self, fabric: str, name: str) -> dict[str, Outcome]:
        """The outcomes of `suite`, or of `suite.test`, on a fabric."""
        suite, _, test = name.partition(".")
        return {key[2]: outcome for key, outcome in self.suites.items() if key[:2] == (fabric, suite)
                and test in ("", key[2])}


def read_results(folder: Path) -> Results:
    """Reads every result below results/ and vm/ of a build folder. Errors: Refused, for a file that is cut off or of
    another kind.
    """
    found = Results()
    files = [path for part in ("results", "vm") for path in (folder / part).rglob("*.xml")]
    for path in sorted(files, key=lambda each: (each.stat().st_mtime_ns, each)):
        try:
            root = ElementTree.parse(path).getroot()
        except ElementTree.ParseError as error:
            raise Refused([Problem(str(path), error.position[0], "is no whole XML file: run its test again")]) from None
        if root.tag == "testsuites":
            _google(root, found, path.stat().st_mtime)
        elif root.tag == "testsuite":
            _runner(root, found, path.stat().st_mtime)
    return found


def join(several: list[Results]) -> Results:
    """One of several results. Suite by suite on each fabric, the first result wins."""
    all_of = Results()
    for each in several:
        known = {key[:2] for key in all_of.suites}
        all_of.suites.update({key: outcome for key, outcome in each.suites.items() if key[:2] not in known})
        all_of.libraries = {**each.libraries, **all_of.libraries}
        for fabric, days in each.days.items():
            if any(key[0] == fabric and key[:2] not in known for key in each.suites):
                all_of.days[fabric] = all_of.days.get(fabric, set()) | days
        for program, built in each.built.items():
            all_of.built[program] = min(built, all_of.built.get(program, built))
        for fabric, ran in each.ran.items():
            all_of.ran[fabric] = min(ran, all_of.ran.get(fabric, ran))
        all_of.ctests = {**each.ctests, **all_of.ctests}
        all_of.ctests_ran = {**each.ctests_ran, **all_of.ctests_ran}
    return all_of


def _google(root: ElementTree.Element, found: Results, written: float) -> None:
    noted = _noted(root)
    for suite in root.iter("testsuite"):
        parts = suite.get("name", "").split("/")
        if len(parts) != 3:
            continue  # no typed suite
        who, name, fabric = parts
        if who != "fabric":
            name = f"{who}/{name}"  # the program selected another answer than the row's
        for case in suite.iter("testcase"):
            if case.get("status") != "run":
                continue
            found.suites[fabric, name, case.get("name", "")] = _outcome(case)
            found.libraries[fabric] = noted.get("library", "") or found.libraries.get(fabric, "")
            found.ran[fabric] = min(found.ran.get(fabric, written), written)
            program = fabric, noted.get("source", "main.cpp")
            found.built[program] = min(found.built.get(program, written), float(noted.get("built", written)))
            found.days.setdefault(fabric, set()).add(case.get("timestamp", "")[:10])


def _noted(element: ElementTree.Element) -> dict[str, str]:
    """Notes of a program or a test: properties, or attributes of a program before GoogleTest 1.15."""
    return {**element.attrib, **{each.get("name", ""): each.get("value", "")
                                 for each in element.iterfind("properties/property")}}


def _outcome(case: ElementTree.Element) -> Outcome:
    when = case.get("timestamp", "")
    for tag, how in (("failure", FAILED), ("error", FAILED), ("skipped", SKIPPED)):
        told = case.find(tag)
        if told is not None:
            lines = [line.strip() for line in told.get("message", "").splitlines()]
            if lines and ".hpp:" in lines[0] or lines and ".cpp:" in lines[0]:
                lines = lines[1:]  # the place in the source
            return Outcome(how, " ".join(line for line in lines if line), when)
    return Outcome(PASSED, "", when, _noted(case))


def _runner(root: ElementTree.Element, found: Results, written: float) -> None:
    for case in root.iter("testcase"):
        skipped = case.find("skipped")
        if skipped is not None and not skipped.get("message", "").startswith("SKIP_RETURN_CODE"):
            continue  # did not run: its program is not built, or a fixture failed
        how = {"run": PASSED, "notrun": SKIPPED}.get(case.get("status", ""), FAILED)
        name = case.get("name", "")
        found.ctests_ran[name] = written
        found.ctests[name] = Outcome(how, f"{name} says that this machine cannot run it" if how == SKIPPED else "",
                                     root.get("timestamp", ""))
