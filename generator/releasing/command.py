# SPDX-License-Identifier: Apache-2.0
"""scripts/releases: the order of its parts, and its exit codes."""
from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from ..matrix.loader import Refused
from ..matrix.model import Matrix, read_matrix
from . import places as known
from .observing import observed
from .page import contradictions
from .places import Lacking, Place
from .records import TABLES, read_all

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("make", "build", "probe", "write")
SKIPPED, INTERRUPTED = 77, 130


def main(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> int:
    """The exit code. `parser` refuses what is wrong with the arguments `asked`."""
    wrong = [part for part in asked.parts if part not in PARTS]
    if wrong:
        parser.error(f"{wrong[0]}: no such part; there are {', '.join(PARTS)}")
    try:
        chosen = _chosen(parser, asked.release, asked.source)
        matrix = read_matrix(ROOT / "providers.yaml", "providers.yaml")
        rows = _rows(parser, asked.row)
        if asked.list:
            for place in chosen:
                print(f"{place.name}: {place.what}")
            print(f"rows: {', '.join(rows)}")
            return 0
        parts = set(asked.parts or PARTS[:3]) | ({"write"} if asked.write else set())
        return _run(parts, chosen, matrix, rows, asked.node, asked.fresh)
    except Refused as refused:
        return _refused(refused)
    except KeyboardInterrupt:
        print("interrupted: rows that were observed are kept; the same command goes on", file=sys.stderr)
        return INTERRUPTED


def _chosen(parser: argparse.ArgumentParser, names: list[str], sources: list[Path]) -> list[Place]:
    places = known.places(sources)
    unknown = [name for name in names if name not in {place.name for place in places}]
    if unknown:
        parser.error(f"{unknown[0]}: no such release; there are {', '.join(place.name for place in places)}")
    wanted = [place for place in places if place.name in names or (place.source and names)]
    return wanted or list(places)


def _rows(parser: argparse.ArgumentParser, names: list[str]) -> tuple[str, ...]:
    rows = known.rows()
    unknown = [name for name in names if name not in rows]
    if unknown:
        parser.error(f"{unknown[0]}: no row that needs no hardware; there are {', '.join(rows)}")
    return tuple(name for name in rows if name in names) or rows


def _run(parts: set[str], places: list[Place], matrix: Matrix, rows: tuple[str, ...], node: str, fresh: bool) -> int:
    """A release that cannot be had is skipped. One that fails does not end the run."""
    failed, skipped = False, 0
    for place in places:
        try:
            if "make" in parts:
                _say(f"{place.name}: {place.what}")
                place.make()
            if "build" in parts:
                _say(f"{place.name}: weft-probe")
                place.program()
            if "probe" in parts:
                observed(place, matrix, rows, node=node, fresh=fresh, report=_say)
        except Lacking as lacking:
            skipped += 1
            _say(f"skipped: {lacking.problems[0].sentence}")
        except Refused as refused:
            failed |= bool(_refused(refused))
        except OSError as error:
            failed = True
            print(f"scripts/releases:1: {place.name}: {error.strerror}: {error.filename}", file=sys.stderr)
    if "write" in parts:
        failed |= _write(places, matrix)
    return 1 if failed else SKIPPED if places and skipped == len(places) else 0


def _write(places: list[Place], matrix: Matrix) -> bool:
    """Copies what was observed to docs/tables/releases, and makes the page. True if a row contradicts it."""
    TABLES.mkdir(parents=True, exist_ok=True)
    for place in places:
        made = place.folder / f"{place.name}.json"
        if made.exists():
            shutil.copyfile(made, TABLES / made.name)
            _say(f"wrote {(TABLES / made.name).relative_to(ROOT)}")
    subprocess.run([ROOT / "scripts" / "docs", "--pages"], check=True)
    wrong = contradictions(matrix, read_all())
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    return bool(wrong)


def _say(line: str) -> None:
    print(line, flush=True)


def _refused(refused: Refused) -> int:
    for problem in refused.problems:
        print(problem, file=sys.stderr)
    return 1
