#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of planted.yaml one at a time, and judges whether simulation finds each by its name.

A bug of the simulated fabric is an option of the program. A bug of weft itself is planted into a copy of the headers,
from which the program is compiled again.

Exit codes: 0 each bug was found, 1 one was not, 2 usage, 77 the build lacks a program.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SEEDS = 1000
COPIED = ("core", "wire", "policies", "compose", "backends", "coroutines", "transfers", "history", "generated",
          "examples", "tests")
_FOUND = re.compile(r"^found \w+ with seed (\d+) after (\d+) seeds$", re.MULTILINE)


@dataclass(frozen=True)
class Bug:
    """One bug: of the simulated fabric (`bug`), or of weft itself (`file`, `text`, `becomes`)."""

    name: str
    finding: str
    row: str = "loopback"
    bug: str = ""
    file: str = ""
    text: str = ""
    becomes: str = ""
    faults: str = "all"
    fast: bool = False


def read_bugs(path: Path = HERE / "planted.yaml") -> list[Bug]:
    return [Bug(name=name, **cells) for name, cells in YAML(typ="safe").load(path.read_text("utf-8")).items()]


def misfits(bugs: Sequence[Bug], root: Path = ROOT) -> list[str]:
    """Sentences about bugs that do not fit the tree."""
    wrong = []
    for each in bugs:
        if bool(each.bug) == bool(each.file):
            wrong.append(f"{each.name}: a bug has either `bug`, or `file`, `text` and `becomes`")
        elif each.file:
            path = root / each.file
            count = path.read_text("utf-8").count(each.text) if path.is_file() else 0
            if count != 1:
                wrong.append(f"{each.name}: {each.file} has the text {count} times instead of once: {each.text}")
    return wrong


def plant(bug: Bug, into: Path, root: Path = ROOT) -> None:
    """Copies the headers, and plants the bug."""
    shutil.rmtree(into, ignore_errors=True)
    for folder in COPIED:
        shutil.copytree(root / folder, into / folder, ignore=shutil.ignore_patterns("*.py", "__pycache__", "golden"))
    path = into / bug.file
    path.write_text(path.read_text("utf-8").replace(bug.text, bug.becomes), encoding="utf-8")
    (into / "include").mkdir()
    (into / "include" / "weft").symlink_to(into, target_is_directory=True)


def compiled(bug: Bug, build: Path) -> Path:
    """Compiles the program with the bug, by the commands that compiled it without. Errors: RuntimeError."""
    folder = build / "tests" / "simulation" / "planted" / bug.name
    plant(bug, folder)
    target = f"simulate.{bug.row}"
    commands = json.loads((build / "compile_commands.json").read_text("utf-8"))
    unit = next(each for each in commands if f"{target}.dir/main.cpp.o" in each["command"])
    command = unit["command"].replace(str(build / "include"), str(folder / "include"))
    command = command.replace(str(ROOT / "tests"), str(folder / "tests"))
    command = command.replace(str(ROOT / "examples"), str(folder / "examples"))
    words = shlex.split(re.sub(r" -M(D|[TF] \S+)", "", command))  # the build's own dependencies stay
    words[words.index("-o") + 1] = str(folder / "main.o")
    made = subprocess.run(words, cwd=unit["directory"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise RuntimeError(made.stderr[-2000:])
    link = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "-s", f"tests/simulation/{target}"],
                          capture_output=True, text=True, check=True).stdout
    words = [word for word in shlex.split(link) if word not in (":", "&&")]
    unlinked = next(word for word in words if word.endswith(f"{target}.dir/main.cpp.o"))
    words[words.index(unlinked)] = str(folder / "main.o")
    words[words.index("-o") + 1] = str(folder / "program")
    made = subprocess.run(words, cwd=build, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise RuntimeError(made.stderr[-2000:])
    return folder / "program"


def judge(bug: Bug, build: Path) -> tuple[Bug, bool, str]:
    """Whether simulation finds the bug by its name, and a sentence."""
    try:
        program = compiled(bug, build) if bug.file else build / "tests" / "simulation" / f"simulate.{bug.row}"
    except RuntimeError as error:
        return bug, False, f"does not compile: {error}"
    words = [str(program), "--seeds", f"1..{SEEDS}", "--faults", bug.faults, "--expect", bug.finding]
    if bug.bug:
        words += ["--bug", bug.bug]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if bug.file:
        shutil.rmtree(program.parent, ignore_errors=True)
    found = _FOUND.search(done.stdout)
    if found:
        return bug, True, f"found as {bug.finding} after {found[2]} seeds"
    end = (done.stdout.strip() or done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
    return bug, False, f"not found as {bug.finding}: {end}"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--build", type=Path, help="a configured build directory")
    parser.add_argument("--fast", action="store_true", help="only those with `fast: yes`")
    parser.add_argument("--check", action="store_true", help="only whether the list fits the tree; run nothing")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args(words)
    bugs = read_bugs()
    wrong = misfits(bugs)
    for sentence in wrong:
        print(sentence)
    if asked.check or wrong:
        return 1 if wrong else 0
    if asked.build is None:
        parser.error("--build is needed to run")
    unknown = set(asked.names) - {each.name for each in bugs}
    if unknown:
        parser.error(f"no such bug: {', '.join(sorted(unknown))}")
    bugs = [each for each in bugs if (not asked.names or each.name in asked.names) and (each.fast or not asked.fast)]
    build = asked.build.resolve()
    for row in {each.row for each in bugs}:
        if not os.access(build / "tests" / "simulation" / f"simulate.{row}", os.X_OK):
            print(f"{build} has no program simulate.{row}")
            return 77
    missed = 0
    with ThreadPoolExecutor(asked.jobs) as pool:
        for bug, found, sentence in pool.map(lambda each: judge(each, build), bugs):
            print(f"{bug.name}: {sentence}", flush=True)
            missed += not found
    print(f"{len(bugs) - missed} of {len(bugs)} planted bugs were found by name")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
