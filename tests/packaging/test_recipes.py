# SPDX-License-Identifier: Apache-2.0
"""Each recipe of packaging/ has the project's version, options, files and packages. scripts/packages picks by name."""
from __future__ import annotations

import ast
import json
import os
import re
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
DEBIAN = PACKAGING / "debian"
SPACK = PACKAGING / "spack" / "packages" / "weft" / "package.py"
CONAN = PACKAGING / "conan" / "conanfile.py"
PORT = PACKAGING / "vcpkg" / "ports" / "weft"
CONTAINER = PACKAGING / "container" / "Containerfile"
CMAKE = (ROOT / "CMakeLists.txt").read_text("utf-8")
_HEADER = (ROOT / "core" / "version.hpp").read_text("utf-8")
VERSION = ".".join(re.findall(r"^#define WEFT_VERSION_[A-Z]+ (\d+)$", _HEADER, re.MULTILINE))
OLDEST_CMAKE = re.findall(r"cmake_minimum_required.VERSION ([0-9.]+)", CMAKE)[0]
OPTIONS = set(re.findall(r"^(?:option|set)\((WEFT_\w+)", CMAKE, re.MULTILINE))
ALWAYS = {"loopback", "mapped", "streams"}  # backends that need no library
BACKENDS = set(re.findall(r'set\(WEFT_BACKENDS "([^"]+)"', CMAKE)[0].split(";")) - ALWAYS
TURNED_OFF = {"WEFT_BUILD_PYTHON", "WEFT_BUILD_TESTS", "WEFT_BUILD_BENCH", "WEFT_BUILD_EXAMPLES"}


def words_of(text: str) -> set[str]:
    return set(re.findall(r"(?:\b|-D)(WEFT_[A-Z_]+[A-Z])\b", text))


def list_of(script: str, name: str) -> set[str]:
    """An array of a script of the shell."""
    found = re.search(rf"^{name}=\(([^)]*)\)", (ROOT / "scripts" / script).read_text("utf-8"), re.MULTILINE)
    assert found is not None, f"scripts/{script} has no array {name}"
    return set(found.group(1).split())


def fields(path: Path) -> list[dict[str, str]]:
    """Paragraphs of a file in the form of debian/control."""
    field = re.compile(r"^([\w-]+):(.*\n(?:[ \t].*\n)*)", re.MULTILINE)
    return [{name: " ".join(value.split()) for name, value in field.findall(part + "\n")}
            for part in re.split(r"\n\n+", path.read_text("utf-8"))]


def packages_in(field: str) -> set[str]:
    return {each.split()[0] for each in field.split(",") if each.strip() and not each.strip().startswith("${")}


def called(path: Path, name: str) -> list[ast.Call]:
    tree = ast.parse(path.read_text("utf-8"))
    return [each for each in ast.walk(tree) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
            and each.func.id == name]


def first_words(path: Path, name: str) -> set[str]:
    """The first argument of each call of that name."""
    return {str(ast.literal_eval(each.args[0])) for each in called(path, name)}


def test_debian_builds_with_what_setup_installs() -> None:
    installed = {each for array in ("build_packages", "python_packages", "packages_packages")
                 for each in list_of("setup", array)}
    wanted = packages_in(fields(DEBIAN / "control")[0]["Build-Depends"]) - {"debhelper-compat"}
    assert wanted <= installed, wanted - installed
    assert f"cmake (>= {OLDEST_CMAKE})" in fields(DEBIAN / "control")[0]["Build-Depends"]


def test_debian_names_each_function_of_the_library() -> None:
    exported = set(re.findall(r"^ +(weft_\w+);", (ROOT / "abi" / "libweft.map").read_text("utf-8"), re.MULTILINE))
    head, *lines = (DEBIAN / "libweft0.symbols").read_text("utf-8").splitlines()
    assert head.split()[:2] == ["libweft.so.0", "libweft0"]
    listed = dict(line.split() for line in lines if not line.startswith("*"))
    assert {name.split("@")[0] for name in listed if name != "WEFT_0@WEFT_0"} == exported
    assert all(tuple(map(int, since.split("."))) <= tuple(map(int, VERSION.split("."))) for since in listed.values())


def test_debian_has_the_command_with_what_it_imports() -> None:
    (tools,) = (each for each in fields(DEBIAN / "control") if each.get("Package") == "weft-tools")
    needed = list_of("setup", "python_packages") - {"python3"}
    assert packages_in(tools["Depends"]) == needed
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {f"python3-{re.split('[<>=]', each)[0]}" for each in project["dependencies"]} == needed


def test_debian_tests_are_programs_whose_needs_are_met() -> None:
    known = {each["Package"] for each in fields(DEBIAN / "control")[1:]}
    listed = fields(DEBIAN / "tests" / "control")
    for each in listed:
        program = DEBIAN / "tests" / each["Tests"]
        assert os.access(program, os.X_OK), f"{program} is no program"
        missing = packages_in(each["Depends"]) - known - list_of("packages", "packages")
        assert not missing, f"{each['Tests']} needs {missing}, which scripts/packages does not install"
    assert {each["Tests"] for each in listed} == {path.name for path in (DEBIAN / "tests").iterdir()} - {
        "control", "CMakeLists.txt"}


def test_spack_has_the_version_and_a_variant_for_each_backend() -> None:
    assert VERSION in first_words(SPACK, "version")
    assert BACKENDS <= first_words(SPACK, "variant")
    text = SPACK.read_text("utf-8")
    assert words_of(text) <= OPTIONS and TURNED_OFF <= words_of(text)
    assert f"cmake@{OLDEST_CMAKE}:" in first_words(SPACK, "depends_on")
    conditions = {ast.literal_eval(word.value) for name in ("depends_on", "conflicts") for each in called(SPACK, name)
                  for word in each.keywords if word.arg == "when"}
    assert conditions <= {f"+{variant}" for variant in first_words(SPACK, "variant")}
    assert YAML(typ="safe").load((PACKAGING / "spack" / "repo.yaml").read_text("utf-8"))["repo"]["namespace"] == "weft"


def conan_lists() -> dict[str, object]:
    """Constants of the recipe and of its class."""
    tree = ast.parse(CONAN.read_text("utf-8"))
    found: dict[str, object] = {}
    for each in ast.walk(tree):
        if not isinstance(each, ast.Assign):
            continue
        try:
            found[ast.unparse(each.targets[0])] = ast.literal_eval(each.value)
        except ValueError:
            pass
    return found


def test_conan_exports_what_a_build_reads() -> None:
    lists = conan_lists()
    files, folders = lists["FILES"], lists["FOLDERS"]
    assert isinstance(files, list) and isinstance(folders, list)
    assert all((ROOT / name).exists() for name in (*files, *folders))
    headers = re.findall(r"^\s*([\w.]+)(/\S+)?\.(?:hpp|h)\b", (ROOT / "cmake" / "headers.cmake").read_text("utf-8"),
                         re.MULTILINE)
    assert {folder for folder, rest in headers if rest} <= set(folders)
    # What a build without tests, benches, examples and Python descends into.
    left_out = {"bench", "examples", "docs", "tests", "fuzz", "python"}
    entered = set(re.findall(r"add_subdirectory\((\w+)", CMAKE)) - left_out
    assert entered <= set(folders)


def test_conan_has_an_option_for_each_backend() -> None:
    text = CONAN.read_text("utf-8")
    options = conan_lists()["options"]
    assert isinstance(options, dict) and BACKENDS <= set(options)
    assert options.keys() == conan_lists()["default_options"].keys()  # type: ignore[attr-defined]
    turned_off = {f"WEFT_BUILD_{each}" for each in ("PYTHON", "TESTS", "BENCH", "EXAMPLES") if f'"{each}"' in text}
    assert turned_off == TURNED_OFF
    assert words_of(text) - {"WEFT_BUILD", "WEFT_VERSION"} <= OPTIONS
    ast.parse((CONAN.parent / "test_package" / "conanfile.py").read_text("utf-8"))


def test_vcpkg_has_the_version_and_a_feature_for_each_backend() -> None:
    said = json.loads((PORT / "vcpkg.json").read_text("utf-8"))
    recipe = (PORT / "portfile.cmake").read_text("utf-8")
    assert said["version"] == VERSION
    assert BACKENDS <= set(said["features"])
    assert all(feature in recipe for feature in said["features"])
    assert {"name", "version", "description", "license", "supports", "dependencies", "features"} == set(said)
    assert list(said["features"]) == sorted(said["features"])
    assert words_of(recipe) <= OPTIONS and TURNED_OFF <= words_of(recipe)


def test_vcpkg_tells_of_fabrics_and_files_that_are() -> None:
    rows = YAML(typ="safe").load((ROOT / "providers.yaml").read_text("utf-8"))
    (listed,) = re.findall(r"FABRICS ([\w ]+)\)", (PORT / "usage").read_text("utf-8"))
    assert set(listed.split()) <= set(rows)
    recipe = (PORT / "portfile.cmake").read_text("utf-8")
    assert (PORT / re.findall(r"CMAKE_CURRENT_LIST_DIR}/([./]+)\"", recipe)[0]).resolve() == ROOT


@pytest.mark.parametrize("script", ["setup", "packages"])
def test_container_calls_scripts_as_they_are(script: str) -> None:
    text = CONTAINER.read_text("utf-8")
    (word,) = re.findall(rf"scripts/{script} (\w+)", text)
    read = (ROOT / "scripts" / script).read_text("utf-8")
    assert re.search(rf"^ +(?:\w+ \| )*{word}(?: \| \w+)*\)", read, re.MULTILINE)


def test_container_is_of_known_instructions_and_one_base() -> None:
    text = re.sub(r"\\\n", " ", CONTAINER.read_text("utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert {line.split()[0] for line in lines} <= {"FROM", "RUN", "COPY", "WORKDIR", "CMD", "ENV", "USER"}
    assert {line.split()[1] for line in lines if line.startswith("FROM")} == {"docker.io/library/debian:12"}
    (named,) = re.findall(r"^FROM \S+ AS (\w+)", text, re.MULTILINE)
    assert re.findall(r"--from=(\w+)", text) == [named]
    for ignored in re.findall(r"--ignorefile (\S+)", text):
        assert (ROOT / ignored).is_file()
