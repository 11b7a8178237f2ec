#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A process that dies at its N-th post (--faults dying=N): the other side gets the loss once.

Nothing is counted twice. Exit 0: success. Exit 1: a line says what happened.
"""
from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from generator.emulating import EVERY_GENTLE_FAULT, emulator_in, environment  # noqa: E402


def run(program: Path, fabric: str, build: Path, posts: int) -> str:
    """The error; empty for success."""

    def told(seed: int, faults: str) -> dict[str, str]:
        return environment(fabric, emulator_in(build), seed, faults, "", ())

    with subprocess.Popen([program], env=told(1, EVERY_GENTLE_FAULT), stdout=subprocess.PIPE, text=True) as survivor:
        assert survivor.stdout is not None
        try:
            where = survivor.stdout.readline().strip()
            doomed = subprocess.run(
                [program, where], env=told(2, f"{EVERY_GENTLE_FAULT},dying={posts}"), timeout=30, check=False
            )
            said, _ = survivor.communicate(timeout=40)
        except subprocess.TimeoutExpired as late:
            return str(late)
        finally:
            survivor.kill()
    print(f"{fabric}, dying at post {posts}: {said.strip()}")
    if doomed.returncode != -signal.SIGKILL:
        return f"the doomed process was not killed at post {posts}: it ended with {doomed.returncode}"
    return "" if survivor.returncode == 0 else f"the survivor ended with {survivor.returncode}: {said.strip()}"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=Path, required=True)
    options.add_argument("--fabric", required=True)
    options.add_argument("--program", type=Path, required=True)
    options.add_argument("--posts", type=int, default=300)
    given = options.parse_args()
    wrong = run(given.program, given.fabric, given.build, given.posts)
    if wrong:
        print(f"dying: {wrong}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
