# SPDX-License-Identifier: Apache-2.0
"""Programs that were compiled before still work: stable.py LIBRARY [--update]. Exit 1 prints what changed.

libabigail compares the library's functions and types with recorded/libweft.abi, which holds what weft.h can reach.
A removed or changed function or field needs another soname. An added one is fine: `--update` records it.
Exit 77: the tools are missing (Debian: abigail-tools), or the library has no debug information.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORDED = Path(__file__).resolve().parent / "recorded/libweft.abi"
SKIPPED = 77
# abidiff(1): the bits of its exit code.
USAGE_OR_ERROR = 3
INCOMPATIBLE = 8
# Only what programs see: neither paths nor the libraries of one distribution.
SHOWN = ("--exported-interfaces-only", "--no-comp-dir-path", "--no-corpus-path", "--no-show-locs", "--no-elf-needed",
         "--drop-private-types", "--type-id-style", "hash")


def main() -> int:
    """Exit code."""
    arguments = argparse.ArgumentParser(description="Compares the ABI of libweft.so with the recorded one.")
    arguments.add_argument("library", type=Path)
    arguments.add_argument("--update", action="store_true", help="record the library's ABI, after an addition")
    given = arguments.parse_args()
    if shutil.which("abidw") is None or shutil.which("abidiff") is None:
        print("skipped: abidw and abidiff are not installed (Debian: apt-get install abigail-tools)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        now = Path(folder) / "libweft.abi"
        if (wrong := _describe(given.library, Path(folder), now)) != 0:
            return wrong
        if given.update:
            RECORDED.parent.mkdir(exist_ok=True)
            shutil.copy(now, RECORDED)
            print(f"recorded {RECORDED.relative_to(ROOT)}")
            return 0
        return _compare(now)


def _describe(library: Path, folder: Path, into: Path) -> int:
    headers = folder / "headers"
    headers.mkdir()
    shutil.copy(ROOT / "weft.h", headers)
    subprocess.run(["abidw", *SHOWN, "--headers-dir", str(headers), "--out-file", str(into), str(library)], check=True)
    if "weft_event" in into.read_text(encoding="utf-8").replace("weft_event_", ""):
        return 0
    print(f"skipped: {library} has no debug information, so its types are not known (CMAKE_BUILD_TYPE=Debug has it)")
    return SKIPPED


def _compare(now: Path) -> int:
    done = subprocess.run(["abidiff", str(RECORDED), str(now)], check=False, capture_output=True, text=True)
    if done.returncode == 0:
        print("the ABI is the recorded one")
        return 0
    print(done.stdout + done.stderr)
    if done.returncode & USAGE_OR_ERROR:
        print("abidiff could not compare")
    elif done.returncode & INCOMPATIBLE:
        print("programs that were compiled before break: keep what was there, and add beside it (docs/stability.md)")
    else:
        print("the ABI changed. If something was only added, record it: tests/abi/stable.py LIBRARY --update")
    return 1


if __name__ == "__main__":
    sys.exit(main())
