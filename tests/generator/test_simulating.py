# SPDX-License-Identifier: Apache-2.0
"""`weft simulate`: chunks of seeds, crashes, resumption and the summary, with a planted program."""
from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from generator.cli import weft
from generator.schemas import all_schemas
from generator.simulating import command
from generator.simulating.command import failures_of, summary_of
from generator.simulating.running import CHUNK, Campaign, Record, chunks_of, parse, run, run_chunk

PROGRAM = """#!/usr/bin/python3
import sys
first, last = map(int, sys.argv[sys.argv.index("--seeds") + 1].split(".."))
with open(sys.argv[0] + ".ran", "a") as ran:
    ran.write(f"{first}..{last}\\n")
failed = 0
for seed in range(first, last + 1):
    if seed == 7:
        print(f"crashed {seed}", flush=True)
        sys.exit(139)
    if seed == 9:
        failed += 1
        print(f"failed {seed} lost_message: 3 came 0 times")
        print("  repeat: program --seed 9\\n  shortest: program --seed 9 -s")
print('{"ran": %d, "operations": 5, "seconds": 2.0, "virtual_seconds": 1.5}' % (last - first + 1))
sys.exit(1 if failed else 0)
"""


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    program = tmp_path / "simulate.row"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return Campaign(program, "row", "transport", "all")


def ran(campaign: Campaign) -> list[str]:
    file = Path(str(campaign.program) + ".ran")
    return file.read_text().splitlines() if file.is_file() else []


def test_the_output_of_a_failing_seed_is_read() -> None:
    chunk = parse("failed 218 lost_notification: 5 came 0 times\n  repeat: a\n  shortest: b\n    step 1\n"
                  '{"ran": 10, "operations": 3, "seconds": 1.0, "virtual_seconds": 2.0}\n', 211)
    assert chunk.ran == 10
    assert [(each.seed, each.finding, each.repeat, each.shortest) for each in chunk.failures] == [
        (218, "lost_notification", "a", "b")]


def test_after_a_crash_the_other_seeds_run(campaign: Campaign) -> None:
    chunk = run_chunk(campaign, 1, 10)
    assert chunk.ran == 10
    assert [(each.seed, each.finding) for each in chunk.failures] == [(7, "crashed"), (9, "lost_message")]
    assert ran(campaign) == ["1..10", "8..10"]


def test_a_program_without_a_result_is_a_failure(campaign: Campaign) -> None:
    campaign.program.write_text("#!/bin/sh\necho no such library >&2\nexit 127\n")
    chunk = run_chunk(campaign, 1, 10)
    assert chunk.ran == 10
    assert [(each.finding, each.sentence) for each in chunk.failures] == [("no_result", "no such library")]


def test_seeds_that_ran_are_not_repeated_until_the_program_changes(campaign: Campaign, tmp_path: Path) -> None:
    seeds = 2 * CHUNK + 5
    run(campaign, Record(tmp_path, campaign, False), 1, seeds, None, 2, lambda _: None)
    before = len(ran(campaign))
    again = Record(tmp_path, campaign, False)
    assert list(chunks_of(1, seeds, again)) == []
    assert [each.seed for each in failures_of(again)] == [7, 9]
    assert list(chunks_of(1, seeds + 1, again))[0] == (2 * CHUNK + 1, 2 * CHUNK + 6)
    assert len(ran(campaign)) == before
    assert list(chunks_of(1, CHUNK, Record(tmp_path, campaign, True))) == [(1, CHUNK)]
    campaign.program.write_text(PROGRAM + "# another program\n")
    assert list(chunks_of(1, CHUNK, Record(tmp_path, campaign, False))) == [(1, CHUNK)]


def test_the_json_has_the_summary_and_nothing_else_is_printed(campaign: Campaign, tmp_path: Path,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "build_program", lambda row, build: campaign.program)
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    for options, failed in ((("--seeds", "9", "--jobs", "1"), [7, 9]), (("--seeds", "5", "--fresh"), [])):
        done = CliRunner(mix_stderr=False).invoke(weft, ("simulate", "loopback", "--format", "json", *options))
        answer = json.loads(done.stdout)
        jsonschema.Draft202012Validator(all_schemas()["simulate"]).validate(answer)
        assert [each["seed"] for each in answer["failed"]] == failed
        assert done.exit_code == bool(failed)


def test_no_new_chunk_begins_after_the_time(campaign: Campaign, tmp_path: Path) -> None:
    record = Record(tmp_path, campaign, False)
    run(campaign, record, 1, None, 1e-9, 2, lambda _: None)
    assert record.chunks == {}


def test_the_summary_has_the_figures(campaign: Campaign, tmp_path: Path) -> None:
    record = Record(tmp_path, campaign, False)
    run(campaign, record, 1, CHUNK, None, 1, lambda _: None)
    summary = summary_of(campaign, record, 4.0)
    assert (summary["seeds"], summary["row"], len(summary["failed"])) == (CHUNK, "row", 2)
    assert summary["rate"] == CHUNK / 2.0


def test_an_unknown_row_is_refused_before_anything_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "build_program", lambda row, build: pytest.fail("it is built"))
    done = CliRunner().invoke(weft, ["simulate", "tcpp"])
    assert done.exit_code == 2 and "no fabric 'tcpp'; did you mean 'tcp'? [WEFT-W002]" in " ".join(done.output.split())
