# SPDX-License-Identifier: Apache-2.0
"""The matrix, mended by what was found: an edit of text, so that comments and layout stay.

A cell that was observed with an earlier release is not overwritten: what a later release changes goes into a range of its own.
"""
from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node

from ..loader import load_text
from ..model import Cell, Fabric, Version
from ..schema import matrix_schema, require
from ..trust import observation_of
from .compare import AGREES, UNMARKED, Verdict, spelt
from .findings import Provenance

_LONGEST = 300


@dataclass(frozen=True)
class Edit:
    """Text to put in place of what stands between two places."""

    start: int
    end: int
    text: str


def mended(text: str, fabric: Fabric, verdicts: Iterable[Verdict], found_by: Provenance, release: str, observe: bool = False) -> str:
    """The matrix with each wrong cell of the row mended; with `observe` those that agree, and that nobody had observed, say what was seen.

    Errors: Refused, if the outcome were no matrix.
    """
    verdicts = list(verdicts)
    wrong = [verdict for verdict in verdicts if verdict.wrong]
    row = _child(YAML(typ="rt", pure=True).compose(text), fabric.name)
    running = Version.of(release)
    edits, later = [], []
    for verdict in wrong:
        home = _home(row, fabric, verdict.cell.name, running)
        if verdict.verdict != UNMARKED and _seen_before(verdict.cell, running) and running > fabric.since:
            later.append(verdict)
        else:
            edits += _edits_of(text, home, verdict, found_by)
    if observe:
        seen = [each for each in verdicts if each.verdict == AGREES and each.finding.test and not each.cell.evidence.observed]
        edits += [_observed(_home(row, fabric, each.cell.name, running), f'"{evidence(each, found_by)}"') for each in seen]
    if later:
        edits.append(_range(text, row, fabric, later, found_by, running))
    for edit in sorted(edits, key=lambda each: each.start, reverse=True):
        text = text[:edit.start] + edit.text + text[edit.end:]
    require(load_text(text, "providers.yaml"), matrix_schema())
    return text


def difference(before: str, after: str, name: str) -> str:
    """A unified diff."""
    return "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{name}", f"b/{name}"))


def evidence(verdict: Verdict, found_by: Provenance) -> str:
    """What `observed` says: when, with what, and what was seen."""
    seen = verdict.finding.test or f"claimed: {verdict.finding.claim}"
    where = f"{found_by.date} {found_by.library} (API {found_by.api}) Linux {found_by.kernel} {found_by.device}, weft probe: "
    return (where + seen).replace('"', "'").replace("\\", "/")[:_LONGEST]


def _seen_before(cell: Cell, running: Version) -> bool:
    """The cell was observed with an earlier release: that stays true."""
    seen = observation_of(cell)
    return seen is not None and seen.release is not None and seen.release < running


def _child(node: Any, key: str) -> Any:
    return next((value for name, value in node.value if name.value == key), None) if isinstance(node, MappingNode) else None


def _home(row: Any, fabric: Fabric, cell: str, running: Version) -> Any:
    """The mapping of the cell that holds for the release: in the newest range that restates it, else the row's own."""
    found = _child(_child(row, "facts"), cell)
    for index, span in enumerate(fabric.ranges[1:]):
        if span.since <= running and cell in span.changed:
            found = _child(_child(_child(row, "ranges").value[index], "facts"), cell)
    return found


def _edits_of(text: str, home: MappingNode, verdict: Verdict, found_by: Provenance) -> list[Edit]:
    """Value, claimed value and observation of one cell."""
    finding = verdict.finding
    told = {name.value: value for name, value in home.value}
    edits = [] if verdict.verdict == UNMARKED else [Edit(*_span(told["is"]), spelt(finding.value))]
    marked = told.get("claimed_value")
    after_value = told["is"].end_mark.index
    if finding.differs and finding.claimed != finding.value:
        claim = spelt(finding.claimed)
        edits.append(Edit(*_span(marked), claim) if marked is not None else Edit(after_value, after_value, f", claimed_value: {claim}"))
    elif marked is not None:
        start = text.rindex("claimed_value", 0, marked.start_mark.index)
        edits.append(Edit(text.rindex(",", 0, start), marked.end_mark.index, ""))
    seen = f'"{evidence(verdict, found_by)}"'
    if verdict.verdict == UNMARKED and "observed" in told:
        return edits  # what was seen stands already; only the claim was missing
    return [*edits, Edit(*_span(told["observed"]), seen) if "observed" in told else _observed(home, seen)]


def _observed(home: MappingNode, seen: str) -> Edit:
    """An observation behind all else that the cell says."""
    last = max(int(value.end_mark.index) for _, value in home.value)
    indent = " " * (home.start_mark.column + 1)
    return Edit(last, last, f",\n{indent}observed: {seen}")


def _span(node: Node) -> tuple[int, int]:
    return int(node.start_mark.index), int(node.end_mark.index)


def _range(text: str, row: Any, fabric: Fabric, verdicts: list[Verdict], found_by: Provenance, running: Version) -> Edit:
    """A range since the running release, or more cells for the one that is there."""
    there = _child(row, "ranges")
    for node in there.value if there is not None else ():
        if _child(node, "since").value == str(running):
            facts = _child(node, "facts")
            at = _end_of_text(text, facts)
            return Edit(at, at, "".join(_new_cell(verdict, found_by) for verdict in verdicts))
    entry = f'\n    - since: "{running}"\n      facts:' + "".join(_new_cell(verdict, found_by) for verdict in verdicts)
    at = _end_of_text(text, there if there is not None else row)
    return Edit(at, at, entry if there is not None else "\n  ranges:" + entry)


def _new_cell(verdict: Verdict, found_by: Provenance) -> str:
    finding = verdict.finding
    claim = f", claimed_value: {spelt(finding.claimed)}" if finding.differs and finding.claimed != finding.value else ""
    return f'\n        {finding.cell}: {{is: {spelt(finding.value)}{claim}, observed: "{evidence(verdict, found_by)}"}}'


def _end_of_text(text: str, node: Node) -> int:
    """After the last character of a block that is no blank and no comment."""
    end = int(node.end_mark.index)
    lines = text[:end].split("\n")
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        end -= len(lines.pop()) + 1
    return end
