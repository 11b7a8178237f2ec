# SPDX-License-Identifier: Apache-2.0
"""Result of a suite in the guest: result.py FOLDER NAME.

Exit 0: it passed; 77: there was no guest, with the reason; 1: it failed, with its log.
"""

from __future__ import annotations

import sys
from pathlib import Path

SKIPPED = 77
UNSTEADY = "unsteady: passed the second time"  # suites.sh writes it last; scripts/unsteady.py looks for it


def main(folder: Path, name: str) -> int:
    skipped, status, log = folder / "skipped", folder / f"{name}.status", folder / f"{name}.log"
    if skipped.exists():
        print(f"skipped: {skipped.read_text().strip()}")
        return SKIPPED
    text = log.read_text(errors="replace").strip() if log.exists() else "it wrote nothing"
    if UNSTEADY in text:
        print(UNSTEADY)  # first, because ctest keeps only the beginning of the output of passed tests
    print(text)
    if not status.exists():
        print(f"{name}: it did not end in the guest; vm.guest.{folder.name} says more")
        return 1
    ended = int(status.read_text())
    if ended != 0:
        print(f"{name}: exit {ended} in the guest")
    return SKIPPED if ended == SKIPPED else int(ended != 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
