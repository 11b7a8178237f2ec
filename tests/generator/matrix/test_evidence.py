# SPDX-License-Identifier: Apache-2.0
"""Evidence of blanks and days to come are refused wherever they stand, with the line."""
from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from generator.matrix.days import wrong_day, wrong_day_in
from generator.matrix.loader import Refused, load_text
from generator.matrix.model import matrix_of

CASES = Path(__file__).resolve().parents[1] / "cases"
CELL = 'key_bytes: {is: 8, claimed: "[c]"}'
SEEN = 'key_bytes: {is: 8, claimed: "[c]", observed: "[s], 8"}'
SOURCE = 'c: {kind: claimed, text: "c"}'
RUN = 's: {kind: observed, date: "2026-11-20", library: "libfabric 1.17.0", setup: "here"}'
TINY = (CASES / "valid_tiny.yaml").read_text("utf-8").replace(CELL, SEEN).replace(SOURCE, f"{SOURCE}\n  {RUN}")
# Each place of evidence: what stands there, how another text is put in its place, and the source that it must cite.
PLACES = {
    "summary": ('"A row for tests."', "%s", ""),
    "claim": (SEEN, 'key_bytes: {is: 8, claimed: %s, observed: "[s], 8"}', "[c] "),
    "observation": (SEEN, "key_bytes: {is: 8, observed: %s}", "[s] "),
    "copy": (SEEN, 'key_bytes: {is: 8, copied: %s, observed: "[s], 8"}', "[c] "),
    "source": ('text: "c"', "text: %s", ""),
    "library": ('library: "libfabric 1.17.0"', "library: %s", ""),
    "setup": ('setup: "here"', "setup: %s", ""),
}
BLANKS = " \t\u00a0\u1680\u2003\u200b\u2060\u2800\u3000\u3164\u115f\u1160\uffa0\ufeff.-_,;:!?/()'*"


def _told(place: str, text: str) -> list[str] | None:
    """What is said, at its line, of the tiny row with this text in one place; none where it is taken."""
    there, form, _ = PLACES[place]
    assert TINY.count(there) == 1
    line = TINY[: TINY.index(there)].count("\n") + 1
    try:
        matrix_of(load_text(TINY.replace(there, form % json.dumps(text, ensure_ascii=False)), "m.yaml"))
    except Refused as refused:
        assert {problem.line for problem in refused.problems} == {line}
        return [problem.sentence for problem in refused.problems]
    return None


@settings(max_examples=80, deadline=None, database=None)
@given(st.sampled_from(sorted(PLACES)), st.text(BLANKS, max_size=12))
def test_blanks_are_no_evidence(place: str, blanks: str) -> None:
    cited = PLACES[place][2] if place == "observation" else ""
    assert _told(place, cited + blanks)


def test_words_are_evidence_in_every_place() -> None:
    for place in PLACES:
        cited = PLACES[place][2]
        assert _told(place, f"{cited}seen on {date.today()}, 8") is None, place
        assert _told(place, f"{cited}é") is None, place


@settings(max_examples=80, deadline=None, database=None)
@given(st.sampled_from(sorted(PLACES)), st.integers(2, 20_000))
def test_days_to_come_are_refused_in_every_place(place: str, days: int) -> None:
    day = date.today() + timedelta(days=days)
    told = _told(place, f"{PLACES[place][2]}seen ({day}).")
    assert told and any(f"{day}, which is after today" in sentence for sentence in told)


@given(st.dates(max_value=date(2098, 12, 31)), st.dates(max_value=date(2098, 12, 31)))
def test_a_day_is_wrong_from_two_days_after_today_on(day: date, today: date) -> None:
    late = (day - today).days > 1
    assert bool(wrong_day(str(day), today)) == late == bool(wrong_day_in(f"on {day}: 8", today))


def test_what_only_looks_like_a_day_is_text() -> None:
    for text in ("libfabric-1.17.0-2099-01-01", "commit 12345-2099-01-01", "2099-01-011", "v2099-01-01a"):
        assert wrong_day_in(text) == ""
    assert wrong_day_in("on 2026-13-01").endswith("which is no day")
    assert wrong_day_in("on 2020-02-29, then 2021-02-29") == "2021-02-29, which is no day"
