# SPDX-License-Identifier: Apache-2.0
"""The machine as the checks see it: files below a root, the size of a file system, and what the library answers."""
from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .library import Library, ask_library

OK, NOTE, PROBLEM = "ok", "note", "problem"
MIB = 1 << 20


@dataclass(frozen=True)
class Finding:
    """What one check found. `status`: ok, note (it works, and somebody may wonder), problem. `mend`: empty for ok."""

    check: str
    status: str
    sentence: str
    mend: str = ""


def _space(folder: Path) -> tuple[int, int] | None:
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize


@dataclass(frozen=True)
class Machine:
    """`root`: where /proc, /sys and /dev are. `library`: asks libfabric. `space`: bytes in all and free of a folder."""

    root: Path = Path("/")
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    library: Callable[[], Library] = ask_library
    space: Callable[[Path], tuple[int, int] | None] = _space

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str:
        """A file's text without blanks around it; empty where it cannot be read."""
        try:
            return self.path(name).read_text("utf-8", "replace").strip()
        except OSError:
            return ""

    def number(self, name: str) -> int | None:
        """A file's number; None where there is none, and for "max"."""
        text = self.text(name)
        return int(text) if text.isdecimal() else None

    def names(self, folder: str) -> list[str]:
        """What a folder holds, sorted; nothing where it is missing."""
        try:
            return sorted(each.name for each in self.path(folder).iterdir())
        except OSError:
            return []

    def field(self, name: str, pattern: str) -> str:
        """The first group of a pattern in a file; empty where it does not match."""
        found = re.search(pattern, self.text(name), re.MULTILINE)
        return found[1] if found else ""

    @property
    def user(self) -> int:
        return int(self.field("/proc/self/status", r"^Uid:\s+\d+\s+(\d+)") or 0)

    @property
    def groups(self) -> set[int]:
        listed = self.field("/proc/self/status", r"^Groups:[ \t]*([\d ]*)").split()
        own = self.field("/proc/self/status", r"^Gid:\s+\d+\s+(\d+)")
        return {int(each) for each in [*listed, *([own] if own else [])]}

    def capability(self, which: str, bit: int) -> bool:
        """Whether the process has it. `which`: CapEff (in effect), CapBnd (what it could get)."""
        return bool(int(self.field("/proc/self/status", rf"^{which}:\s+([0-9a-f]+)") or "0", 16) >> bit & 1)

    def may_use(self, name: str) -> bool:
        """Whether the user of this process may read and write a file, by the rights that are written on it."""
        try:
            about = self.path(name).stat()
        except OSError:
            return False
        if self.user == 0:
            return True
        if about.st_uid == self.user:
            wanted = stat.S_IRUSR | stat.S_IWUSR
        elif about.st_gid in self.groups:
            wanted = stat.S_IRGRP | stat.S_IWGRP
        else:
            wanted = stat.S_IROTH | stat.S_IWOTH
        return about.st_mode & wanted == wanted

    @property
    def in_container(self) -> bool:
        return (self.path("/.dockerenv").exists() or self.path("/run/.containerenv").exists()
                or bool(self.environment.get("KUBERNETES_SERVICE_HOST")))


def size(count: int) -> str:
    """Bytes for people: 64 MiB."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << power:
            return f"{count / (1 << power):.4g} {unit}"
    return f"{count} bytes"
