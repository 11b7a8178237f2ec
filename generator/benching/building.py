# SPDX-License-Identifier: Apache-2.0
"""Combinations to programs: one source of three lines each, in a build directory that is kept.

A second run compiles only what changed.
"""
from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..matrix.loader import Problem, Refused
from .combining import Combination

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "bench" / "combinations"
_BUILD_SECONDS = 3600
_ERROR = re.compile(r"(?:fatal )?error: (?:static assertion failed: )?(.*)")
_FAILED = re.compile(r"FAILED: CMakeFiles/(?P<program>[^/]+)\.dir/")


class Absent(Exception):
    """The fabric is not on this machine; holds the sentence."""


@dataclass(frozen=True)
class Built:
    """Programs by combination, and the reason of each missing one."""

    programs: dict[Combination, Path]
    failed: dict[Combination, str]
    compiler: str
    library: str


def folder_for(fabric: str, build: Path | None) -> Path:
    """build/bench/<fabric> of this tree, or of the user's cache where the tree is read-only."""
    if build is not None:
        return build / fabric
    place = ROOT / "build"
    if not os.access(place if place.exists() else ROOT, os.W_OK):
        place = Path(tempfile.gettempdir()) / f"weft-build-{os.getuid()}"
    return place / "bench" / fabric


def program_name(combination: Combination) -> str:
    """A file's name."""
    return "__".join(re.sub(r"[^A-Za-z0-9_]+", "_", f"{family}_{answer}").strip("_")
                     for family, answer in combination.changed) or "own"


def source(fabric: str, combination: Combination) -> str:
    """The program's text."""
    environment = Environment(  # noqa: S701  C++
        loader=FileSystemLoader(str(ROOT / "templates")), undefined=StrictUndefined, autoescape=False,
                              keep_trailing_newline=True)
    of = f"weft::fabrics::{fabric}"
    kind = of if combination.baseline else f"weft::with<{of}, {combination.type}>"
    return environment.get_template("combination.cpp.j2").render(fabric=fabric, type=kind)


def built(fabric: str, combinations: Sequence[Combination], folder: Path, jobs: int,
          report: Callable[[str], None]) -> Built:
    """Writes, configures, compiles. Reports each failed source with its first error. Errors: Absent; Refused."""
    sources = {}
    (folder / "sources").mkdir(parents=True, exist_ok=True)
    for each in combinations:
        path = folder / "sources" / f"{program_name(each)}.cpp"
        text = source(fabric, each)
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
        sources[each] = path
    configured = _configured(fabric, folder, list(sources.values()))
    report(f"building {len(sources)} programs in {folder}, {jobs} at a time (of one the compiler has some 10 to 40 "
         "seconds)")
    output = _compiled(folder, [path.stem for path in sources.values()], jobs, report)
    errors = _errors(output)
    programs = {each: folder / path.stem for each, path in sources.items() if path.stem not in errors
                and (folder / path.stem).is_file()}
    failed = {each: f"it does not compile: {errors.get(path.stem, output.strip()[-200:])}"
              for each, path in sources.items() if each not in programs}
    return Built(programs, failed, _compiler(folder), _library(configured))


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=_BUILD_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused([Problem("bench/combinations/CMakeLists.txt", 1,
                               f"the programs cannot be built: {error}")]) from None


def _configured(fabric: str, folder: Path, sources: list[Path]) -> str:
    done = _run(["cmake", "-G", "Ninja", "-S", str(PROJECT), "-B", str(folder), f"-DWEFT_COMBINED_FABRIC={fabric}",
                 f"-DWEFT_COMBINATIONS={';'.join(str(path) for path in sources)}"])
    left_out = re.search(rf"weft: fabric {re.escape(fabric)} is left out: (.*)", done.stdout)
    if left_out:
        raise Absent(f"fabric {fabric} is not on this machine: {left_out.group(1)}")
    if done.returncode != 0:
        last = next((line for line in done.stdout.splitlines() if "rror" in line or "Could not find" in line),
                    done.stdout.strip()[-200:])
        raise Refused([Problem("bench/combinations/CMakeLists.txt", 1,
                               f"cannot be configured: {last.strip()}: scripts/setup installs what it needs")])
    return done.stdout


def _compiled(folder: Path, targets: list[str], jobs: int, report: Callable[[str], None]) -> str:
    command = ["cmake", "--build", str(folder), "-j", str(jobs), "--target", *targets, "--", "-k", "0"]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        assert running.stdout is not None
        for line in running.stdout:
            lines.append(line)
            if found := re.match(r"\[(\d+/\d+)\] Linking CXX executable (\S+)", line):
                report(f"[{found.group(1)}] built {found.group(2)}")
    return "".join(lines)


def _errors(output: str) -> dict[str, str]:
    """Program to its first error, in the compiler's words."""
    found: dict[str, str] = {}
    program = ""
    for line in output.splitlines():
        if failed := _FAILED.match(line):
            program = failed.group("program")
        elif program and program not in found and (error := _ERROR.search(line)):
            found[program] = error.group(1).strip()
    return found


def _compiler(folder: Path) -> str:
    cache = (folder / "CMakeCache.txt").read_text("utf-8")
    found = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE)
    said = _run([found.group(1) if found else "c++", "--version"]).stdout.splitlines()
    return said[0].strip() if said else "unknown"


def _library(configured: str) -> str:
    """libfabric and rdma-core, as the configuration found them."""
    return ", ".join(found.group(1) for found in re.finditer(r"weft: ((?:libfabric|rdma-core) \S+) \(",
                                                             configured)) or "none"
