# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the tests of one mutant in the copy, and judges: killed, killed by a limit, survived."""

from __future__ import annotations

import ast
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mutants import Mutant

KILLED, LATE, SURVIVED = "killed", "killed by its time limit", "survived"
UNBUILT, UNSTEADY = "does not compile", "its tests fail without it"
BUILD_LIMIT = 1800.0  # seconds
_BUILD = "build/clang"
_GTEST = re.compile(r"^(?:\d+: )?\[  FAILED  \] ([\w./+]+\.\w+)", re.MULTILINE)
_TOOK = re.compile(r"(?:Total Test time \(real\) = +| in )([\d.]+) ?s")  # of ctest, of pytest
_PYTEST = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass
class Ended:
    """How a command ended."""

    code: int | None  # None: it exceeded its limit
    output: str
    seconds: float


@dataclass
class Verdict:
    """The judgement on one mutant. `by`: the first test that failed."""

    verdict: str
    by: str = ""
    seconds: float = 0.0
    output: str = ""


class Runner:
    """Runs commands in the copy. `prefix`: words before each build and each test, such as `nice`.

    A mutant has five times as long as the tests without it, and `patience` seconds.
    """

    def __init__(self, at: Path, jobs: int, prefix: Sequence[str] = (), patience: float = 30.0) -> None:
        self.at, self.jobs, self.prefix, self.patience = at, jobs, list(prefix), patience
        self.environment = dict(
            os.environ,
            CCACHE_BASEDIR=str(at),
            CCACHE_NOHASHDIR="1",
            HYPOTHESIS_STORAGE_DIRECTORY=str(at / "build" / "hypothesis"),
            HFI_NO_BACKTRACE="1",
            IPATH_NO_BACKTRACE="1",
        )
        if Path("/usr/lib/ccache").is_dir():
            self.environment["PATH"] = "/usr/lib/ccache:" + os.environ["PATH"]
        self._took: dict[tuple[str, ...], float] = {}  # tests -> seconds of their baseline
        self._configured = False

    def baseline(self, mutant: Mutant) -> Verdict | None:
        """Runs the tests of the mutant without it, once for each set of tests. A verdict: they cannot judge."""
        tests = (*mutant.ctest, *mutant.pytest)
        if tests in self._took:
            return None
        if mutant.targets and (unbuilt := self.built(mutant.targets)):
            return unbuilt
        ended = self._tests(mutant, 900.0)
        if ended.code != 0:
            return Verdict(UNSTEADY, first_failed(ended.output), ended.seconds, ended.output)
        self._took[tests] = ended.seconds
        return None

    def judge(self, mutant: Mutant) -> Verdict:
        """The mutant is planted already."""
        if mutant.file.endswith(".py"):
            try:
                ast.parse((self.at / mutant.file).read_text("utf-8"))
            except SyntaxError as wrong:
                return Verdict(UNBUILT, "", 0, str(wrong))
        if mutant.targets and (unbuilt := self.built(mutant.targets)):
            return unbuilt
        ended = self._tests(mutant, self._took[*mutant.ctest, *mutant.pytest] * 5 + self.patience)
        late = ended.code is None or "***Timeout" in ended.output
        verdict = LATE if late else SURVIVED if ended.code == 0 else KILLED
        return Verdict(verdict, "" if verdict == SURVIVED else first_failed(ended.output), ended.seconds, ended.output)

    def built(self, targets: Sequence[str]) -> Verdict | None:
        """Builds; a verdict if that fails. Warnings are no errors here: a mutant may leave a name unused."""
        if not self._configured:
            ended = self._run(["cmake", "--preset", "clang", "-B", _BUILD, "-DWEFT_WERROR=OFF",
                               "-DWEFT_SUITE_PROGRAMS=ON"], 600)
            if ended.code != 0:
                return Verdict(UNBUILT, "configure", ended.seconds, ended.output)
            self._configured = True
        ended = self._run(["cmake", "--build", _BUILD, f"-j{self.jobs}", "--target", *targets], BUILD_LIMIT)
        return None if ended.code == 0 else Verdict(UNBUILT, "", ended.seconds, ended.output)

    def _tests(self, mutant: Mutant, limit: float) -> Ended:
        if mutant.pytest:
            return self._run([sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider",
                              *mutant.pytest], limit)
        names = "^(" + "|".join(re.escape(name) for name in mutant.ctest) + ")$"
        return self._run(["ctest", "--test-dir", _BUILD, "-R", names, "--output-on-failure", "--no-tests=error",
                          "--stop-on-failure", "--timeout", str(math.ceil(limit))], limit * len(mutant.ctest) + 60)

    def _run(self, words: Sequence[str], limit: float) -> Ended:
        """Runs a command. The limit begins after the prefix, which may wait for its turn."""
        limited = ["timeout", "--kill-after=10", str(math.ceil(limit)), *words]
        begin = time.monotonic()
        done = subprocess.run([*self.prefix, *limited], cwd=self.at, env=self.environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
        took = _TOOK.search(done.stdout)
        code = None if done.returncode in (124, 137) else done.returncode
        return Ended(code, done.stdout, float(took.group(1)) if took else round(time.monotonic() - begin, 1))


def first_failed(output: str) -> str:
    """The name of the first test that failed, of GoogleTest or pytest; empty if none names itself."""
    found = _GTEST.search(output) or _PYTEST.search(output)
    return found.group(1) if found else ""
