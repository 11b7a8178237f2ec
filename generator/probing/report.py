# SPDX-License-Identifier: Apache-2.0
"""What a probe found, as a table for people and as JSON for programs."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..matrix.facts import FACT, Value
from ..report import show_table
from .compare import Verdict, spelt
from .rows import Probed

_HEADER = ("cell", "row says", "library claims", "test shows", "verdict")


def as_rows(verdicts: Sequence[Verdict]) -> list[tuple[str, ...]]:
    """One line per cell."""
    rows: list[tuple[str, ...]] = []
    for each in verdicts:
        finding, cell = each.finding, each.cell
        said = cell.as_text + (f" (claimed: {cell.told_claim})" if cell.claimed_value is not None else "")
        shown = _bound(finding.shown, finding.tried) if finding.shown is not None else f"not shown: {finding.why_not}"
        claimed = spelt(finding.claimed) + "".join(f"; {spelt(value)} with {request}"
                                                   for request, value in finding.elsewhere)
        rows.append((cell.name, said, claimed, shown, each.verdict))
    return rows


def _bound(shown: Value, tried: int | None) -> str:
    return f"at least {spelt(shown)}" if tried is not None and int(shown) >= tried else spelt(shown)


def show(found: Probed) -> None:
    """The table, with what was probed above it."""
    show_table(_HEADER, as_rows(found.verdicts), f"{found.fabric.name}: {found.found_by}")


def as_content(found: Probed) -> dict[str, Any]:
    """For JSON: everything, the words included."""
    cells = [{"cell": each.cell.name, "row": each.cell.as_text, "claimed": _plain(each.finding.claimed),
              "claim": each.finding.claim, "request": FACT[each.cell.name].request,
              "claimed_with": {request: spelt(value) for request, value in each.finding.elsewhere},
              "shown": _plain(each.finding.shown), "test": each.finding.test, "why_not": each.finding.why_not,
              "verdict": each.verdict, "sentence": each.sentence} for each in found.verdicts]
    by = found.found_by
    return {"fabric": found.fabric.name,
            "provenance": {"library": by.library, "api": by.api, "kernel": by.kernel, "device": by.device,
                           "date": by.date},
            "cells": cells,
            "faults": [{"behaviour": each.behaviour, "sentence": each.sentence} for each in found.faults]}


def _plain(value: Value | None) -> str | None:
    return None if value is None else spelt(value)
