#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges each file of tests/fail alone, mistake and corrected form, by each g++ and clang++ that PATH has.

tests/fail/each_compiler.py --build DIR [--only REGEX]: DIR is a configured build. Its tests `fail.*` name files and
options; their precompiled header is left out. Prints the files that a compiler judges otherwise, and what it printed.
Exit code 1: a file was refused. Exit code 2: the build has no such tests, or PATH no compiler.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

JUDGE = "cmake/fail_test.cmake"
COMPILER = re.compile(r"^(g|clang)\+\+(-[0-9]+)?$")


def compilers(path: str) -> dict[str, str]:
    """Version -> program. A program of several names is there once."""
    found: dict[str, str] = {}
    seen: set[Path] = set()
    for folder in path.split(os.pathsep):
        for file in sorted(Path(folder).glob("*++*")):
            if COMPILER.match(file.name) and file.resolve() not in seen:
                seen.add(file.resolve())
                said = subprocess.run([file, "--version"], capture_output=True, text=True, check=False).stdout
                found.setdefault(said.partition("\n")[0], str(file))
    return found


def commands(build: Path, only: str) -> dict[str, list[str]]:
    """Test -> its command, for each file of tests/fail that this build judges."""
    listed = subprocess.run(["ctest", "--test-dir", build, "-R", only, "--show-only=json-v1"],
                            capture_output=True, text=True, check=True).stdout
    return {test["name"]: test["command"] for test in json.loads(listed)["tests"]
            if any(word.endswith(JUDGE) for word in test.get("command", []))}


def alone(command: list[str], compiler: str) -> list[str]:
    """The command with another compiler, no precompiled header, and the corrected form too."""
    words = ["-DCORRECTED=ALONE" if word == "-DCORRECTED=COMMON" else word for word in command]
    for option in ("-include", "-include-pch"):
        if option in words:
            at = words.index(option)
            del words[at:at + 2]
    words[words.index("--") + 1] = compiler
    return words


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, metavar="DIR", help="a configured build")
    parser.add_argument("--only", default=r"^fail\.", metavar="REGEX", help="tests of this name; default: all")
    asked = parser.parse_args()
    build = asked.build
    tests, programs = commands(build, asked.only), compilers(os.environ.get("PATH", ""))
    if not tests or not programs:
        print(f"each_compiler: {len(tests)} tests fail.* in {build} and {len(programs)} compilers in PATH; "
              "both must be there", file=sys.stderr)
        return 2
    refused = 0
    for version, program in programs.items():
        bad = []
        for name, command in tests.items():
            done = subprocess.run(alone(command, program), capture_output=True, text=True, check=False)
            if done.returncode != 0:
                bad.append(name)
                print(f"{version}: {name}\n{done.stderr}")
        print(f"{version}: {len(tests) - len(bad)} of {len(tests)} files are judged well", flush=True)
        refused += len(bad)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
