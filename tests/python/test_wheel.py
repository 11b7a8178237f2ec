# SPDX-License-Identifier: Apache-2.0
"""The wheel, built without network: its command answers as ./weft does, far from any checkout.

One module has one wheel, installed for all its tests.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("cmake", "core", "emulator", "generated", "generator", "python", "templates")
FILES = ("providers.yaml", "pyproject.toml", "setup.py")
SECONDS = 900  # some two minutes of a processor, which other work may share


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    return subprocess.run([str(word) for word in command], cwd=cwd, env={**environment, "COLUMNS": "120"},
                          capture_output=True, text=True, timeout=SECONDS, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    tree = place / "tree"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, tree / name)
    done = run(sys.executable, "-m", "pip", "wheel", "--no-index", "--no-build-isolation", "--no-deps", "-w", place,
               tree, cwd=place)
    assert done.returncode == 0, done.stderr
    (made,) = place.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def command(wheel: Path) -> Path:
    """The installed command."""
    place = wheel.parent / "venv"
    for step in ((sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", place),
                 (sys.executable, "-m", "pip", "--python", place / "bin" / "python", "install", "--no-index",
                  "--no-deps", wheel)):
        done = run(*step, cwd=wheel.parent)
        assert done.returncode == 0, done.stderr
    return place / "bin" / "weft"


def test_the_wheel_takes_one_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as held:
        names = held.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"weft"}
    inside = {f"weft/_tree/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "generator").rglob("*.*")
              if path.suffix in (".py", ".yaml", ".json")}
    assert inside <= set(names)


@pytest.mark.parametrize("words", [("--version",), ("matrix",), ("explain", "tcp", "notify"),
                                   ("explain", "nowhere"), ("explain", "WEFT-C006")], ids=" ".join)
def test_an_installed_command_answers_as_the_tree(command: Path, words: tuple[str, ...]) -> None:
    here = run(sys.executable, ROOT / "weft", *words, cwd=Path("/"))
    there = run(command, *words, cwd=Path("/"))
    assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)
    assert here.stdout or here.returncode


def test_the_package_runs_as_a_module(command: Path) -> None:
    assert run(command.parent / "python", "-m", "weft", "--version", cwd=Path("/")).stdout.startswith("weft ")


@pytest.mark.skipif("WEFT_BUILD" not in os.environ, reason="WEFT_BUILD names a build directory with the extension")
def test_the_package_moves_bytes_far_from_its_build(wheel: Path, command: Path) -> None:
    with zipfile.ZipFile(wheel) as held:
        libraries = {name for name in held.namelist() if ".so" in name}
    assert {name.split(".")[0] for name in libraries} == {"weft/_weft", "weft/libweft"}  # and no libfabric
    program = "import weft; print(weft.open(node='127.0.0.1', fabrics='tcp').fabrics, weft._weft.__file__)"
    done = run(command.parent / "python", "-c", program, cwd=Path("/"))
    assert done.stdout.startswith(f"('tcp',) {command.parent.parent}"), done.stderr
    linked = run("ldd", done.stdout.split()[-1], cwd=Path("/")).stdout
    assert f"libweft.so.0 => {command.parent.parent}" in linked


@pytest.mark.skipif("WEFT_BUILD" in os.environ, reason="this wheel has the extension")
def test_a_wheel_without_the_extension_says_so(command: Path) -> None:
    done = run(command.parent / "python", "-c", "import weft; weft.open()", cwd=Path("/"))
    assert "UnsupportedError: this installation has the command weft and not its library" in done.stderr


def test_files_are_generated_where_they_are_wanted(command: Path, tmp_path: Path) -> None:
    done = run(command, "generate", "--output", tmp_path, cwd=Path("/"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "generated" / "tcp.hpp").read_bytes() == (ROOT / "generated" / "tcp.hpp").read_bytes()


@pytest.mark.parametrize(("words", "code", "sentence"), [
    (("add", "tcp"), 2, "which `weft add` builds: take a checkout of weft"),
    (("bench", "--fabric", "tcp"), 2, "which `weft bench` builds: take a checkout of weft"),
    (("conformance",), 2, "which `weft conformance` builds: take a checkout of weft"),
    (("generate",), 2, "name a folder with --output"),
    (("probe", "tcp"), 1, "or name a built program with --program"),
], ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_what_needs_a_checkout_says_so(command: Path, words: tuple[str, ...], code: int, sentence: str) -> None:
    done = run(command, *words, cwd=Path("/"))
    assert (done.returncode, sentence in " ".join(done.stderr.split())) == (code, True), done.stderr
    assert "Traceback" not in done.stderr
