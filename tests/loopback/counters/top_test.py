# SPDX-License-Identifier: Apache-2.0
"""`weft top` beside a running transport, and after its process was killed. WEFT_EXPOSES: the program that exposes."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonschema
import pytest
from prometheus_client.parser import text_string_to_metric_families

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from generator.schemas import all_schemas  # noqa: E402
from generator.watching import pages  # noqa: E402
from generator.watching.exposition import prometheus_text  # noqa: E402

_PROGRAM = [os.environ.get("WEFT_EXPOSES", ""), "--gtest_also_run_disabled_tests",
            "--gtest_filter=exposed_counters.DISABLED_are_read_from_outside"]


def top(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(ROOT / "weft"), "top", *arguments], capture_output=True, text=True, timeout=60,
                          check=False)


def answers(program: subprocess.Popen[str], word: str) -> str:
    """The next line of the program that begins with `word`."""
    assert program.stdout is not None
    for line in program.stdout:
        if line.startswith(word):
            return line.strip()
    raise AssertionError(f"the program ended without a line {word}")


@pytest.fixture
def exposing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[str]]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with subprocess.Popen(_PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          cwd=tmp_path) as program:
        assert answers(program, "exposed").startswith(f"exposed {tmp_path}/weft/{program.pid}-")
        yield program
        program.kill()


def puts(program: subprocess.Popen[str], count: int) -> None:
    assert program.stdin is not None
    program.stdin.write("p" * count)
    program.stdin.flush()
    for _ in range(count):
        answers(program, "put")


def test_counts_are_live_and_the_program_is_not_stopped(exposing: subprocess.Popen[str], tmp_path: Path) -> None:
    for count in (2, 5):
        puts(exposing, count - (0 if count == 2 else 2))
        shown = top("--format", "json")
        assert (shown.returncode, shown.stderr) == (0, "")
        answer = json.loads(shown.stdout)
        jsonschema.Draft202012Validator(all_schemas()["top"]).validate(answer)
        one, = answer["transports"]
        assert (one["process"], one["fabric"], one["program"]) == (exposing.pid, "loopback", "loopback.counters")
        peer, = one["peers"]
        assert (peer["address"], peer["gone"]) == ("listener:7471", False)
        assert peer["traffic"]["operations"]["put"] == {"posted": count, "bytes": 40 * count, "completed": 0,
                                                        "failed": 0}
        assert one["traffic"] == peer["traffic"] and one["counters"]["peers_met"] == 1
    table = top("--once").stdout
    assert [line.split()[:5] for line in table.splitlines()][2:] == [["listener:7471", "5", "200", "0", "0"]]
    assert exposing.stdin is not None
    exposing.stdin.close()
    assert exposing.wait(60) == 0
    assert list((tmp_path / "weft").iterdir()) == []


def test_rates_follow_the_first_counts_until_ctrl_c(exposing: subprocess.Popen[str]) -> None:
    with subprocess.Popen([str(ROOT / "weft"), "top", "--every", "0.1"], stdout=subprocess.PIPE, text=True) as shown:
        first = answers(shown, "process")
        assert "posts/s" not in first and "bytes out" in first
        puts(exposing, 4)
        second = answers(shown, "process")
        assert "posts/s" in second and "MB/s out" in second
        assert answers(shown, str(exposing.pid)).split()[1:5] == ["loopback.counters", "loopback", "all", "1"]
        shown.send_signal(signal.SIGINT)
        shown.communicate(timeout=60)
        assert shown.returncode == 0


def test_prometheus_reads_every_sample(exposing: subprocess.Popen[str]) -> None:
    puts(exposing, 3)
    text = top("--format", "prometheus").stdout
    read = text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
    families = {each.name: each for each in read}
    assert all(each.type == "counter" and each.documentation for each in families.values())
    assert len(families) == len(pages.PARTS) + len(pages.OTHERS) + len(pages.WHOLE)
    puts_of_peer = [sample for sample in families["weft_posted_bytes"].samples
                    if (sample.labels["address"], sample.labels["operation"]) == ("listener:7471", "put")]
    assert [sample.value for sample in puts_of_peer] == [120.0]
    assert sum(text.count(f"\n{name}_total{{") for name in families) == sum(
        len(each.samples) for each in families.values())


def test_no_sample_of_prometheus_repeats() -> None:
    """Two fabrics of a set gave both of their peers the number 7, and both peers dialled."""
    traffic = pages.Traffic({kind: dict.fromkeys(pages.PARTS, 1) for kind in pages.KINDS},
                            dict.fromkeys(pages.OTHERS, 1))
    peers = tuple(pages.Peer(7, False, "", traffic) for _ in range(2))
    text = prometheus_text([pages.Transport(Path("1-1.counters"), 1, "p", "a set", "", dict.fromkeys(pages.WHOLE, 1),
                                            traffic, peers)])
    samples = Counter(line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#"))
    assert samples and max(samples.values()) == 1


def test_a_trace_is_json_that_a_viewer_reads(exposing: subprocess.Popen[str], tmp_path: Path) -> None:
    puts(exposing, 3)
    assert exposing.stdin is not None
    exposing.stdin.close()
    assert exposing.wait(60) == 0
    trace = json.loads((tmp_path / "weft.json").read_text("utf-8"))
    assert trace["otherData"] == {"overwritten": 0}
    assert [(each["name"], each["ph"], each["args"]["bytes"]) for each in trace["traceEvents"]] == [
        *[("put", "i", 40)] * 3, ("send", "i", 1)]
    assert {each["pid"] for each in trace["traceEvents"]} == {exposing.pid}
    times = [each["ts"] for each in trace["traceEvents"]]
    assert times == sorted(times) and all(isinstance(each, float) for each in times)


def test_the_file_of_a_killed_process_is_removed(exposing: subprocess.Popen[str], tmp_path: Path) -> None:
    exposing.kill()
    exposing.wait(60)
    left, = (tmp_path / "weft").iterdir()
    assert left.suffix == ".counters"
    assert top("--once").stdout.startswith("no transport exposes counters")
    assert not left.exists()


CHANGES: list[tuple[Callable[[bytes], bytes], str]] = [
    (lambda data: b"x" + data[1:], "is no file of counters: its first eight bytes are others"),
    (lambda data: data[:8] + b"\2" + data[9:], "has version 2 of the counters, and this weft reads version 1"),
    (lambda data: data[:-8], "has 816 bytes, and its head says 824 for 1 peers"),
    (lambda data: data[:12] + b"\xff\xff\xff\xff" + data[16:], "its head says 824 for 4294967295 peers"),
    (lambda data: data[:100], "is no file of counters"),
]


@pytest.mark.parametrize("change, sentence", CHANGES)
def test_another_file_is_a_sentence(exposing: subprocess.Popen[str], tmp_path: Path,
                                    change: Callable[[bytes], bytes], sentence: str) -> None:
    file, = (tmp_path / "weft").iterdir()
    with pytest.raises(pages.NotAPage, match=sentence):
        pages.parse(file, change(file.read_bytes()))
