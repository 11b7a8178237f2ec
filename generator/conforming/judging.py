# SPDX-License-Identifier: Apache-2.0
"""From promises and results to cells.

A cell is shown (by the library itself, emulated by weft, or by tests without the fabric), refused with the reason,
failed, or not run. Only the row or its library refuses: a suite that the environment kept from running is not run.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..decided import Decided
from ..matrix.model import Range, Version
from ..rules import Choice, Family
from ..why_not import refusals
from .promises import EMULATOR, Column, Promise, Promises
from .results import FAILED, PASSED, SKIPPED, Outcome, Results

SHOWN, REFUSED, NOT_APPLICABLE, BROKEN, NOT_RUN = "shown", "refused", "not applicable", "failed", "not run"
NOT_SHOWN = "not shown"  # promises.yaml says why the fabric has no test of it
VERDICTS = (SHOWN, REFUSED, NOT_SHOWN, NOT_APPLICABLE, BROKEN, NOT_RUN)
GOOD = (SHOWN, REFUSED, NOT_SHOWN, NOT_APPLICABLE)
NATIVE, EMULATED, ELSEWHERE = "native", "emulated", "elsewhere"


@dataclass(frozen=True)
class Cell:
    """One cell. `notes`: reasons, each a sentence.

    `kind`: native, emulated, or empty where all fabrics do it by the same code of weft's. A cell is shown elsewhere if
    the fabric takes no part in the tests.
    """

    verdict: str
    kind: str
    answers: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Judge:
    """The inputs of the judgement.

    `tests`: the written suites, each with its tests. A test that is not among the results did not run.
    """

    decided: Mapping[str, Decided]
    families: tuple[Family, ...]
    tests: Mapping[str, set[str]]


def judge(promises: Promises, results: Results, by: Judge) -> dict[tuple[str, str], Cell]:
    """A cell for each promise (by name) and column (by fabric)."""
    return {(promise.name, column.fabric): _cell(promise, column, results, by) for promise in promises.promises
            for column in promises.columns}


def _cell(promise: Promise, column: Column, results: Results, by: Judge) -> Cell:
    if promise.not_applicable:
        return Cell(NOT_APPLICABLE, "", "", (promise.not_applicable,))
    if promise.refused:
        return Cell(REFUSED, "", "", (promise.refused,))
    row, library = by.decided[column.fabric], results.libraries.get(column.fabric, "")
    elsewhere = _applies_not(promise, row, library)
    if elsewhere:
        return Cell(NOT_APPLICABLE, "", "", elsewhere)
    forbidden = _forbidden(promise, row, library, by.families)
    if forbidden:
        return Cell(REFUSED, "", "", forbidden)
    if (promise.tests
        or promise.live) and column.fabric not in results.libraries and column.fabric not in promise.lacking:
        return Cell(NOT_RUN, "", "", (f"no results of fabric {column.fabric} were given",))
    if column.where == EMULATOR and not promise.tests and not promise.live:
        return Cell(NOT_APPLICABLE, "", "",
                    ("shown by tests that no fabric takes part in: see the fabrics that are not emulated",))
    own, missing, notes = _own(promise, column.fabric, results, by)
    # they ran for every fabric already
    shared = {name: results.ctests.get(name) for name in promise.everywhere
              if column.where != EMULATOR}
    missing += [name if outcome is None else f"{name} ({outcome.sentence})" for name, outcome in shared.items()
                if outcome is None or _skipped_here([outcome])]
    every = {**own, **{name: outcome for name, outcome in shared.items() if outcome is not None}}
    failed = sorted(name for name, outcome in every.items() if outcome.how == FAILED)
    if failed:
        return Cell(BROKEN, "", "", tuple(f"failed: {name}" for name in failed))
    if missing:
        return Cell(NOT_RUN, "", "", tuple(f"did not run: {name}" for name in missing))
    reasons = tuple(dict.fromkeys([*notes, *(outcome.sentence or f"{name} was skipped"
                                             for name, outcome in every.items() if outcome.how == SKIPPED)]))
    if not own and column.fabric in promise.lacking:
        return Cell(NOT_SHOWN, "", "", reasons)
    counted = own or every
    if not counted:
        return Cell(NOT_SHOWN, "", "", ("no test of it exists for this fabric",))
    if not any(outcome.how == PASSED for outcome in counted.values()):
        return Cell(REFUSED, "", "", reasons)
    if not own:
        return Cell(SHOWN, ELSEWHERE, "", (f"shown by {', '.join(every)}: this fabric takes no part", *reasons))
    kind, answers = _kind(promise, row, library)
    return Cell(SHOWN, kind, answers, (*reasons, *(_figures(outcome) for outcome in own.values()
                                                   if _figures(outcome))))


def _forbidden(promise: Promise, row: Decided, library: str, families: tuple[Family, ...]) -> tuple[str, ...]:
    """Why the row forbids the answer that the promise's tests select by hand."""
    span, choices = range_of(row, library)
    return tuple(f"{refusal.family}::{refusal.answer} needs {refusal.needs}"
                 for refusal in refusals(row.fabric, span, choices, families)
                 if promise.asks.get(refusal.family) == refusal.answer)


def _applies_not(promise: Promise, row: Decided, library: str) -> tuple[str, ...]:
    """Why the promise is about other rows than this one."""
    taken = {choice.family: choice.answer for choice in range_of(row, library)[1]}
    return tuple(f"it is about rows with {family}::{f' or {family}::'.join(answers)}, and this row has "
                 f"{family}::{taken[family]}"
                 for family, answers in promise.applies.items() if taken[family] not in answers)


def _figures(outcome: Outcome) -> str:
    """The note of a test with figures: rounds, and what the last three quarters of them kept; or bytes of a peer."""
    figures = outcome.figures
    if "bytes_per_peer" in figures:
        return (f"{figures['bytes_per_peer']} bytes for each peer, counted by opening for "
                f"{int(figures.get('counted_peers', '0')):,} more peers")
    if "rounds" not in figures:
        return ""
    kept = ""
    if "kept_kib" in figures:
        kib, descriptors = int(figures["kept_kib"]), int(figures["kept_descriptors"])
        kept = f"; since the first quarter {kib:+} KiB and {descriptors:+} descriptors"
    return f"{int(figures['rounds']):,} rounds{kept}"


def _own(promise: Promise, fabric: str, results: Results, by: Judge) -> tuple[dict[str, Outcome], list[str], list[str]]:
    """The outcomes of the fabric's own tests, those that did not run, and why some do not exist."""
    own: dict[str, Outcome] = {}
    missing: list[str] = []
    for name in promise.tests:
        found = results.tests_of(fabric, name)
        suite, _, one = name.partition(".")
        own.update({f"{suite}.{test}": outcome for test, outcome in found.items()})
        absent = ({one} if one else by.tests.get(suite, set())) - set(found)
        missing += [f"{suite}.{test}" for test in sorted(absent)] if found else [name]
        if _skipped_here(list(found.values())):
            missing += [f"{suite}.{test} ({outcome.sentence or 'skipped without a reason'})"
                        for test, outcome in sorted(found.items()) if not outcome.by_row]
    if fabric in promise.lacking:
        return own, missing, [promise.lacking[fabric]]
    for alternatives in promise.live:
        names = [each.replace("{fabric}", fabric) for each in alternatives]
        ran = [name for name in names if name in results.ctests]
        if ran:
            own[ran[0]] = results.ctests[ran[0]]
            if _skipped_here([own[ran[0]]]):
                missing.append(f"{ran[0]} ({own[ran[0]].sentence})")
        else:
            missing.append(names[0])
    return own, missing, []


def _skipped_here(outcomes: list[Outcome]) -> bool:
    """Whether every test was skipped, and at least one for a reason of the environment: then nothing is shown."""
    return (bool(outcomes) and all(outcome.how == SKIPPED for outcome in outcomes)
            and not all(outcome.by_row for outcome in outcomes))


def _kind(promise: Promise, row: Decided, library: str) -> tuple[str, str]:
    if not promise.native:
        return "", ""
    taken = {choice.family: choice.answer for choice in range_of(row, library)[1]}
    native = all(taken[family] in answers for family, answers in promise.native.items())
    return (NATIVE if native else EMULATED), ", ".join(taken[family] for family in promise.native)


def range_of(row: Decided, library: str) -> tuple[Range, tuple[Choice, ...]]:
    """The range that holds for a release ("libfabric 1.17") with its answers; the newest where the release is unknown.
    """
    every = tuple(zip(row.fabric.ranges, row.choices))
    told = library.split(" ")[-1].split(".")
    if len(told) < 2 or not all(part.isdigit() for part in told[:2]):
        return every[-1]
    release = Version(int(told[0]), int(told[1]))
    fitting = [each for each in every if each[0].since <= release]
    return fitting[-1] if fitting else every[0]
