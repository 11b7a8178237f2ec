# SPDX-License-Identifier: Apache-2.0
"""What was observed of releases: kept as data, compared release by release, explained, and held against the rows."""
from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from generator.matrix.loader import Refused
from generator.matrix.model import Version, read_matrix
from generator.probing import Provenance, command
from generator.probing.rows import Probed
from generator.releasing import drift, page, places, records
from generator.releasing.drift import Explanation
from generator.releasing.records import Release, RowSeen, Seen

ROOT = Path(__file__).resolve().parents[3]


def release(library: str, cells: Mapping[str, Seen] | None, name: str = "") -> Release:
    row = RowSeen("2026-11-26", "" if cells else "it is too old", cells or {})
    return Release(name or f"source-{library}", library, "built from its source", "6.1", {"tcp": row})


OLD = release("1.11.0", {"key_bytes": Seen(8, 8), "inject_bytes": Seen(64, 64), "atomics": Seen(None, "none")})
NEW = release("2.1.0", {"key_bytes": Seen(8, 8), "inject_bytes": Seen(128, 128),
                        "atomics": Seen(None, None, "lost: it hung")})


def test_a_file_says_what_was_written(tmp_path: Path) -> None:
    kept = tmp_path / "source-2.1.0.json"
    kept.write_text(records.written(NEW))
    assert records.read(kept) == NEW
    assert json.loads(kept.read_text())["rows"]["tcp"]["cells"]["inject_bytes"] == {"claimed": 128, "shown": 128}


def test_faults_are_kept_and_told(tmp_path: Path) -> None:
    row = replace(NEW.rows["tcp"], faults=("wrong_key told delivered success: it must not be success",))
    told = replace(NEW, rows={"tcp": row})
    kept = tmp_path / "source-2.1.0.json"
    kept.write_text(records.written(told))
    assert records.read(kept) == told
    assert "With `source-2.1.0`: wrong_key told delivered success" in page.of_row("tcp", [OLD, told], [], [])


@pytest.mark.parametrize("text", ("{", "[]", '{"library": "2.1.0"}'))
def test_a_file_that_is_no_record_is_a_sentence(tmp_path: Path, text: str) -> None:
    kept = tmp_path / "damaged.json"
    kept.write_text(text)
    with pytest.raises(Refused, match="is no record of a release"):
        records.read(kept)


def test_releases_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for library in ("2.1.0", "1.9.0", "1.17.0"):
        (tmp_path / f"source-{library}.json").write_text(records.written(release(library, {})))
    assert [each.library for each in records.read_all(tmp_path)] == ["1.9.0", "1.17.0", "2.1.0"]


def test_each_difference_is_found_once() -> None:
    found = drift.differences((OLD, NEW), ("tcp",))
    assert [(each.cell, each.what, each.was, each.now) for each in found] == [
        ("atomics", "shown", "none", "lost"),
        ("inject_bytes", "claimed", "64", "128"),
        ("inject_bytes", "shown", "64", "128")]


def test_a_cell_that_came_later_is_compared_with_the_nearest_release_that_has_it() -> None:
    with_it, without = {"key_bytes": Seen(8, 8), "inject_bytes": Seen(64, 64)}, {"key_bytes": Seen(8, 8)}
    all_of_them = (release("1.11.0", without), release("1.17.0", with_it), release("2.0.0", without), NEW)
    found = drift.differences(all_of_them, ("tcp",))
    assert [(each.cell, each.what, each.before.library, each.after.library) for each in found] == [
        ("inject_bytes", "claimed", "1.17.0", "2.1.0"), ("inject_bytes", "shown", "1.17.0", "2.1.0")]
    text = page.of_row("tcp", all_of_them, found, [])
    assert "1 of 1 cells are the same with all releases that have the row" in text
    assert "Observed with `source-2.1.0` only: `atomics`." in text
    assert "Observed with `source-1.17.0`, `source-2.1.0` only: `inject_bytes`." in text


def test_a_row_that_appears_is_a_difference_and_has_no_cells_before() -> None:
    found = drift.differences((release("1.11.0", None), NEW), ("tcp",))
    assert [(each.cell, each.was, each.now) for each in found] == [("", "absent", "present")]


def test_an_explanation_fits_its_row_cell_kind_and_release() -> None:
    found = drift.differences((OLD, NEW), ("tcp",))
    known = Explanation(("tcp",), ("inject_bytes",), "both", "2.1.0", "it grew", "NEWS", "")
    assert [drift.explained(each, [known]) is known for each in found] == [False, True, True]
    assert drift.unused([known], found) == []
    for wrong in (replace(known, to="2.2.0"), replace(known, rows=("tcp", "shm")),
                  replace(known, cells=("inject_bytes", "key_bytes")), replace(known, what="present")):
        assert drift.unused([wrong], found)


def test_a_contradicted_row_is_named(root: Path) -> None:
    matrix = read_matrix(root / "providers.yaml", "providers.yaml")
    wrong = release("2.1.0", {"key_bytes": Seen(4, 4)})
    assert [sentence.split(" is ")[0] for sentence in page.contradictions(matrix, [wrong])] == [
        "source-2.1.0: tcp.key_bytes"]
    assert page.contradictions(matrix, [release("2.1.0", {"key_bytes": Seen(8, 8)})]) == []


@pytest.mark.parametrize("running, warned", (("1.10", True), ("1.11", False), ("1.15", False), ("2.1", False),
                                             ("2.2", True)))
def test_a_release_outside_what_was_observed_is_warned_of(running: str, warned: bool) -> None:
    sentence = records.outside((OLD, NEW), "tcp", running)
    assert bool(sentence) == warned
    assert not warned or (running in sentence and "1.11 to 2.1" in sentence)
    assert records.outside((OLD, NEW), "shm", running) == ""


@pytest.mark.parametrize("running, warnings", (("2.1", 0), ("2.6", 1)))
def test_check_live_warns_of_such_a_release(root: Path, monkeypatch: pytest.MonkeyPatch,
                                            capsys: pytest.CaptureFixture[str], running: str, warnings: int) -> None:
    matrix = read_matrix(root / "providers.yaml", "providers.yaml")
    tcp = matrix.fabric("tcp")
    assert tcp is not None
    probed = Probed(tcp, (), Provenance(f"libfabric {running}.0", running, "6.1", "lo", "2026-11-26"), running)
    monkeypatch.setattr(command, "probe_present", lambda *_, **__: ([probed], []))
    monkeypatch.setattr(command, "observed_releases", lambda: (OLD, NEW))
    for kind in ("table", "json"):
        with pytest.raises(SystemExit) as left:
            command.check_live(matrix, node="127.0.0.1", program=None, kind=kind, benches=False)
        assert left.value.code == 0
        told = capsys.readouterr().out
        found = json.loads(told)["outside"] if kind == "json" else re.findall("^warning: (.*)$", told, re.M)
        assert len(found) == warnings and all("observed with libfabric 1.11 to 2.1" in each for each in found)


@pytest.mark.parametrize("running, warned", (("2.4", False), ("2.5", True), ("2.6", True)))
def test_check_live_warns_of_refused_writes_that_end_as_successes(root: Path, monkeypatch: pytest.MonkeyPatch,
                                                                  capsys: pytest.CaptureFixture[str], running: str,
                                                                  warned: bool) -> None:
    matrix = read_matrix(root / "providers.yaml", "providers.yaml")
    shm = matrix.fabric("shm")
    assert shm is not None
    probed = Probed(shm, (), Provenance(f"libfabric {running}.0", running, "6.1", "lo", "2026-11-26"), running)
    monkeypatch.setattr(command, "probe_present", lambda *_, **__: ([probed], []))
    monkeypatch.setattr(command, "observed_releases", lambda: ())
    for kind in ("table", "json"):
        with pytest.raises(SystemExit):
            command.check_live(matrix, node="127.0.0.1", program=None, kind=kind, benches=False)
        told = capsys.readouterr().out
        found = json.loads(told)["limits"] if kind == "json" else re.findall("^warning: (.*)$", told, re.M)
        assert [f"shm: libfabric {running} tells success of a write" in each for each in found] == [True] * warned


def test_a_folder_that_is_no_source_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="is no source of libfabric"):
        places.place_of_source(tmp_path)
    (tmp_path / "configure.ac").write_text("AC_INIT([libfabric], [9.8.7], [nobody])\n")
    assert places.place_of_source(tmp_path).name == "source-9.8.7"


def test_the_command_refuses_what_it_does_not_know() -> None:
    for words in (("--release", "debian-1"), ("--row", "cxi"), ("paint",)):
        done = subprocess.run([ROOT / "scripts" / "releases", *words], capture_output=True, text=True, timeout=60,
                              check=False)
        assert done.returncode == 2 and words[-1] in done.stderr


def test_a_machine_without_debootstrap_skips_with_a_sentence(tmp_path: Path) -> None:
    """Each release is skipped, and the exit code says so."""
    done = subprocess.run(["/usr/bin/python3", "-B", "-c", _WITHOUT, str(ROOT), str(tmp_path)], capture_output=True,
                          text=True, timeout=60, check=False, env={**os.environ, "PATH": str(tmp_path)})
    assert done.returncode == 77, done.stdout + done.stderr
    assert "debootstrap is not installed" in done.stdout


_WITHOUT = """
import pathlib, runpy, sys
tree, build = sys.argv[1:]
sys.path.insert(0, tree)
from generator.releasing import places
places.BUILD = pathlib.Path(build)
sys.argv[1:] = ["make", "--release", "debian-12"]
runpy.run_path(f"{tree}/scripts/releases", run_name="__main__")
"""


def test_committed_data_is_whole_and_no_row_contradicts_it(root: Path) -> None:
    releases = records.read_all()
    matrix = read_matrix(root / "providers.yaml", "providers.yaml")
    whole = [each for each in releases if set(places.rows()) <= set(each.rows)]
    assert len({each.version for each in whole}) >= 3
    assert page.contradictions(matrix, releases) == []
    assert drift.unused(drift.read_explanations(), drift.differences(releases, places.rows())) == []
    assert min(each.version for each in releases) <= Version(1, 17) <= max(each.version for each in releases)
