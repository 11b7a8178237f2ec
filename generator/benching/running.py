# SPDX-License-Identifier: Apache-2.0
"""Programs that take turns: A B C, then C B A, so that none always runs on the others' warm caches.

The first turn warms up and does not count.
"""
from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..matrix.loader import Problem, Refused
from .building import Absent
from .combining import Combination

SKIPPED = 77


@dataclass(frozen=True, order=True)
class Key:
    """The measurements: `window` is 0 where each operation is awaited."""

    operation: str
    bytes: int
    window: int

    @staticmethod
    def of(name: str) -> Key:
        """From a benchmark's name: operation/bytes, or operation/bytes/window, and what Google Benchmark appends."""
        operation, size, *rest = name.split("/")
        return Key(operation, int(size), int(rest[0]) if rest and rest[0].isdigit() else 0)


@dataclass(frozen=True)
class Sample:
    """One turn of one combination: quantiles at 0, 5, ... 100 percent, in nanoseconds."""

    quantiles: tuple[float, ...]

    @property
    def median(self) -> float:
        return self.quantiles[len(self.quantiles) // 2]


Turn = dict[Combination, dict[Key, Sample]]


@dataclass(frozen=True)
class Plan:
    """The request to each program."""

    operations: tuple[str, ...]
    sizes: tuple[int, ...]
    windows: tuple[int, ...]
    window_bytes: int
    seconds: float
    turns: int
    limit: int = 300

    def arguments(self, out: Path) -> list[str]:
        def joined(values: Sequence[object]) -> str:
            return ",".join(str(value) for value in values)

        return ["--operations", joined(self.operations), "--sizes", joined(self.sizes), "--windows",
                joined(self.windows),
                "--window-bytes", str(self.window_bytes), "--seconds", str(self.seconds), "--limit", str(self.limit),
                "--out", str(out)]


def read_sample(document: Mapping[str, Any]) -> dict[Key, Sample]:
    """Google Benchmark's JSON, without skipped benchmarks."""
    return {Key.of(each["name"]): Sample(tuple(each[f"q{percent:03d}"] for percent in range(0, 101, 5)))
            for each in document["benchmarks"] if not each.get("error_occurred")}


def play(programs: Mapping[Combination, Path], plan: Plan, node: str,
         report: Callable[[str], None]) -> tuple[list[Turn], dict[Combination, str]]:
    """Every turn, and the reason of each dropped combination.

    Errors: Absent; Refused, where the row's own answers cannot be measured.
    """
    turns: list[Turn] = []
    fallen: dict[Combination, str] = {}
    for number in range(plan.turns + 1):
        order = [each for each in programs if each not in fallen]
        turn: Turn = {}
        for each in order if number % 2 == 0 else reversed(order):
            found, wrong = _one(programs[each], plan, node)
            if wrong and each.baseline:
                raise Absent(wrong) if found is None else Refused([Problem(programs[each].name, 1,
                                                                           "the row's own answers cannot be measured: "
                                                                           f"{wrong}")])
            if wrong:
                fallen[each] = wrong
                report(f"{each.as_text}: {wrong}")
            elif found:
                turn[each] = found
        if number > 0:
            turns.append(turn)
        report(f"turn {number} of {plan.turns}" + (" (not counted: it warms up)" if number == 0 else ""))
    return turns, fallen


def _one(program: Path, plan: Plan, node: str) -> tuple[dict[Key, Sample] | None, str]:
    """The samples and an empty sentence; or none and why the fabric is absent; or empty ones and the failure."""
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        out = Path(folder) / "turn.json"
        running = subprocess.Popen([str(program), *plan.arguments(out)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, **({"WEFT_NODE": node} if node else {})}, start_new_session=True)
        try:
            _, said = running.communicate(timeout=plan.limit + 10)
        except subprocess.TimeoutExpired:
            said = f"no end within {plan.limit} s"
        finally:
            _end(running)
        sentence = next((line.removeprefix("bench: ") for line in said.splitlines() if line
                         and not line.startswith(("***", "Run on", "CPU", "  L", "Load"))
                         and not line[:4].isdigit() and not line.startswith("Running")),
                        f"its program left with {running.returncode}")
        if running.returncode == SKIPPED:
            return None, sentence
        if running.returncode != 0:
            return {}, sentence
        return read_sample(json.loads(out.read_text("utf-8", errors="replace"))), ""


def _end(running: subprocess.Popen[str]) -> None:
    """Both processes: the second is in the group of the first."""
    try:
        os.killpg(running.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    running.wait()
