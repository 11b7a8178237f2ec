# SPDX-License-Identifier: Apache-2.0
"""A row against findings: one verdict per cell, and the sentence where they differ."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..matrix.facts import UNLIMITED, Value
from ..matrix.model import Cell, Fabric, Range, Version
from .findings import CellFinding

AGREES, DIFFERS, UNMARKED, CLAIMED, UNKNOWN = "agrees", "differs", "not marked", "claim agrees", "not shown"
DRIFTED, LOST, GONE = "claim changed", "lost", "not shown any more"


@dataclass(frozen=True)
class Verdict:
    """What the row says, what was found, and how the two compare.

    `wrong`: the matrix must change. `unseen`: a behaviour was lost, or does not show what it once showed; nothing is
    known about the cell.
    """

    cell: Cell
    finding: CellFinding
    verdict: str
    sentence: str = ""

    @property
    def wrong(self) -> bool:
        return self.verdict in (DIFFERS, UNMARKED, DRIFTED)

    @property
    def unseen(self) -> bool:
        return self.verdict in (LOST, GONE)


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


def compare(fabric: str, cells: Mapping[str, Cell], findings: Iterable[CellFinding],
            release: str | None = None) -> list[Verdict]:
    """One verdict per finding. A claim of the row may have ended before the release."""
    running = None if release is None else Version.of(release)
    return [_verdict(fabric, cells[finding.cell], cells[finding.cell].claimed_by(running), finding)
            for finding in findings]


def _verdict(fabric: str, cell: Cell, claimed: Value | None, finding: CellFinding) -> Verdict:
    said = f"{fabric}.{cell.name} is {cell.as_text} (line {cell.line})"
    if finding.lost:
        return Verdict(cell, finding, LOST, f"{said} and a behaviour that shows it was lost: {finding.why_not}")
    if finding.gone and cell.evidence.observed:
        return Verdict(cell, finding, GONE, f"{said}, was observed, and is not shown any more: {finding.why_not}")
    if finding.value is None:
        return Verdict(cell, finding, UNKNOWN)
    refuted = finding.shown is None and claimed is not None  # by a behaviour that was not run now
    if not refuted and not _holds(cell.value, finding):
        why = f"the library claims {spelt(finding.claimed)} ({finding.claim})"
        if finding.shown is not None and finding.value == finding.shown:
            why = f"the test shows {spelt(finding.shown)} ({finding.test})"
        return Verdict(cell, finding, DIFFERS, f"{said} and {why}")
    if finding.differs and claimed is None:
        return Verdict(cell, finding, UNMARKED,
                       f"{said}, as the test shows ({finding.test}), and the library claims {spelt(finding.claimed)} "
                                                f"({finding.claim}): add claimed_value: {spelt(finding.claimed)}")
    drifted = _drifted(claimed, finding)
    if drifted:
        return Verdict(cell, finding, DRIFTED, f"{said}, claimed_value {spelt(claimed)}, and {drifted}")
    return Verdict(cell, finding, AGREES if finding.shown is not None else CLAIMED)


def _drifted(claimed: Value | None, finding: CellFinding) -> str:
    """Why the row's claimed_value is not true of this release; nothing if it is, or if nothing tells."""
    if claimed is None or finding.claimed is None:
        return ""
    if finding.claimed != claimed:
        return f"this release claims {spelt(finding.claimed)} ({finding.claim}): add claimed_until, its first release"
    if finding.shown is not None and not finding.differs:
        return f"this release keeps that claim ({finding.test}): add claimed_until, its first release"
    return ""


def _holds(said: Value, finding: CellFinding) -> bool:
    """A bound holds where the library goes as far or further; nearly unlimited is unlimited."""
    found = finding.value
    if finding.one_sided and found is True and said is False:
        return True
    if finding.tried is not None and found is not None:
        return int(said) <= int(found) or min(int(said), int(found)) > UNLIMITED // 2
    return said == found
