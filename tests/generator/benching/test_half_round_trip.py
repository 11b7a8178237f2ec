# SPDX-License-Identifier: Apache-2.0
"""The half round trip of a row: read, refused where wrong, and a constant of the generated header."""
from __future__ import annotations

from pathlib import Path

import pytest

from generator.matrix.loader import Refused
from generator.matrix.model import Matrix, read_matrix

ROOT = Path(__file__).resolve().parents[3]
TINY = (Path(__file__).parents[1] / "cases" / "valid_tiny.yaml").read_text("utf-8")
ENTRY = """  half_round_trip:
    ns: 3300
    of: "put_notify of 8 bytes"
    command: "./weft bench"
    machine: "a machine"
    library: "libfabric 1.17.0"
    date: "2026-11-21"
"""


def _row(folder: Path, entry: str) -> Matrix:
    (folder / "m.yaml").write_text(TINY.replace("  facts:\n", entry + "  facts:\n", 1), "utf-8")
    return read_matrix(folder / "m.yaml", "m.yaml")


def test_it_is_read_with_where_it_comes_from(tmp_path: Path) -> None:
    found = _row(tmp_path, ENTRY).fabrics[0].half_round_trip
    assert found is not None
    assert found.as_text == "measured: 2026-11-21 libfabric 1.17.0: put_notify of 8 bytes"
    assert _row(tmp_path, "").fabrics[0].half_round_trip is None


@pytest.mark.parametrize(("old", "new", "said"), [
    ("ns: 3300", "ns: 0", "half_round_trip.ns"),
    ("ns: 3300", "ns: 3.3", "3.3 is read as a fraction"),
    ("    machine: \"a machine\"\n", "", "machine"),
    ("2026-11-21", "2099-01-01", "half_round_trip was measured on 2099-01-01, which is after today"),
])
def test_a_wrong_one_is_refused_by_name(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(Refused) as refused:
        _row(tmp_path, ENTRY.replace(old, new))
    assert said in str(refused.value)


def test_generated_headers_have_the_number_of_their_row() -> None:
    for fabric in read_matrix(ROOT / "providers.yaml").fabrics:
        text = (ROOT / "generated" / f"{fabric.name}.hpp").read_text("utf-8")
        wanted = fabric.half_round_trip
        assert (f"half_round_trip_ns = {wanted.ns};" in text) if wanted else ("half_round_trip_ns" not in text)
