# SPDX-License-Identifier: Apache-2.0
"""Boxes, words and arrows as SVG. The same text on every machine: nothing here measures a font."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from xml.sax.saxutils import escape

SMALL, USUAL = 12, 14
_GLYPH = 0.62  # of the size: the widest that a usual sans-serif font needs for these words, on average

# name -> (light, dark)
_COLOURS = {
    "paper": ("#ffffff", "#15181c"),
    "ink": ("#1b1f24", "#e6e9ee"),
    "faint": ("#4d5661", "#a9b3bf"),
    "line": ("#6e7781", "#8b95a1"),
    "a": ("#dbe9fb", "#1d3552"),
    "b": ("#dff3e1", "#1d3d25"),
    "c": ("#fbe9d3", "#4a3318"),
    "d": ("#efe2f8", "#3a2650"),
    "e": ("#eceff2", "#2b3138"),
}
KINDS = ("a", "b", "c", "d", "e")


def width_of(text: str, size: int = USUAL) -> float:
    """How wide a line may become, in pixels."""
    return len(text) * size * _GLYPH


def lines_of(text: str, width: float, size: int = SMALL) -> list[str]:
    """The text in lines that are no wider than `width` pixels."""
    return textwrap.wrap(text, max(8, int(width / (size * _GLYPH))), break_long_words=False, break_on_hyphens=False)


class Drawing:
    """Collects shapes; svg() makes the file."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._shapes: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        self._shapes.append(f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>')

    def words(self, x: float, y: float, text: str, look: str = "", anchor: str = "middle") -> None:
        """One line; `look`: of bold, small, faint."""
        self._shapes.append(f'<text class="{look or "usual"}" text-anchor="{anchor}" x="{x:g}" y="{y:g}">'
                            f"{escape(text)}</text>")

    def arrow(self, points: Sequence[tuple[float, float]]) -> None:
        """A line through the points, with a head at the last."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._shapes.append(f'<polyline marker-end="url(#head)" points="{path}"/>')

    def svg(self, height: float, title: str, description: str) -> str:
        light, dark = (_styles(which) for which in (0, 1))
        head = "\n".join(textwrap.wrap(escape(description), 110, break_long_words=False, break_on_hyphens=False))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self._width} {height:g}" width="{self._width}"\n'
            f'  height="{height:g}" role="img" aria-labelledby="title description">\n'
            "<!-- Drawn by docs/reference/pages.py: do not edit. It draws this anew after a change of the code. -->\n"
            f'<title id="title">{escape(title)}</title>\n<desc id="description">{head}</desc>\n'
            "<style>\n"
            f"text {{ font: {USUAL}px system-ui, sans-serif; }}\n"
            f".small, .faint {{ font-size: {SMALL}px; }} .bold {{ font-weight: 600; }}\n"
            "polyline { fill: none; stroke-width: 1.5; }\n"
            "text { paint-order: stroke; stroke-width: 4px; stroke-linejoin: round; stroke-opacity: 0; }\n"
            ".over { stroke-opacity: 1; }\n"
            f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"
            "</style>\n"
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"\n'
            '  orient="auto"><path class="tip" d="M0,0 L8,4 L0,8 z"/></marker></defs>\n'
            f'<rect class="paper" width="{self._width}" height="{height:g}" rx="8"/>\n'
            + "\n".join(self._shapes) + "\n</svg>\n"
        )


def _styles(which: int) -> str:
    of = {name: colours[which] for name, colours in _COLOURS.items()}
    text = f"text {{ fill: {of['ink']}; stroke: {of['paper']}; }} .faint {{ fill: {of['faint']}; }}\n"
    text += f"polyline {{ stroke: {of['line']}; }} .tip {{ fill: {of['line']}; }} .paper {{ fill: {of['paper']}; }}\n"
    return text + "".join(f"rect.{kind} {{ fill: {of[kind]}; stroke: {of['line']}; }}\n" for kind in KINDS)
