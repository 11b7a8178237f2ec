# SPDX-License-Identifier: Apache-2.0
"""How long a small transfer takes on a row, as a bench measured it. Sets of fabrics choose the faster one by it."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .days import wrong_day
from .loader import Document, Problem


@dataclass(frozen=True)
class HalfRoundTrip:
    """Half of the median round trip of 8 bytes between two processes of one machine, in nanoseconds."""

    ns: int
    of: str
    command: str
    machine: str
    library: str
    date: str

    @property
    def as_text(self) -> str:
        return f"measured: {self.date} {self.library}: {self.of}"


def read_half_round_trip(document: Document, fabric: str, raw: Mapping[str, Any] | None,
                         problems: list[Problem]) -> HalfRoundTrip | None:
    """Nothing where nobody measured it."""
    if raw is None:
        return None
    if wrong := wrong_day(raw["date"]):
        problems.append(document.problem((fabric, "half_round_trip", "date"),
                                         f"{fabric}.half_round_trip was measured on {wrong}: write the day of the run"))
    return HalfRoundTrip(raw["ns"], raw["of"], raw["command"], raw["machine"], raw["library"], raw["date"])
