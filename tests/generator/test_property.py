# SPDX-License-Identifier: Apache-2.0
"""A changed matrix generates, or is refused with sentences that name a line: never a traceback."""
from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator import emit
from generator.matrix.loader import Refused
from generator.matrix.model import read_matrix
from generator.rules import Family

HERE = Path(__file__).parent
TEXTS = [(HERE / "cases" / name).read_text("utf-8") for name in ("valid_tiny.yaml", "valid_ranged.yaml")]
# A long run asks for more (scripts/fuzz): every count of examples is multiplied.
TIMES = int(os.environ.get("WEFT_FUZZ_TIMES", "1"))

ODD = [
    "no",
    "On",
    "010",
    "0x10",
    "1e3",
    ".inf",
    "null",
    "~",
    "",
    "[]",
    "{}",
    "- a",
    "!!binary x",
    "&a b",
    "*a",
    "<<: {a: b}",
    "? a",
    "|",
    ">",
    "%TAG",
    "---",
    "...",
    "\t",
    "\\",
    '"',
    "'",
    ": ",
    "# ",
    "{{ 7 * 7 }}",
    "{% raise %}",
    "*/",
    "//",
    "\u202e",
    "\x00",
    "\r",
    "é",
    "9" * 5000,
    "99999999999999999999999",
    "-1",
    "true",
    "unlimited",
    "1.10",
    "2026-11-20",
    "connected",
    "provider",
    "none",
    "[" * 60,
    "{" * 60,
    "tiny:",
]

edits = st.lists(
    st.tuples(
        st.sampled_from(["drop", "double", "swap", "value", "insert", "character", "cut"]),
        st.integers(0, 10_000),
        st.integers(0, 10_000),
        st.one_of(st.sampled_from(ODD), st.text(max_size=12)),
    ),
    min_size=1,
    max_size=4,
)


def edited(text: str, edits: list[tuple[str, int, int, str]]) -> str:
    for kind, first, second, odd in edits:
        lines = text.split("\n")
        a, b = first % len(lines), second % len(lines)
        if kind == "drop":
            del lines[a]
        elif kind == "double":
            lines.insert(b, lines[a])
        elif kind == "swap":
            lines[a], lines[b] = lines[b], lines[a]
        elif kind == "value":
            lines[a] = re.sub(r"is: [^,}]*", lambda _: f"is: {odd}", lines[a], count=1)
        elif kind == "insert":
            lines[a] = lines[a][: second % (len(lines[a]) + 1)] + odd + lines[a][second % (len(lines[a]) + 1) :]
        text = "\n".join(lines) or " "
        if kind == "character":
            place = first % len(text)
            text = text[:place] + chr(second % 256) + text[place + 1 :]
        elif kind == "cut":
            text = text[: first % len(text)]
    return text


@settings(
    max_examples=250 * TIMES,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.sampled_from(TEXTS), edits)
def test_any_edit_generates_or_is_refused(
    root: Path, families: tuple[Family, ...], text: str, changes: list[tuple[str, int, int, str]]
) -> None:
    odd = edited(text, changes)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "m.yaml"
        file.write_bytes(odd.encode("utf-8", "surrogatepass"))
        try:
            files = emit.render(read_matrix(file, "m.yaml"), families, root / "templates")
        except Refused as refused:
            assert refused.problems
            for problem in refused.problems:
                assert problem.file == "m.yaml" and problem.sentence and "\n" not in str(problem)
                assert 1 <= problem.line <= len(odd.splitlines()) + 1
            return
    for name, data in files.items():
        assert b"\\\n" not in data and data.endswith(b"\n"), name  # no comment swallows the next line
