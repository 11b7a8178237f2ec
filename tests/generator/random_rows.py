# SPDX-License-Identifier: Apache-2.0
"""Random rows, and real rows with changed cells, as hypothesis strategies: text of a matrix with one row."""
from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from hypothesis import strategies as st

from generator.matrix.facts import BACKENDS, FACTS, UNLIMITED, Fact
from generator.rules import Family

# Words that trouble C++, YAML, Markdown, CMake or Jinja; and plain ones.
_TROUBLE = [
    "// x",
    "/* x */",
    "%s ??/ ??)",
    "{{ 7 * 7 }}",
    "{% raise %}",
    "${VAR} @VAR@",
    "a | b",
    "`x` <b> # ~",
    "é ✓ 漢",
    "'",
    '"',
    "#include <x>",
    "trailing ;",
    ": - ?",
    "x" * 120,
    "a b " * 30,
    "1.10",
    "true",
    'R"(x)"',
    "$<CONFIG>",
]
_WORDS = st.one_of(
    st.sampled_from(_TROUBLE), st.text("abcdefgh XYZ0189.,:;()[]{}<>!?*&%$#@^~_-+='/|`\"é", min_size=1, max_size=60)
)
_SANE = {
    "std::uint8_t": [1, 2, 4, 8],
    "std::uint32_t": [16, 64, 256, 1024],
    "std::uint64_t": [1 << 20, 1 << 31, UNLIMITED],
}
_SPECIAL = {
    "context_bytes": [0, 32, 64],
    "key_bytes": [4, 8],
    "write_immediate_bytes": [0, 4, 8],
    "send_immediate_bytes": [0, 4, 8],
    "queue_depth": [256, 1024],
    "fused_bytes": [0, 64, 512],
    "gather_limit": [1, 2, 4, 8, 8],
}


def _quoted(text: str) -> str:
    """YAML reads JSON's strings, but for characters beyond ASCII as they are."""
    return json.dumps(text, ensure_ascii=False)


SOURCES: dict[str, tuple[str, ...]] = {
    "claimed": ('a-source: {kind: claimed, text: "a source"}',),
    "observed": (
        'a-run: {kind: observed, date: "2026-11-20", library: "libfabric 1.17.0"}',
        'other-things: {kind: observed, date: "2025-01-31", library: "other things"}',
    ),
    "copied": ('a-row: {kind: copied, text: "a row"}',),
}


def with_sources(row: str, sources: Iterable[str]) -> str:
    """A matrix of this row and of those sources that it cites."""
    used = [source for source in sources if f"[{source.split(':', 1)[0]}]" in row]
    return row + "".join(["sources:\n", *(f"  {source}\n" for source in used)])


def sources_of(matrix: Path) -> list[str]:
    """The entries of a matrix's sources, in one line each."""
    found = re.search(r"^sources:\n((?:(?: .*)?\n)*)", matrix.read_text("utf-8"), re.M)
    assert found
    lines = "\n".join(line for line in found[1].split("\n") if not line.lstrip().startswith("#"))
    return [re.sub(r"\s*\n\s+", " ", each) for each in re.findall(r"^  (\S.*(?:\n   .*)*)", lines, re.M)]


def _evidence(draw: st.DrawFn, kind: str) -> str:
    cited = draw(st.sampled_from(SOURCES[kind])).split(":", 1)[0]
    return _quoted(f"[{cited}] saw {draw(_WORDS)}"[:250])


def _sentence(draw: st.DrawFn) -> str:
    return _quoted(f"c {draw(_WORDS)}".strip())


def _value(draw: st.DrawFn, fact: Fact, wild: bool) -> str:
    if fact.values:
        return str(draw(st.sampled_from(fact.values)))
    if fact.name == "delivery_complete":  # without it many rows have no answer
        return str(draw(st.sampled_from(["true", "true", "true", "false"])))
    if fact.cpp == "bool":
        return str(draw(st.sampled_from(["true", "false"])))
    if fact.name == "atomic_operations":
        return _quoted(
            draw(
                st.sampled_from(
                    [
                        "none",
                        "add compare_swap: int64 uint64",
                        "add: int32 double; compare_swap: uint32",
                        "swap read: float",
                    ]
                )
            )
        )
    if fact.name == "address_formats":
        return _quoted(draw(st.sampled_from(["", "in", "in in6", "str", "in7"])))
    if fact.name == "write_immediate_setting":
        return _quoted(draw(st.sampled_from(["", "", "FI_A_B=1", "FI_A"])))
    if fact.cpp == "text":
        return _quoted(draw(st.sampled_from(["", "one", "one;two", "a-b_c", "%d {{x}} ?/"])))
    if wild and draw(st.integers(0, 9)) == 0:
        number = draw(st.sampled_from([fact.least, 1, 3, fact.largest - 1, fact.largest]))
    else:
        number = draw(st.sampled_from(_SPECIAL.get(fact.name) or _SANE[fact.cpp]))
    return "unlimited" if number == UNLIMITED else str(number)


def _cell(draw: st.DrawFn, fact: Fact, wild: bool) -> str:
    evidence = [
        f"{key}: {_evidence(draw, key)}"
        for key in draw(
            st.sampled_from(
                [
                    ("claimed",),
                    ("claimed",),
                    ("copied",),
                    ("observed",),
                    ("claimed", "observed"),
                    ("observed", "copied"),
                ]
            )
        )
    ]
    return f"{fact.name}: {{is: {_value(draw, fact, wild)}, {', '.join(evidence)}}}"


@st.composite
def random_row(draw: st.DrawFn, families: tuple[Family, ...], wild: bool = True) -> str:
    """A row that the schema accepts; the rules decide whether its facts have an answer to every family."""
    backend = "loopback" if not wild else draw(st.sampled_from(BACKENDS))
    lines = [
        "ROW:",
        f"  summary: {_sentence(draw) if wild else 'made up'}",
        f"  backend: {backend}",
        '  library: {since: "1.15", claimed: "[a-source]"}',
    ]
    if wild and backend == "libfabric" and draw(st.booleans()):
        lines += [
            "  settings:",
            f"    FI_SOME_SETTING: {{value: {_quoted(draw(st.sampled_from(['1', 'x y', ''])))}, reason: "
            f"{_sentence(draw)}}}",
        ]
    cells = {fact.name: _cell(draw, fact, wild) for fact in FACTS}
    if "{is: none" in cells["atomics"] and not (wild and draw(st.integers(0, 9)) == 0):  # else most rows are refused
        cells["atomic_operations"] = re.sub(r'is: "[^"]*"', 'is: "none"', cells["atomic_operations"], count=1)
    lines += ["  facts:", *(f"    {cell}" for cell in cells.values())]
    if wild and draw(st.integers(0, 3)) == 0:
        changed = draw(st.lists(st.sampled_from(FACTS), min_size=1, max_size=6, unique_by=lambda fact: fact.name))
        lines += [
            "  ranges:",
            '    - since: "2.0"',
            "      facts:",
            *(f"        {_cell(draw, fact, wild)}" for fact in changed),
        ]
    if wild and draw(st.integers(0, 11)) == 0:
        family = draw(st.sampled_from(families))
        lines += [
            "  override:",
            f"    {family.name}: {draw(st.sampled_from(family.answers))}",
            f"    reason: {_sentence(draw)}",
        ]
    return with_sources("\n".join(lines) + "\n", [source for each in SOURCES.values() for source in each])


def real_rows(matrix: Path) -> list[str]:
    """The text of each row of the matrix, its name replaced by ROW, with the sources that it cites."""
    parts = re.split(r"^([a-z][a-z0-9_]*):\n", matrix.read_text("utf-8"), flags=re.M)
    sources = sources_of(matrix)
    return [with_sources(f"ROW:\n{body}", sources) for name, body in zip(parts[1::2], parts[2::2]) if name != "sources"]


@st.composite
def edited_row(draw: st.DrawFn, rows: list[str]) -> str:
    """A real row where some cells have another value, mostly of the right kind, or lack something."""
    row = draw(st.sampled_from(rows))
    for fact in draw(st.lists(st.sampled_from(FACTS), min_size=1, max_size=5)):
        found = list(re.finditer(rf"(?<=\b{fact.name}: {{is: )(\"[^\"]*\"|[^,}}]+)", row))
        if not found:
            continue
        match = draw(st.sampled_from(found))
        value = (
            _value(draw, fact, True)
            if draw(st.integers(0, 19))
            else draw(st.sampled_from(["no", "010", "-1", "[]", "{}", "1.5", "", "'", "fast", "null"]))
        )
        row = row[: match.start()] + value + row[match.end() :]
    if draw(st.integers(0, 14)) == 0:
        lines = row.split("\n")
        del lines[draw(st.integers(1, len(lines) - 1))]
        row = "\n".join(lines)
    return row
