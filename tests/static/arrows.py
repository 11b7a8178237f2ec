# SPDX-License-Identifier: Apache-2.0
"""Which folder may include which: arrows.py ROOT. Exit 1 names each #include that breaks a rule."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sources import files, report, without_comments

# Folder -> the other folders that it may include.
ARROWS: dict[str, tuple[str, ...]] = {
    "core": (),
    "wire": ("core",),
    "policies": ("core", "wire"),
    "backends": ("core", "wire"),
    "compose": ("core", "wire", "policies", "backends"),
    "history": ("core",),
    "job": ("core",),
    "coroutines": ("core", "wire", "policies", "backends", "compose"),
    "transfers": ("core", "wire", "policies", "backends", "compose"),
    "threads": ("core", "wire", "policies", "backends", "compose"),
    "event_loops": ("core", "wire", "policies", "backends", "compose", "coroutines"),
    "generated": ("compose", "policies", "backends"),
    "abi": ("core", "compose", "transfers", "weft.h"),
    "probe": (),
    "emulator": (),
}
# Programs: they may include every folder above, and no product header may include them.
PROGRAMS = ("tests", "bench", "examples")
# The rooms of compose/, in order: a room includes earlier rooms, and headers at the top of compose/ that include none.
ROOMS = ("engine", "memory", "posting", "connecting", "receiving", "progress", "tagged", "rails", "sets",
         "counting")
LAST_ROOMS = ("rails", "sets", "counting")  # several transports as one: they include compose/transport.hpp
# The one product header that reaches generated/, through a macro.
SELECTOR = "compose/selected.hpp"
# The first header of a program, in C++ and in C; no product header includes it.
FIRST_HEADERS = ("weft.hpp", "weft.h")
# Header of a feature that a program asks for -> the product header that includes it, or "" for none.
# Transports without the feature never include it.
ASKED_FOR = {"compose/coalescing.hpp": "", "compose/posting/coalescer.hpp": "compose/coalescing.hpp",
             "compose/sets/tagged.hpp": "abi/library_set.hpp",
             "compose/tagged/tagged.hpp": "compose/sets/tagged.hpp",
             "compose/tagged/calls.hpp": "compose/tagged/tagged.hpp",
             "compose/authentication.hpp": "",
             "compose/connecting/shared_secret.hpp": "compose/authentication.hpp",
             "compose/counting/counted.hpp": "abi/library_set.hpp",
             "backends/openssl/hmac.hpp": "compose/connecting/shared_secret.hpp"}
# The hand-written contenders of the benches talk to the library as its best user would, and the programs of the
# migration guides as any user does.
NETWORK_HEADERS = re.compile(r"^(rdma|infiniband)/")
NETWORK_USERS = re.compile(r"^(backends/|probe/|emulator/|tests/(emulator|stub_device|faults|probe)/|bench/(.*/)?raw_"
                           r"|examples/migration/in_)")

# Standard headers that cost a unit much, and that no unit with weft::<fabric>_compiled reads through weft.hpp.
HEAVY = frozenset("algorithm any condition_variable filesystem format fstream functional future iomanip iostream list "
                  "locale map mutex random regex set sstream thread unordered_map unordered_set".split())
# Where such a unit begins: its fabric's port comes by a macro. Ports of other libraries do not leave rare work out yet.
LIGHT = ("weft.hpp", "backends/libfabric/port.hpp")
_RARE_WORK = re.compile(r"^#if WEFT_HAS_RARE_WORK\n.*?^#endif$", re.MULTILINE | re.DOTALL)

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
    seen: set[Path] = set()
    for first in LIGHT:
        problems += _heavy(root, (root / first).resolve(), seen)
    return problems


def _heavy(root: Path, header: Path, seen: set[Path]) -> list[str]:
    """Heavy standard headers that this header and those below it include, without rare work."""
    if header in seen or not header.is_file():
        return []
    seen.add(header)
    text = _RARE_WORK.sub("", without_comments(header.read_text(encoding="utf-8")))
    problems = []
    for match in _INCLUDE.finditer(text):
        included = match.group(1).strip()
        if included.startswith('"'):
            problems += _heavy(root, (header.parent / included[1:-1]).resolve(), seen)
        elif included[1:-1] in HEAVY:
            name = header.relative_to(root.resolve()).as_posix()
            problems.append(f"{name}: includes {included}, which each unit of a program would read (HEAVY)")
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
            "the benches' raw_* contenders and the migration guides' programs may include a network library"
        )
    if included.startswith("<") and not target.startswith("weft/"):
        return None
    if included.startswith("<"):
        if folder in ARROWS:
            return f"includes {included}: headers of weft include each other by relative path"
        reached = target.removeprefix("weft/").split("/", 1)[0]
    else:
        reached = _folder_of(root, (path.parent / target).resolve())
    resolved = (path.parent / target).resolve()
    inside = _against_the_rooms(root, path, resolved, included)
    return _forbidden(name, folder, reached, included) or inside or _unasked(root, name, folder, resolved, included)


def _unasked(root: Path, name: str, folder: str, target: Path, included: str) -> str | None:
    reached = target.relative_to(root.resolve()).as_posix() if target.is_relative_to(root.resolve()) else ""
    if folder in PROGRAMS or reached not in ASKED_FOR or name == ASKED_FOR[reached]:
        return None
    return f"includes {included}: transports whose program asks for no such feature never include it (ASKED_FOR)"


def _room_of(root: Path, path: Path) -> str:
    parts = path.relative_to(root.resolve()).parts
    return parts[1] if len(parts) == 3 and parts[0] == "compose" and parts[1] in ROOMS else ""


def _against_the_rooms(root: Path, path: Path, target: Path, included: str) -> str | None:
    room = _room_of(root, path.resolve())
    if not room or not target.is_relative_to(root.resolve() / "compose"):
        return None
    other = _room_of(root, target)
    if other and ROOMS.index(other) > ROOMS.index(room):
        return f"includes {included}: the room {room} stands before {other} (ROOMS in tests/static/arrows.py)"
    if not other and room not in LAST_ROOMS and target.is_file() and _reaches_a_room(root, target, set()):
        return f"includes {included}, which includes rooms: a room includes earlier rooms and plain headers"
    return None


def _reaches_a_room(root: Path, header: Path, seen: set[Path]) -> bool:
    seen.add(header)
    text = without_comments(header.read_text(encoding="utf-8"))
    for match in _INCLUDE.finditer(text):
        target = (header.parent / match.group(1).strip().strip('"<>')).resolve()
        if not target.is_relative_to(root.resolve() / "compose") or not target.is_file() or target in seen:
            continue
        if _room_of(root, target) or _reaches_a_room(root, target, seen):
            return True
    return False


def _folder_of(root: Path, target: Path) -> str:
    try:
        return target.relative_to(root.resolve()).parts[0]
    except ValueError:
        return ""


def _forbidden(name: str, folder: str, reached: str, included: str) -> str | None:
    if folder in PROGRAMS:
        return (
            None
            if reached in ARROWS or reached in PROGRAMS or reached in FIRST_HEADERS
            else f"includes {included}, which is in no folder of weft"
        )
    if reached == folder or reached in ARROWS[folder]:
        return None
    allowed = ", ".join(ARROWS[folder]) or "nothing of weft"
    return f"includes {included}: {folder}/ may include {allowed}, not {reached or 'what lies outside weft'}"


if __name__ == "__main__":
    sys.exit(report(check(Path(sys.argv[1])), "every #include follows the arrows"))
