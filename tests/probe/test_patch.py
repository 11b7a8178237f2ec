# SPDX-License-Identifier: Apache-2.0
"""Mending the matrix: values, claims and evidence change, comments stay, and a later release gets a range."""
from __future__ import annotations

import json
import re

import pytest
from recorded_findings import ROOT, recorded
from test_cells import changed

from generator.matrix.layout import with_source
from generator.matrix.loader import Refused, load_text
from generator.matrix.model import Matrix, Version, matrix_of, read_matrix
from generator.probing.compare import compare, range_for
from generator.probing.patch import difference, mended
from generator.probing.running import provenance_of, read_cells
from generator.probing.seen import Seen
from generator.matrix.sources import Source

TEXT = (ROOT / "providers.yaml").read_text("utf-8")
KEY_BYTES = TEXT[TEXT.index("    key_bytes:"):].split("\n    #", 1)[0].split("\n")[:3]


def mend(text: str, matrix: Matrix, fabric: str, seen: Seen, release: str = "1.17") -> str:
    row = matrix.fabric(fabric)
    assert row is not None
    span = range_for(row, release)
    assert span is not None
    return mended(text, row, compare(fabric, span.cells, read_cells(seen), release), provenance_of(seen), release)


def test_a_row_that_agrees_stays_as_it_is(matrix: Matrix) -> None:
    assert mend(TEXT, matrix, "tcp", recorded("tcp")) == TEXT


def test_a_wrong_cell_is_mended_where_it_stands(matrix: Matrix, tmp_path_factory: pytest.TempPathFactory) -> None:
    after = mend(TEXT, matrix, "tcp", changed(recorded("tcp"), "keys", widest_key_bytes=4))
    removed = [line for line in difference(TEXT, after, "m").splitlines() if line.startswith("-")
               and not line.startswith("---")]
    assert all(line in KEY_BYTES for line in (each[1:] for each in removed)) and any("key_bytes: {is: 8" in each
                                                                                     for each in removed)
    trial = tmp_path_factory.mktemp("matrix") / "m.yaml"
    trial.write_text(after, "utf-8")
    row = read_matrix(trial).fabric("tcp")
    assert row is not None
    cell = row.ranges[0].cells["key_bytes"]
    assert cell.value == 4 and cell.claimed_value == 8
    assert cell.evidence.observed is not None and "weft probe: widest_key_bytes 4" in cell.evidence.observed
    assert all(part in cell.evidence.observed for part in ("libfabric 1.17", "API 1.17", "Linux"))


def test_a_claim_that_is_refuted_is_marked_and_the_evidence_kept(matrix: Matrix) -> None:
    marked = "remote_counter_counts_writes: {is: false, claimed_value: true,"
    assert marked in TEXT
    unmarked = TEXT.replace(marked, "remote_counter_counts_writes: {is: false,", 1)
    trial = load_text(unmarked, "m")
    assert "claimed_value" not in trial.data["tcp"]["facts"]["remote_counter_counts_writes"]
    row = matrix_of(trial).fabric("tcp")
    assert row is not None
    seen = recorded("tcp")
    judged = compare("tcp", row.ranges[0].cells, read_cells(seen))
    assert [each.cell.name for each in judged if each.wrong] == ["remote_counter_counts_writes"]
    assert mended(unmarked, row, judged, provenance_of(seen), "1.17") == TEXT


def test_a_claim_that_a_later_release_does_not_make_ends_there(matrix: Matrix) -> None:
    seen = changed(recorded("tcp"), "claims", library="2.1", library_release="2.1.0", progress_if_automatic="manual")
    after = mend(TEXT, matrix, "tcp", seen, "2.1")
    changes = [line for line in difference(TEXT, after, "m").splitlines()
               if line[0] in "+-" and line[:3] not in ("+++", "---")]
    assert len(changes) <= 5 and [line.split()[1:] for line in changes if "claimed_until" in line] == [
        ["claimed_until:", '"2.1",']
    ]
    row = matrix_of(load_text(after, "m")).fabric("tcp")
    assert row is not None and row.ranges[0].cells["data_progress"].claimed_by(Version.of("2.1")) is None
    assert mend(after, matrix_of(load_text(after, "m")), "tcp", seen, "2.1") == after


def test_what_a_later_release_changes_gets_a_range_of_its_own(matrix: Matrix,
                                                              tmp_path_factory: pytest.TempPathFactory) -> None:
    later = changed(changed(recorded("tcp"), "keys", widest_key_bytes=4), "claims", key_bytes=4, library="2.1",
                    library_release="2.1.0", api="2.1")
    trial = tmp_path_factory.mktemp("matrix") / "m.yaml"
    trial.write_text(mend(TEXT, matrix, "tcp", later, "2.1"), "utf-8")
    row = read_matrix(trial).fabric("tcp")
    assert row is not None
    assert [str(span.since) for span in row.ranges] == ["1.15", "2.1"]
    assert (row.ranges[0].cells["key_bytes"].value, row.ranges[1].cells["key_bytes"].value) == (8, 4)
    assert row.ranges[1].since == Version(2, 1) and row.ranges[1].changed == ("key_bytes",)


def test_what_agrees_says_what_was_seen_only_where_nobody_had_observed_it(matrix: Matrix) -> None:
    row = matrix.fabric("tcp")
    assert row is not None
    seen = recorded("tcp")
    verdicts = compare("tcp", row.ranges[0].cells, read_cells(seen))
    after = mended(TEXT, row, verdicts, provenance_of(seen), "1.17", observe=True)
    noted = [line for line in difference(TEXT, after, "m").splitlines() if line.startswith("+")
             and not line.startswith("+++")]
    blank = [each for each in verdicts if not each.wrong and each.finding.test and not each.cell.evidence.observed]
    assert sum('observed: "[probe-' in line for line in noted) == len(blank)
    assert max(len(line) for line in after.splitlines()) <= 120
    assert mended(TEXT, row, verdicts, provenance_of(seen), "1.17") == TEXT


def test_a_source_that_lost_its_last_cell_goes_and_the_run_is_named_once() -> None:
    only_here = "libfabric-1.17.0-2026-11-23"
    text, name = with_source(TEXT, only_here, Source("observed", date="2026-11-23", library="libfabric 1.17.0"))
    cell = text.index("observed:", text.index("\n    key_bytes:"))
    text = text[:cell] + re.sub(r"\[.*?\]", f"[{name}]", text[cell:], count=1)
    given = matrix_of(load_text(text, "m"))
    after = mend(text, given, "tcp", changed(recorded("tcp"), "keys", widest_key_bytes=4))
    assert f"  {only_here}:" in text and only_here not in after
    runs = [line for line in after.splitlines() if line.startswith("  probe-") and line not in TEXT.splitlines()]
    assert len(runs) == 1
    assert mend(after, matrix_of(load_text(after, "m")), "tcp",
                changed(recorded("tcp"), "keys", widest_key_bytes=4)) == after


def _in_one_line(text: str) -> str:
    """The same matrix, with the facts of tcp in braces."""
    start = text.index("  facts:\n", text.index("\ntcp:"))
    end = text.index("\n\n", start)
    cells = re.sub(r"\n *#.*", "", text[start + len("  facts:\n"):end].rstrip())
    return text[:start] + "  facts: {" + re.sub(r"\}\n    (?=\w+: \{)", "}, ", cells).strip() + "}" + text[end:]


def test_a_cell_that_shares_its_line_is_refused_and_no_neighbour_lost(matrix: Matrix) -> None:
    text = _in_one_line(TEXT)
    assert "}, key_bytes: {is: 8," in text
    row = matrix_of(load_text(text, "m")).fabric("tcp")
    assert row is not None
    seen = changed(recorded("tcp"), "keys", widest_key_bytes=4)
    verdicts = compare("tcp", row.ranges[0].cells, read_cells(seen), "1.17")
    line = 1 + text.count("\n", 0, text.index("}, key_bytes: {is: 8,", text.index("\ntcp:")))
    with pytest.raises(Refused, match=f"^m.yaml:{line}: the cell key_bytes shares its line with others: give it a "):
        mended(text, row, verdicts, provenance_of(seen), "1.17", file="m.yaml")


def test_a_row_in_braces_gets_no_range(matrix: Matrix) -> None:
    start = TEXT.index("\ntcp:") + 1
    end = TEXT.index("\n\n", start)
    text = TEXT.replace(TEXT[start:end], "tcp: " + json.dumps(load_text(TEXT, "m").data["tcp"]))
    row = matrix_of(load_text(text, "m")).fabric("tcp")
    assert row is not None
    seen = changed(recorded("tcp"), "claims", library="2.1", library_release="2.1.0", widest_key_bytes=4)
    with pytest.raises(Refused, match=r"^m.yaml:\d+: (tcp is in braces|the cell \w+ shares its line)"):
        mended(text, row, compare("tcp", row.ranges[0].cells, read_cells(changed(seen, "keys", widest_key_bytes=4)),
                                  "2.1"), provenance_of(seen), "2.1", file="m.yaml")
