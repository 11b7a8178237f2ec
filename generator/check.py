# SPDX-License-Identifier: Apache-2.0
"""Whether the files in the tree are what the matrix says. There are three independent checks.

Bytes: each generated file is compared with a fresh rendering.
Meaning: patterns read the C++ of each header, another parser reads providers.yaml, and both are compared. So a mistake
in model, rules or templates shows too.
Nothing unaccounted: each file under generated/ comes from a row, and core/facts.hpp spells each fact as the generator.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from .matrix.facts import FACTS, UNLIMITED
from .matrix.loader import Problem
from .rules import Family

_ENUMERATOR = re.compile(r"[a-z_]+::([a-z_]+)")


def check_bytes(files: Mapping[str, bytes], output: Path) -> list[Problem]:
    """Each generated file is there and has the bytes that a fresh rendering has."""
    problems = []
    for name, expected in files.items():
        try:
            found = (output / name).read_bytes()
        except OSError as error:
            problems.append(Problem(name, 1, f"cannot be read ({error.strerror}): run ./weft generate"))
            continue
        if found != expected:
            problems.append(_first_difference(name, found, expected))
    return problems


def _first_difference(name: str, found: bytes, expected: bytes) -> Problem:
    old, new = found.split(b"\n"), expected.split(b"\n")
    line = next((i for i, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    there = repr(old[line].decode("utf-8", "replace").strip()[:90]) if line < len(old) else "nothing more"
    wanted = repr(new[line].decode("utf-8", "replace").strip()[:90]) if line < len(new) else "nothing more"
    if there == wanted:
        wanted = "the same words in other bytes (blanks at the end of the line?)"
    return Problem(name, line + 1, f"differs from the matrix: {there} is there, {wanted} is generated; "
                                   "change providers.yaml rather than this file, then run ./weft generate")


def check_unaccounted(files: Mapping[str, bytes], output: Path) -> list[Problem]:
    """Every file under generated/ comes from the matrix."""
    folder = output / "generated"
    there = sorted(path.relative_to(output).as_posix() for path in folder.rglob("*") if not path.is_dir())
    return [Problem(name, 1, "comes from no row of the matrix: delete it, or add the row") for name in there
            if name not in files]


def check_meaning(matrix: str, output: Path, families: tuple[Family, ...]) -> list[Problem]:
    """Reads each header and the matrix's text anew and compares: facts by value, one known answer for each family."""
    rows: dict[str, Any] = YAML(typ="safe").load(matrix)
    problems: list[Problem] = []
    for row, cells in rows.items():
        if row == "sources":
            continue
        name = f"generated/{row}.hpp"
        try:
            text = (output / name).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            continue  # check_bytes reports it
        problems += _compare_facts(name, text, cells) + _compare_answers(name, text, families,
                                                                         1 + len(cells.get("ranges", [])))
    return problems


def _found_facts(text: str) -> list[tuple[int, str, str]]:
    """Line, cell and value of each fact in a header, in the order of the file."""
    initialised = re.compile(r'(?<![\w>])\.(\w+) = ("[^"]*"|\{[^}]*\}|[\w:]+)')
    changed = re.compile(r'\bchanged\.(\w+) = ("[^"]*"|[^;"]*);')
    code = [(number, line) for number, line in enumerate(text.splitlines(), 1) if not line.lstrip().startswith("//")]
    return [(number, match[1], match[2])
            for number, line in code for pattern in (initialised, changed) for match in pattern.finditer(line)]


def _compare_facts(name: str, text: str, row: Mapping[str, Any]) -> list[Problem]:
    expected: list[tuple[str, str]] = []
    starts = [row["library"]["since"], *(span["since"] for span in row.get("ranges", []))]
    ends = [*starts[1:], row["library"].get("until")]
    for start, end, facts in zip(starts, ends, [row["facts"], *(span["facts"] for span in row.get("ranges", []))]):
        expected += [("since", _braced(start)), ("until", _braced(end) if end else "any_later_version")]
        expected += [(cell, _plain(value["is"])) for cell, value in facts.items()]
    found = [(number, cell, _plain_cpp(value)) for number, cell, value in _found_facts(text)]
    problems = []
    for cell, value in expected:
        match = next((item for item in found if item[1:] == (cell, value)), None)
        if match:
            found.remove(match)
        else:
            near = next((item for item in found if item[1] == cell), None)
            said = f"says {near[2]}" if near else "does not say it"
            problems.append(Problem(name, near[0] if near else 1,
                                    f"{cell} is {value} in the matrix and the header {said}"))
            if near:
                found.remove(near)
    return problems + [Problem(name, number, f"{cell} is {value} here and nowhere in the matrix") for number, cell,
                       value in found]


def _braced(version: str) -> str:
    return "{" + version.replace(".", ", ") + "}"


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "unlimited" if value == UNLIMITED else str(value)


def _plain_cpp(value: str) -> str:
    enumerator = _ENUMERATOR.fullmatch(value)
    if enumerator:
        return enumerator.group(1)
    return value[:-1] if re.fullmatch(r"[0-9]+u", value) else value.strip('"')


def _compare_answers(name: str, text: str, families: tuple[Family, ...], sets: int) -> list[Problem]:
    known = {family.name: family.answers for family in families}
    problems: list[Problem] = []
    blocks = list(re.finditer(r"policy_set<\n(.*?)\n  >;", text, re.S))
    if len(blocks) != sets:
        problems.append(Problem(name, 1, f"has {len(blocks)} sets of answers and the row has {sets} range(s)"))
    for block in blocks:
        line = text.count("\n", 0, block.start()) + 1
        code = "\n".join(part for part in block.group(1).splitlines() if not part.lstrip().startswith("//"))
        answers = re.findall(r"answers::(\w+)::(\w+)", code)
        problems += [Problem(name, line, f"{family}::{answer} is an answer of no family") for family, answer in answers
                     if answer not in known.get(family, ())]
        for family in known:
            count = sum(1 for each, _ in answers if each == family)
            if count != 1:
                problems.append(Problem(name, line, f"answers {family} {count} times: once is right"))
    return problems


def check_core(root: Path) -> list[Problem]:
    """core/facts.hpp has the same cells in the same order, and the same enumerators, as the generator."""
    name = "core/facts.hpp"
    try:
        text = (root / name).read_text("utf-8")
    except OSError as error:
        return [Problem(name, 1, f"cannot be read ({error.strerror})")]
    enums = {kind: re.findall(r"\w+", body)
             for kind, body in re.findall(r"enum class (\w+) : std::uint8_t \{([^}]*)\}", text)}
    start = text.find("struct fabric_facts {")
    body = re.sub(r"//[^\n]*", "", text[start:text.find("\n};", start)])
    members = [(re.sub(r"^weft::", "", kind), member)
               for kind, member in re.findall(r"\n  ([\w:]+) (\w+)(?: = [\w:]+|\{\w*\})?;", body)]
    line = text.count("\n", 0, max(start, 0)) + 1
    cpp = [(kind, member) for kind, member in members if member not in ("since", "until")]
    ours = [("std::string_view" if fact.cpp == "text" else fact.cpp, fact.name) for fact in FACTS]
    problems = [Problem(name, line,
                        f"member {a[1] if a else '(none)'} ({a[0] if a else ''}) and the generator's cell "
                        f"{b[1] if b else '(none)'} "
                        f"({b[0] if b else ''}) differ: generator/matrix/facts.py has one entry per member, in "
                        f"order")
                for a, b in _zipped(cpp, ours) if a != b][:1]
    for fact in FACTS:
        if fact.values and tuple(enums.get(fact.cpp, ())) != fact.values:
            problems.append(Problem(name, line,
                                    f"enum {fact.cpp} has {', '.join(enums.get(fact.cpp, ['nothing']))} and the "
                                    f"generator has {', '.join(fact.values)}"))
    return problems


def _zipped(a: list[tuple[str, str]],
            b: list[tuple[str, str]]) -> list[tuple[tuple[str, str] | None, tuple[str, str] | None]]:
    longest = max(len(a), len(b))
    return [(a[i] if i < len(a) else None, b[i] if i < len(b) else None) for i in range(longest)]
