# SPDX-License-Identifier: Apache-2.0
"""A wrong cell is caught: each case of wrong_cells.py at its stage, not earlier and not later, with the sentence."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from generator import emit
from generator.matrix.loader import Refused
from generator.matrix.model import read_matrix
from generator.rules import Family
from tests.generator.conftest import Run
from tests.generator.random_rows import sources_of, with_sources
from tests.generator.wrong_cells import CELLS, PAGE, ROOT, WrongCell, falsified, page

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
OPENS = [case for case in CELLS if case.stage in ("open", "probe")]


def _row(case: WrongCell) -> str:
    found = re.search(rf"^{case.row}:\n(?:(?:[ #].*)?\n)*", (ROOT / "providers.yaml").read_text("utf-8"), re.M)
    assert found
    return with_sources(found[0].replace(f"{case.row}:", "ROW:", 1), sources_of(ROOT / "providers.yaml"))


def _generated(case: WrongCell, folder: Path, families: tuple[Family, ...], name: str = "wrong") -> dict[str, bytes]:
    file = folder / f"{name}.yaml"
    file.write_text(falsified(case, _row(case), name), "utf-8")
    return emit.render(read_matrix(file, "wrong.yaml"), families, ROOT / "templates")


def _tree(folder: Path, *files: dict[str, bytes]) -> Path:
    for part in ("core", "wire", "policies", "compose", "backends"):
        if not (folder / part).exists():
            (folder / part).symlink_to(ROOT / part)
    for each in files:
        emit.write({name: data for name, data in each.items() if name.endswith(".hpp")}, folder)
    return folder


def _compiler(header: str) -> str:
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None or not Path("/usr/include", header).exists():
        pytest.skip(f"no compiler, or no <{header}>")
    return compiler


def _ids(cases: list[WrongCell]) -> list[str]:
    return [case.name for case in cases]


def test_there_are_twenty_and_the_page_lists_them() -> None:
    assert len(CELLS) >= 20 and len({case.name for case in CELLS}) == len(CELLS)
    assert PAGE.read_text("utf-8") == page(), "run: python3 -B -m tests.generator.wrong_cells"


GENERATE = [case for case in CELLS if case.stage == "generate"]


@pytest.mark.parametrize("case", GENERATE, ids=_ids(GENERATE))
def test_the_generator_refuses(case: WrongCell, tmp_path: Path, families: tuple[Family, ...]) -> None:
    with pytest.raises(Refused) as caught:
        _generated(case, tmp_path, families)
    text = (tmp_path / "wrong.yaml").read_text("utf-8").split("\n")
    told = [problem for problem in caught.value.problems if case.says in problem.sentence]
    assert told, str(caught.value)
    assert all(1 <= problem.line <= len(text) for problem in told)


COMPILE = [case for case in CELLS if case.stage == "compile"]


@pytest.mark.parametrize("case", COMPILE, ids=_ids(COMPILE))
def test_the_compiler_refuses(case: WrongCell, tmp_path: Path, families: tuple[Family, ...]) -> None:
    tree = _tree(tmp_path, _generated(case, tmp_path, families))
    program = (f'#include "{tree}/generated/wrong.hpp"\nusing wrong = weft::fabrics::wrong;\n'
               "static_assert(sizeof(wrong::port<weft::shape_of<wrong>>) != 0);\n")
    done = subprocess.run([_compiler("infiniband/verbs.h"), *FLAGS, "-fsyntax-only", "-x", "c++", "-"], input=program,
                          capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode != 0
    assert case.says in done.stderr, done.stderr


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, families: tuple[Family, ...]) -> dict[str, str]:
    """What opening reports for each case of that stage; one program opens them all."""
    folder = tmp_path_factory.mktemp("opens")
    names = [f"wrong_{number}" for number in range(len(OPENS))]
    tree = _tree(folder, *(_generated(case, folder, families, name) for case, name in zip(OPENS, names)))
    program = "".join(f'#include "{tree}/generated/{name}.hpp"\n' for name in names)
    program += f'#include "{tree}/compose/fabric_rules.hpp"\n' + """#include <cstdio>
template <class F> void tell() {
  static_assert(weft::consistent_fabric<F>());
  weft::port_options options;
  options.node = "127.0.0.1";
  options.listens = true;
  const auto made = F::template port<weft::shape_of<F>>::open(options);
  const std::string result = made ? "(it opened)" : std::string(made.error().sentence);
  std::printf("%s\\t%s\\n", std::string(F::name).c_str(), result.c_str());
}
int main() {
""" + "".join(f"  tell<weft::fabrics::{name}>();\n" for name in names) + "}\n"
    (folder / "open.cpp").write_text(program, "utf-8")
    subprocess.run([_compiler("rdma/fabric.h"), *FLAGS, "-O0", str(folder / "open.cpp"), "-lfabric", "-o",
                    str(folder / "open")], check=True, timeout=400)
    done = subprocess.run([str(folder / "open")], capture_output=True, text=True, timeout=120, check=False)
    lines = dict(line.split("\t", 1) for line in done.stdout.splitlines())
    return {case.name: lines[name] for case, name in zip(OPENS, names)}


@pytest.mark.parametrize("case", OPENS, ids=_ids(OPENS))
def test_opening_refuses_unless_only_the_probe_can(case: WrongCell, opened: dict[str, str]) -> None:
    if case.stage == "probe":
        assert opened[case.name] == "(it opened)", "caught earlier than the list says"
    else:
        assert case.says in opened[case.name]


PROBE = [case for case in CELLS if case.stage == "probe"]


@pytest.mark.parametrize("case", PROBE, ids=_ids(PROBE))
def test_the_probe_sees_it(case: WrongCell, tmp_path: Path, weft: Run) -> None:
    program = os.environ.get("WEFT_PROBE")
    if not program:
        pytest.skip("WEFT_PROBE names no weft-probe: ctest does")
    (tmp_path / "wrong.yaml").write_text(falsified(case, _row(case), "wrong"), "utf-8")
    done = weft("probe", "wrong", "--matrix", tmp_path / "wrong.yaml", "--cell", case.cell, "--program", program)
    assert done.returncode == 1, done.stdout + done.stderr
    line = (tmp_path / "wrong.yaml").read_text("utf-8").split(f"    {case.cell}:")[0].count("\n") + 1
    value = case.value.strip('"')
    assert f"wrong.yaml:{line}: wrong.{case.cell} is {value} " in done.stderr
    assert case.says in done.stderr

