# SPDX-License-Identifier: Apache-2.0
"""Builds the program simulate.<row>, or finds it in a build directory."""
from __future__ import annotations

import subprocess
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "build" / "simulate" / "tree"


def program_in(build: Path, row: str) -> Path:
    return build / "tests" / "simulation" / f"simulate.{row}"


def _run(words: list[str], log: Path) -> None:
    """Errors: UsageError with the end of the output."""
    with log.open("a", encoding="utf-8") as out:
        out.write("+ " + " ".join(words) + "\n")
        out.flush()
        code = subprocess.run(words, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, check=False).returncode
    if code != 0:
        end = "\n".join(log.read_text(encoding="utf-8").splitlines()[-12:])
        raise click.UsageError(f"the program could not be built ({log}):\n{end}")


def build_program(row: str, build: Path | None) -> Path:
    """Configures and builds. Without `build` the tree is build/simulate/tree, optimised a little, with assertions.

    Errors: UsageError.
    """
    folder = build if build is not None else OWN
    log = ROOT / "build" / "simulate" / "build.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("", encoding="utf-8")
    if build is None:
        _run(["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
              "-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DWEFT_BUILD_BENCH=OFF", "-DWEFT_INSTALL=OFF",
              f"-DWEFT_SIMULATE_ROWS={row}"], log)
    _run(["cmake", "--build", str(folder), "--target", f"simulate.{row}"], log)
    program = program_in(folder, row)
    if not program.is_file():
        raise click.UsageError(f"no program simulate.{row} in {folder}: the libraries of its row are absent")
    return program
