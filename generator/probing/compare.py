# SPDX-License-Identifier: Apache-2.0
"""A row against findings: one verdict per cell, and the sentence where they differ."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..matrix.facts import UNLIMITED, Value
from ..matrix.model import Cell, Fabric, Range, Version
from .findings import CellFinding

AGREES, DIFFERS, UNMARKED, CLAIMED, UNKNOWN = "agrees", "differs", "not marked", "claim agrees", "not shown"


@dataclass(frozen=True)
class Verdict:
    """What the row says, what was found, and how the two compare. `wrong`: the matrix must change."""

    cell: Cell
    finding: CellFinding
    verdict: str
    sentence: str = ""

    @property
    def wrong(self) -> bool:
        return self.verdict in (DIFFERS, UNMARKED)


def spelt(value: Value | None) -> str:
    """As providers.yaml writes it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "unlimited" if value == UNLIMITED else str(value) if value != "" else '""'


def range_for(fabric: Fabric, release: str) -> Range | None:
    """The part of a row that describes a release of the library, as "1.17"; none where no part does."""
    running = Version.of(release)
    return next((span for span in fabric.ranges if span.since <= running
                 and (span.until is None or running < span.until)), None)


def compare(fabric: str, cells: Mapping[str, Cell], findings: Iterable[CellFinding]) -> list[Verdict]:
    """One verdict per finding."""
    return [_verdict(fabric, cells[finding.cell], finding) for finding in findings]


def _verdict(fabric: str, cell: Cell, finding: CellFinding) -> Verdict:
    found = finding.value
    if found is None or finding.lost:
        return Verdict(cell, finding, UNKNOWN)
    said = f"{fabric}.{cell.name} is {cell.as_text} (line {cell.line})"
    if not _holds(cell.value, finding):
        why = f"the library claims {spelt(finding.claimed)} ({finding.claim})"
        if finding.shown is not None and finding.value == finding.shown:
            why = f"the test shows {spelt(finding.shown)} ({finding.test})"
        return Verdict(cell, finding, DIFFERS, f"{said} and {why}")
    if finding.differs and cell.claimed_value is None:
        return Verdict(cell, finding, UNMARKED,
                       f"{said}, as the test shows ({finding.test}), and the library claims {spelt(finding.claimed)} "
                                                f"({finding.claim}): add claimed_value: {spelt(finding.claimed)}")
    return Verdict(cell, finding, AGREES if finding.shown is not None else CLAIMED)


def _holds(said: Value, finding: CellFinding) -> bool:
    """A bound holds where the library goes as far or further; nearly unlimited is unlimited."""
    found = finding.value
    if finding.tried is not None and found is not None:
        return int(said) <= int(found) or min(int(said), int(found)) > UNLIMITED // 2
    return said == found
