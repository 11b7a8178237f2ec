# SPDX-License-Identifier: Apache-2.0
"""What was observed of one release, as data: docs/tables/releases/NAME.json, one line per cell."""
from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..matrix.facts import FACT, Value
from ..matrix.loader import Problem, Refused
from ..matrix.model import Version
from ..probing import CellFinding
from ..probing.cells import READINGS

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "docs" / "tables" / "releases"
_READING = {reading.cell: reading for reading in READINGS}
LOST, GONE = "lost", "gone"


@dataclass(frozen=True)
class Seen:
    """One cell: what the library claims, what two processes saw, and why nothing was seen: `unseen` begins with LOST or
    GONE, or is empty.
    """

    claimed: Value | None = None
    shown: Value | None = None
    unseen: str = ""

    def finding(self, cell: str) -> CellFinding:
        """The same as a finding of the probe."""
        reading = _READING[cell]
        return CellFinding(cell, self.claimed, "as recorded", self.shown, "as recorded", self.unseen, reading.tried,
                           self.unseen.startswith(LOST), self.unseen.startswith(GONE), reading.one_sided)


@dataclass(frozen=True)
class RowSeen:
    """One row on one release. `absent`: why the library does not have it; then there are no cells. `faults`: what a
    behaviour told that no provider may do; None where nobody recorded that.
    """

    date: str
    absent: str = ""
    cells: Mapping[str, Seen] = field(default_factory=dict)
    faults: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Release:
    """`library`: its release, as "2.1.0". `what`: where it came from, in words."""

    name: str
    library: str
    what: str
    kernel: str
    rows: Mapping[str, RowSeen]

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.library.split(".") if part.isdigit())

    @property
    def version(self) -> Version:
        return Version(*self.numbers[:2])


def row_of(findings: list[CellFinding], faults: Iterable[str], date: str) -> RowSeen:
    """What a probe found, as data."""
    cells = {each.cell: Seen(each.claimed, each.shown, _unseen(each)) for each in findings}
    return RowSeen(date, "", cells, tuple(faults))


def _unseen(found: CellFinding) -> str:
    return f"{LOST if found.lost else GONE}: {found.why_not}" if found.lost or found.gone else ""


def written(release: Release) -> str:
    """The text of a release's file: one line per cell, so that a difference is easy to read."""
    head = {"library": release.library, "what": release.what, "kernel": release.kernel}
    lines = [f' "{key}": {json.dumps(value)},' for key, value in head.items()]
    rows = []
    for name, row in release.rows.items():
        cells = ",\n".join(f'   "{cell}": {json.dumps(_plain(seen))}' for cell, seen in row.cells.items())
        faults = "" if row.faults is None else f'"faults": {json.dumps(row.faults)}, '
        rows.append(f'  "{name}": {{"date": "{row.date}", "absent": {json.dumps(row.absent)}, {faults}'
                    f'"cells": {{\n{cells}}}}}')
    return "{\n" + "\n".join(lines) + '\n "rows": {\n' + ",\n".join(rows) + "\n }\n}\n"


def _plain(seen: Seen) -> dict[str, Any]:
    said = {"claimed": seen.claimed, "shown": seen.shown, "unseen": seen.unseen}
    return {key: value for key, value in said.items() if value is not None and (value != "" or key != "unseen")}


def read(path: Path) -> Release:
    """Errors: Refused, where the file is not what `written` makes."""
    try:
        raw = json.loads(path.read_text("utf-8"))
        rows = {name: RowSeen(row["date"], row["absent"], {cell: Seen(**seen) for cell, seen in row["cells"].items()
                                                           if FACT[cell]},
                              tuple(row["faults"]) if "faults" in row else None) for name, row in raw["rows"].items()}
        return Release(path.stem, raw["library"], raw["what"], raw["kernel"], rows)
    except (ValueError, KeyError, TypeError) as error:
        raise Refused([Problem(path.name, 1, f"is no record of a release ({type(error).__name__}: {error}): "
                                             "scripts/releases --write makes it anew")]) from None


def read_all(folder: Path = TABLES) -> tuple[Release, ...]:
    """Every release, oldest first. Errors: Refused."""
    return tuple(sorted(map(read, sorted(folder.glob("*.json"))), key=lambda each: (each.numbers, each.name)))


def outside(releases: tuple[Release, ...], fabric: str, release: str) -> str:
    """Why nothing is known of a row with this release ("2.1"), in words; empty within what was observed."""
    known = [each.version for each in releases if fabric in each.rows and not each.rows[fabric].absent]
    running = Version.of(release)
    if not known or min(known) <= running <= max(known):
        return ""
    return (f"{fabric} was observed with libfabric {min(known)} to {max(known)}, and {release} is here: "
            "scripts/releases --source probes it")
