# SPDX-License-Identifier: Apache-2.0
"""From the model to files: what a header, the CMake list and the matrix page show, filled into templates.

The templates print and decide nothing: every name, number and sentence is made here. No date, no tool's version, no path of a
machine: the same matrix and rules give the same bytes. A file is written only if its bytes differ.
"""
from __future__ import annotations

import hashlib
import json
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from .facts import FACT, FACTS, GROUPS, UNLIMITED
from .model import Cell, Fabric, Matrix, Range, Version
from .loader import Problem, Refused
from .rules import Choice, Family, decide

WIDTH = 150
_LIBRARY = {"libfabric": "libfabric", "verbs": "rdma-core", "loopback": "weft"}


@dataclass(frozen=True)
class Decided:
    """One row with its answers, one tuple of choices per range."""

    fabric: Fabric
    choices: tuple[tuple[Choice, ...], ...]


def decide_all(matrix: Matrix, families: tuple[Family, ...]) -> tuple[Decided, ...]:
    """Errors: Refused, with every row that has no legal answer."""
    problems: list[Problem] = []
    decided: list[Decided] = []
    for fabric in matrix.fabrics:
        try:
            decided.append(Decided(fabric, tuple(decide(matrix, fabric, span, families) for span in fabric.ranges)))
        except Refused as refused:
            problems.extend(refused.problems)
    if problems:
        raise Refused(problems)
    return tuple(decided)


def render(matrix: Matrix, families: tuple[Family, ...], templates: Path) -> dict[str, bytes]:
    """Every generated file: path below the output folder, and its bytes. Errors: Refused."""
    decided = decide_all(matrix, families)
    environment = ImmutableSandboxedEnvironment(loader=FileSystemLoader(str(templates)), undefined=StrictUndefined, autoescape=False,
                                                trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    files = {f"generated/{each.fabric.name}.hpp": environment.get_template("fabric.hpp.j2").render(_header(each, families))
             for each in decided}
    files["generated/fabrics.cmake"] = environment.get_template("fabrics.cmake.j2").render(fabrics=[_cmake(each.fabric) for each in decided])
    files["docs/matrix.md"] = environment.get_template("matrix.md.j2").render(_page(decided, families))
    return {name: text.encode("utf-8") for name, text in files.items()}


def write(files: Mapping[str, bytes], output: Path) -> list[str]:
    """Writes what differs; returns the names of what it wrote."""
    written = []
    for name, data in files.items():
        path = output / name
        if path.is_file() and path.read_bytes() == data:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        written.append(name)
    return written


# --- identity -----------------------------------------------------------------------------------------------------------------------


def _hash(parts: Iterable[Any]) -> str:
    text = json.dumps(list(parts), separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def fingerprint(fabric: Fabric, span: Range, choices: tuple[Choice, ...], families: tuple[Family, ...]) -> str:
    """What two peers must share: the name, and the answers and facts that both sides see. 16 hexadecimal digits."""
    wire = {family.name for family in families if family.wire}
    answers = sorted((choice.family, choice.answer) for choice in choices if choice.family in wire)
    facts = sorted((name, cell.value) for name, cell in span.cells.items() if FACT[name].wire)
    return _hash(["peers", fabric.name, answers, facts])


def identity(fabric: Fabric, span: Range, choices: tuple[Choice, ...], families: tuple[Family, ...]) -> str:
    """What two objects of one program must share: everything that the struct says, and the rules. 8 hexadecimal digits."""
    rules = [(f.name, f.wire, [(r.answer, [str(n) for n in r.when], r.unless) for r in f.rules]) for f in families]
    answers = [(choice.family, choice.answer) for choice in choices]
    facts = [(name, cell.value) for name, cell in span.cells.items()]
    settings = [(setting.name, setting.value) for setting in fabric.settings]
    spans = [(str(each.since), str(each.until)) for each in (span,)]
    return _hash(["objects", fabric.name, fabric.backend, rules, answers, facts, settings, spans])[:8]


# --- C++ ----------------------------------------------------------------------------------------------------------------------------


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
    return textwrap.wrap(text, WIDTH, initial_indent=f"{indent}{mark} ", subsequent_indent=f"{indent}{mark}   ",
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


def releases(fabric: Fabric, span: Range | None = None) -> str:
    """The releases of a range, or of the whole row, in words."""
    library = _LIBRARY[fabric.backend]
    since, until = (span.since, span.until) if span else (fabric.since, fabric.until)
    return f"{library} {since} to before {until}" if until else f"{library} {since} and later"


def _choice_lines(choices: tuple[Choice, ...], before: tuple[Choice, ...] | None) -> list[dict[str, Any]]:
    """Per family the reason and the answer; in a later range the reason only where it changed, and the others packed."""
    same = {choice.family: choice.reason for choice in before or ()}
    lines: list[dict[str, Any]] = []
    packed: list[str] = []
    for index, choice in enumerate(choices):
        written = f"{choice.family}::{choice.answer}" + ("" if index + 1 == len(choices) else ",")
        if same.get(choice.family) == choice.reason:
            packed.append(written)
            continue
        lines += [{"reason": [], "types": _filled(packed, "      ")}]
        packed = []
        lines.append({"reason": _comment(f"{choice.family}: {choice.answer}: {choice.reason}", "      "), "types": ["      " + written]})
    return [*lines, {"reason": [], "types": _filled(packed, "      ")}]


def _struct(decided: Decided, index: int, families: tuple[Family, ...]) -> dict[str, Any]:
    fabric, span, choices = decided.fabric, decided.fabric.ranges[index], decided.choices[index]
    single = len(fabric.ranges) == 1
    name = fabric.name if single else _range_name(fabric, span)
    before = decided.choices[index - 1] if index else None
    return {
        "name": name,
        "base": _range_name(fabric, fabric.ranges[index - 1]) if index else "",
        "summary": _comment(f"{fabric.summary} {releases(fabric, span)}." if not index else f"{releases(fabric, span)}.", "", "///"),
        "rules": identity(fabric, span, choices, families),
        "fingerprint": fingerprint(fabric, span, choices, families),
        "facts": _facts_lines(span),
        "changes": [{"reason": _comment(f"{fabric.name}.{key} ({span.cells[key].evidence})", "    "),
                     "assign": f"changed.{key} = {cpp_value(span.cells[key])};"} for key in span.changed],
        "since": _cpp_version(span.since),
        "until": _cpp_version(span.until),
        "policies": _choice_lines(choices, before),
    }


def _range_name(fabric: Fabric, span: Range) -> str:
    return f"{fabric.name}_since_{span.since.major}_{span.since.minor}"


def _header(decided: Decided, families: tuple[Family, ...]) -> dict[str, Any]:
    fabric = decided.fabric
    structs = [_struct(decided, index, families) for index in range(len(fabric.ranges))]
    settings = [{"line": f'{{"{setting.name}", "{setting.value}"}},', "reason": _comment(f"{setting.name}: {setting.reason}", "      ")}
                for setting in fabric.settings]
    return {"fabric": fabric.name, "backend": fabric.backend, "structs": structs, "settings": settings,
            "alternatives": [struct["name"] for struct in structs] if len(structs) > 1 else []}


# --- CMake and the page -------------------------------------------------------------------------------------------------------------


def _cmake(fabric: Fabric) -> dict[str, str]:
    return {"name": fabric.name, "backend": fabric.backend, "since": str(fabric.since), "until": str(fabric.until or "")}


def _markdown(text: str) -> str:
    for special in "\\`*[]<>|#~":
        text = text.replace(special, "\\" + special if special not in "<>" else {"<": "&lt;", ">": "&gt;"}[special])
    return text


def _over_ranges(told: list[str], spans: tuple[Range, ...]) -> str:
    """One value, or each value with the release from which it holds."""
    parts = [told[0]]
    parts += [f"{new} since {span.since}" for old, new, span in zip(told, told[1:], spans[1:]) if new != old]
    return ", ".join(parts)


def answer_of(decided: Decided, family: str) -> str:
    """The answer to a family in words, with the releases where they differ."""
    told = [next(choice.answer for choice in choices if choice.family == family) for choices in decided.choices]
    return _over_ranges(told, decided.fabric.ranges)


def fact_of(fabric: Fabric, fact: str) -> str:
    """A cell's value in words, with the releases where they differ."""
    return _over_ranges([span.cells[fact].told for span in fabric.ranges], fabric.ranges)


def _page(decided: tuple[Decided, ...], families: tuple[Family, ...]) -> dict[str, Any]:
    names = [family.name for family in families]
    thirds = [names[i:i + 6] for i in range(0, len(names), 6)]
    answers = [{"families": [_markdown(n) for n in part],
                "rows": [{"fabric": _markdown(each.fabric.name), "cells": [_markdown(answer_of(each, name)) for name in part]} for each in decided]}
               for part in thirds]
    groups = [{"name": group, "facts": [_markdown(fact.name) for fact in FACTS if fact.group == group],
               "rows": [{"fabric": _markdown(each.fabric.name),
                         "cells": [_markdown(fact_of(each.fabric, fact.name)) for fact in FACTS if fact.group == group]} for each in decided]}
              for group in GROUPS if group != "identity"]
    return {"fabrics": [_page_row(each) for each in decided], "answers": answers, "groups": groups,
            "families": [{"name": _markdown(f.name), "question": _markdown(f.question), "answers": _markdown(", ".join(f.answers))} for f in families],
            "facts": [{"name": _markdown(f.name), "meaning": _markdown(f.meaning)} for f in FACTS]}


def _page_row(decided: Decided) -> dict[str, Any]:
    fabric = decided.fabric
    cells = []
    for span in fabric.ranges:
        names = span.changed or tuple(span.cells)
        cells += [{"name": _markdown(name) + (f" (since {span.since})" if span.changed else ""), "value": _markdown(span.cells[name].told),
                   "evidence": _markdown(str(span.cells[name].evidence))} for name in names]
    return {"name": fabric.name, "title": _markdown(fabric.name), "summary": _markdown(fabric.summary), "backend": fabric.backend,
            "releases": releases(fabric),
            "settings": [{"name": _markdown(s.name), "value": _markdown(s.value), "reason": _markdown(s.reason)} for s in fabric.settings],
            "cells": cells}
