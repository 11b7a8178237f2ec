# SPDX-License-Identifier: Apache-2.0
"""What is generated: golden files, the committed bytes, the same bytes each time, and a made-up row."""
from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from command import run_limited

from generator import decided as rows
from generator import emit, header
from generator.matrix.model import read_matrix
from generator.rules import Family

HERE = Path(__file__).parent
TINY = (HERE / "cases" / "valid_tiny.yaml").read_text("utf-8")


@pytest.fixture(scope="module")
def rendered(root: Path, families: tuple[Family, ...]) -> dict[str, bytes]:
    return emit.render(read_matrix(root / "providers.yaml", "providers.yaml"), families, root / "templates")


def test_golden(root: Path, families: tuple[Family, ...]) -> None:
    """After a wanted change: ./weft generate --matrix tests/generator/cases/valid_ranged.yaml --output
    tests/generator/golden
    """
    files = emit.render(read_matrix(HERE / "cases" / "valid_ranged.yaml"), families, root / "templates")
    golden = {path.relative_to(HERE / "golden").as_posix(): path.read_bytes() for path in (HERE / "golden").rglob("*")
              if path.is_file()}
    assert files == golden


def test_what_is_committed_is_what_is_generated(rendered: dict[str, bytes], root: Path) -> None:
    differing = [name for name, data in rendered.items() if (root / name).read_bytes() != data]
    assert differing == []
    found = {path.relative_to(root).as_posix() for path in (root / "generated").rglob("*") if path.is_file()}
    assert found == {name for name in rendered if name.startswith("generated/")}


def test_the_same_bytes_whatever_the_hash_seed_and_folder(tmp_path: Path, root: Path,
                                                          rendered: dict[str, bytes]) -> None:
    for seed in ("0", "4711"):
        out = tmp_path / seed
        done = run_limited([sys.executable, "-B", "-m", "generator", "generate", "--output", str(out)], cwd=root,
                           env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C", "TZ": "Asia/Tokyo"})
        assert (done.returncode, done.stderr) == (0, "")
        assert {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*")
                if path.is_file()} == rendered


def test_nothing_tells_where_or_when_it_was_made(rendered: dict[str, bytes], root: Path) -> None:
    for name, data in rendered.items():
        assert str(root).encode() not in data, name
        without_evidence = re.sub(rb"(?:observed|measured): (?:\" \")?20\d\d-\d\d-\d\d", b"",
                                  b" ".join(data.replace(b"//", b"").split()))
        assert not re.search(rb"\b20\d\d-\d\d-\d\d\b", without_evidence), name


def test_headers_are_short_and_lines_fit(rendered: dict[str, bytes]) -> None:
    for name, data in rendered.items():
        if name.endswith(".hpp"):
            lines = data.decode().splitlines()
            more_ranges = max(0, data.count(b"\nstruct ") - 2)
            assert len(lines) <= (280 if name.endswith(".why_not.hpp") else 168 + 36 * more_ranges), name
            bounded = [line for line in lines if not line.lstrip().startswith(".atomic_operations")]  # may be long
            assert max(len(line) for line in bounded) <= header.WIDTH, name


def test_writing_twice_writes_nothing(tmp_path: Path, rendered: dict[str, bytes]) -> None:
    assert sorted(emit.write(rendered, tmp_path)) == sorted(rendered)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert emit.write(rendered, tmp_path) == []
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()} == before


def _fingerprints(text: str, tmp_path: Path, families: tuple[Family, ...]) -> tuple[str, str]:
    (tmp_path / "m.yaml").write_text(text, "utf-8")
    matrix = read_matrix(tmp_path / "m.yaml")
    fabric = matrix.fabrics[0]
    choices = rows.decide_all(matrix, families)[0].choices[0]
    return (rows.fingerprint(fabric, fabric.ranges[0], choices, families),
            rows.identity(fabric, fabric.ranges[0], choices, families))


def _with(name: str, value: str) -> str:
    return re.sub(rf"(    {name}: {{is: )[^,]+", rf"\g<1>{value}", TINY)


@pytest.mark.parametrize("text, peers_differ, objects_differ", [
    (TINY.replace('text: "c"', 'text: "other"'), False, False),       # evidence is for people
    (_with("inject_bytes", "128"), False, True),  # known to one side only
    (_with("completion_wait", "none"), False, True),                    # so is how it waits
    (_with("key_bytes", "4"), True, True),                              # both sides see a key
    (_with("virtual_addressing", "true"), True, True),
    (TINY.replace("tiny:", "other:", 1), True, True),
])
def test_fingerprints(text: str, peers_differ: bool, objects_differ: bool, tmp_path: Path,
                      families: tuple[Family, ...]) -> None:
    peers, objects = _fingerprints(TINY, tmp_path, families)
    other_peers, other_objects = _fingerprints(text, tmp_path, families)
    assert (other_peers != peers, other_objects != objects) == (peers_differ, objects_differ)


def _row(matrix: str, name: str) -> str:
    found = re.search(rf"^{name}:\n(?:(?:[ #].*)?\n)*", matrix, re.M)
    assert found
    return found[0]


def test_a_made_up_row_needs_the_matrix_alone(tmp_path: Path, root: Path) -> None:
    """Facts of several providers in a new combination: the command makes a header with the legal answers, and it
    compiles.
    """
    text = (root / "providers.yaml").read_text("utf-8")
    row = _row(text, "ibverbs_iwarp").replace("ibverbs_iwarp:", "made_up:", 1)
    row = re.sub(r"backend: verbs", "backend: libfabric", row)
    for cell, value in {"provider": "made_up", "endpoint_type": "addressed", "address_resolution": "opaque",
                        "virtual_addressing": "false",
                        "key_owner": "application", "key_bytes": "2", "region_endpoint_binding": "true",
                        "remote_counter_counts_writes": "true",
                        "order_write_after_write": "true", "delivery_complete": "true", "refused_write": "silent",
                        "atomics": "provider",
                        "atomics_cost_order": "true", "data_progress": "thread", "completion_wait": "none",
                        "context_bytes": "32"}.items():
        row, count = re.subn(rf"(    {cell}: {{is: )[^,]+", rf"\g<1>{value}", row)
        assert count == 1, cell
    (tmp_path / "providers.yaml").write_text(text + "\n" + row, "utf-8")
    for command in ("generate", "check"):
        done = run_limited([root / "weft", command, "--matrix", tmp_path / "providers.yaml", "--output", tmp_path])
        assert (done.returncode, done.stderr) == (0, "")
    header = (tmp_path / "generated" / "made_up.hpp").read_text("utf-8")
    code = re.findall(r"^\s+answers::(\w+::\w+),?$", header, re.MULTILINE)
    assert code == ["endpoint::addressed", "bootstrap::exchange", "framing::header", "region_address::offset",
                    "region_key::application", "local_descriptor::required", "region_binding::endpoint",
                    "notify::remote_counter", "write_fault::delivery_confirmed", "atomics::target", "progress::thread",
                    "wait::spin", "threading::one_owner",
                    "completion::selective", "liveness::heartbeat", "receive_buffers::slots", "receive_pool::shared",
                    "flush::message_behind_writes", "coalesce::none", "queues::one", "inject::never",
                    "checks::verified", "authentication::none", "tagged::none"]
    assert " made_up" in (tmp_path / "generated" / "fabrics.cmake").read_text("utf-8")
    _compiles(root, tmp_path, "made_up")


def test_a_row_with_ranges_compiles(tmp_path: Path, root: Path) -> None:
    shutil.copytree(HERE / "golden" / "generated", tmp_path / "generated")
    _compiles(root, tmp_path, "ranged")


def _compiles(root: Path, tree: Path, fabric: str) -> None:
    """The header under tree/generated, with the other folders of this tree next to it."""
    for folder in ("core", "wire", "policies", "compose", "backends"):
        (tree / folder).symlink_to(root / folder)
    header = tree / "generated" / f"{fabric}.hpp"
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None or not Path("/usr/include/rdma/fabric.h").exists():
        pytest.skip("no compiler or no libfabric headers here: the header's text was checked, not its meaning to a "
                    "compiler")
    program = f'#include "{header}"\nstatic_assert(weft::complete_fabric<weft::fabrics::{fabric}>);\n'
    done = run_limited([compiler, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion",
                        "-Werror", "-fsyntax-only", "-x", "c++", "-"], 300, text_in=program)
    assert (done.returncode, done.stderr) == (0, "")
