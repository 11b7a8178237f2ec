# SPDX-License-Identifier: Apache-2.0
"""How commands write providers.yaml: lines of at most 120 columns that read back unchanged, each source named once."""
from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.matrix.days import wrong_day
from generator.matrix.layout import (
    WIDTH, citing, entry, pair, plain_name, quoted, sentence, source_text, with_source, without_unused)
from generator.matrix.loader import load_text
from generator.matrix.model import matrix_of
from generator.matrix.schema import CITATION
from generator.matrix.sources import Source, cited

ROOT = Path(__file__).resolve().parents[2]
TINY = (Path(__file__).parent / "cases" / "valid_tiny.yaml").read_text("utf-8")
RUN = Source("observed", date="2026-11-20", library="libfabric 1.17.0", setup="loopback")
_TEXTS = st.text("abc xyz.,:;#{}[]'\"%&*!?|>@`- ", max_size=400)


def _longest(text: str) -> int:
    return max(len(line) for line in text.splitlines())


def test_no_line_of_the_matrix_is_long() -> None:
    lines = (ROOT / "providers.yaml").read_text("utf-8").splitlines()
    assert [number for number, line in enumerate(lines, 1) if len(line) > WIDTH] == []


@settings(max_examples=100, deadline=None, database=None)
@given(_TEXTS, _TEXTS)
def test_text_reads_back_as_it_was(claimed: str, observed: str) -> None:
    text = entry("key_bytes",
                 [("is", "8", False), ("claimed_value", "4", False), ("claimed", claimed, True),
                  ("observed", observed, True)], 4)
    assert load_text(f"facts:\n{text}\n", "t").data["facts"]["key_bytes"] == {"is": 8, "claimed_value": 4,
                                                                              "claimed": claimed, "observed": observed}
    words = (claimed + " " + observed).split()
    if all(len(word) < 60 for word in words) and "  " not in claimed + observed:
        assert _longest(text) <= WIDTH


def test_a_long_text_goes_on_in_the_next_line() -> None:
    text = pair("summary", "word " * 60 + "end", 2)
    assert _longest(text) <= WIDTH and text.count("\n") == 2
    assert load_text(text, "t").data["summary"] == "word " * 60 + "end"
    assert quoted("short", 0, 0) == '"short"'


@pytest.mark.parametrize("cell", [
    '{is: 8, claimed: "[c]"}',
    '{is: 8,\n      claimed: "[c]",\n      observed: "[s], seen"}',
])
def test_what_the_layout_writes_the_loader_reads(cell: str) -> None:
    text = TINY.replace('{is: 8, claimed: "[c]"}', cell, 1)
    if "[s]" in cell:
        text, name = with_source(text, "s", RUN)
        assert name == "s"
    found = matrix_of(load_text(text, "t")).fabrics[0].ranges[0].cells["key_bytes"]
    assert found.evidence.claimed == "c"
    assert found.evidence.observed == ("2026-11-20 libfabric 1.17.0 loopback, seen" if "[s]" in cell else None)


def test_a_source_is_added_once_and_beside_its_kind() -> None:
    text, name = with_source(TINY, "run", RUN)
    assert name == "run" and text.endswith(source_text("run", RUN) + "\n")
    assert with_source(text, "another-name", RUN) == (text, "run")
    other, second = with_source(text, "run", Source("observed", date="2026-11-21", library="libfabric 1.17.0"))
    assert second == "run-2" and "  run-2: {kind: observed, " in other
    claimed, _ = with_source(text, "d", Source("claimed", "d"))
    assert claimed.index("  d:") < claimed.index("  run:")
    assert with_source("tiny: {}\n", "d",
                       Source("claimed", "d"))[0] == 'sources:\n  d: {kind: claimed, text: "d"}\ntiny: {}\n'


def test_a_source_that_nobody_cites_any_more_is_taken_out_and_comments_stay() -> None:
    text, _ = with_source(TINY + "  # a comment\n", "run", RUN)
    assert without_unused(text) == TINY + "  # a comment\n"
    assert without_unused(TINY) == TINY


def test_names_and_sentences_are_what_the_matrix_takes() -> None:
    assert sentence('says "8"\n\\ and [more]') == "says '8' / and (more)"
    assert citing("run", "word " * 200).endswith("word ...") and len(citing("run", "word " * 200)) <= 300
    assert cited(citing("run", "[not a source]")) == ["run"]
    for odd in ("libfabric 1.17.0", "probe-rdma-core 44.0-siw0 (iWARP)-2026-11-20", "9 lives", "..", "tcp;ofi_rxm"):
        name = plain_name(odd)
        assert cited(f"[{name}]") == [name], (odd, CITATION)


def test_a_day_to_come_is_no_day_of_an_observation() -> None:
    today = date(2026, 11, 25)
    assert wrong_day("2026-11-25", today) == "" and wrong_day("2026-11-26",
                                                              today) == ""  # another time zone may have the next day
    assert wrong_day("2026-11-27", today) == "2026-11-27, which is after today (2026-11-25)"
    assert wrong_day("2026-02-30", today) == "2026-02-30, which is no day"
    assert wrong_day(str(date.today() - timedelta(days=1))) == ""
