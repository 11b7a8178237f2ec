# SPDX-License-Identifier: Apache-2.0
"""Bundles: what a probe found goes to another machine and into its matrix, and a changed file is refused."""
from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded_findings import ROOT, recorded

from generator.bundling import receiving
from generator.bundling.bundle import Bundle, Tampered, bundle_schema, read_bundle
from generator.bundling.receiving import received
from generator.bundling.sending import bundle_of
from generator.bundling.signing import signed as sign
from generator.matrix.model import Matrix, read_matrix
from generator.matrix.trust import level_of
from generator.probing.rows import Probed
from generator.probing.running import provenance_of

Change = Callable[[dict[str, Any]], object]


def weft(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-B", str(ROOT / "weft"), *map(str, arguments)], capture_output=True,
                          text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def bundle(matrix: Matrix) -> Bundle:
    """Of findings that were recorded with libfabric 1.17."""
    row = matrix.fabric("tcp")
    assert row is not None
    seen = recorded("tcp")
    return bundle_of(Probed(row, (), provenance_of(seen), "1.17", (), seen))


@pytest.fixture
def sent(bundle: Bundle, tmp_path: Path) -> Path:
    bundle.write(tmp_path / "tcp.json")
    return tmp_path / "tcp.json"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two keys, made for this test."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("sender", "stranger"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True, timeout=60)
    return folder / "sender", folder / "stranger"


def without_observations(folder: Path) -> Path:
    """A matrix in which nobody has seen the key bytes of tcp, and one cell is false."""
    text = (ROOT / "providers.yaml").read_text("utf-8")
    start = text.index("    key_bytes: {is: 8")
    end = text.index("\n    ", text.index("}", start))
    claimed = '    key_bytes: {is: 4, claimed: "[libfabric-1.11-to-2.6-prov-tcp]: mr_key_size 4"}'
    made = folder / "providers.yaml"
    made.write_text(text[:start] + claimed + text[end:], "utf-8")
    return made


def test_cells_get_the_bundle_as_evidence(sent: Path, bundle: Bundle, tmp_path: Path) -> None:
    matrix = without_observations(tmp_path)
    said = weft("add", "--from-bundle", sent, "--matrix", matrix)
    assert said.returncode == 0, said.stderr
    row = read_matrix(matrix).fabric("tcp")
    assert row is not None
    cell = row.ranges[0].cells["key_bytes"]
    assert cell.value == 8 and level_of(cell.evidence) == "observed"
    assert f"{bundle.name}, not signed" in str(cell.evidence.observed)
    assert "tcp.key_bytes is 4" in said.stderr and "the test shows 8" in said.stderr
    again = weft("add", "--from-bundle", sent, "--matrix", matrix)
    assert again.returncode == 0 and "the row has all of it already" in again.stderr


def test_a_fabric_without_a_row_gets_one(bundle: Bundle, tmp_path: Path) -> None:
    named = Bundle({**bundle.content, "fabric": "elsewhere"})
    named.write(tmp_path / "elsewhere.json")
    matrix = tmp_path / "providers.yaml"
    matrix.write_text((ROOT / "providers.yaml").read_text("utf-8"), "utf-8")
    said = weft("add", "--from-bundle", tmp_path / "elsewhere.json", "--matrix", matrix)
    assert said.returncode == 0 and "No suite ran" in said.stderr, said.stderr
    row = read_matrix(matrix).fabric("elsewhere")
    assert row is not None and row.ranges[0].cells["provider"].value == "tcp"


def test_a_dry_run_writes_nothing(sent: Path, tmp_path: Path) -> None:
    matrix = without_observations(tmp_path)
    before = matrix.read_bytes()
    said = weft("add", "--from-bundle", sent, "--matrix", matrix, "--dry-run")
    assert said.returncode == 0 and "+    key_bytes: {is: 8" in said.stdout
    assert matrix.read_bytes() == before


def resealed(change: Change) -> Change:
    """The change, with a digest that fits: what a forger would do."""
    def spoil(raw: dict[str, Any]) -> None:
        change(raw["content"])
        raw["digest"] = Bundle(raw["content"]).digest
    return spoil


def facts_of(content: dict[str, Any], behaviour: str) -> dict[str, Any]:
    facts: dict[str, Any] = next(each for each in content["findings"] if each["behaviour"] == behaviour)["facts"]
    return facts


def claims(content: dict[str, Any]) -> dict[str, Any]:
    return facts_of(content, "claims")


SPOILT: dict[str, tuple[Change, str]] = {
    "one fact": (lambda raw: claims(raw["content"]).update(key_bytes=4), "was changed: its digest is"),
    "the digest": (lambda raw: raw.update(digest="sha256:" + "0" * 64), "was changed: its digest is"),
    "no digest": (lambda raw: raw.update(digest="none"), "digest is not what a probe writes there"),
    "another version": (lambda raw: raw.update(weft_bundle=2), "weft_bundle is not what a probe writes there"),
    "more than a bundle has": (lambda raw: raw.update(run="rm -rf /"), "the file is not what a probe writes there"),
    "a type": (resealed(lambda content: facts_of(content, "largest").update(write_bytes=True)),
               "has another type"),
    "a number below 0": (resealed(lambda content: claims(content).update(key_bytes=-8)), "has another type"),
    "a line break": (resealed(lambda content: claims(content).update(device="lo\nevil: yes")), "is not what a probe"),
    "a name": (resealed(lambda content: content.update(fabric="../tcp")), "is not what a probe writes there"),
    "the future": (resealed(lambda content: content["provenance"].update(date="2999-01-01")), "after today"),
    "a twin": (resealed(lambda content: content["findings"].append(content["findings"][0])), "two findings"),
    "a release": (resealed(lambda content: content["provenance"].update(library="libfabric 2.1.0")),
                  "the findings are of libfabric 1.17, and its head says libfabric 2.1.0"),
    "nothing found": (resealed(lambda content: content.update(findings=[])), "is not what a probe writes there"),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_changed_bundle_is_refused(sent: Path, tmp_path: Path, how: str) -> None:
    spoil, sentence = SPOILT[how]
    raw = json.loads(sent.read_text("ascii"))
    spoil(raw)
    sent.write_text(json.dumps(raw), "ascii")
    matrix = without_observations(tmp_path)
    before = matrix.read_bytes()
    said = weft("add", "--from-bundle", sent, "--matrix", matrix)
    assert said.returncode == 2 and sentence in said.stderr, said.stderr
    assert len(said.stderr.splitlines()) == 1 and matrix.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b"{}", b"[" * 100_000, b'{"weft_bundle": NaN}'])
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "foreign").write_bytes(content)
    said = weft("add", "--from-bundle", tmp_path / "foreign")
    assert said.returncode == 2 and "is no bundle" in said.stderr, said.stderr


@pytest.mark.parametrize("value", ["x", -1, [["8"]], True])
def test_no_fact_of_another_type_ends_the_reader(bundle: Bundle, monkeypatch: pytest.MonkeyPatch, value: Any) -> None:
    for number, finding in enumerate(bundle.content["findings"]):
        for name in finding["facts"]:
            content = json.loads(bundle.canonical)
            content["findings"][number]["facts"][name] = value
            monkeypatch.setattr(receiving, "read_bundle", lambda path, changed=content: Bundle(changed))
            try:
                got = receiving.received(Path("bundle"), None)
            except Tampered:
                continue
            assert all(isinstance(each.value, (bool, int, str, type(None))) for each in got.cells), name


def test_a_bundle_of_another_provider_is_refused(bundle: Bundle, tmp_path: Path) -> None:
    other = Bundle({**bundle.content, "demands": {**bundle.content["demands"], "provider": "shm"}})
    other.write(tmp_path / "other.json")
    said = weft("add", "--from-bundle", tmp_path / "other.json", "--dry-run")
    assert said.returncode == 1 and 'tcp.provider is tcp, and the bundle is of shm' in said.stderr, said.stderr


def signed(path: Path, key: Path) -> None:
    sign(read_bundle(path), key).write(path)


def test_a_signature_says_who_sent_it(sent: Path, keys: tuple[Path, Path]) -> None:
    sender, stranger = keys
    signed(sent, sender)
    assert "signed by SHA256:" in received(sent, None).found_by.bundle
    assert received(sent, sender.with_suffix(".pub")).found_by == received(sent, None).found_by
    said = weft("add", "--from-bundle", sent, "--sender", stranger.with_suffix(".pub"), "--dry-run")
    assert said.returncode == 2 and "which is not the key of" in said.stderr


def test_a_signature_of_other_content_is_refused(sent: Path, keys: tuple[Path, Path]) -> None:
    """Also where the digest fits: that is what a signature is for."""
    signed(sent, keys[0])
    raw = json.loads(sent.read_text("ascii"))
    resealed(lambda content: claims(content).update(key_bytes=4))(raw)
    sent.write_text(json.dumps(raw), "ascii")
    said = weft("add", "--from-bundle", sent, "--dry-run")
    assert said.returncode == 2 and "its signature is not of its content" in said.stderr, said.stderr


def test_a_bundle_that_should_be_signed_is_refused_without(sent: Path, keys: tuple[Path, Path]) -> None:
    said = weft("add", "--from-bundle", sent, "--sender", keys[0].with_suffix(".pub"), "--dry-run")
    assert said.returncode == 2 and "has no signature" in said.stderr


def test_what_signs_nothing_and_what_is_no_key_are_named(sent: Path, keys: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no key\n\n", "ascii")
    said = weft("probe", "tcp", "--sign", tmp_path / "text")
    assert said.returncode == 2 and "give --bundle too" in said.stderr
    signed(sent, keys[0])
    said = weft("add", "--from-bundle", sent, "--sender", tmp_path / "text", "--dry-run")
    assert said.returncode == 2 and "is no public key" in said.stderr


def test_a_live_probe_makes_a_bundle_that_reads_back(program: Path, tmp_path: Path, keys: tuple[Path, Path]) -> None:
    path = tmp_path / "tcp.json"
    said = weft("probe", "tcp", "--program", program, "--bundle", path, "--sign", keys[0])
    assert said.returncode == 0 and f"wrote {path}" in said.stderr, said.stderr
    got = received(path, keys[0].with_suffix(".pub"))
    assert got.bundle.fabric == "tcp" and len(got.bundle.content["machine"]) > 5
    assert {each.cell for each in got.cells if each.shown is not None} > {"key_bytes", "order_send_after_write"}
    assert "prov_name: tcp" in got.bundle.content["fi_info"] and "src_addr" not in got.bundle.content["fi_info"]


def test_the_schema_names_every_part(bundle: Bundle) -> None:
    assert set(bundle_schema()["properties"]["content"]["required"]) == set(bundle.content)
    assert dataclasses.replace(bundle, signature="x").digest == bundle.digest
