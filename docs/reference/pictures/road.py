# SPDX-License-Identifier: Apache-2.0
"""The road of a put through the rooms, from the tables of docs/explanation/paths.md.

Each hop is looked up in the code: its file has the function, and it or an earlier file calls the next hop's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .drawing import KINDS, Drawing

_PAGE = "docs/explanation/paths.md"
_SHOWN = ("A put", "A put_notify", "A notification")
_HOP = re.compile(r"^\| \d+ \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
_WIDTH, _BOX, _HEIGHT, _PITCH, _TOP = 640, 196, 58, 82, 48


@dataclass(frozen=True)
class _Hop:
    """`file` is empty for the last hop, the program's handler."""

    function: str
    file: str

    @property
    def room(self) -> str:
        return str(Path(self.file).parent) if self.file else "the program"


def picture(root: Path) -> str:
    roads = {title: _hops(root, title) for title in _SHOWN}
    rooms = list(dict.fromkeys(hop.room for road in roads.values() for hop in road))
    if len(rooms) > len(KINDS):
        raise SystemExit(f"{_PAGE}: the roads cross {len(rooms)} rooms; the picture has colours for {len(KINDS)}")
    drawing = Drawing(_WIDTH)
    said = []
    for number, (title, road) in enumerate(roads.items()):
        middle = _WIDTH * (2 * number + 1) / (2 * len(roads))
        drawing.words(middle, 28, title, "bold")
        for place, hop in enumerate(road):
            y = _TOP + place * _PITCH
            drawing.box(middle - _BOX / 2, y, _BOX, _HEIGHT, KINDS[rooms.index(hop.room)])
            drawing.words(middle, y + 24, hop.function.split("::")[-1])
            drawing.words(middle, y + 44, Path(hop.file).name or "gets notified", "small")
            if place:
                drawing.arrow([(middle, y - _PITCH + _HEIGHT), (middle, y)])
        said.append(f"{title}: " + ", ".join(f"{hop.function} in {hop.file or hop.room}" for hop in road))
    bottom = _TOP + max(map(len, roads.values())) * _PITCH
    drawing.words(16, bottom + 6, "Rooms:", "bold", "start")
    for number, room in enumerate(rooms):
        x, y = 84 + number % 2 * 270, bottom - 10 + number // 2 * 28
        drawing.box(x, y, 22, 20, KINDS[number])
        drawing.words(x + 32, y + 15, room, "small", "start")
    height = bottom + (len(rooms) + 1) // 2 * 28 + 8
    return drawing.svg(height, "The road of a put through the rooms", ". ".join(said) + ".")


def _hops(root: Path, title: str) -> list[_Hop]:
    """The hops of one table, each found in the code."""
    text = (root / _PAGE).read_text("utf-8")
    section = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    rows = _HOP.findall(section[1]) if section else []
    if not rows:
        raise SystemExit(f'{_PAGE}: the section "{title}" has no table of hops')
    hops: list[_Hop] = []
    for function, file, _ in rows:
        name = file.strip("`")
        hops.append(_Hop(function.strip("`"), hops[-1].file if name == "the same" else "" if name == "the program"
                         else name))
    code = ""  # of this hop and those before it: a function may come down as a callable
    for number, hop in enumerate(hops):
        if not hop.file:
            continue
        if not (root / hop.file).is_file():
            raise SystemExit(f"{_PAGE}, {title}: {hop.file} is no file")
        text = (root / hop.file).read_text("utf-8")
        code += text
        following = hops[number + 1].function if number + 1 < len(hops) and hops[number + 1].file else ""
        if not _names(text, hop.function):
            raise SystemExit(f"{_PAGE}, {title}: {hop.file} has no function {hop.function}")
        if following and not _names(code, following):
            raise SystemExit(f"{_PAGE}, {title}: nothing up to {hop.file} calls {following}")
    return hops




def _names(code: str, function: str) -> bool:
    """Whether the code defines, calls or makes it: a function, or a callable type."""
    return re.search(rf"\b{function.split('::')[-1]}\s*[(<{{]", code) is not None
