#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the same seeds with two programs, and compares the hash of each run. The programs may be one and the same, or
two builds of different compilers.

Exit codes: 0 all hashes are equal, 1 one differs, 2 usage.
"""
from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence


def hashes(program: str, seeds: str, system: str) -> dict[str, str]:
    done = subprocess.run([program, "--hashes", "--seeds", seeds, "--system", system], capture_output=True, text=True,
                          check=False)
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("hash ")]
    return {seed: value for _, seed, value in lines}


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs=2, metavar="PROGRAM")
    parser.add_argument("--seeds", default="1..100")
    parser.add_argument("--system", default="transport")
    asked = parser.parse_args(words)
    one, other = (hashes(program, asked.seeds, asked.system) for program in asked.programs)
    differing = sorted((seed for seed in one if one[seed] != other.get(seed)), key=int)
    for seed in differing:
        print(f"seed {seed}: {one[seed]} and {other.get(seed, 'no run')}")
    print(f"{len(one) - len(differing)} of {len(one)} seeds have the same trace")
    return 1 if differing or not one or len(set(one.values())) < len(one) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
