#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs invocation.scale at several sizes, and keeps the figures for docs/reference/scale.md: --help."""
from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
TABLE = ROOT / "docs/tables/scale.json"
CLIENTS_PER_EXECUTOR = 10


def processor_seconds() -> float:
    """Of all runs until now."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def run(program: Path, executors: int, managers: int, seconds: int) -> dict[str, Any] | None:
    """One run. None: it was not over in time."""
    command = [str(program), "--executors", str(executors), "--clients", str(CLIENTS_PER_EXECUTOR * executors),
               "--managers", str(managers)]
    began = processor_seconds()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        raise SystemExit(f"record.py: {' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    figures: dict[str, Any] = json.loads(done.stdout)
    print(f"{executors} executors, {managers} managers: {figures['packets']} messages", file=sys.stderr)
    return figures | {"day": f"{datetime.now(timezone.utc):%Y-%m-%d}", "seconds": round(processor_seconds() - began)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="a build folder with invocation.scale")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000], help="executors")
    parser.add_argument("--executors-per-manager", type=int, default=0, help="0: one manager for all")
    parser.add_argument("--seconds", type=int, default=7200, help="the longest that one size may take")
    parser.add_argument("--write", action="store_true", help="into docs/tables/scale.json")
    asked = parser.parse_args()
    program = asked.build / "tests/invocation/invocation.scale"
    if not program.exists():
        parser.error(f"{program} is not there: build the target invocation.scale first")
    if min(asked.sizes) < 1 or asked.executors_per_manager < 0 or asked.seconds < 1:
        parser.error("sizes and seconds are at least 1")
    kept: dict[str, Any] = json.loads(TABLE.read_text("utf-8")) if TABLE.exists() else {}
    for size in asked.sizes:
        managers = -(-size // asked.executors_per_manager) if asked.executors_per_manager else 1
        figures = run(program, size, managers, asked.seconds)
        if figures is None:
            print(f"{size} executors: not over after {asked.seconds} s; larger sizes are left out", file=sys.stderr)
            break
        kept[f"{size}/{managers}"] = figures
        if asked.write:
            ordered = dict(sorted(kept.items(), key=lambda each: [int(part) for part in each[0].split("/")[::-1]]))
            TABLE.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
