# SPDX-License-Identifier: Apache-2.0
"""The copy of a tree follows the tree, and a tree is changed at once or not at all."""
from __future__ import annotations

import os
from pathlib import Path

import pytest

from generator.adding import staging
from generator.adding.staging import replace_all, stage
from generator.matrix.loader import Refused


def _content(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*")
            if path.is_file()}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in {"a.hpp": "a", "sub/b.hpp": "b", ".git/HEAD": "x", "build/c.o": "c", "other/CMakeCache.txt": "",
                       "other/big.o": "", "sub/__pycache__/b.pyc": ""}.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "tree"


def test_a_copy_has_sources_only_and_follows_them(tree: Path, tmp_path: Path) -> None:
    at = tree / "build" / "add" / "tree"
    stage(tree, at)
    assert _content(at) == {"a.hpp": "a", "sub/b.hpp": "b"}
    before = (at / "a.hpp").stat()
    (tree / "sub" / "b.hpp").write_text("new", "utf-8")
    (at / "made.hpp").write_text("made", "utf-8")
    os.link(tree / "a.hpp", tmp_path / "kept")
    stage(tree, at)
    assert _content(at) == {"a.hpp": "a", "sub/b.hpp": "new"}
    assert (at / "a.hpp").stat().st_mtime_ns == before.st_mtime_ns and (at / "a.hpp").stat().st_ino == before.st_ino
    assert (at / "a.hpp").stat().st_ino != (tree / "a.hpp").stat().st_ino  # a change of the copy is none of the tree


def test_half_a_copy_is_copied_again(tree: Path) -> None:
    at = tree / "build" / "tree"
    stage(tree, at)
    (at / "sub" / "b.hpp").write_text("B", "utf-8")  # as long as the file, and of another time
    stage(tree, at)
    assert _content(at) == {"a.hpp": "a", "sub/b.hpp": "b"}


def test_only_what_differs_is_written(tree: Path) -> None:
    before = (tree / "a.hpp").stat().st_mtime_ns
    (tree / "sub" / "b.hpp").chmod(0o640)
    written = replace_all(tree, {"a.hpp": b"a", "sub/b.hpp": b"2", "new/c.hpp": b"3"})
    assert written == ["sub/b.hpp", "new/c.hpp"]
    assert (tree / "a.hpp").stat().st_mtime_ns == before
    assert (tree / "sub" / "b.hpp").stat().st_mode & 0o777 == 0o640
    assert (tree / "new" / "c.hpp").read_bytes() == b"3"
    assert [path for path in tree.rglob(".*.new")] == []


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_write_that_fails_leaves_everything_as_it_was(tree: Path, failing: int,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    before, replaced = _content(tree), []

    def replace(old: Path, new: Path) -> None:
        replaced.append(new)
        if len(replaced) == failing:
            raise OSError(28, "No space left on device")
        os.rename(old, new)

    monkeypatch.setattr(staging.os, "replace", replace)
    names = ["a.hpp", "new.hpp", "sub/b.hpp"]
    with pytest.raises(Refused, match=f"{names[failing - 1]}:1: cannot be written: No space left on device; nothing"):
        replace_all(tree, dict.fromkeys(names, b"changed"))
    assert _content(tree) == before
