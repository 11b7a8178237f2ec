# SPDX-License-Identifier: Apache-2.0
"""Judges a run: each process ends in time, with the right result or with one sentence, and leaves nothing."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from processes import Ended, Report
from programs import Program

SUCCESS, ERROR, KILLED, NOT_REACHED = "success", "one error", "killed", "not reached"
GOOD = (SUCCESS, ERROR, KILLED, NOT_REACHED)
_BACKTRACE = re.compile(r"terminate called|Sanitizer|backtrace|stack smashing|Assertion|free\(\): ")
_NO_SENTENCE = re.compile(r"^(\S+: )*(std::\w+|\S+)$")  # "std::bad_alloc" says neither what failed nor where
_ENDED_BY = re.compile(r"was killed by signal (\d+)")  # the invocation example says so of an executor; 9 is its own
Left = Mapping[str, Report]  # by role, of a run without a failure


@dataclass
class Judgement:
    """The outcome, and one sentence for each defect."""

    outcome: str
    defects: list[str] = field(default_factory=list)


def sentences(ended: Ended) -> list[str]:
    """The lines that a process wrote about its failure."""
    lines = [line.strip() for line in ended.err.splitlines() if line.strip()]
    return [line for line in lines if not line.startswith(("libibverbs:", "PSM", "Warning: "))]


def judge(program: Program, role: str, ended: Sequence[Ended], fired: bool, kills: bool, left: Sequence[str],
          before: Left, seen: Sequence[Report]) -> Judgement:
    """Judges a run in which a process of `role` failed, or should have."""
    defects = [f"left: {each}" for each in left]
    more_clients = any(each.role.startswith("second") for each in ended)
    for each in ended:
        target = each.role == role
        if kills and target and fired:
            continue
        for defect in _defects(program, each, before):
            # A server of two clients keeps more than a server of one, as the keys that it used.
            of_two = more_clients and (not target or each.role in ("listener", "manager"))
            if not (of_two and defect.startswith("leak:")):
                defects.append(defect if target else f"peer {defect}")
    for name in program.spawned:
        for report in seen:
            if report.program.split(".")[0] == program.path(name, "").name.split(".")[0]:
                defects += _leaks(name, report, before)
    if program.spawned and not kills:
        for signals in (_ENDED_BY.findall(each.text) for each in ended):
            defects += [f"crash: a process was ended by signal {number}" for number in signals if number != "9"]
    second = [each for each in ended if each.role.startswith("second")]
    serves = [each for each in ended if each.role in ("listener", "manager")]
    if second and second[0].code != 0 and not any(each.code == 1 for each in serves):
        defects.append(f"{second[0].role}: was not served: {' / '.join(sentences(second[0]))}")
    if defects:
        return Judgement(defects[0].split(":")[0].removeprefix("peer "), defects)
    if not fired:
        return Judgement(NOT_REACHED)
    if kills:
        return Judgement(KILLED)
    return Judgement(SUCCESS if all(each.code == 0 for each in ended) else ERROR)


def _defects(program: Program, ended: Ended, before: Left) -> list[str]:
    who, lines = ended.role, sentences(ended)
    if ended.code is None:
        return [f"hang: {who} did not end in {ended.seconds:.0f} s"]
    if ended.code < 0:
        return [f"crash: {who} was ended by {signal.Signals(-ended.code).name}: {' / '.join(lines)[-200:]}"]
    found = []
    if _BACKTRACE.search(ended.text):
        found.append(f"backtrace: {who} printed {ended.text.strip()[:200]}")
    if ended.code == 0 and not program.right(ended):
        found.append(f"wrong result: {who} exited with 0 and printed {ended.out.strip()[:200]!r}")
    if ended.code != 0 and ended.role != "manager":
        if not lines:
            found.append(f"silent: {who} exited with {ended.code} without a sentence")
        elif len(lines) > 1:
            found.append(f"many sentences: {who}: {' / '.join(lines)[:300]}")
        elif _NO_SENTENCE.match(lines[0]):
            found.append(f"no sentence: {who}: {lines[0]}")
    if ended.code != 0 and ended.role == "manager" and not ended.text.strip():
        found.append(f"silent: {who} exited with {ended.code} without a sentence")
    if ended.report is None:
        found.append(f"left main: {who} exited with {ended.code} without the end of main()")
    else:
        found += _leaks(who.removeprefix("second "), ended.report, before)
    return found


def _leaks(role: str, report: Report, before: Left) -> list[str]:
    """Blocks and descriptors that a run without a failure does not leave."""
    clean = before.get(role, Report())
    found = []
    if (more := len(report.blocks) - len(clean.blocks)) > 0:
        known = {_how(block) for block in clean.blocks}
        named = [block for block in report.blocks if _how(block) not in known] or report.blocks
        found.append(f"leak: {role} left {more} blocks more than without a failure: {'; '.join(named[:6])}")
    if (more := len(report.descriptors) - len(clean.descriptors)) > 0:
        found.append(f"descriptors: {role} left {more} more than without a failure: "
                     f"{'; '.join(report.descriptors)[:300]}")
    return found


def _how(block: str) -> str:
    return " ".join(block.split()[:2])
