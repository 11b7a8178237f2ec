# SPDX-License-Identifier: Apache-2.0
"""docs/reference/drift.md, from what was observed (docs/tables/releases/) and its explanations (drift.yaml)."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..matrix.facts import FACTS
from ..matrix.model import Matrix
from ..probing.compare import compare, range_for, spelt
from . import drift
from .drift import Difference, Explanation
from .places import rows as listed_rows
from .records import Release, Seen, read_all

PAGE = "docs/reference/drift.md"
SOURCE = "docs/tables/releases/"


def page(root: Path) -> str:
    """The page. Errors: Refused."""
    releases = read_all(root / SOURCE)
    rows = listed_rows()
    explanations = drift.read_explanations(root)
    found = drift.differences(releases, rows)
    days = sorted(row.date for each in releases for row in each.rows.values())
    asked = sum(_open(one, explanations) for one in found)
    text = (
        "# What changes from release to release\n\n"
        "`scripts/releases` probes each row that needs no hardware on each release of libfabric that can be had.\n"
        "Then it compares them, cell by cell: what the library claims, and what two processes saw.\n"
        "`-`: nothing is claimed, or nothing shows it. `lost`: the behaviour that shows it hung, crashed or was\n"
        "refused. `both`: what is claimed and what is shown changed alike.\n\n"
        f"Observed: {days[0]}" + (f" to {days[-1]}" if days[0] != days[-1] else "") + ". "
        f"{len(found)} differences: {len(found) - asked} explained, **{asked} open**.\n\n## The releases\n\n"
    )
    text += _table(("name", "libfabric", "from", "Linux", "rows that it has"),
                   [(f"`{each.name}`", each.library, each.what, each.kernel,
                     ", ".join(f"`{row}`" for row in rows if row in each.rows and not each.rows[row].absent))
                    for each in releases])
    for row in rows:
        text += f"\n## {row}\n\n" + of_row(row, releases, [one for one in found if one.row == row], explanations)
    return text


def of_row(row: str, releases: Sequence[Release], found: Sequence[Difference],
           explanations: Sequence[Explanation]) -> str:
    """The part of the page about a row."""
    present = [each for each in releases if row in each.rows and not each.rows[row].absent]
    text = "".join(f"Not with `{each.name}`: it {each.rows[row].absent.split(': fi_info')[0]}.\n\n"
                   for each in releases if row in each.rows and each.rows[row].absent)
    if not present:
        return text or "Not observed.\n"
    changed = [fact.name for fact in FACTS if any(one.cell == fact.name for one in found)]
    everywhere = [fact.name for fact in FACTS if len(drift.seen_with(fact.name, row, present)) == len(present)]
    cells = len(everywhere)
    same = cells - len(set(changed) & set(everywhere))
    text += (f"{same} of {cells} cells are the same with all releases that have the row.\n"
             if len(present) > 1 else f"Only `{present[0].name}` has the row: there is nothing to compare.\n")
    text += _partly(row, present)
    if changed:
        text += "\nClaimed / shown:\n\n" + _table(
            ("cell", *(each.name for each in present)),
            [(f"`{cell}`", *(_both(each.rows[row].cells.get(cell, Seen())) for each in present)) for cell in changed])
    text += "".join(f"\nWith `{each.name}`: {sentence}.\n"
                    for each in present for sentence in each.rows[row].faults or ())
    if found:
        text += "\n" + _table(("cell", "with", "what", "was", "is", "why", "source"), _lines(found, explanations))
    return text


def _partly(row: str, present: Sequence[Release]) -> str:
    """Cells that came later than the observation of some releases."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for fact in FACTS:
        have = tuple(each.name for each in drift.seen_with(fact.name, row, present))
        if have and len(have) < len(present):
            groups.setdefault(have, []).append(fact.name)
    return "".join(f"\nObserved with {', '.join(f'`{name}`' for name in have)} only: "
                   f"{', '.join(f'`{cell}`' for cell in cells)}.\n" for have, cells in groups.items())


def _both(seen: Seen) -> str:
    return f"{spelt(seen.claimed)} / {drift.told(seen)}"


def _open(one: Difference, explanations: Iterable[Explanation]) -> bool:
    known = drift.explained(one, explanations)
    return known is None or not known.why


def _lines(found: Sequence[Difference], explanations: Sequence[Explanation]) -> list[tuple[str, ...]]:
    """One line per difference; one line for two, where what is shown changed as what is claimed."""
    lines: list[tuple[str, ...]] = []
    for one in found:
        line = _line(one, explanations)
        if lines and lines[-1] == (*line[:2], drift.CLAIMED, *line[3:]):
            lines[-1] = (*line[:2], "both", *line[3:])
        else:
            lines.append(line)
    return lines


def _line(one: Difference, explanations: Iterable[Explanation]) -> tuple[str, ...]:
    known = drift.explained(one, explanations)
    why = "**open**" if known is None else known.why or f"**open**: {known.open}"
    return (f"`{one.cell}`" if one.cell else "the row", f"`{one.after.name}`", one.what, one.was, one.now, why,
            known.source if known else "")


def contradictions(matrix: Matrix, releases: Iterable[Release]) -> list[str]:
    """The cells whose row says something else about a release than what was observed with it: a sentence each."""
    found = []
    for release in releases:
        for name, seen in release.rows.items():
            fabric = matrix.fabric(name)
            span = range_for(fabric, str(release.version)) if fabric else None
            if fabric is None or span is None or seen.absent:
                continue
            findings = [each.finding(cell) for cell, each in seen.cells.items()]
            found += [f"{release.name}: {each.sentence}"
                      for each in compare(name, span.cells, findings, str(release.version)) if each.wrong]
    return found


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
