# SPDX-License-Identifier: Apache-2.0
"""Files and folders of a size that one reads: sizes.py ROOT [--update-open]. Exit 1 names each that is larger.

- In the rooms below a file has at most 300 lines, and `engine.hpp` at most 250.
- A folder holds at most 24 files; its subfolders count for themselves.
- `if constexpr` stands in compose/ at most 150 times. While there are more, the list's number follows the code down.

sizes_open.txt holds what is still larger, one `path size` a line; a folder's path ends in `/`. Such a file must not
grow. An entry that is no longer needed is refused, so the list only shrinks. `--update-open` rewrites the list (after
files moved).
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

from sources import CPP, GENERATED, project_files, read_list, report, text_of, without_comments, write_list

ROOMS = ("core", "wire", "policies", "compose", "backends", "coroutines", "transfers", "event_loops", "threads", "job",
         "generator")
LINES = 300
LINES_OF = {"engine.hpp": 250}
FILES = 24
BRANCHES = 150
BRANCHES_ENTRY = "if_constexpr"
BRANCHES_ROOM = "compose/"
OPEN = "tests/static/sizes_open.txt"

# Folders whose files are alike: nobody looks for a place among them.
ALIKE: dict[str, str] = {
    "tests/generator/cases/": "one refused or accepted matrix a file, named for the mistake",
    "tests/fail/": "one mistake a file, named for the mistake; CMakeLists.txt lists them",
}


def sizes(root: Path) -> dict[str, tuple[int, int]]:
    """Path -> size and limit, of everything that has a limit."""
    found = {}
    folders: Counter[str] = Counter()
    branches = 0
    for name in project_files(root):
        if GENERATED.match(name):
            continue
        folders[name.rpartition("/")[0] + "/"] += 1
        text = text_of(root / name) if name.split("/", 1)[0] in ROOMS else None
        if text is None:
            continue
        found[name] = (len(text.splitlines()), LINES_OF.get(name.rpartition("/")[2], LINES))
        if name.startswith(BRANCHES_ROOM) and name.endswith(CPP):
            branches += len(re.findall(r"\bif\s+constexpr\b", without_comments(text)))
    found.update({folder: (number, FILES) for folder, number in folders.items() if folder not in ALIKE})
    found[BRANCHES_ENTRY] = (branches, BRANCHES)
    return found


def check(root: Path) -> list[str]:
    """One sentence per thing that is too large, and per entry of the list that is not needed."""
    problems = []
    still_open: dict[str, int] = {}
    for entry in read_list(root / OPEN):
        name, _, number = entry.rpartition(" ")
        if not name or not number.isdigit():
            problems.append(f'{OPEN}: "{entry}" is not "path size"')
        else:
            still_open[name] = int(number)
    found = sizes(root)
    for name, (size, limit) in found.items():
        permitted = still_open.get(name, limit)
        if size > max(limit, permitted):
            problems.append(_too_large(name, size, limit, permitted))
        elif name in still_open and size <= limit:
            problems.append(f"{OPEN}: {name} has {size} now, within its limit of {limit}: remove it from the list")
        elif name == BRANCHES_ENTRY and size < permitted and name in still_open:
            problems.append(
                f"{OPEN}: `if constexpr` stands {size} times in {BRANCHES_ROOM}: lower the number from {permitted}"
            )
    problems += [f"{OPEN}: {name} is gone: remove it from the list" for name in still_open if name not in found]
    return problems


def _too_large(name: str, size: int, limit: int, permitted: int) -> str:
    now = f"; it had {permitted} when it was listed" if permitted > limit else ""
    if name == BRANCHES_ENTRY:
        return f"`if constexpr` stands {size} times in {BRANCHES_ROOM}; at most {limit}{now}"
    if name.endswith("/"):
        return f"{name}: {size} files; a folder has at most {limit}{now}: make rooms"
    return f"{name}: {size} lines; at most {limit}{now}: divide it"


def main(arguments: list[str]) -> int:
    root = Path(arguments[0])
    if "--update-open" in arguments:
        write_list(
            root / OPEN, [f"{name} {size}" for name, (size, limit) in sorted(sizes(root).items()) if size > limit]
        )
        return 0
    return report(check(root), "every file and folder has a size that one reads")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
