# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the conformance suites of one fabric: the same suites that every other fabric passes."""
from __future__ import annotations

import os
import subprocess
import time
import xml.etree.ElementTree as xml
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..matrix.loader import Problem, Refused
from .interrupting import end_descendants

_COMPILE_SECONDS, _RUN_SECONDS = 900, 1200
# Variables that would change the build or the meaning of a test, as scripts/environment.sh lists them. CXX stays: the
# user chooses the compiler.
_FOREIGN = ("FI_", "OFI_", "GTEST_", "CMAKE_", "CTEST_", "CXXFLAGS", "CPP", "LDFLAGS", "MAKEFLAGS")


@dataclass(frozen=True)
class Tried:
    """The outcome of each suite by name, the seconds of compiling and running, and the log file."""

    passed: tuple[str, ...]
    failed: tuple[str, ...]
    compiled: float
    ran: float
    log: Path


def conform(tree: Path, fabric: str, build: Path, log: Path) -> Tried:
    """Builds and runs the suites of a row of `tree`. Errors: Refused, where it does not compile."""
    build.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    # Little optimisation and no forced inlining: the compiler takes most of the time, and nothing is measured.
    configure = ["cmake", "-S", str(tree), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                 "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DWEFT_FORCED_INLINING=OFF",
                 "-DWEFT_WERROR=ON", "-DWEFT_BUILD_BENCH=OFF", "-DWEFT_BUILD_EXAMPLES=OFF", "-DWEFT_INSTALL=OFF",
                 "-DWEFT_SIMULATED_ROWS=",
                 f"-DWEFT_ONLY_FABRICS={fabric}"]
    for what, command in (("configure", configure),
                          ("compile", ["cmake", "--build", str(build), "--target", f"conformance.{fabric}"])):
        code = _run(command, log, _COMPILE_SECONDS)
        if code != 0:
            raise Refused([Problem(str(log), 1,
                                   f"the suites of {fabric} do not {what} ({_ended(code)}); this file has the "
                                   f"compiler's words")])
    compiled = time.monotonic() - begin
    report = build / "conformance.xml"
    report.unlink(missing_ok=True)
    # On a busy machine a deadline may pass without cause: a failure counts if it is seen twice.
    code = _run(["ctest", "--test-dir", str(build), "-j", str(os.cpu_count() or 1), "--output-on-failure",
                 "--no-tests=error", "--repeat", "until-pass:2", "-R", r"^conformance\.",
                 "-L", rf"^fabric\.{fabric}$", "--output-junit", str(report)], log, _RUN_SECONDS)
    ran = time.monotonic() - begin - compiled
    if not report.is_file():
        raise Refused([Problem(str(log), 1, f"the suites of {fabric} did not come to an end ({_ended(code)})")])
    return Tried(*_read(report), compiled, ran, log)


def _read(report: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    cases = list(xml.parse(report).getroot().iter("testcase"))
    passed = tuple(each.get("name", "?") for each in cases if each.get("status") == "run")
    return passed, tuple(each.get("name", "?") for each in cases if each.get("status") != "run")


def _ended(code: int | None) -> str:
    return "its time was over" if code is None else f"exit {code}"


def _run(command: Sequence[str], log: Path, seconds: float) -> int | None:
    """The command's exit code, or None after its deadline: then all its processes are ended."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    with log.open("a", encoding="utf-8") as into:
        into.write(f"\n== {' '.join(command)}\n")
        into.flush()
        started = subprocess.Popen(command, stdout=into, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=kept,
                                   start_new_session=True)
        try:
            return started.wait(seconds)
        except subprocess.TimeoutExpired:
            end_descendants()
            started.wait()
            return None
