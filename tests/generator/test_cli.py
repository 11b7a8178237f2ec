# SPDX-License-Identifier: Apache-2.0
"""The command: exit codes, formats and their schemas, did-you-mean, output that fits a screen, plain text in a pipe."""
from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

from generator.schemas import FOLDER, all_schemas, text_of
from tests.generator.conftest import ROOT, Run

TINY = Path(__file__).parent / "cases" / "valid_tiny.yaml"


@pytest.mark.parametrize(
    "arguments, code",
    [
        ((), 0),
        (("--help",), 0),
        (("-h",), 0),
        (("matrix", "--help"), 0),
        (("explain", "--help"), 0),
        (("matrix",), 0),
        (("explain", "tcp"), 0),
        (("explain", "tcp", "notify"), 0),
        (("check",), 0),
        (("explain",), 2),
        (("explain", "tpc"), 2),
        (("explain", "tcp", "notifi"), 2),
        (("matrix", "--facts", "colour"), 2),
        (("grow",), 2),
        (("top", "--every", "nan"), 2),
        (("simulate", "loopback", "--hours", "nan"), 2),
        (("run", "-n", "1", "--timeout", "nan", "true"), 2),
        (("matrix", "--format", "xml"), 2),
        (("matrix", "--matrix", "/nowhere.yaml"), 2),
        (("matrix", "--matrix", str(TINY.parent / "invalid_octal.yaml")), 1),
        (("generate", "--matrix", str(TINY.parent / "invalid_no_legal_notify.yaml"), "--output", "out"), 1),
    ],
)
def test_exit_codes(weft: Run, arguments: tuple[str, ...], code: int) -> None:
    done = weft(*arguments)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert bool(done.stderr) == (code != 0)


def test_the_version_is_that_of_the_header(weft: Run) -> None:
    header = (Path(__file__).parents[2] / "core" / "version.hpp").read_text("utf-8")
    parts = (re.search(rf"VERSION_{part} (\d+)", header) for part in ("MAJOR", "MINOR", "PATCH"))
    assert weft("--version").stdout == f"weft {'.'.join(found.group(1) for found in parts if found)}\n"


def test_a_fault_of_its_own_is_a_sentence_and_70(weft: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generator.emit.write", lambda files, output: 1 / 0)
    done = weft("generate", "--matrix", TINY, "--output", "out")
    assert done.returncode == 70
    assert done.stderr.startswith("weft: a fault of its own: ZeroDivisionError") and done.stderr.count("\n") == 1
    assert "Traceback" in weft("generate", "--matrix", TINY, "--output", "out", env={"WEFT_TRACEBACK": "1"}).stderr


@pytest.mark.parametrize("package", ["click", "jinja2"])  # one that each start needs, and one of a command
def test_a_missing_package_is_a_sentence_that_mends(package: str, tmp_path: Path) -> None:
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text(f"raise ModuleNotFoundError(name={package!r})\n", "utf-8")
    done = subprocess.run([ROOT / "weft", "check"], env={**os.environ, "PYTHONPATH": str(tmp_path)},
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 70
    assert done.stderr.startswith(f"weft: Python's {package} is missing: apt-get install ")
    assert done.stderr.count("\n") == 1


def test_a_start_loads_the_module_of_its_command_alone() -> None:
    """All of them take three times as long."""
    asked = "import sys; from generator.cli import weft; weft.commands['explain']; print(*sys.modules)"
    loaded = subprocess.run(["/usr/bin/python3", "-B", "-c", asked], cwd=ROOT, capture_output=True, text=True,
                            timeout=60, check=True).stdout.split()
    assert "generator.rows" in loaded
    assert not [other for other in ("adding", "bundling", "probing", "tracing") if f"generator.{other}" in loaded]


@pytest.mark.parametrize(
    "arguments, hint",
    [
        (("explain", "tcprxm"), "no fabric 'tcprxm'; did you mean 'tcp_rxm'?"),
        (("explain", "tcp", "atomic"), "no family 'atomic'; did you mean 'atomics'?"),
        (("explain", "zzz"), "no fabric 'zzz'; there are tcp, tcp_rdm, "),
    ],
)
def test_did_you_mean(weft: Run, arguments: tuple[str, ...], hint: str) -> None:
    assert hint in weft(*arguments).stderr


def test_a_refused_matrix_is_told_by_file_and_line(weft: Run) -> None:
    done = weft("check", "--matrix", TINY.parent / "invalid_duplicate_cell.yaml")
    assert done.stderr == (
        "tests/generator/cases/invalid_duplicate_cell.yaml:5: duplicate key 'key_bytes': line 4 has it already; "
        "keep one of the two [WEFT-M005]\n"
    )
    assert done.stdout == ""


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("matrix", ("matrix",)),
        ("matrix", ("matrix", "--facts", "sizes")),
        ("explain", ("explain", "opx")),
        ("explain", ("explain", "cxi", "notify")),
        ("check", ("check",)),
        ("check", ("check", "--output", "nothing")),
        ("generate", ("generate", "--output", "out")),
    ],
)
def test_json_fits_its_schema(weft: Run, name: str, arguments: tuple[str, ...]) -> None:
    done = weft(*arguments, "--format", "json")
    answer = json.loads(done.stdout)
    assert answer["schema"] == f"weft.{name}.1"
    jsonschema.Draft202012Validator(all_schemas()[name]).validate(answer)


def test_schema_files_are_what_the_generator_says() -> None:
    assert {path.name: path.read_text("utf-8") for path in FOLDER.iterdir()} == {
        f"{name}.schema.json": text_of(schema) for name, schema in all_schemas().items()
    }
    for schema in all_schemas().values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_key_of_the_matrix_is_described() -> None:
    def described(schema: dict[str, object], where: str) -> None:
        properties = schema.get("properties", {})
        assert isinstance(properties, dict)
        for key, value in properties.items():
            if "$ref" not in value:
                assert value.get("description"), f"{where}.{key}"
            described(value, f"{where}.{key}")

    schema = all_schemas()["providers"]
    described(schema["additionalProperties"], "row")
    for name, definition in schema["$defs"].items():
        assert definition["description"], name
        described(definition, name)


def test_json_of_check_has_the_problems(weft: Run, tmp_path: Path) -> None:
    assert weft("generate", "--matrix", TINY, "--output", "out").returncode == 0
    header = tmp_path / "out" / "generated" / "tiny.hpp"
    header.write_text(header.read_text("utf-8").replace(".key_bytes = 8", ".key_bytes = 4"), "utf-8")
    done = weft("check", "--matrix", TINY, "--output", "out", "--format", "json")
    assert done.returncode == 1
    problems = json.loads(done.stdout)["problems"]
    assert {problem["file"] for problem in problems} == {"generated/tiny.hpp"} and len(
        {problem["line"] for problem in problems}
    ) == 1


def test_csv(weft: Run) -> None:
    rows = list(csv.reader(io.StringIO(weft("matrix", "--format", "csv").stdout)))
    assert rows[0][:2] == ["fabric", "endpoint"] and len(rows[0]) == 25
    assert len(rows) >= 19 and all(len(row) == 25 and all(row) for row in rows)
    explained = list(csv.reader(io.StringIO(weft("explain", "verbs", "atomics", "--format", "csv").stdout)))
    assert [row[:4] for row in explained[1:]] == [
        ["verbs", "atomics", "1.15", "target"],
        ["verbs", "atomics", "2.2", "provider"],
    ]


def test_a_row_shows_what_it_sets_in_the_environment(weft: Run) -> None:
    shown = weft("explain", "tcp_rxm").stdout
    settings = re.findall(r'\{"([A-Z_]+)", "([^"]*)"\}', (ROOT / "generated" / "tcp_rxm.hpp").read_text("utf-8"))
    assert settings
    for name, value in settings:
        assert f"environment: {name}={value}, " in shown
    assert "environment" not in weft("explain", "tcp").stdout


def test_answers_fit_a_screen_and_a_pipe_is_plain(weft: Run) -> None:
    for arguments in (("--help",), ("matrix",), ("explain", "tcp"), ("explain", "tcp", "notify")):
        text = weft(*arguments).stdout
        assert text.isprintable() or "\x1b" not in text
        assert text.count("\n") <= 28, arguments  # a line for each of 24 families, and four


def _in_a_terminal(root: Path, *arguments: str, **env: str) -> str:
    primary, secondary = pty.openpty()
    process = subprocess.Popen(
        [str(root / "weft"), *arguments],
        stdout=secondary,
        stdin=subprocess.DEVNULL,
        env={
            **{name: value for name, value in os.environ.items() if name != "NO_COLOR"},
            "TERM": "xterm-256color",
            "COLUMNS": "120",
            **env,
        },
    )
    os.close(secondary)
    data = b""
    try:
        while chunk := os.read(primary, 4096):
            data += chunk
    except OSError:  # the other end is closed: all is read
        pass
    os.close(primary)
    assert process.wait(timeout=60) == 0
    return data.decode("utf-8")


def test_no_color_is_honoured_in_a_terminal(root: Path) -> None:
    coloured, bare = _in_a_terminal(root, "matrix"), _in_a_terminal(root, "matrix", NO_COLOR="1")
    assert "tcp_rxm" in coloured and "tcp_rxm" in bare
    assert "36m" in coloured and "36m" not in bare


def _in_bash(root: Path, command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a line of shell, in which `weft` is the command."""
    return subprocess.run(["/bin/bash", "-c", f"weft() {{ '{root}/weft' \"$@\"; }}; {command}"], cwd=folder,
                          capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("command", ["matrix --format csv --facts sizes", "explain tcp", "--help", "explain --help"])
@pytest.mark.parametrize("reader", ["head -n 1", "true"])
def test_a_reader_that_leaves_early_is_no_fault(root: Path, tmp_path: Path, command: str, reader: str) -> None:
    done = _in_bash(root, f"{{ sleep 0.3; weft {command}; }} | {reader}; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.parametrize("command, says", [
    ("weft explain tcp > /dev/full", "the output cannot be written: No space left on device"),
    ("weft matrix --format csv > /dev/full", "the output cannot be written: No space left on device"),
    ("weft explain tcp >&-", "the output cannot be written: it is closed"),
    ("weft generate --output /proc/nothing", "/proc/nothing cannot be read or written: No such file or directory"),
    ("touch generated; weft generate --output .", "generated/profiles cannot be read or written: Not a directory"),
    ("mkdir gone; cd gone; rmdir ../gone; weft generate --output out",
     "the working folder cannot be read: No such file or directory"),
])
def test_a_file_that_fails_is_a_sentence_and_1(root: Path, tmp_path: Path, command: str, says: str) -> None:
    done = _in_bash(root, command, tmp_path)
    assert (done.stderr.splitlines(), done.returncode) == ([f"{says} [WEFT-M022]"], 1)


@pytest.mark.parametrize("command", [
    "mkdir gone; cd gone; rmdir ../gone; weft explain tcp",
    f"cat '{ROOT}/providers.yaml' | weft check --matrix /dev/stdin",
    "PYTHONIOENCODING=latin-1 weft explain tcp_rxm; PYTHONIOENCODING=ascii weft matrix",
    "weft explain tcp 2>&-",
])
def test_an_odd_place_is_no_fault(root: Path, tmp_path: Path, command: str) -> None:
    done = _in_bash(root, command, tmp_path)
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_run_leaves_no_trace_in_the_tree(weft: Run, root: Path) -> None:
    before = sorted((root / "generator").rglob("*.pyc"))
    assert weft("matrix").returncode == 0
    assert sorted((root / "generator").rglob("*.pyc")) == before
