# SPDX-License-Identifier: Apache-2.0
"""Results of earlier runs, one line of JSON a point, and the summary made of them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

from judging import GOOD, Judgement
from points import Point
from programs import Program


class Unfit(Exception):
    """A program fails without a failing call; it has no points."""


@lru_cache
def content_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _is_current(said: dict[str, Any]) -> bool:
    """Whether the program of a result is still the one that ran."""
    path = Path(said.get("path", ""))
    return path.is_file() and content_of(path) == said["content"]


class Outcomes:
    """The last outcome of each point. A point of a changed program has none."""

    def __init__(self, work: Path) -> None:
        work.mkdir(parents=True, exist_ok=True)
        self._results = work / "results.jsonl"
        self._summary = work / "summary.json"
        self._kept: dict[str, dict[str, Any]] = {}
        if self._results.exists():
            for line in self._results.read_text("utf-8").splitlines():
                try:
                    said = json.loads(line)
                except json.JSONDecodeError:
                    continue  # the last line of an interrupted run
                self._kept[said["point"]] = said

    def has(self, point: Point, program: Program) -> bool:
        said = self._kept.get(point.name())
        return said is not None and said["content"] == content_of(program.path(point.role, point.row))

    def outcome(self, point: Point) -> str:
        return str(self._kept[point.name()]["outcome"])

    def keep(self, point: Point, program: Program, judged: Judgement, again: str) -> None:
        said = {"point": point.name(), "program": point.program, "row": point.row, "from": point.callers,
                "kill": point.kills, "call": point.call, "outcome": judged.outcome, "defects": judged.defects,
                "again": again, "path": str(program.path(point.role, point.row)),
                "content": content_of(program.path(point.role, point.row))}
        self._kept[point.name()] = said
        with self._results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(said) + "\n")

    def write_summary(self) -> str:
        """Writes summary.json of the programs as they are now. Returns it as lines."""
        rows: dict[tuple[str, ...], Counter[str]] = {}
        valid = [said for said in self._kept.values() if _is_current(said)]
        for said in valid:
            what = "killed there" if said["kill"] else "call fails"
            rows.setdefault((said["program"], said["row"], said["from"], what), Counter())[said["outcome"]] += 1
        table: list[dict[str, Any]] = [
            {"program": key[0], "row": key[1], "from": key[2], "what": key[3], "points": count.total(),
             "good": sum(count[each] for each in GOOD), "outcomes": dict(sorted(count.items()))}
            for key, count in sorted(rows.items())]
        failures = [{each: said[each] for each in ("point", "outcome", "defects", "again")}
                    for said in valid if said["outcome"] not in GOOD]
        self._summary.write_text(json.dumps({"table": table, "failures": failures}, indent=1) + "\n", "utf-8")
        lines = []
        for each in table:
            counted = ", ".join(f"{name} {count}" for name, count in each["outcomes"].items())
            lines.append(f"{each['program']} {each['row']} ({each['from']}, {each['what']}): {each['points']} points, "
                         f"{each['good']} good; {counted}")
        return "\n".join(lines)
