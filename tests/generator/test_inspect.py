# SPDX-License-Identifier: Apache-2.0
"""The text in a binary: all its fabrics, offline, also after strip. The difference of two builds that cannot talk."""
from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import jsonschema
import pytest

from generator.schemas import all_schemas
from tests.generator.conftest import Run

PROGRAM = """
#include <weft/compose/built_for.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>
using own = weft::fabrics::loopback;
using other = weft::with<own, weft::answers::notify::message_after_delivery>;
int main() {
  weft::carry_built_for<FIRST>();
  weft::carry_built_for<SECOND>();
}
"""


@pytest.fixture(scope="module")
def programs(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Programs for the row as it is, for another answer of it, and for both; optimised and stripped."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "weft").symlink_to(root)
    (folder / "p.cpp").write_text(PROGRAM, "utf-8")
    made = {}
    for name, first, second in (("own", "own", "own"), ("other", "other", "other"), ("both", "own", "other")):
        made[name] = folder / name
        subprocess.run(
            [
                os.environ.get("CXX", "g++"),
                "-std=c++20",
                "-O2",
                "-s",
                "-ffunction-sections",
                "-fdata-sections",
                "-Wl,--gc-sections",
                f"-I{folder}",
                f"-DFIRST={first}",
                f"-DSECOND={second}",
                str(folder / "p.cpp"),
                "-o",
                str(made[name]),
            ],
            check=True,
            timeout=120,
        )
    return made


def test_a_binary_tells_its_fabrics(weft: Run, programs: dict[str, Path]) -> None:
    done = weft("inspect", programs["both"], "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    jsonschema.Draft202012Validator(all_schemas()["inspect"]).validate(answer)
    fabrics = answer["binaries"][0]["fabrics"]
    assert sorted("notify::message_after_delivery" in each["answers"].split() for each in fabrics) == [False, True]
    assert {each["fabric"] for each in fabrics} == {"loopback"} and {each["row"] for each in fabrics} == {
        "as in this tree"
    }
    assert "fabric loopback" in weft("inspect", programs["own"]).stdout


def test_two_builds_that_cannot_talk_are_told_apart(weft: Run, programs: dict[str, Path]) -> None:
    done = weft("inspect", programs["own"], programs["other"])
    assert done.returncode == 1
    assert done.stdout.endswith(
        "they cannot talk: fabric loopback: the one was built for notify=immediate, "
        "the other for notify=message_after_delivery\n"
    )
    assert weft("inspect", programs["own"], programs["own"]).stdout.endswith("they can talk\n")
    assert weft("inspect", programs["other"], programs["both"]).returncode == 0


def test_another_tree_is_noticed(weft: Run, programs: dict[str, Path], root: Path, tmp_path: Path) -> None:
    text = (root / "providers.yaml").read_text("utf-8")
    (tmp_path / "m.yaml").write_text(
        text.replace(
            'queue_depth: {is: 256, claimed: "[weft-loopback]', 'queue_depth: {is: 512, claimed: "[weft-loopback]'
        ),
        "utf-8",
    )
    assert "this tree has another row" in weft("inspect", programs["own"], "--matrix", tmp_path / "m.yaml").stdout
    rules = (root / "generator" / "rules.yaml").read_text("utf-8")
    (tmp_path / "r.yaml").write_text(rules.replace("wire: false", "wire: true", 1), "utf-8")
    assert "this tree has other rules" in weft("inspect", programs["own"], "--rules", tmp_path / "r.yaml").stdout
    (tmp_path / "one.yaml").write_text((root / "tests/generator/cases/valid_tiny.yaml").read_text("utf-8"), "utf-8")
    assert "this tree has no such row" in weft("inspect", programs["own"], "--matrix", tmp_path / "one.yaml").stdout


@pytest.mark.parametrize(
    "data, sentence",
    [
        (b"", "is no ELF file: give a program or a shared object"),
        (b"\x7fELF nothing of ours", "does not say what it was built for"),
        (b"\x7fELF weft-built-for 2\nfabric=tcp\n\0", "in version 2 of that text; this command reads version 1"),
        (b"\x7fELF weft-built-for 1\nfabric=tcp\n\0", "holds a damaged text"),
    ],
)
def test_what_is_no_binary_of_weft_gets_a_sentence(weft: Run, tmp_path: Path, data: bytes, sentence: str) -> None:
    (tmp_path / "b").write_bytes(data)
    done = weft("inspect", "b")
    assert done.returncode == 1 and sentence in done.stderr and "Traceback" not in done.stderr
