# SPDX-License-Identifier: Apache-2.0
"""The whole path, with a live library over loopback addresses.

A wrong row is found and named. A hang or a crash costs one behaviour.
"""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest
from recorded_findings import ROOT

from generator.matrix.loader import Refused
from generator.probing import Demands, probe
from generator.probing.program import claims
from generator.schemas import all_schemas

FALSE_CELLS = {
    # as the library itself claims
    "remote_counter_counts_writes: {is: false, claimed_value: true": "remote_counter_counts_writes: {is: true",
    "key_bytes: {is: 8": "key_bytes: {is: 4",
    "completion_wait: {is: descriptor": "completion_wait: {is: yield",
    "refused_write: {is: silent": "refused_write: {is: reported",
}


def weft(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-B", str(ROOT / "weft"), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def falsified(folder: Path) -> Path:
    """The matrix with four wrong cells in its first row, tcp."""
    text = (ROOT / "providers.yaml").read_text("utf-8")
    for right, wrong in FALSE_CELLS.items():
        assert right in text
        text = text.replace(right, wrong, 1)
    made = folder / "false.yaml"
    made.write_text(text, "utf-8")
    return made


def test_false_cells_are_caught_and_named(program: Path, tmp_path: Path) -> None:
    names = [right.split(":")[0] for right in FALSE_CELLS]
    told = weft(
        "probe",
        "tcp",
        "--matrix",
        falsified(tmp_path),
        "--program",
        program,
        "--cell",
        "gather_limit",
        *(part for name in names for part in ("--cell", name)),
    )
    assert told.returncode == 1, told.stdout + told.stderr
    assert sorted(line.split()[1] for line in told.stderr.splitlines()) == sorted(f"tcp.{name}" for name in names)
    assert all("the test shows" in line for line in told.stderr.splitlines())


def test_write_mends_what_was_false(program: Path, tmp_path: Path) -> None:
    matrix = falsified(tmp_path)
    cells = ("--cell", "key_bytes", "--cell", "remote_counter_counts_writes")
    assert weft("probe", "tcp", "--matrix", matrix, "--program", program, "--write", *cells).returncode == 1
    assert max(len(line) for line in matrix.read_text("utf-8").splitlines()) <= 120
    again = weft("probe", "tcp", "--matrix", matrix, "--program", program, *cells)
    assert again.returncode == 0, again.stdout + again.stderr


def test_json_is_what_its_schema_says(program: Path) -> None:
    told = weft("probe", "tcp", "--json", "--program", program, "--cell", "key_bytes", "--cell", "same_host")
    content = json.loads(told.stdout)
    jsonschema.validate(content, all_schemas()["probe"])
    assert [(each["cell"], each["verdict"]) for each in content["cells"]] == [
        ("key_bytes", "agrees"),
        ("same_host", "not shown"),
    ]


def test_a_provider_that_nobody_has_is_one_sentence(program: Path) -> None:
    with pytest.raises(Refused) as refused:
        probe(Demands(provider="no_such_provider", endpoint_type="addressed"), program=program)
    assert 'has no provider "no_such_provider" with addressed endpoints here' in str(refused.value)


def shown(program: Path, *behaviours: str, deadline: int = 9000) -> subprocess.Popen[str]:
    command = [
        str(program),
        "show",
        "--provider",
        "tcp",
        "--endpoint",
        "connected",
        "--deadline",
        str(deadline),
        *behaviours,
    ]
    # Libraries that libfabric loads for other providers write a file when a process crashes.
    quiet = {**os.environ, "HFI_NO_BACKTRACE": "1", "IPATH_NO_BACKTRACE": "1"}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True, env=quiet
    )


def children(process: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split()]


@pytest.mark.parametrize(("number", "ended"), [(signal.SIGSEGV, "crashed"), (signal.SIGSTOP, "hung")])
def test_a_process_that_crashes_or_stops_costs_one_behaviour(program: Path, number: signal.Signals, ended: str) -> None:
    # The counter's processes wait for a second, so a busy machine ends them here too, and not those of gather.
    with shown(program, "counter", "gather", deadline=4000) as running:
        end = time.monotonic() + 30
        while len(both := children(running.pid)) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(both[0], number)
        lines = [json.loads(line) for line in running.communicate(timeout=60)[0].splitlines()]
    assert [(each["behaviour"], each["ended"]) for each in lines] == [("counter", ended), ("gather", "shown")]


def test_a_program_that_dies_costs_what_it_had_not_told(tmp_path: Path) -> None:
    dying = tmp_path / "weft-probe"
    said = {
        "behaviour": "claims",
        "ended": "shown",
        "why": "",
        "seconds": 0.0,
        "facts": {"endpoint_type": "connected", "key_bytes": 8},
    }
    dying.write_text(
        f"#!/bin/sh\nif [ $1 = claims ]; then echo '{json.dumps(said)}'; exit 0; fi\n"
        'echo \'{"behaviour":"meeting","ended":"shown","why":"","facts":{"met":true},"seconds":0.1}\'\nkill -9 $$\n',
        "utf-8",
    )
    dying.chmod(0o755)
    found = {each.cell: each for each in probe(Demands("any", "connected"), program=dying)}
    assert found["key_bytes"].shown is None and "keys missing: weft-probe left with -9" in found["key_bytes"].why_not
    assert found["key_bytes"].value == 8


def test_a_program_may_be_named_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"behaviour": "claims", "ended": "shown", "why": "", "seconds": 0.0, "facts": {"key_bytes": 8}}
    (tmp_path / "weft-probe").write_text(f"#!/bin/sh\necho '{json.dumps(told)}'\n", "utf-8")
    (tmp_path / "weft-probe").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert claims(Path("./weft-probe"), Demands("any", "connected")).facts == {"key_bytes": 8}


# Names of files with every number that a process has there: alone, inside of another number, and alone in an old file.
_BESIDE_OTHERS = """mount -t tmpfs tmpfs /dev/shm || exit 9
for n in 1 2 3 4 5 6 7 8 9; do : > /dev/shm/$n:0:0; : > /dev/shm/0${n}0:0:0; : > /dev/shm/$n:0:00; done
touch -d yesterday /dev/shm/?:0:00
"$1" claims --provider tcp --endpoint connected > /dev/null
ls /dev/shm"""


def test_files_of_other_programs_stay_in_dev_shm(program: Path) -> None:
    command = ["unshare", "--map-root-user", "--mount", "--pid", "--fork", "sh", "-c", _BESIDE_OTHERS, "sh"]
    told = subprocess.run([*command, str(program)], capture_output=True, text=True, timeout=60, check=False)
    if told.returncode != 0:
        pytest.skip(f"namespaces of its own are not permitted here: {told.stderr}")
    gone = {f"{n}:0:0" for n in range(1, 10)} - set(told.stdout.split())
    assert len(gone) == 1, "the child's own file alone is removed"
    assert len(told.stdout.split()) == 26
