# SPDX-License-Identifier: Apache-2.0
"""Lines of many ranks on one terminal: each line stays whole, and begins with its rank."""
from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

LONGEST = 64 * 1024  # a longer line is cut: no rank may fill the memory of the command


class Lines:
    """Takes the bytes of one stream of one rank, and writes whole lines. `lost` hears of each write that fails."""

    def __init__(self, prefix: bytes, into: BinaryIO, lost: Callable[[BinaryIO, OSError], None]) -> None:
        self._prefix = prefix
        self._into = into
        self._lost = lost
        self._rest = b""

    def take(self, some: bytes) -> None:
        """Writes the lines that are whole now."""
        *lines, self._rest = (self._rest + some).split(b"\n")
        while len(self._rest) >= LONGEST:
            lines.append(self._rest[:LONGEST])
            self._rest = self._rest[LONGEST:]
        self._write(lines)

    def end(self) -> None:
        """Writes a last line without an end."""
        self._write([self._rest] if self._rest else [])
        self._rest = b""

    def _write(self, lines: list[bytes]) -> None:
        if not lines:
            return
        try:
            self._into.write(b"".join(self._prefix + line + b"\n" for line in lines))
            self._into.flush()
        except OSError as error:
            self._lost(self._into, error)


def prefix_of(rank: int, size: int, wanted: bool) -> bytes:
    """`[ 3] ` of a job of more than ten ranks."""
    return f"[{rank:>{len(str(size - 1))}}] ".encode() if wanted else b""
