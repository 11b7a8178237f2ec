# SPDX-License-Identifier: Apache-2.0
"""`./weft clean`: files of a killed process are listed, and removed on request. Nothing else is touched."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from generator.schemas import all_schemas
from tests.generator.conftest import Run

_MAKES_A_FILE = """
import os, sys, time
for end in ("0", "0_7"):
    with open(f"{sys.argv[1]}/{os.getpid()}:{os.geteuid()}:{end}", "wb") as file:
        file.truncate(2**20)
print("made", flush=True)
time.sleep(600)
"""


@pytest.fixture
def killed(tmp_path: Path) -> list[Path]:
    """Two files of a process that was killed."""
    command = [sys.executable, "-c", _MAKES_A_FILE, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as it:
        assert it.stdout is not None
        assert it.stdout.readline() == "made\n"
        it.kill()
    return sorted(tmp_path.iterdir())


def test_the_files_of_a_killed_process_are_listed_and_kept(weft: Run, tmp_path: Path, killed: list[Path]) -> None:
    result = weft("clean", "--folder", str(tmp_path))
    assert result.returncode == 0
    assert [line.split()[0] for line in result.stdout.splitlines()[:-1]] == [str(each) for each in killed]
    assert "2 in all: 2.0 MiB; --remove removes them" in result.stdout
    assert all(each.exists() for each in killed)


def test_they_are_removed_on_request(weft: Run, tmp_path: Path, killed: list[Path]) -> None:
    result = weft("clean", "--remove", "--folder", str(tmp_path))
    assert result.returncode == 0
    assert "removed 2 of 2: 2.0 MiB" in result.stdout
    assert not any(each.exists() for each in killed)
    assert "nothing of killed processes" in weft("clean", "--folder", str(tmp_path)).stdout


def test_other_files_stay(weft: Run, tmp_path: Path, killed: list[Path]) -> None:
    dead = killed[0].name.split(":")[0]
    living = tmp_path / f"{os.getpid()}:{os.geteuid()}:0"
    plain = [living] + [tmp_path / name for name in (dead, f"{dead}:0", f"{dead}:0:x", f"{dead}:0:0_", f"0{dead}:0:0")]
    for each in plain:
        each.write_bytes(b"")
    (tmp_path / f"{dead}:0:8").mkdir()
    (tmp_path / f"{dead}:0:9").symlink_to(living)
    assert "removed 2 of 2" in weft("clean", "--remove", "--folder", str(tmp_path)).stdout
    assert len(list(tmp_path.iterdir())) == len(plain) + 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_files_of_other_users_stay(weft: Run, tmp_path: Path, killed: list[Path]) -> None:
    os.chown(killed[0], 65534, 65534)
    assert "removed 1 of 1" in weft("clean", "--remove", "--folder", str(tmp_path)).stdout
    assert killed[0].exists()


def test_an_unknown_folder_is_refused(weft: Run) -> None:
    assert weft("clean", "--folder", "/nowhere").returncode == 2


def test_the_json_has_what_the_text_says(weft: Run, tmp_path: Path, killed: list[Path]) -> None:
    for options, end in (((), "left"), (("--remove",), "removed")):
        answer = json.loads(weft("clean", *options, "--format", "json", "--folder", str(tmp_path)).stdout)
        jsonschema.Draft202012Validator(all_schemas()["clean"]).validate(answer)
        assert [Path(each["file"]) for each in answer["files"]] == sorted(killed)
        assert {each["end"] for each in answer["files"]} == {end}
    assert not any(path.exists() for path in killed)
