#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs invocation.scale at several sizes, and loopback.million_peers; keeps the figures of docs/reference/scale.md."""
from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
TABLE = ROOT / "docs/tables/scale.json"
PEERS_TABLE = ROOT / "docs/tables/many_peers.json"
CLIENTS_PER_EXECUTOR = 10
# Blocks from the heap: with 10,000 executors the mappings of large blocks are more than vm.max_map_count permits.
_ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30)}


def processor_seconds() -> float:
    """Of all runs until now."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def run(command: list[str], seconds: int) -> dict[str, Any] | None:
    """The figures of one run. None: it was not over in time."""
    began = processor_seconds()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False,
                              env={**os.environ, **_ALLOCATOR})
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        raise SystemExit(f"record.py: {' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures | {"day": f"{datetime.now(timezone.utc):%Y-%m-%d}", "seconds": round(processor_seconds() - began)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="a build folder with invocation.scale")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000], help="executors")
    parser.add_argument("--peers", type=int, default=0, help="of one listener, instead of executors")
    parser.add_argument("--executors-per-manager", type=int, default=0, help="0: one manager for all")
    parser.add_argument("--seconds", type=int, default=7200, help="the longest that one size may take")
    parser.add_argument("--write", action="store_true", help="into docs/tables/scale.json")
    asked = parser.parse_args()
    program = asked.build / ("tests/loopback/many_peers/loopback.million_peers" if asked.peers else
                             "tests/invocation/invocation.scale")
    if not program.exists():
        parser.error(f"{program} is not there: build the target {program.name} first")
    if asked.peers:
        met = run([str(program), "--peers", str(asked.peers)], asked.seconds)
        if met is None:
            raise SystemExit(f"record.py: {asked.peers} peers had not met after {asked.seconds} s")
        print(json.dumps(met))
        if asked.write:
            PEERS_TABLE.write_text(json.dumps(met, indent=1) + "\n", "utf-8")
        return 0
    if min(asked.sizes) < 1 or asked.executors_per_manager < 0 or asked.seconds < 1:
        parser.error("sizes and seconds are at least 1")
    kept: dict[str, Any] = json.loads(TABLE.read_text("utf-8")) if TABLE.exists() else {}
    for size in asked.sizes:
        managers = -(-size // asked.executors_per_manager) if asked.executors_per_manager else 1
        figures = run([str(program), "--executors", str(size), "--clients", str(CLIENTS_PER_EXECUTOR * size),
                       "--managers", str(managers)], asked.seconds)
        if figures is None:
            print(f"{size} executors: not over after {asked.seconds} s; larger sizes are left out", file=sys.stderr)
            break
        print(f"{size} executors, {managers} managers: {figures['packets']} messages", file=sys.stderr)
        kept[f"{size}/{managers}"] = figures
        if asked.write:
            ordered = dict(sorted(kept.items(), key=lambda each: [int(part) for part in each[0].split("/")[::-1]]))
            TABLE.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
