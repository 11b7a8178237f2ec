# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: arrows.py ROOT. Exit 1 names each #include that breaks a rule."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sources import files, report, without_comments

# Folder -> the folders that it may include, besides itself.
ARROWS: dict[str, tuple[str, ...]] = {
    "core": (),
    "wire": ("core",),
    "policies": ("core", "wire"),
    "backends": ("core", "wire"),
    "compose": ("core", "wire", "policies", "backends"),
    "history": ("core",),
    "coroutines": ("core", "wire", "policies", "backends", "compose"),
    "generated": ("compose", "policies", "backends"),
    "probe": (),
    "emulator": (),
}
# Programs: they may include every folder above, and no product header may include them.
PROGRAMS = ("tests", "bench", "examples")
# Includes what a first program needs; programs alone include this header.
BEGINNERS_HEADER = "weft.hpp"
# The one product header that reaches generated/, through a macro.
SELECTOR = "compose/selected.hpp"
# The first header of a program; no product header includes it.
FIRST_HEADER = "weft.hpp"
# The hand-written contenders of the benches talk to the library as its best user would.
NETWORK_HEADERS = re.compile(r"^(rdma|infiniband)/")
NETWORK_USERS = re.compile(r"^(backends/|probe/|emulator/|tests/(emulator|stub_device)/|bench/(.*/)?raw_)")

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[ \t]*(.*)$", re.MULTILINE)


def check(root: Path) -> list[str]:
    """One sentence per #include that breaks a rule."""
    problems = []
    for path in files(root, (*ARROWS, *PROGRAMS)):
        text = without_comments(path.read_text(encoding="utf-8"))
        name = path.relative_to(root).as_posix()
        for match in _INCLUDE.finditer(text):
            wrong = _wrong(root, path, match.group(1).strip())
            if wrong:
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{name}:{line}: {wrong}")
    return problems


def _wrong(root: Path, path: Path, included: str) -> str | None:
    name = path.relative_to(root).as_posix()
    folder = name.split("/", 1)[0]
    target = included[1:-1]
    if included[:1] not in ('"', "<"):
        return (
            None if name == SELECTOR else f"#include of a macro ({included}): only {SELECTOR} picks a header by macro"
        )
    if NETWORK_HEADERS.match(target) and not NETWORK_USERS.match(name):
        return (
            f"includes {included}: only backends/, probe/, emulator/, the programs that test against them "
            "and the benches' raw_* contenders may include a network library"
        )
    if included.startswith("<") and not target.startswith("weft/"):
        return None
    if included.startswith("<"):
        if folder in ARROWS:
            return f"includes {included}: headers of weft include each other by relative path"
        reached = target.removeprefix("weft/").split("/", 1)[0]
    else:
        reached = _folder_of(root, (path.parent / target).resolve())
    return _forbidden(name, folder, reached, included)


def _folder_of(root: Path, target: Path) -> str:
    try:
        return target.relative_to(root.resolve()).parts[0]
    except ValueError:
        return ""


def _forbidden(name: str, folder: str, reached: str, included: str) -> str | None:
    if folder in PROGRAMS and reached == BEGINNERS_HEADER:
        return None
    if folder in PROGRAMS:
        return (
            None
            if reached in ARROWS or reached in PROGRAMS or reached == FIRST_HEADER
            else f"includes {included}, which is in no folder of weft"
        )
    if reached == folder or reached in ARROWS[folder]:
        return None
    allowed = ", ".join(ARROWS[folder]) or "nothing of weft"
    return f"includes {included}: {folder}/ may include {allowed}, not {reached or 'what lies outside weft'}"


if __name__ == "__main__":
    sys.exit(report(check(Path(sys.argv[1])), "every #include follows the arrows"))
