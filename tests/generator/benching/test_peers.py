# SPDX-License-Identifier: Apache-2.0
"""`weft bench --peers`: recorded outputs of foreign programs, turns, claims, the page, and the schema of the result."""
from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from generator.benching.peers import fabtests, outputs, page, processes
from generator.benching.peers.claims import CLAIMS, Claim, judged, _judge
from generator.benching.peers.command import planned
from generator.benching.peers.contenders import SET, TRANSPORTS, Contender, Plan, all_contenders, targets, transports
from generator.benching.peers.hosts import two_hosts, why_not
from generator.benching.peers.measured import Measured, measure, spread
from generator.benching.peers.programs import Programs
from generator.benching.peers.races import races
from generator.benching.peers.ucx import SETTINGS, Rival, Ucx, leading, lowest, settings_rows, tune
from generator.report import as_json
from generator.schemas import all_schemas

PLAN = Plan((8,), 4, 1e9, quick=True)
RIVALS = [Rival(Ucx("UCX", ("ucx_perftest",), "1.13"), "tcp", {("tag_lat", 8): ("UCX_RNDV_THRESH=inf",)})]
UCX = """+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |        latency (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
|     Test     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
                       20000      0.343    17.174    17.174        0.44       0.44       58227       58227
"""
PINGPONG = """bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
8       500     =500     7.8k        0.02s      0.45      17.60       0.06
4k      500     =500     3.9m        0.04s     98.00      41.79       0.02
"""
MEMORY = """fabric tcp
                                       peers     asked/peer resident/peer
table of peers                          1000          352.0          360.4
peers, 100 receives each                 200       431234.5       420000.1
peers, one pool of 100                   200         5234.5         6000.0
"""


def test_ucx_is_read_with_and_without_its_stage() -> None:
    assert outputs.ucx(UCX) == outputs.UcxLine(0.343, 17.174, 58227)
    assert outputs.ucx(UCX.replace("                       20000", "Final:                 20000")).median_us == 0.343
    with pytest.raises(outputs.NotUnderstood, match="no line of eight numbers"):
        outputs.ucx("UCX  ERROR no usable transport\n")


def test_fi_pingpong_takes_the_line_of_the_size() -> None:
    assert outputs.fi_pingpong(PINGPONG, 8) == 17600
    assert outputs.fi_pingpong(PINGPONG, 4096) == pytest.approx(41790)
    fabtests = (
        "bytes   iters   total       time     MB/sec    usec/xfer   Mxfers/sec\n"
        "8       400     6.2k        0.00s      1.44       5.57       0.18\n"
    )
    assert outputs.fi_pingpong(fabtests, 8) == 5570
    with pytest.raises(outputs.NotUnderstood, match="no line of 16 bytes"):
        outputs.fi_pingpong(PINGPONG, 16)


def test_our_own_programs() -> None:
    assert outputs.contender(
        '{"fabric":"tcp","contender":"plain","readings":[{"operation":"latency","bytes":8,"ns":3521.05}]}'
    ) == {("latency", 8): 3521.05}
    assert outputs.memory(MEMORY)["asked per peer; one pool of 100", 200] == 5234.5
    scenario = {
        "operation": "put",
        "bytes": 8,
        "contender": "flag",
        "one_way_ns": 52.5,
        "contender_one_way_ns": 50.0,
        "ratio": {"median": 1.05, "low": 1.0, "high": 1.1, "turns": 5},
    }
    assert outputs.duels(json.dumps({"scenarios": [scenario]})) == {
        ("put beside flag: ratio", 8): 1.05,
        ("put beside flag: one_way", 8): 52.5,
        ("put beside flag: contender_one_way", 8): 50.0,
    }
    told = {
        "connects": 100,
        "resident_ratio": 0.1,
        "connects_ratio": 0.02,
        "row": {"resident_bytes": 8, "connects_ns": 100},
        "library": {"resident_bytes": 80, "connects_ns": 5000},
    }
    assert outputs.endpoint(json.dumps(told))["connect by default", 0] == 50
    groups = {
        "bytes": 16,
        "ways": [{"way": "coalesced", "messages_per_s": 1e7}],
        "coalesced_to_one_by_one": {"median": 21.5},
        "coalesced_to_by_hand": {"median": 0.9},
        "lone_round_trip_to_one_by_one": {"median": 1.01},
    }
    assert outputs.coalesced(json.dumps(groups)) == {
        ("coalesced to one by one: ratio", 16): 21.5,
        ("coalesced to by hand: ratio", 16): 0.9,
        ("lone round trip to one by one: ratio", 16): 1.01,
        ("coalesced", 16): 100,
    }
    rows = [
        {"scenario": "hot", "p50": 8.1, "ratio": {"median": 1.03, "low": 1, "high": 1.1}},
        {"scenario": "cold connect", "p50": 1.0, "ratio": None},
    ]
    assert outputs.invocation(json.dumps(rows)) == {("invocation hot", 0): 8100, ("invocation hot: ratio", 0): 1.03}
    with pytest.raises(outputs.NotUnderstood, match="no JSON"):
        outputs.contender("killed")


def _said(name: str, values: list[float]) -> Contender:
    left = iter(values)
    return Contender(name, "sockets", lambda _: {("latency", 8): next(left)})


def test_ratios_are_of_the_same_turn() -> None:
    found = measure([_said("ours", [10, 20, 40, 10]), _said("theirs", [10, 10, 20, 20])], PLAN, lambda _: None)
    ratio = found.ratio(("ours", "latency", 8), ("theirs", "latency", 8))
    assert ratio is not None and (ratio.median, ratio.low, ratio.high, ratio.turns) == (1.5, 0.5, 2, 4)


def test_who_begins_alternates_and_the_time_ends_turns() -> None:
    order: list[str] = []

    def named(name: str) -> Contender:
        return Contender(name, "sockets", lambda _: order.append(name) or {})  # type: ignore[func-returns-value]

    measure([named("a"), named("b")], Plan((8,), 3, 1e9, quick=True), lambda _: None)
    assert order == list("abbaab")
    now = iter(range(0, 1000, 10))
    assert measure([named("a")], Plan((8,), 100, 50, quick=True), lambda _: None, clock=lambda: next(now)).turns < 5


def test_turns_that_are_asked_for_get_the_time_of_a_slow_machine() -> None:
    assert planned(None, quick=False).turns == 7
    assert planned(30, quick=False).seconds >= 30 * 250  # beside three UCX a turn took 190 s
    assert planned(5, quick=True).seconds >= 5 * 40


def test_a_contender_that_fails_twice_takes_no_further_part_and_is_said() -> None:
    calls: list[int] = []

    def fails(_: Plan) -> outputs.Readings:
        calls.append(1)
        raise processes.Failed("it ended with 1: no such provider")

    absent = Contender("UCX tag, tcp", "sockets", fails, absent="not found: install ucx-utils")
    found = measure([Contender("broken", "sockets", fails), absent], PLAN, lambda _: None)
    assert len(calls) == 2
    assert found.failed == {"broken": "failed: it ended with 1: no such provider"}
    assert found.absent == {"UCX tag, tcp": "not found: install ucx-utils"}


def test_claims_say_met_not_met_and_not_measured() -> None:
    found = Measured(
        turns=1,
        by_turn={
            ("weft send, tcp", "latency", 8): {0: 90.0},
            ("weft put_notify, tcp", "latency", 8): {0: 80.0},
            ("UCX tag, tcp", "latency", 8): {0: 100.0},
        },
        absent={"bench-coalesced, tcp": "not built: the compiler's sentence"},
    )
    ours, theirs = (("weft send, tcp", "latency", 8), ("weft put_notify, tcp", "latency", 8)), (
        ("UCX tag, tcp", "latency", 8),
    )
    assert _judge(Claim("a", 0.8, ours, theirs), found).met is True
    best = _judge(Claim("a", 0.7, ours, theirs), found)
    assert best.met is False and best.who == "weft put_notify, tcp / UCX tag, tcp"
    assert _judge(Claim("a", 0.7, ours, theirs, at_least=True), found).met is True
    missing = _judge(Claim("a", 20, (("bench-coalesced, tcp", "coalesced to one by one: ratio", 16),)), found)
    assert missing.met is None and missing.why_not == "bench-coalesced, tcp: not built: the compiler's sentence"


def test_a_bound_inside_of_the_spread_is_said() -> None:
    key = ("bench, tcp", "ratio", 0)
    wide = Measured(turns=3, by_turn={key: {0: 0.9, 1: 0.95, 2: 1.2}})
    assert _judge(Claim("a", 1.0, (key,)), wide).met is True
    narrow, clear = _judge(Claim("a", 1.0, (key,)), wide), _judge(Claim("a", 1.5, (key,)), wide)
    assert narrow.narrow and not clear.narrow
    rows = page.claims_table([narrow, clear])[2]
    assert [row[3] for row in rows] == ["met, within the spread", "met"]


def test_a_floor_that_a_contender_beats_is_no_floor() -> None:
    found = Measured(
        turns=1,
        by_turn={
            ("raw socket", "latency", 16384): {0: 9.6},
            ("UCX tag, tuned, tcp", "latency", 16384): {0: 8.2},
            ("weft put, watched by the target, tcp", "latency", 16384): {0: 8.4},
        },
    )
    floor = next(each for each in judged(found, ("tcp",)) if each.claim.text.startswith("raw socket, 16 KiB, is"))
    assert floor.met is False and floor.who == "raw socket / UCX tag, tuned, tcp"
    put = next(each for each in judged(found, ("tcp",)) if each.claim.text.startswith("tcp, 16 KiB: put / raw socket"))
    assert put.met is True


FAKE_UCX = """#!PYTHON
import os, socket, sys
arguments = sys.argv[1:]
port = int(arguments[arguments.index("-p") + 1])
if arguments[0] == "-p":
    socket.create_server(("127.0.0.1", port)).accept()
else:
    if os.environ.get("UCX_ZCOPY_THRESH") == "inf":
        sys.exit("no such protocol")
    socket.create_connection(("127.0.0.1", port))
    fast = os.environ.get("UCX_RNDV_THRESH") == "inf" and "65536" in arguments
    print("Final: 100", 2.0 if fast else 5.0, 9, 9, 1, 1, 1000, 500000 if fast else 200000)
"""


def test_each_size_of_a_rival_has_its_best_setting(tmp_path: Path) -> None:
    program = tmp_path / "ucx_perftest"
    program.write_text(FAKE_UCX.replace("PYTHON", sys.executable))
    program.chmod(0o755)
    said: list[str] = []
    rival = tune(Ucx("UCX", (str(program),), "9"), "tcp", (65536,), 1, said.append)
    assert "UCX_RNDV_THRESH=inf" in rival.setting("tag_lat", 65536)
    assert any("UCX_ZCOPY_THRESH=inf: " in line for line in said), "a setting that fails is said"
    assert {row[0] for row in settings_rows([rival], (65536,))} == {
        "UCX tag, tuned, tcp", "UCX am, tuned, tcp", "UCX put, tuned, tcp"}
    assert all(() in settings for settings in SETTINGS.values()), "the defaults are tried too"


def test_three_settings_lead_in_the_order_of_the_first_round() -> None:
    tried = {(): [5.0], ("A=1",): [1.0], ("B=2",): [4.0], ("C=3",): [2.0], ("D=4",): []}
    assert leading(tried) == [("A=1",), ("B=2",), ("C=3",)]


def test_the_best_setting_has_the_lowest_median() -> None:
    assert lowest({(): [3, 3, 3], ("A=1",): [1, 9, 9], ("B=2",): [2, 2, 9]}) == ("B=2",)
    assert lowest({("A=1",): []}) == ()


def test_every_claim_names_contenders_that_there_are(tmp_path: Path) -> None:
    fabrics = ("tcp", "tcp_rxm", "shm", "mapped", "kernel_tcp", "mapped_or_tcp")
    programs = Programs(tmp_path, {}, "", "")
    rivals = [Rival(Ucx(name, (), "1"), each) for name in ("UCX", "newer UCX", "newest UCX")
              for each in transports(fabrics)]
    names = {each.name for each in all_contenders(fabrics, programs, rivals)} | {
        each.name for one in races(fabrics, programs, rivals) for each in one
    }
    unknown = {key[0] for claim in CLAIMS for key in (*claim.ours, *claim.theirs)} - names
    assert not unknown
    assert all(target.startswith(("bench-", "invocation-")) for target in targets(fabrics))


def test_the_answer_keeps_its_schema_and_the_page_tells_all() -> None:
    found = measure([_said("raw socket", [10.0] * 4), _said("weft put_notify, tcp", [12.0] * 4)], PLAN, lambda _: None)
    found.absent["UCX tag, tcp"] = "not found: install ucx-utils (scripts/setup bench)"
    verdicts = judged(found, ("tcp",))
    every = page.tables([_said("raw socket", []), _said("weft put_notify, tcp", [])], found, PLAN, verdicts, RIVALS)
    provenance = {
        "command": "./weft bench --peers --write",
        "date": "2026-11-21T01:00:00+00:00",
        "machine": {"processor": "a", "cores": 2, "kernel": "Linux 6"},
        "versions": {"weft": "0.6"},
        "load": {"before": [0.0, 0.0, 0.0], "after": [1.0, 1.0, 1.0]},
    }
    answer = page.answer(provenance, found, verdicts, settings_rows(RIVALS, PLAN.sizes))
    jsonschema.validate(json.loads(as_json("peers", answer)), all_schemas()["peers"])
    text = page.page(every, answer)
    assert "| weft put_notify, tcp | 12.0 ns |" in text
    assert "not found: install ucx-utils" in text and "not measured" in text
    assert "./weft bench --peers --write" in text
    assert "| UCX tag, tuned, tcp | 8 B | UCX_RNDV_THRESH=inf |" in text


def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    with pytest.raises(processes.Failed, match="did not end in time"):
        processes.run(["sh", "-c", f"(sleep 1; touch {mark}) & sleep 60"], seconds=0.3)
    time.sleep(1.2)
    assert not mark.exists()  # its children ended too
    with pytest.raises(processes.Failed, match="ended with 3: why"):
        processes.run([sys.executable, "-c", "import sys; sys.stderr.write('why'); sys.exit(3)"])
    with pytest.raises(processes.Failed, match="cannot be started"):
        processes.run([tmp_path / "none"])


def test_a_server_is_awaited_by_the_kernels_table() -> None:
    port = processes.free_port()
    assert not processes.listens(port)
    server = (
        f"import socket; s = socket.create_server(('127.0.0.1', {port})); "
        "c, _ = s.accept(); c.sendall(b'hello'); c.close()"
    )
    client = f"import socket; print(socket.create_connection(('127.0.0.1', {port})).recv(10).decode())"
    assert processes.pair([sys.executable, "-c", server], [sys.executable, "-c", client], port).strip() == "hello"


def test_a_server_without_a_stream_is_awaited_too(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 0))
        assert processes.listens(bound.getsockname()[1])
    port = processes.free_port()
    assert not processes.listens(port, memory=tmp_path)
    (tmp_path / f"127.0.0.1:{port}").touch()
    assert processes.listens(port, memory=tmp_path)


FABTEST = """#!PYTHON
import argparse, os, socket, sys
read = argparse.ArgumentParser()
for each in "pISsBP":
    read.add_argument(f"-{each}")
read.add_argument("to", nargs="?")
told = read.parse_args()
if told.to is None:
    socket.create_server((told.s, int(told.B))).accept()
else:
    socket.create_connection((told.to, int(told.P)))
    print("bytes iters total time MB/sec usec/xfer Mxfers/sec")
    print(told.S, told.I, "1k 0.1s 1.0", len(os.sched_getaffinity(0)) if told.p == "sockets" else 5.5, "0.1")
"""


def test_fabtests_take_part_where_they_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fabrics = ("tcp", "tcp_rxm", "sockets", "shm", "udp_rxd")
    none = Programs(tmp_path, {}, "", "")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    before = {each.name: each.absent for each in all_contenders(fabrics, none, []) if each.name.startswith("fabtests")}
    assert set(before) == {
        "fabtests fi_msg_pingpong, tcp",
        *(f"fabtests fi_rdm_pingpong, {fabric}" for fabric in fabrics[1:]),
    }
    for program in ("fi_msg_pingpong", "fi_rdm_pingpong"):
        assert all(said.startswith("not found: ") for name, said in before.items() if program in name) or shutil.which(
            program
        )
        (tmp_path / program).write_text(FABTEST.replace("PYTHON", sys.executable))
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for each in all_contenders(fabrics, none, []):
        if each.name.startswith("fabtests"):
            unpinned = "sockets" in each.name  # its own thread would share the processor of the waiting one
            expected = len(os.sched_getaffinity(0)) * 1000 if unpinned else 5500
            assert not each.absent and each.once(PLAN) == {("latency", 8): expected}


CONFIGURE = """#!/bin/sh
printf 'benchmarks/%%:\\n\\tmkdir -p benchmarks && touch $@\\n' > Makefile
"""


def test_fabtests_are_built_in_a_copy_of_their_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fabtests, "ROOT", tmp_path / "tree")
    with pytest.raises(fabtests.NotBuilt, match="is no source of fabtests"):
        fabtests.built(tmp_path, lambda _: None)
    source = tmp_path / "libfabric" / "fabtests"
    source.mkdir(parents=True)
    (source / "configure.ac").write_text("AC_INIT([fabtests], [1.17.0])\n")
    for name, text in (("autogen.sh", "#!/bin/sh\n"), ("configure", CONFIGURE)):
        (source / name).write_text(text)
        (source / name).chmod(0o755)
    made = fabtests.built(source.parent, lambda _: None)
    assert sorted(each.name for each in made.iterdir()) == sorted(fabtests.PROGRAMS)
    assert not (source / "Makefile").exists(), "the checkout stays as it is"
    (source / "autogen.sh").write_text("#!/bin/sh\necho no autoconf here >&2; exit 3\n")
    shutil.rmtree(tmp_path / "tree")
    with pytest.raises(fabtests.NotBuilt, match=r"autogen.sh of fabtests failed: no autoconf here \(scripts/setup"):
        fabtests.built(source.parent, lambda _: None)


def test_programs_are_found_where_they_are_built(tmp_path: Path) -> None:
    client = tmp_path / "examples" / "invocation" / "invocation-client.tcp"
    client.parent.mkdir(parents=True)
    client.touch()
    programs = Programs(tmp_path, {}, "", "")
    assert programs.path("invocation-client.tcp") == client
    absent = {each.name: each.absent for each in all_contenders(("tcp",), programs, [])}
    assert absent["bench/invocation, tcp"] == "" and absent["raw socket"] == "not built"


def test_spread_is_of_the_middle() -> None:
    assert spread([]) is None
    found = spread([float(each) for each in range(11)])
    assert found is not None and (found.low, found.median, found.high) == (1, 5, 9)


def test_a_set_has_rivals_of_all_transports_on_one_host_and_on_two() -> None:
    assert transports([SET]) == ["all", "all, two hosts"]
    assert transports(["tcp"]) == ["tcp"] and set(transports(["tcp", "mapped", SET])) == set(TRANSPORTS)
    assert set(SETTINGS) == set(TRANSPORTS)
    assert {f"bench-contender.{each}" for each in ("mapped", "tcp", SET)} <= set(targets([SET]))
    told = '{"set_ns": 410.5, "fabric_ns": 408.0, "ratio": {"median": 1.006}, "above_ns": {"median": 2.5}}'
    assert outputs.invocation_of_set(told)["invocation hot: above", 0] == 2.5


@pytest.mark.skipif(bool(why_not()), reason=f"two hosts: {why_not()}")
def test_two_hosts_reach_each_other_and_leave_nothing() -> None:
    before = sorted(os.listdir("/run/netns")) if os.path.isdir("/run/netns") else []
    with two_hosts() as hosts, two_hosts() as others:
        assert hosts.space != others.space and hosts.own != hosts.address
        port = 47013
        heard = processes.pair(
            [*hosts.apart(hosts.server), sys.executable, "-c", _LISTENS, hosts.address, str(port)],
            [*hosts.apart(hosts.client), sys.executable, "-c", _CALLS, hosts.address, str(port)],
            port,
            hosts.environment,
        )
        assert heard.split() == [hosts.own, "1"]  # the first process of its own numbers
    assert (sorted(os.listdir("/run/netns")) if os.path.isdir("/run/netns") else []) == before


_LISTENS = """
import socket, sys
with socket.create_server((sys.argv[1], int(sys.argv[2]))) as s:
    c, who = s.accept()
    c.sendall(who[0].encode())
    c.close()
"""
_CALLS = """
import os, socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), 10) as c:
    print(c.recv(100).decode(), os.getpid())
"""
