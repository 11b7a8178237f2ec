# SPDX-License-Identifier: Apache-2.0
"""Reads the files of counters that transports expose, and removes those of dead processes.

Their form is that of compose/counting/counter_page.hpp.

The owner of a file holds a lock of it, which the system takes back at the end of the process. A reader never waits.
"""
from __future__ import annotations

import fcntl
import os
import re
import stat
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KINDS = ("send", "put", "put_notify", "get", "atomic", "flush")
PARTS = ("posted", "bytes", "completed", "failed")
OTHERS = ("again", "refused", "messages", "message_bytes", "notices")
WHOLE = ("polls", "polls_found", "peers_met", "peers_lost", "stale", "garbled", "turned_away", "sleeps", "timed_sleeps",
         "missed_wakes")
VERSION = 1

_NAME = re.compile(r"[0-9]+-[0-9]+\.counters")
_DRAFT = re.compile(r"\.[0-9]+-[0-9]+")
_HEAD = struct.Struct("=8sIIQQQ32s32s96s")
_TRAFFIC = struct.Struct(f"={len(KINDS) * len(PARTS) + len(OTHERS)}Q")
_WHOLE = struct.Struct(f"={len(WHOLE)}Q")
_PLACE = struct.Struct("=QQ64s")
_MOST_BYTES = 1 << 20
_DRAFT_SECONDS = 60


class NotAPage(Exception):
    """A file that is no page of counters, or of another version. The text is a sentence."""


@dataclass(frozen=True)
class Traffic:
    """What went to a peer and came from it."""
    operations: dict[str, dict[str, int]]
    others: dict[str, int]

    @property
    def posts(self) -> int:
        return sum(each["posted"] for each in self.operations.values())

    @property
    def failed(self) -> int:
        return sum(each["failed"] for each in self.operations.values())

    @property
    def bytes_out(self) -> int:
        return sum(self.operations[kind]["bytes"] for kind in ("send", "put", "put_notify"))

    @property
    def bytes_in(self) -> int:
        return self.operations["get"]["bytes"] + self.others["message_bytes"]

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic({kind: {part: self.operations[kind][part] + other.operations[kind][part] for part in PARTS}
                        for kind in KINDS}, {name: self.others[name] + other.others[name] for name in OTHERS})


@dataclass(frozen=True)
class Peer:
    """`address`: where the transport dialled; empty for a peer that dialled."""
    connection: int
    gone: bool
    address: str
    traffic: Traffic


@dataclass(frozen=True)
class Transport:
    """`rest`: traffic of peers without a place of their own, or whose place serves another one."""
    path: Path
    process: int
    program: str
    fabric: str
    listens_at: str
    whole: dict[str, int]
    rest: Traffic
    peers: tuple[Peer, ...]

    @property
    def traffic(self) -> Traffic:
        total = self.rest
        for peer in self.peers:
            total += peer.traffic
        return total


def folder_of_user() -> Path:
    """The folder into which transports of this user put their files."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    return Path(runtime) / "weft" if runtime.startswith("/") else Path(f"/dev/shm/weft-{os.geteuid()}")


def _traffic(data: bytes, at: int) -> Traffic:
    numbers = _TRAFFIC.unpack_from(data, at)
    of_kinds = len(KINDS) * len(PARTS)
    each = [dict(zip(PARTS, numbers[at:at + len(PARTS)])) for at in range(0, of_kinds, len(PARTS))]
    return Traffic(dict(zip(KINDS, each)), dict(zip(OTHERS, numbers[of_kinds:])))


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "replace")


def parse(path: Path, data: bytes) -> Transport:
    """One page. Raises NotAPage."""
    if len(data) < _HEAD.size or data[:8] != b"weftcnt\n":
        raise NotAPage(f"{path} is no file of counters: its first eight bytes are others")
    _, version, places, size, process, _, fabric, program, listens_at = _HEAD.unpack_from(data)
    if version != VERSION:
        raise NotAPage(f"{path} has version {version} of the counters, and this weft reads version {VERSION}")
    start = _HEAD.size + _TRAFFIC.size + _WHOLE.size
    place_bytes = _PLACE.size + _TRAFFIC.size
    if size != len(data) or size != start + places * place_bytes:
        raise NotAPage(f"{path} has {len(data)} bytes, and its head says {size} for {places} peers")
    peers = []
    for at in range(start, size, place_bytes):
        connection, gone, address = _PLACE.unpack_from(data, at)
        if connection:
            peers.append(Peer(connection, bool(gone), _text(address), _traffic(data, at + _PLACE.size)))
    whole = dict(zip(WHOLE, _WHOLE.unpack_from(data, _HEAD.size + _TRAFFIC.size)))
    return Transport(path, process, _text(program), _text(fabric), _text(listens_at), whole,
                     _traffic(data, _HEAD.size), tuple(peers))


def _is_owned(file: int) -> bool:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return True
    return False


def _living(path: Path) -> bytes | None:
    """The bytes of the file, or nothing: its owner has ended, and the file is removed."""
    file = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        what = os.fstat(file)
        if not stat.S_ISREG(what.st_mode) or what.st_uid != os.geteuid() or what.st_size > _MOST_BYTES:
            raise NotAPage(f"{path} is no file of counters: it must be a file of this user of at most 1 MiB")
        young_draft = path.name.startswith(".") and time.time() - what.st_mtime < _DRAFT_SECONDS
        if young_draft or _is_owned(file):
            return os.pread(file, _MOST_BYTES, 0)
        path.unlink(missing_ok=True)
        return None
    finally:
        os.close(file)


def running(folder: Path, notes: list[str]) -> Iterator[Transport]:
    """The transports that run. Files of others are removed; a file that is no page adds a sentence to `notes`."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not _NAME.fullmatch(path.name) and not _DRAFT.fullmatch(path.name):
            continue
        try:
            data = _living(path)
            if data is not None and not path.name.startswith("."):
                yield parse(path, data)
        except FileNotFoundError:
            continue  # its transport has ended
        except NotAPage as sentence:
            notes.append(str(sentence))
        except OSError as error:
            notes.append(f"{path} cannot be read: {error.strerror}")
