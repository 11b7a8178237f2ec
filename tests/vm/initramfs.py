# SPDX-License-Identifier: Apache-2.0
"""The guest's first file system: busybox, `init` and the modules in their order, as one compressed cpio archive.

It is made again when any of them changes.
"""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

from packages import failed

BUSYBOX = Path("/usr/bin/busybox")


def make(modules: list[Path], init: Path, into: Path) -> None:
    """Writes the archive, unless it has the same content already."""
    busybox = next((each for each in (BUSYBOX, Path("/bin/busybox")) if each.exists()), None)
    if busybox is None:
        raise failed("busybox is not there (Debian: busybox-static)")
    order = "".join(f"{each.name}\n" for each in modules).encode()
    files = [
        ("bin/busybox", 0o755, busybox.read_bytes()),
        ("init", 0o755, init.read_bytes()),
        ("modules/order", 0o644, order),
    ]
    files += [(f"modules/{each.name}", 0o644, each.read_bytes()) for each in modules]
    content = _archive(files)
    digest = hashlib.sha256(content).hexdigest()
    stamp = into.with_suffix(".sha256")
    if into.exists() and stamp.exists() and stamp.read_text() == digest:
        return
    into.write_bytes(gzip.compress(content, 1, mtime=0))
    stamp.write_text(digest)


def _archive(files: list[tuple[str, int, bytes]]) -> bytes:
    folders = [(name, 0o040755, b"") for name in ("bin", "modules")]
    entries = folders + [(name, 0o100000 | mode, content) for name, mode, content in files]
    made = b"".join(_entry(number, *each) for number, each in enumerate(entries, 1))
    return made + _entry(0, "TRAILER!!!", 0, b"")


def _entry(number: int, name: str, mode: int, content: bytes) -> bytes:
    """One member in cpio's `newc` form (Linux: Documentation/driver-api/early-userspace/buffer-format.rst)."""
    path = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(path), 0)
    head = b"070701" + "".join(f"{each:08x}" for each in fields).encode()
    return _padded(head + path) + _padded(content)


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % 4)
