# SPDX-License-Identifier: Apache-2.0
"""Corrects the matrix by what a probe found. It edits the text, so that comments and layout stay.

A cell that was observed with an earlier release is not overwritten. What a later release changes goes into a range of
its own.
"""
from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML

from ..matrix.facts import FACT, Value
from ..matrix.layout import (
    Part, child, child_pair, citing, end_of_text, entry, plain_name, require_lines, sentence, shares, start_of_line,
    with_source, without_unused)
from ..matrix.loader import Problem, Refused, load_text
from ..matrix.model import Cell, Fabric, Version, matrix_of
from ..matrix.sources import Source
from ..matrix.trust import observation_of
from .compare import AGREES, DRIFTED, UNMARKED, Verdict, spelt
from .findings import Provenance


@dataclass(frozen=True)
class Edit:
    """Text that replaces the text between two places."""

    start: int
    end: int
    text: str


def mended(text: str, fabric: Fabric, verdicts: Iterable[Verdict], found_by: Provenance, release: str,
           observe: bool = False, file: str = "providers.yaml") -> str:
    """The matrix with each wrong cell of the row mended. The probe's run becomes a source.

    With `observe`, cells that agree and had no observation say what was seen. `file` is the matrix's name.
    Errors: Refused, if lines cannot be edited alone, or the result is no matrix.
    """
    verdicts = list(verdicts)
    wrong = [verdict for verdict in verdicts if verdict.wrong]
    seen = [each for each in verdicts if each.verdict == AGREES and each.finding.test
            and not each.cell.evidence.observed] if observe else []
    if not wrong and not seen:
        return text
    require_lines(text, file)
    text, run = with_source(text, source_name(found_by), source_of(found_by))
    row = child(YAML(typ="rt", pure=True).compose(text), fabric.name)
    running = Version.of(release)
    edits, later = [], []
    for verdict in wrong:
        alone = shares(file, verdict.cell.line, f"the cell {verdict.cell.name}")
        home = _home(row, fabric, verdict.cell.name, running)
        if verdict.verdict == DRIFTED and not verdict.finding.differs and _seen_before(verdict.cell, running):
            edits.append(_ended_claim(text, home, running, alone))
        elif verdict.verdict != UNMARKED and _seen_before(verdict.cell, running) and running > fabric.since:
            later.append(verdict)
        else:
            edits.append(_mended_cell(text, home, verdict, run, alone))
    for verdict in seen:
        home = _home(row, fabric, verdict.cell.name, running)
        edits.append(_cell_edit(text, home, [*_parts_of(text, home), ("observed", evidence(verdict, run), True)],
                                shares(file, verdict.cell.line, f"the cell {verdict.cell.name}")))
    if later:
        edits.append(_range(text, row, later, run, running, Problem(
            file, fabric.line, f"{fabric.name} is in braces: give each of its parts a line of its own")))
    for edit in sorted(edits, key=lambda each: each.start, reverse=True):
        text = text[:edit.start] + edit.text + text[edit.end:]
    load_text(text, file)
    text = without_unused(text)
    matrix_of(load_text(text, file))
    return text


def source_of(found_by: Provenance) -> Source:
    """The run of a probe, as `sources` has it."""
    setup = sentence(f"(API {found_by.api}) Linux {found_by.kernel} {found_by.device}, weft probe"
                     + (f", {found_by.bundle}" if found_by.bundle else ""))
    return Source("observed", date=found_by.date, library=sentence(found_by.library), setup=setup)


def source_name(found_by: Provenance) -> str:
    """The name by which cells cite the run of a probe."""
    if found_by.bundle:
        return plain_name(found_by.bundle.split(",")[0])
    device = found_by.device.removeprefix("device ").split(" ")[0]
    return plain_name(f"probe-{found_by.library}-{device}-{found_by.date}")


def difference(before: str, after: str, name: str) -> str:
    """A unified diff."""
    return "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{name}", f"b/{name}"))


def evidence(verdict: Verdict, run: str) -> str:
    """What `observed` says: the run that saw it, and what was seen."""
    seen = verdict.finding.test or f"claimed: {verdict.finding.claim}"
    return citing(run, seen)


def _seen_before(cell: Cell, running: Version) -> bool:
    """The cell was observed with an earlier release: that stays true."""
    seen = observation_of(cell)
    return seen is not None and seen.release is not None and seen.release < running


def _home(row: Any, fabric: Fabric, cell: str, running: Version) -> Any:
    """Key and value of the cell that holds for the release: of the newest range that has the cell, else of the row."""
    found = child_pair(child(row, "facts"), cell)
    for index, span in enumerate(fabric.ranges[1:]):
        if span.since <= running and cell in span.changed:
            found = child_pair(child(child(row, "ranges").value[index], "facts"), cell)
    return found


def _parts_of(text: str, home: Any) -> list[Part]:
    """What a cell says, in its order."""
    return [(key.value, value.value, True) if value.style is not None
            else (key.value, text[value.start_mark.index:value.end_mark.index], False)
            for key, value in home[1].value]


def _cell_edit(text: str, home: Any, parts: list[Part], refusal: Problem) -> Edit:
    """Replaces the cell by one with these parts. Errors: Refused, where the cell does not begin its line."""
    key, value = home
    start = start_of_line(text, key, refusal)
    end = value.end_mark.index if value.flow_style else end_of_text(text, value)
    return Edit(start, end, entry(key.value, parts, key.start_mark.column))


def _mended_cell(text: str, home: Any, verdict: Verdict, run: str, refusal: Problem) -> Edit:
    """Value, claimed value and observation of one cell."""
    finding = verdict.finding
    said = {name: (name, value, quotes) for name, value, quotes in _parts_of(text, home)}
    if verdict.verdict != UNMARKED:
        said["is"] = _part("is", finding.cell, finding.value)
    said.pop("claimed_value", None)
    said.pop("claimed_until", None)
    parts = [said.pop("is"), *_claim(verdict)]
    if verdict.verdict != UNMARKED or "observed" not in said:  # else only the claim was missing
        said["observed"] = ("observed", evidence(verdict, run), True)
    return _cell_edit(text, home, [*parts, *said.values()], refusal)


def _ended_claim(text: str, home: Any, running: Version, refusal: Problem) -> Edit:
    """The claim ends before the release that was probed. Value and evidence stay, as they are of an earlier one."""
    parts = []
    for part in _parts_of(text, home):
        parts.append(part)
        if part[0] == "claimed_value":
            parts.append(("claimed_until", str(running), True))
    return _cell_edit(text, home, parts, refusal)


def _range(text: str, row: Any, verdicts: list[Verdict], run: str, running: Version,
           refusal: Problem) -> Edit:
    """A range since the running release, or more cells for the one that is there. Errors: Refused with `refusal`."""
    if row.flow_style or getattr(child(row, "ranges"), "flow_style", False):
        raise Refused([refusal])
    cells = "".join("\n" + _new_cell(verdict, run) for verdict in verdicts)
    there = child(row, "ranges")
    for node in there.value if there is not None else ():
        if child(node, "since").value == str(running):
            if node.flow_style or child(node, "facts").flow_style:
                raise Refused([refusal])
            at = end_of_text(text, child(node, "facts"))
            return Edit(at, at, cells)
    added = f'\n    - since: "{running}"\n      facts:{cells}'
    at = end_of_text(text, there if there is not None else row)
    return Edit(at, at, added if there is not None else "\n  ranges:" + added)


def _new_cell(verdict: Verdict, run: str) -> str:
    finding = verdict.finding
    return entry(finding.cell,
                 [_part("is", finding.cell, finding.value), *_claim(verdict),
                  ("observed", evidence(verdict, run), True)], 8)


def _claim(verdict: Verdict) -> list[Part]:
    """The claim, where behaviour differs."""
    finding = verdict.finding
    return [_part("claimed_value", finding.cell,
                  finding.claimed)] if finding.differs and finding.claimed != finding.value else []


def _part(key: str, cell: str, value: Value | None) -> Part:
    return (key, str(value), True) if FACT[cell].cpp == "text" else (key, spelt(value), False)
