# SPDX-License-Identifier: Apache-2.0
"""What a generated header shows: one struct per range, with the reason above each choice. Later ranges have only
changes.
"""
from __future__ import annotations

import textwrap
from typing import Any

from .matrix import atomics
from .decided import Decided, fingerprint, identity, library_of, made_from, releases, shared
from .matrix.facts import FACT, FACTS, GROUPS, UNLIMITED
from .matrix.model import Cell, Fabric, Range, Version
from .rules import Choice, Family
from .why_not import literals

WIDTH = 150


def cpp_value(cell: Cell) -> str:
    """The value as C++ writes it."""
    fact = FACT[cell.name]
    if fact.values:
        return f"{fact.cpp}::{cell.value}"
    if isinstance(cell.value, bool):
        return "true" if cell.value else "false"
    if isinstance(cell.value, str):
        return f'"{cell.value}"'
    if cell.value == UNLIMITED:
        return "unlimited"
    return f"{cell.value}u" if cell.value > 2**31 - 1 else str(cell.value)


def _cpp_version(version: Version | None) -> str:
    return f"{{{version.major}, {version.minor}}}" if version else "any_later_version"


def _comment(text: str, indent: str, mark: str = "//") -> list[str]:
    return textwrap.wrap(text.replace("??/", "?? /"), WIDTH, initial_indent=f"{indent}{mark} ",
                         subsequent_indent=f"{indent}{mark}   ",
                         break_long_words=False, break_on_hyphens=False)


def _filled(items: list[str], indent: str) -> list[str]:
    """Items packed into lines of the usual width."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + 1 + len(item) <= WIDTH - 20:
            lines[-1] += " " + item
        else:
            lines.append(indent + item)
    return lines


def _facts_lines(span: Range) -> list[str]:
    lines: list[str] = []
    for group in GROUPS:
        items = [f".{fact.name} = {cpp_value(span.cells[fact.name])}," for fact in FACTS if fact.group == group]
        if group == "identity":
            items += [f".since = {_cpp_version(span.since)},", f".until = {_cpp_version(span.until)},"]
        lines += _filled(items, "      ")
    return lines


def _choice_lines(choices: tuple[Choice, ...], before: tuple[Choice, ...] | None,
                  families: tuple[Family, ...]) -> list[dict[str, Any]]:
    """The reason and the answer of each family. A later range has only the reasons that changed; the others are
    packed.
    """
    same = {choice.family: choice.reason for choice in before or ()}
    templates = {(family.name, answer) for family in families for answer in family.templates}
    lines: list[dict[str, Any]] = []
    packed: list[str] = []
    for index, choice in enumerate(choices):
        spelled = choice.answer + ("<>" if (choice.family, choice.answer) in templates else "")
        written = f"answers::{choice.family}::{spelled}" + ("" if index + 1 == len(choices) else ",")
        if same.get(choice.family) == choice.reason:
            packed.append(written)
            continue
        lines += [{"reason": [], "types": _filled(packed, "      ")}]
        packed = []
        lines.append({"reason": _comment(f"{choice.family}: {choice.answer}: {choice.reason}", "      "),
                      "types": ["      " + written]})
    return [*lines, {"reason": [], "types": _filled(packed, "      ")}]


def _struct(decided: Decided, index: int, families: tuple[Family, ...]) -> dict[str, Any]:
    fabric, span, choices = decided.fabric, decided.fabric.ranges[index], decided.choices[index]
    single = len(fabric.ranges) == 1
    name = fabric.name if single else _range_name(fabric, span)
    before = decided.choices[index - 1] if index else None
    return {
        "name": name,
        "base": _range_name(fabric, fabric.ranges[index - 1]) if index else "",
        "summary": _comment(f"{fabric.summary} {releases(fabric, span)}." if not index
                            else f"{releases(fabric, span)}.", "", "///"),
        "rules": identity(fabric, span, choices, families),
        "library": library_of(fabric),
        "made_from": made_from(fabric, span, choices, families),
        "shared": literals(shared(span, choices, families), "      "),
        "fingerprint": fingerprint(fabric, span, choices, families),
        "facts": _facts_lines(span),
        "half_round_trip": None if fabric.half_round_trip is None else {
            "ns": fabric.half_round_trip.ns,
            "reason": _comment(f"half round trip, {fabric.half_round_trip.as_text}", "  ")},
        "changes": [{"reason": _comment(f"{fabric.name}.{key} ({span.cells[key].evidence})", "    "),
                     "assign": f"changed.{key} = {cpp_value(span.cells[key])};"} for key in span.changed],
        # for every answer of the row
        "lowerings": " ".join(atomics.table(str(span.cells["atomic_operations"].value),
                                            str(span.cells["atomics"].value))),
        "since": _cpp_version(span.since),
        "until": _cpp_version(span.until),
        "policies": _choice_lines(choices, before, families),
    }


def struct_names(fabric: Fabric) -> tuple[str, ...]:
    """The C++ name of each range, oldest first: the row's own where there is one."""
    return (fabric.name,) if len(fabric.ranges) == 1 else tuple(_range_name(fabric, span) for span in fabric.ranges)


def _range_name(fabric: Fabric, span: Range) -> str:
    return f"{fabric.name}_since_{span.since.major}_{span.since.minor}"


def header(decided: Decided, families: tuple[Family, ...]) -> dict[str, Any]:
    """The variables of templates/fabric.hpp.j2."""
    fabric = decided.fabric
    structs = [_struct(decided, index, families) for index in range(len(fabric.ranges))]
    settings = [{"line": f'{{"{setting.name}", "{setting.value}"}},',
                 "reason": _comment(f"{setting.name}: {setting.reason}", "      ")}
                for setting in fabric.settings]
    return {"fabric": fabric.name, "backend": fabric.backend, "structs": structs, "settings": settings,
            "alternatives": [struct["name"] for struct in structs] if len(structs) > 1 else []}
