# SPDX-License-Identifier: Apache-2.0
"""Every error has an id and a page: codes, sentences of the compiler, refused files, wrong uses of the command."""
from __future__ import annotations

import json
import re
from pathlib import Path

import click
import jsonschema
import pytest
from click.testing import CliRunner, Result
from ruamel.yaml import YAML

from generator.cli import weft as command
from generator.errors import catalogue
from generator.errors.catalogue import FOLDER, INPUTS, RETIRED, SCHEMA, USAGE, all_errors, id_of
from generator.schemas import all_schemas
from tests.generator.conftest import ROOT

FOLDERS = ("core", "wire", "policies", "compose", "backends", "coroutines", "transfers", "event_loops", "job")
HEADERS = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
           for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.hpp"))}
GENERATED = {path.name: path.read_text("utf-8") for path in sorted((ROOT / "generated").glob("*.why_not.hpp"))}
_LITERAL = re.compile(r'"weft: (?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*')
_ID = re.compile(r"\[(WEFT-[A-Z]\d{3})\]")


def weft(*arguments: str) -> Result:
    return CliRunner(mix_stderr=False).invoke(command, arguments)


def sentences(text: str) -> list[str]:
    """The literals of a header that begin with "weft: ", joined as the compiler joins them."""
    return ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found)) for found in _LITERAL.findall(text)]


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_each_entry_has_all_parts(file: Path) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(YAML(typ="safe").load(file.read_text("utf-8")))


def test_ids_belong_to_one_error_and_do_not_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not RETIRED & set(all_errors())
    for letter in catalogue.KINDS:
        numbers = sorted(int(each[6:]) for each in {*all_errors(), *RETIRED} if each[5] == letter)
        assert numbers == list(range(1, len(numbers) + 1)), f"{letter}: an id that is gone belongs into RETIRED"
    for name in ("one.yaml", "two.yaml"):
        (tmp_path / name).write_text((FOLDER / "codes.yaml").read_text("utf-8"), "utf-8")
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match="WEFT-R001 is there twice"):
        all_errors.__wrapped__()


def test_each_code_has_its_id_and_says_what_describe_says() -> None:
    header, words = HEADERS["core/error.hpp"], HEADERS["core/describe.hpp"]
    body = re.search(r"enum class errc\b[^{]*\{(.*?)\};", header, re.DOTALL)
    table = re.search(r"string_view ids\[\] = \{(.*?)\};", header, re.DOTALL)
    assert body and table
    codes = re.findall(r"^\s*(\w+),", body[1], re.MULTILINE)
    ids = re.findall(r'"([^"]*)"', table[1])
    assert codes[0] == "ok" and ids[0] == ""
    coded = {error.code: error for error in all_errors().values() if error.code}
    assert dict(zip(codes[1:], ids[1:], strict=True)) == {code: error.id for code, error in coded.items()}
    for code, error in coded.items():
        said = re.search(rf'case errc::{code}:\s*return "([^"]*)"', words)
        assert said and error.says.startswith(said[1]), code


def test_each_sentence_of_the_compiler_has_an_id() -> None:
    at_run_time = ("weft: ", "weft: warning", "weft: %s: %s (checks::trusted")
    without = [f"{name}: {said}" for name, text in {**HEADERS, **GENERATED}.items() for said in sentences(text)
               if not re.search(r"\[WEFT-C\d{3}\]$", said) and said != at_run_time[0]
               and not said.startswith(at_run_time[1:])]
    assert without == []
    assert sum(len(sentences(text)) for text in HEADERS.values()) > 100


def test_ids_in_sources_are_those_of_the_catalogue() -> None:
    spelt = {found for text in (*HEADERS.values(), *GENERATED.values()) for found in _ID.findall(text)}
    known = {error.id for error in all_errors().values() if error.id[5] in "CO" and not error.untagged}
    assert spelt == known


def test_each_program_that_must_not_compile_expects_its_id() -> None:
    named = [name for error in all_errors().values() for name in error.programs]
    assert sorted(named) == sorted(path.stem for path in (ROOT / "tests" / "fail").glob("*.cpp"))
    literals = [said for text in (*HEADERS.values(), *GENERATED.values()) for said in sentences(text)]
    for error in all_errors().values():
        for name in error.programs:
            text = (ROOT / "tests" / "fail" / f"{name}.cpp").read_text("utf-8")
            assert (re.search(rf"// EXPECT: .*\[{error.id}\]\n", text) is not None) == (not error.untagged), name
            expected = re.findall(r"// EXPECT: (.*)", text)
            assert error.untagged or [said for said in literals if all(part in said for part in expected)], name


@pytest.mark.parametrize("case", sorted((ROOT / "tests/generator/cases").glob("invalid_*.yaml")),
                         ids=lambda path: path.stem.removeprefix("invalid_"))
def test_each_refused_matrix_has_an_id_of_its_own(case: Path) -> None:
    expected = re.match(r"# line (\d+): (.+(?:\n#   .+)*)\n", case.read_text("utf-8"))
    assert expected
    found = id_of(expected[2].replace("\n#   ", " "), INPUTS)
    assert re.fullmatch(r"WEFT-M0(?!01)\d\d", found), found


def test_patterns_are_of_sentences_that_somebody_says() -> None:
    sources = "\n".join(path.read_text("utf-8") for path in (ROOT / "generator").rglob("*.py"))
    joined = re.sub(r'"\s*\n\s*f?r?["\']', "", sources)
    for letter, also in (("M", ""), ("W", _of_click())):
        words = [re.sub(r"[\\^$]", "", each) for error in all_errors().values() if error.id[5] == letter
                 for each in error.matches if not re.search(r"[*+\[]", each)]
        assert [each for each in words if each not in joined and each not in also] == []
        assert len(words) > 20


def _of_click() -> str:
    return "\n".join(path.read_text("utf-8") for path in Path(click.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("arguments, found", [
    (("explain",), "WEFT-W004"), (("explain", "tpc"), "WEFT-W002"), (("explain", "tcp", "notifi"), "WEFT-W003"),
    (("grow",), "WEFT-W005"), (("matrix", "--colour"), "WEFT-W005"), (("matrix", "--format", "xml"), "WEFT-W006"),
    (("matrix", "--matrix", "/nowhere.yaml"), "WEFT-W007"), (("run", "-n", "1", "/nowhere"), "WEFT-W008"),
    (("inspect", "/etc/passwd"), "WEFT-M019"), (("explain", "WEFT-X123"), "WEFT-W010"),
    (("add", "--from-bundle", "/etc/passwd"), "WEFT-M001"),
])
def test_what_the_command_refuses_ends_with_an_id(arguments: tuple[str, ...], found: str) -> None:
    done = weft(*arguments)
    assert done.exit_code in (1, 2)
    assert done.stderr.rstrip().endswith(f"[{found}]"), done.stderr


def test_a_sentence_without_a_pattern_gets_the_general_id() -> None:
    assert id_of("nobody ever said this", INPUTS) == "WEFT-M001"
    assert id_of("nobody ever said this", USAGE) == "WEFT-W001"
    assert id_of("some sentence [WEFT-C006]", USAGE) == "WEFT-C006"
    assert id_of('libfabric:1: has no provider "x" here', INPUTS) == "WEFT-O001"


@pytest.mark.parametrize("name", all_errors())
def test_a_page_shows_every_part(name: str) -> None:
    error, done = all_errors()[name], weft("explain", name)
    assert done.exit_code == 0
    shown = " ".join(done.output.split())
    for part in (error.title, error.says, error.cause, error.see, error.mend, error.example):
        assert " ".join(part.split()) in shown


def test_a_row_may_have_the_name_of_a_card() -> None:
    assert [word for word in ("e810", "x710", "WEFT-E810", "m001", "tcp") if catalogue.is_id(word)] == [
        "WEFT-E810", "m001"]


@pytest.mark.parametrize("word", ["WEFT-C006", "weft-c006", "C006", "[WEFT-C006]"])
def test_an_id_is_known_as_people_type_it(word: str) -> None:
    done = weft("explain", word)
    assert (done.exit_code, done.stdout.split(":")[0]) == (0, "WEFT-C006")


def test_an_unknown_id_names_the_nearest() -> None:
    done = weft("explain", "WEFT-C060")
    assert done.exit_code == 2
    near = r"no error has the id 'WEFT-C060'; the nearest are (WEFT-C\d\d\d(, )?)+ \[WEFT-W010\]"
    assert re.search(near, done.stderr)
    done = weft("explain", "WEFT-C006", "notify")
    assert (done.exit_code, "give the id alone" in done.stderr) == (2, True)


def test_the_list_and_the_json_have_all() -> None:
    listed = weft("explain", "--list").stdout
    assert [line.split()[0] for line in listed.splitlines()[1:]] == list(all_errors())
    answer = json.loads(weft("explain", "--list", "--format", "json").stdout)
    jsonschema.Draft202012Validator(all_schemas()["errors"]).validate(answer)
    assert [each["id"] for each in answer["errors"]] == list(all_errors())
    one = json.loads(weft("explain", "WEFT-R009", "--format", "json").stdout)
    assert [each["title"] for each in one["errors"]] == ["deadline"]
