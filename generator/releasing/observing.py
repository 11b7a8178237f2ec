# SPDX-License-Identifier: Apache-2.0
"""Probes rows on one release. What was observed is kept under build/releases/NAME/rows, so that a run continues."""
from __future__ import annotations

import platform
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

from ..matrix.loader import Refused
from ..matrix.model import Fabric, Matrix, Range, Version
from ..probing import program as programs
from ..probing.compare import range_for
from ..probing.judging import faults
from ..probing.rows import demands_of, settled
from ..probing.running import Unseen, observe, read_cells
from . import records
from .places import Place, rows as rows_of_all
from .records import Release, RowSeen

Report = Callable[[str], None]
_SECONDS = 10  # for one behaviour


def observed(place: Place, matrix: Matrix, rows: Iterable[str], *, node: str, fresh: bool, report: Report) -> Release:
    """Each row on this release. Rows that were observed before are left out, unless a cell of theirs was not seen, or
    `fresh`. Errors: Refused.
    """
    program = place.program()
    known = _kept(place)
    library = known.library if known else ""
    found: dict[str, RowSeen] = dict(known.rows) if known else {}
    for name in rows:
        if name in found and not fresh and not any(each.unseen for each in found[name].cells.values()):
            report(f"{place.name} {name}: observed on {found[name].date}")
            continue
        fabric = matrix.fabric(name)
        assert fabric is not None, name  # command.py looks
        row, release = _row(fabric, program, node)
        found[name] = row
        library = release or library
        unseen = sum(each.unseen != "" for each in row.cells.values())
        report(f"{place.name} {name}: "
               + (f"not here ({row.absent})" if row.absent else f"libfabric {library}, {len(row.cells)} cells, "
                                                                f"{unseen} not seen"))
        listed = {each: found[each] for each in rows_of_all() if each in found}
        _keep(place, Release(place.name, library, place.what, platform.release(), listed))
    kept = _kept(place)
    return kept if kept is not None else Release(place.name, library, place.what, platform.release(), found)


def _row(fabric: Fabric, program: Path, node: str) -> tuple[RowSeen, str]:
    """A row, and the library's release where it has the provider. Errors: Refused, if the library does not answer."""
    demands, today = demands_of(fabric, node, _SECONDS), date.today().isoformat()
    try:
        seen = observe(demands, program=program)
    except Unseen:
        raise
    except Refused as refused:
        return RowSeen(today, refused.problems[0].sentence), ""
    span = _nearest(fabric, str(seen.claim("library")))
    seen = settled(seen, fabric.name, span.cells, None,
                   lambda cells: observe(demands, program=program, cells=cells))
    told = (each.sentence for each in faults(seen))
    return records.row_of(read_cells(seen), told, today), str(seen.claim("library_release") or seen.claim("library"))


def _nearest(fabric: Fabric, release: str) -> Range:
    """The part of the row for a release; its first or last part for one before or after the row."""
    inside = range_for(fabric, release)
    if inside is not None:
        return inside
    return fabric.ranges[0] if Version.of(release) < fabric.since else fabric.ranges[-1]


def _file(place: Place) -> Path:
    return place.folder / f"{place.name}.json"


def _kept(place: Place) -> Release | None:
    return records.read(_file(place)) if _file(place).exists() else None


def _keep(place: Place, release: Release) -> None:
    new = _file(place).with_suffix(".new")
    new.write_text(records.written(release), encoding="utf-8")
    new.replace(_file(place))
