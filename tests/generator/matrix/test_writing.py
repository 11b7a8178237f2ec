# SPDX-License-Identifier: Apache-2.0
"""A matrix that commands edit is whole at each moment, and keeps its line ends, its link and its rights."""
from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from generator.matrix.layout import require_lines
from generator.matrix.loader import Refused, text_of
from generator.matrix.writing import edited, write

TEXT = "one: 1\n" * 100


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    path = tmp_path / "m.yaml"
    path.write_text(TEXT, "utf-8")
    return path


def test_a_write_that_finds_no_room_leaves_the_old_text(matrix: Path) -> None:
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
        try:
            write(matrix, TEXT + "two: 2\n")
        except Refused as refused:
            os._exit(0 if "m.yaml:1: cannot be written: File too large; nothing was changed" in str(refused) else 2)
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert matrix.read_text("utf-8") == TEXT and [*matrix.parent.iterdir()] == [matrix]


def test_a_link_and_its_rights_stay(matrix: Path, tmp_path: Path) -> None:
    matrix.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(matrix)
    write(link, "two: 2\n")
    assert link.is_symlink() and matrix.read_text("utf-8") == "two: 2\n" and matrix.stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_no_file_to_write(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Refused, match="pipe:1: cannot be written: it is no regular file; nothing was changed"):
        write(tmp_path / "pipe", TEXT)


@pytest.mark.parametrize("before, after", [
    ("a\nb\n", "a\nnew\nb\n"), ("a\r\nb\r\n", "a\r\nnew\r\nb\r\n"), ("a\r\nb\n", "a\r\nnew\nb\n"),
])
def test_line_ends_stay(before: str, after: str, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_bytes(before.encode())
    write(path, edited(text_of(path, "m"), lambda text: text.replace("b\n", "new\nb\n")))
    assert path.read_bytes() == after.encode()


def test_sources_in_braces_are_not_edited() -> None:
    with pytest.raises(Refused, match="m.yaml:2: sources are in braces: give each source a line of its own"):
        require_lines("\nsources: {a: {kind: claimed, text: b}}\n", "m.yaml")
