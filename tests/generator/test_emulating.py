# SPDX-License-Identifier: Apache-2.0
"""The emulator's input: every cell of a row, compared with the emulator's source; and refusals of ./weft emulate."""
from __future__ import annotations

import re
from pathlib import Path

import pytest
from click import UsageError

from generator.emulating import MODULE, UNSEEN, emulator_in
from generator.matrix.interfaces import FILE as INTERFACES
from generator.matrix.interfaces import FORMATS, interface
from generator.matrix.facts import FACTS
from generator.matrix.loader import Refused
from generator.tracing import running
from tests.generator.conftest import Run

INTERFACE = {name for name, _ in interface("efa")}


def test_the_emulator_knows_every_cell(root: Path) -> None:
    """A new fact of the matrix is emulated, or listed among those that do not affect a provider's calls."""
    known = set(
        re.findall(
            r'\{"([a-z_]+)", (?:text|flag|number|word|set_|nothing)',
            (root / "emulator" / "cells.cpp").read_text("utf-8"),
        )
    )
    assert {fact.name for fact in FACTS} <= known
    assert known - {fact.name for fact in FACTS} == {"fabric"} | INTERFACE
    unseen = re.findall(r'\{"([a-z_]+)", nothing\}', (root / "emulator" / "cells.cpp").read_text("utf-8"))
    assert UNSEEN == set(unseen)


def test_every_row_over_libfabric_has_a_profile_with_every_cell(root: Path) -> None:
    profiles = sorted((root / "generated" / "profiles").glob("*.profile"))
    assert "efa" in [each.stem for each in profiles]
    for each in profiles:
        parts = each.read_text("utf-8").split("since = ")[1:]
        assert parts, each
        for part in parts:
            named = re.findall(r"^([a-z_]+) =", part, re.MULTILINE)
            assert named[: len(FACTS)] == [fact.name for fact in FACTS], each
            assert set(named[len(FACTS) :]) == INTERFACE, each


def test_an_interface_is_what_the_file_says_and_the_usual_where_it_says_nothing() -> None:
    own = dict(interface("opx"))
    assert own["mem_tag_format"] == "0x" + 16 * "f"
    assert own["address"] == "14 8 0 64 none"
    assert own["poll_sets"] == dict(interface("nowhere"))["poll_sets"] == "false"
    assert dict(interface("gni"))["cancel_of_unknown"] == "2"
    assert dict(interface("efa"))["counted"] == "send receive write read remote_read"


def test_each_interface_is_that_of_a_row(root: Path) -> None:
    named = re.findall(r"^([a-z_0-9]+):", INTERFACES.read_text("utf-8"), re.MULTILINE)
    rows = {each.stem for each in (root / "generated" / "profiles").glob("*.profile")}
    assert {"default", "efa"} <= set(named) <= rows | {"default"}


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("a: {source: here, tagd: false}", "a: an interface has no attribute tagd; there are source, tagged"),
        ("a: {tagged: false}", "a: an interface needs a source: release and file"),
        ("a: {source: here, address: {format: FI_ADDR_HERE}}", "a.address: "),
        ("a: {source: here, cancel_of_unknown: FI_ENOTHING}", "a.cancel_of_unknown: 'FI_ENOTHING' is not of the form"),
    ],
)
def test_a_wrong_interface_is_refused_with_a_sentence(tmp_path: Path, entry: str, sentence: str) -> None:
    usual = INTERFACES.read_text("utf-8").split("\nefa: ")[0]
    file = tmp_path / "interfaces.yaml"
    file.write_text(f"{usual}\n{entry}\n", "utf-8")
    with pytest.raises(Refused) as refusal:
        interface("a", file)
    assert sentence in str(refusal.value)


def test_formats_of_addresses_have_the_numbers_of_the_library() -> None:
    header = Path("/usr/include/rdma/fabric.h")
    if not header.is_file():
        pytest.skip("libfabric-dev is not installed")
    listed = re.search(r"enum \{\s*(FI_FORMAT_UNSPEC,.*?)\};", header.read_text("utf-8"), re.DOTALL)
    assert listed is not None
    names = re.findall(r"^\s*(FI_[A-Z0-9_]+)", listed[1], re.MULTILINE)
    assert tuple(names[: len(FORMATS)]) == FORMATS


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nowhere", "--", "true"), "no row nowhere over libfabric; there are"),
        (("efa", "--faults", "thunder", "--", "true"), '"thunder" is not one of reorder'),
        (("efa", "--faults", "reorder=often", "--", "true"), '"reorder=often" is not one of'),
        (("efa", "--faults", "reorder=5000", "--", "true"), '"reorder=5000" is not one of reorder, again, early, '),
        (("efa", "--cell", "key_bytes=banana", "--", "true"),
         "key_bytes=banana: key_bytes is banana: expected a number from 1 to 255"),
        (("efa", "--cell", "key_byte=4", "--", "true"), "no cell 'key_byte'; did you mean 'key_bytes'?"),
        (("efa", "--cell", "context_bytes=48", "--", "true"), "context_bytes is 48: expected one of 0, 32, 64"),
        (("efa", "--cell", "atomics=maybe", "--", "true"), "atomics is maybe: expected one of none, provider"),
        (("efa", "--cell", "key_bytes", "--", "true"), "--cell key_bytes: write NAME=VALUE"),
        (("efa", "--cell", "same_host=true", "--", "true"), "no call of an emulated provider shows same_host, so"),
        (("efa", "--cell", "address_formats=in7", "--", "true"), "in7 is no format of addresses; there are in"),
        (("efa", "--cell", "provider=a,b", "--", "true"), "provider has a comma, which begins another cell"),
        (("efa", "--cell", "atomic_operations=add", "--", "true"), "'add' names no operations and types"),
        (("efa", "--build", "/", "--", "true"), "build the target weft-emulator-fi"),
    ],
)
def test_what_cannot_be_emulated_is_refused_with_a_sentence(
    weft: Run, arguments: tuple[str, ...], sentence: str
) -> None:
    result = weft("emulate", *arguments)
    assert result.returncode == 2
    assert sentence in " ".join(result.stderr.split())


def test_a_module_is_found_in_the_tree_before_where_it_was_installed(tmp_path: Path,
                                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "ROOT", tmp_path / "tree")
    monkeypatch.setattr(running, "PREFIXES", (tmp_path / "usr",))
    with pytest.raises(UsageError, match="no libweft-emulator-fi.so in a build directory of this tree, nor installed"):
        emulator_in(None)
    for folder in (tmp_path / "usr/lib/x86_64-linux-gnu/weft", tmp_path / "tree/build/release/emulator"):
        folder.mkdir(parents=True)
        (folder / MODULE).write_text("", "utf-8")
        assert emulator_in(None) == folder
    assert emulator_in(tmp_path / "usr/lib/x86_64-linux-gnu/weft").parent.name == "x86_64-linux-gnu"
    with pytest.raises(UsageError, match="no libweft-recorder.so in .*release: build the target weft-recorder"):
        running.recorder_in(tmp_path / "tree/build/release")
