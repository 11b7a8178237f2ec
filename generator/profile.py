# SPDX-License-Identifier: Apache-2.0
"""What the emulator gets of a row: its cells, under their own names, for each range of releases, and the interface."""
from __future__ import annotations

from dataclasses import dataclass

from .matrix.interfaces import format_numbers, interface
from .matrix.model import Fabric


@dataclass(frozen=True)
class Part:
    """One range of releases, every cell answered."""

    since: str
    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Profile:
    """One row. `until` is empty where the row holds for every later release."""

    fabric: str
    until: str
    parts: tuple[Part, ...]
    interface: tuple[tuple[str, str], ...]


def profile(fabric: Fabric) -> Profile:
    """Text is written without quotes: an empty one is nothing."""
    def as_word(name: str, value: str) -> str:
        text = "" if value == '""' else value
        return format_numbers(text) if name == "address_formats" else text

    return Profile(fabric.name, str(fabric.until or ""), tuple(
        Part(str(part.since), tuple((cell.name, as_word(cell.name, cell.as_text)) for cell in part.cells.values()))
        for part in fabric.ranges), interface(fabric.name))
