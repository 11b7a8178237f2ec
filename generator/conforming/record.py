# SPDX-License-Identifier: Apache-2.0
"""What cells of docs/conformance.md are made from: a digest of each promise, each fabric's row and each suite."""
from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..decided import Decided
from .promises import Promises


@dataclass(frozen=True)
class Record:
    """The sources of cells. Each mapping is from a name to a digest."""

    promises: Mapping[str, str]
    fabrics: Mapping[str, str]
    suites: Mapping[str, str]


_TEXTS = ("line", "says", "number", "lacking", "long_runs")


def digest_of(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:8]


def record_of(promises: Promises, rows: Mapping[str, Decided], suites: Mapping[str, set[str]]) -> Record:
    """The record of the tree. Texts and evidence count for nothing: a better sentence makes no cell stale."""
    return Record(
        {each.name: digest_of({key: value for key, value in asdict(each).items() if key not in _TEXTS})
         for each in promises.promises},
        {column.fabric: _row(rows[column.fabric], column.where) for column in promises.columns},
        {suite: digest_of(sorted(tests)) for suite, tests in suites.items()})


def _row(row: Decided, where: str) -> str:
    """The digest of a row: its facts and answers for each range of releases, and where it runs."""
    return digest_of([where, [[str(span.since), {name: str(cell.value) for name, cell in span.cells.items()},
                               {choice.family: choice.answer for choice in choices}]
                              for span, choices in zip(row.fabric.ranges, row.choices)]])
