# SPDX-License-Identifier: Apache-2.0
"""The states of a connection, from the diagram of docs/explanation/connection_states.md.

That diagram is made from the table in compose/connecting/transitions.hpp, and docs.connection_states compares the two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .drawing import Drawing

_PAGE = "docs/explanation/connection_states.md"
_STEP = re.compile(r"^  (\w+) --> (\w+): (.+)$", re.MULTILINE)
_ENDS = ("free", "lost")  # most states lead there; a word in the box says so, instead of an arrow
_WIDTH, _BOX, _HEIGHT, _PITCH, _TOP = 640, 200, 74, 118, 16


@dataclass(frozen=True)
class _Step:
    source: str
    target: str
    events: tuple[str, ...]


def picture(root: Path) -> str:
    steps = [_Step(source, target, tuple(events.split(", "))) for source, target, events in
             _STEP.findall((root / _PAGE).read_text("utf-8"))]
    if not steps:
        raise SystemExit(f"{_PAGE}: no line of the diagram has the form \"state --> state: events\"")
    forward = [step for step in steps if step.target not in _ENDS]
    ranks = _ranks(forward)
    places = _places(ranks, forward)
    bottom = _TOP + (len(ranks) + 1) * _PITCH
    drawing = Drawing(_WIDTH)
    detour = 0
    for step in forward:
        (x, y), (there, below) = places[step.source], places[step.target]
        if below - y <= _PITCH:
            drawing.arrow([(x, y + _HEIGHT), (there, below)])
            drawing.words((x + there) / 2, y + (_HEIGHT + _PITCH) / 2 + 4, ", ".join(step.events), "small over")
            continue
        detour += 1  # past the states in between, at the right
        side = max(each for each, _ in places.values()) + _BOX / 2 + 34 * detour
        drawing.arrow([(x + _BOX / 2, y + _HEIGHT / 2), (side, y + _HEIGHT / 2), (side, below + _HEIGHT / 2),
                       (there + _BOX / 2, below + _HEIGHT / 2)])
        drawing.words(side - 6, y + (_HEIGHT + _PITCH) / 2 + 4, ", ".join(step.events), "small over", "end")
    for state, (x, y) in places.items():
        _state(drawing, state, x, y, [step for step in steps if step.source == state and step.target in _ENDS])
    _state(drawing, "lost", next(iter(places.values()))[0], bottom - _PITCH, [])
    said = ". ".join(f"{step.source} to {step.target} by {', '.join(step.events)}" for step in steps)
    return drawing.svg(bottom - _PITCH + _HEIGHT + _TOP, "The states of a connection", f"{said}.")


def _state(drawing: Drawing, state: str, x: float, y: float, exits: list[_Step]) -> None:
    drawing.box(x - _BOX / 2, y, _BOX, _HEIGHT, "e" if state in _ENDS else "a")
    drawing.words(x, y + 24, state, "bold")
    for line, step in enumerate(exits):
        events = step.events[0] if len(step.events) == 1 else f"{len(step.events)} events"
        drawing.words(x, y + 44 + 18 * line, f"→ {step.target}: {events}", "small")


def _ranks(forward: list[_Step]) -> list[list[str]]:
    """States by the longest way to them. Each rank is ordered by where its states come from."""
    depth: dict[str, int] = {step.source: 0 for step in forward} | {step.target: 0 for step in forward}
    for _ in depth:
        for step in forward:
            depth[step.target] = max(depth[step.target], depth[step.source] + 1)
    if any(depth[step.target] <= depth[step.source] for step in forward):
        raise SystemExit(f"{_PAGE}: states that are no end lead in a circle, which this picture cannot show")
    ranks: list[list[str]] = []
    for rank in range(max(depth.values()) + 1):
        before = {state: place for each in ranks for place, state in enumerate(each)}

        def from_where(state: str, before: dict[str, int] = before) -> float:
            sources = [before[step.source] for step in forward if step.target == state and step.source in before]
            return sum(sources) / len(sources) if sources else 0

        ranks.append(sorted((state for state, each in depth.items() if each == rank), key=from_where))
    return ranks


def _places(ranks: list[list[str]], forward: list[_Step]) -> dict[str, tuple[float, float]]:
    """The middle of each box's upper side. Room for the detours stays at the right."""
    places = {}
    depth = {state: number for number, rank in enumerate(ranks) for state in rank}
    detours = sum(depth[step.target] - depth[step.source] > 1 for step in forward)
    room = _WIDTH - 40 * detours
    for number, rank in enumerate(ranks):
        for place, state in enumerate(rank):
            places[state] = (room * (2 * place + 1) / (2 * len(rank)), float(_TOP + number * _PITCH))
    return places
