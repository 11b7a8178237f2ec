# SPDX-License-Identifier: Apache-2.0
"""`weft check` finds a changed byte, a changed meaning, a missing and an unknown file, and names file and line."""
from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from generator import check, emit
from generator.matrix.loader import load_text
from generator.matrix.model import matrix_of, read_matrix
from generator.rules import Family
from tests.generator.conftest import Run


@pytest.fixture
def tree(tmp_path: Path, root: Path) -> Path:
    (tmp_path / "tree" / "docs").mkdir(parents=True)
    shutil.copytree(root / "generated", tmp_path / "tree" / "generated")
    shutil.copy(root / "docs" / "matrix.md", tmp_path / "tree" / "docs")
    (tmp_path / "tree" / "docs" / "reference").mkdir()
    shutil.copy(root / "docs" / "reference" / "matrix.html", tmp_path / "tree" / "docs" / "reference")
    return tmp_path / "tree"


def test_an_untouched_tree_agrees(weft: Run, tree: Path) -> None:
    done = weft("check", "--output", tree)
    assert (done.returncode, done.stderr) == (0, "")
    assert "files agree with" in done.stdout


@pytest.mark.parametrize("seed", range(5))
def test_one_changed_byte_is_named_by_file_and_line(weft: Run, tree: Path, seed: int) -> None:
    chance = random.Random(seed)
    path = chance.choice(sorted(path for path in (tree / "generated").iterdir() if path.is_file()))
    data = bytearray(path.read_bytes())
    place = chance.randrange(len(data))
    data[place] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    line = path.read_bytes()[:place].count(b"\n") + 1
    done = weft("check", "--output", tree)
    assert done.returncode == 1
    assert f"generated/{path.name}:{line}: differs from the matrix" in done.stderr


def test_a_line_more_and_a_line_less(weft: Run, tree: Path) -> None:
    path = tree / "generated" / "shm.hpp"
    whole = path.read_text("utf-8")
    path.write_text(whole + "// more\n", "utf-8")
    more = weft("check", "--output", tree)
    path.write_text(whole[: whole.rindex("#include")], "utf-8")
    less = weft("check", "--output", tree)
    last = whole.count("\n") + 1
    assert (more.returncode, less.returncode) == (1, 1)
    assert f"generated/shm.hpp:{last}: differs from the matrix: '// more' is there, '' is generated" in more.stderr
    told = """'' is there, '#include "shm.why_not.hpp"' is generated"""
    assert f"generated/shm.hpp:{last - 1}: differs from the matrix: {told}" in less.stderr


def test_missing_and_unaccounted_files(weft: Run, tree: Path) -> None:
    (tree / "generated" / "tcp.hpp").unlink()
    (tree / "generated" / "stray.hpp").write_text("", "utf-8")
    done = weft("check", "--output", tree)
    assert done.returncode == 1
    assert "generated/tcp.hpp:1: cannot be read (No such file or directory): run ./weft generate" in done.stderr
    assert "generated/stray.hpp:1: comes from no row of the matrix: delete it, or add the row" in done.stderr


@pytest.mark.parametrize(
    "file, old, new, sentence",
    [
        (
            "tcp.hpp",
            ".inject_bytes = 128",
            ".inject_bytes = 129",
            "inject_bytes is 128 in the matrix and the header says 129",
        ),
        (
            "tcp.hpp",
            "refusal::silent",
            "refusal::reported",
            "refused_write is silent in the matrix and the header says reported",
        ),
        (
            "tcp.hpp",
            ".since = {1, 15}",
            ".since = {1, 14}",
            "since is {1, 15} in the matrix and the header says {1, 14}",
        ),
        ("tcp.hpp", " .key_bytes = 8,", "", "key_bytes is 8 in the matrix and the header does not say it"),
        ("tcp_rxm.hpp", '"tcp;ofi_rxm"', '"tcp"', "provider is tcp;ofi_rxm in the matrix and the header says tcp"),
        (
            "verbs.hpp",
            "changed.atomics = atomic_execution::provider;",
            "",
            "atomics is provider in the matrix and the header does not say it",
        ),
        ("tcp.hpp", "atomics::target", "atomics::provider_", "atomics::provider_ is an answer of no family"),
        ("tcp.hpp", "      answers::atomics::target,\n", "", "answers atomics 0 times: once is right"),
        (
            "tcp.hpp",
            "      answers::atomics::target,\n",
            "      answers::atomics::target,\n      answers::atomics::provider,\n",
            "answers atomics 2 times: once is right",
        ),
    ],
)
def test_meaning_is_read_again_from_the_cpp(
    tree: Path, root: Path, families: tuple[Family, ...], file: str, old: str, new: str, sentence: str
) -> None:
    path = tree / "generated" / file
    text = path.read_text("utf-8")
    assert old in text
    assert check.check_meaning((root / "providers.yaml").read_text("utf-8"), tree, families) == []
    path.write_text(text.replace(old, new, 1), "utf-8")
    problems = check.check_meaning((root / "providers.yaml").read_text("utf-8"), tree, families)
    assert sentence in [problem.sentence for problem in problems]
    assert {problem.file for problem in problems} == {f"generated/{file}"}


def test_a_slip_of_the_template_is_seen_by_meaning(
    tree: Path, root: Path, families: tuple[Family, ...], tmp_path: Path
) -> None:
    """Bytes alone cannot see it: the fresh rendering has the same slip."""
    shutil.copytree(root / "templates", tmp_path / "templates")
    template = tmp_path / "templates" / "fabric.hpp.j2"
    template.write_text(
        template.read_text("utf-8").replace("{% for line in struct.facts %}", "{% for line in struct.facts[1:] %}"),
        "utf-8",
    )
    files = emit.render(read_matrix(root / "providers.yaml"), families, tmp_path / "templates")
    emit.write(files, tree)
    assert check.check_bytes(files, tree) == []
    assert len(check.check_meaning((root / "providers.yaml").read_text("utf-8"), tree, families)) >= 18


def test_the_generator_and_core_spell_facts_alike(root: Path, tmp_path: Path) -> None:
    assert check.check_core(root) == []
    (tmp_path / "core").mkdir()
    text = (root / "core" / "facts.hpp").read_text("utf-8")
    for old, new, sentence in [
        ("bool same_host{};", "bool same_machine{};", "member same_machine"),
        ("std::uint8_t key_bytes{};", "std::uint16_t key_bytes{};", "member key_bytes (std::uint16_t)"),
        ("{ reported, silent, hidden }", "{ silent, reported, hidden }", "enum refusal has silent, reported, hidden"),
    ]:
        assert old in text
        (tmp_path / "core" / "facts.hpp").write_text(text.replace(old, new), "utf-8")
        problems = check.check_core(tmp_path)
        assert len(problems) == 1 and sentence in problems[0].sentence and problems[0].line > 1


def test_the_largest_number_is_unlimited_however_it_is_spelt(
    families: tuple[Family, ...], root: Path, tmp_path: Path
) -> None:
    text = (root / "tests" / "generator" / "cases" / "valid_tiny.yaml").read_text("utf-8")
    spelt = text.replace("largest_write: {is: unlimited,", f"largest_write: {{is: {2**64 - 1},")
    assert spelt != text
    emit.write(emit.render(matrix_of(load_text(spelt, "m")), families, root / "templates"), tmp_path)
    assert check.check_meaning(spelt, tmp_path, families) == []
