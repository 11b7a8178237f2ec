# SPDX-License-Identifier: Apache-2.0
"""`weft bench`: combinations and refused ones, turns, figures, ranks, tables, the page.

Nothing is built or timed here.
"""
from __future__ import annotations

import csv
import io
import json
import re
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from generator.benching import building, command, pages, ranking, showing
from generator.benching.building import Absent
from generator.benching.combining import GIVES_UP, Combination, NotUnderstood, combinations, wanted_families
from generator.benching.running import Key, Plan, Sample, Turn, play, read_sample
from generator.benching.session import Asked
from generator.decided import Decided
from generator.matrix.loader import Refused
from generator.rules import Family, Rule, decide
from generator.matrix.model import Matrix
from generator.schemas import all_schemas
from tests.generator.conftest import Run

OWN = Combination((("notify", "immediate"),), ())
OTHER = Combination((("notify", "watched_word"),), (("notify", "watched_word"),))
LAST = Combination((("notify", "remote_counter"),), (("notify", "remote_counter"),))
FORBIDDEN = Combination(
    (("notify", "no"),), (("notify", "no"),), "notify: fabric tcp cannot answer no: it needs <order> & more"
)
PUT, BIG, RATE = Key("put_notify", 8, 0), Key("put_notify", 65536, 0), Key("send_rate", 8, 16)


def enumerated(row: Decided, families: tuple[Family, ...], *words: str) -> list[Combination]:
    return combinations(
        row.fabric, row.fabric.ranges[0], row.choices[0], families, wanted_families(words, families) if words else None
    )


# ---- enumeration ---------------------------------------------------------------------------------


def test_the_rows_own_answers_come_first_and_the_forbidden_ones_have_the_sentence_of_the_compiler(
    decided: dict[str, Decided], families: tuple[Family, ...], root: Path
) -> None:
    found = enumerated(decided["tcp"], families, "notify")
    assert found[0].baseline and [each.baseline for each in found].count(True) == 1
    legal = {dict(each.answers)["notify"] for each in found if each.legal}
    assert {"immediate", "message_after_ordered_write", "message_after_delivery"} <= legal
    header = (root / "generated" / "tcp.why_not.hpp").read_text("utf-8")
    told = "".join(re.findall(r'^ +"(.*?)"', header, re.MULTILINE))
    forbidden = [each for each in found if not each.legal]
    assert {dict(each.answers)["notify"] for each in forbidden} >= {"remote_counter", "immediate_consumes_receive"}
    for each in forbidden:
        assert each.reason.replace('"', '\\"') in told


def test_named_families_are_varied_with_each_other_and_all_of_them_one_at_a_time(
    decided: dict[str, Decided], families: tuple[Family, ...]
) -> None:
    both = [each for each in enumerated(decided["tcp"], families, "notify,liveness") if each.legal]
    notify = [each for each in enumerated(decided["tcp"], families, "notify") if each.legal]
    liveness = [each for each in enumerated(decided["tcp"], families, "liveness") if each.legal]
    assert len(both) == len(notify) * len(liveness) > len(notify) > 1
    alone = [each for each in enumerated(decided["tcp"], families) if each.legal]
    assert max(len(each.changed) for each in alone) == 1 and len(alone) == len(set(alone)) > len(notify)
    assert max(len(each.changed) for each in both) == 2


def test_every_family_of_every_row_can_be_named(decided: dict[str, Decided], families: tuple[Family, ...]) -> None:
    for row in decided.values():
        for family in families:
            found = enumerated(row, families, family.name)
            assert found[0].baseline and found[0].legal
            assert {answer.split("<")[0] for each in found for _, answer in each.answers} - GIVES_UP == set(
                family.answers
            ) - GIVES_UP


def test_an_answer_that_gives_a_promise_up_is_measured_only_by_its_name(
    decided: dict[str, Decided], families: tuple[Family, ...]
) -> None:
    assert decided["tcp"].fabric.ranges and "refused" not in {
        answer for each in enumerated(decided["tcp"], families, "flush") for _, answer in each.answers
    }
    assert [dict(each.answers)["flush"] for each in enumerated(decided["tcp"], families, "flush=refused")] == [
        "message_behind_writes",
        "refused",
    ]


def test_an_answer_that_costs_another_one_its_order_is_refused_beside_it(
    decided: dict[str, Decided], families: tuple[Family, ...]
) -> None:
    """weft::with judges answer by answer; as a whole they may exclude each other."""
    found = enumerated(decided["verbs_rxm"], families, "notify=message_after_ordered_write,atomics")
    judged = {(dict(each.answers)["notify"], dict(each.answers)["atomics"]): each.reason for each in found}
    assert judged["message_after_ordered_write", "target"] == ""
    assert (
        "atomics: fabric verbs_rxm cannot answer provider with these"
        in judged["message_after_ordered_write", "provider"]
    )


def test_what_an_answer_makes_illegal_is_chosen_anew_where_it_is_not_varied(
    decided: dict[str, Decided], families: tuple[Family, ...]
) -> None:
    """As weft::with does: message_after_ordered_write alone takes verbs_rxm's atomics away from the provider."""
    found = {dict(each.answers)["notify"]: each for each in enumerated(decided["verbs_rxm"], families, "notify")}
    assert found["message_after_ordered_write"].legal and found["message_after_ordered_write"].followed == (
        ("atomics", "target"),
        ("flush", "message_behind_writes"),
    )
    assert found["message_after_ordered_write"].type == "weft::answers::notify::message_after_ordered_write"
    assert found["immediate"].followed == ()


def test_a_new_family_is_found_by_its_name(decided: dict[str, Decided], families: tuple[Family, ...]) -> None:
    added = Family(
        "coalesce",
        "may small messages share one?",
        False,
        (Rule("none", (), (), "nothing waits"), Rule("up_to", (), (), "where messages exist")),
    )
    more = (*(family for family in families if family.name != "coalesce"), added)
    row = decided["tcp"]
    choices = decide(Matrix("m", (row.fabric,)), row.fabric, row.fabric.ranges[0], more)
    found = enumerated(Decided(row.fabric, (choices,)), more, "coalesce")
    assert [each.type for each in found] == ["", "weft::answers::coalesce::up_to<16, 1024>"]
    named = enumerated(Decided(row.fabric, (choices,)), more, "coalesce=up_to<16,1024>,coalesce=up_to<64, 4096>")
    assert [each.type for each in named] == [
        "",
        "weft::answers::coalesce::up_to<16,1024>",
        "weft::answers::coalesce::up_to<64, 4096>",
    ]
    assert building.program_name(named[1]) == "coalesce_up_to_16_1024"


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("mr_mode",), "no family 'mr_mode'; did you mean 'region_address'? (families are endpoint, "),
        (("notfiy",), "no family 'notfiy'; did you mean 'notify'?"),
        (("colour",), "no family 'colour': families are endpoint, bootstrap, "),
        (("notify=imediate",), "notify has no answer 'imediate'; did you mean 'immediate'?"),
        (("notify=red",), "notify has no answer 'red'; its answers are immediate, "),
    ],
)
def test_what_is_not_understood_is_told_with_what_there_is(
    families: tuple[Family, ...], words: Sequence[str], sentence: str
) -> None:
    with pytest.raises(NotUnderstood) as refused:
        wanted_families(words, families)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("word", ["region_address", "region-address", "Region Address", "regionaddress"])
def test_a_family_may_be_spelled_as_people_do(families: tuple[Family, ...], word: str) -> None:
    assert wanted_families((word,), families) == {"region_address": ()}
    assert list(wanted_families(("notify", word + ",liveness"), families)) == ["region_address", "notify", "liveness"]


# ---- programs ------------------------------------------------------------------------------------


def test_a_program_is_the_row_or_the_row_with_other_answers() -> None:
    assert "using combination = weft::fabrics::tcp;" in building.source("tcp", OWN)
    other = "using combination = weft::with<weft::fabrics::tcp, weft::answers::notify::watched_word>;"
    assert other in building.source("tcp", OTHER)
    assert (building.program_name(OWN), building.program_name(OTHER)) == ("own", "notify_watched_word")


def test_a_compilers_error_belongs_to_its_program() -> None:
    output = (
        "[1/4] Building\nFAILED: CMakeFiles/notify_no.dir/sources/notify_no.cpp.o \nc++ …\n"
        "x.hpp:5:3: error: static assertion failed: weft: notify: forbidden\n"
        "y.hpp:6:3: error: another\n[2/4] Linking CXX executable own\n"
    )
    assert building._errors(output) == {"notify_no": "weft: notify: forbidden"}


SCRIPT = """#!/bin/sh
echo {name} >> {log}
while [ "$1" != --out ]; do shift; done
[ {code} = 0 ] || {{ echo "***WARNING*** of the library" >&2; echo "bench: {sentence}" >&2; exit {code}; }}
cat > "$2" <<'END'
{document}
END
"""


def program(folder: Path, name: str, *, code: int = 0, sentence: str = "") -> Path:
    document = {
        "benchmarks": [
            {
                "name": "put_notify/8/min_time:0.010/manual_time",
                **{f"q{percent:03d}": 100.0 + percent for percent in range(0, 101, 5)},
            },
            {
                "name": "send/8/min_time:0.010/manual_time",
                "error_occurred": True,
                "error_message": "its largest message is shorter",
            },
            {
                "name": "send_rate/8/16/min_time:0.010/manual_time",
                **{f"q{percent:03d}": 7.0 for percent in range(0, 101, 5)},
            },
        ]
    }
    path = folder / name
    path.write_text(
        SCRIPT.format(name=name, log=folder / "log", code=code, sentence=sentence, document=json.dumps(document)),
        "utf-8",
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


PLAN = Plan(("put_notify",), (8,), (1,), 8, 0.01, turns=2, limit=20)


def test_programs_take_turns_and_who_begins_changes(tmp_path: Path) -> None:
    programs = {OWN: program(tmp_path, "a"), OTHER: program(tmp_path, "b"), LAST: program(tmp_path, "c")}
    turns, fallen = play(programs, PLAN, "", lambda line: None)
    assert (tmp_path / "log").read_text("utf-8").split() == list("abc" + "cba" + "abc")
    assert len(turns) == 2 and not fallen
    assert {key for key in turns[0][OWN]} == {PUT, RATE} and turns[0][OWN][PUT].median == 150


def test_a_combination_with_a_wrong_result_falls_out_with_its_sentence(tmp_path: Path) -> None:
    programs = {
        OWN: program(tmp_path, "a"),
        OTHER: program(tmp_path, "b", code=1, sentence="byte 3 is not the one that was sent"),
    }
    turns, fallen = play(programs, PLAN, "", lambda line: None)
    assert fallen == {OTHER: "byte 3 is not the one that was sent"}
    assert all(OWN in turn and OTHER not in turn for turn in turns)
    assert (tmp_path / "log").read_text("utf-8").split() == ["a", "b", "a", "a"]


def test_without_the_rows_own_answers_there_is_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(Absent, match="no such provider"):
        play({OWN: program(tmp_path, "a", code=77, sentence="no such provider")}, PLAN, "", lambda line: None)
    with pytest.raises(Refused, match="the row's own answers cannot be measured: a sum is wrong"):
        play({OWN: program(tmp_path, "a", code=1, sentence="a sum is wrong")}, PLAN, "", lambda line: None)


def test_a_benchmark_that_was_skipped_is_no_sample() -> None:
    assert read_sample({"benchmarks": [{"name": "send/8/manual_time", "error_occurred": True}]}) == {}


# ---- figures -------------------------------------------------------------------------------------


def flat(value: float) -> Sample:
    return Sample((value,) * 21)


def turns_of(*pairs: tuple[float, float], keys: Sequence[Key] = (PUT,)) -> list[Turn]:
    return [{OWN: {key: flat(own) for key in keys}, OTHER: {key: flat(other) for key in keys}} for own, other in pairs]


def test_quantiles_lie_between_values() -> None:
    assert (
        ranking.quantile([3, 1, 2], 0.5) == 2
        and ranking.quantile([1, 2], 0.5) == 1.5
        and ranking.quantile([5], 0.9) == 5
    )
    assert ranking.quantile(list(range(11)), 0.1) == 1 and ranking.quantile(list(range(11)), 0.9) == 9


def test_a_ratio_is_taken_turn_by_turn() -> None:
    """A machine that slows down by ten during the run changes times, and no ratio."""
    turns = turns_of((100, 50), (1000, 500), (10, 5))
    (one,) = ranking.operations(turns, OTHER, OWN)
    assert (one["ratio"], one["ratio_p10"], one["ratio_p90"]) == (0.5, 0.5, 0.5)
    assert one["median_ns"] == 50 and one["p10_ns"] < one["median_ns"] < one["p90_ns"] and one["window"] is None


@pytest.mark.parametrize(
    "others, wins",
    [((50, 50, 50), True), ((98, 98, 98), False), ((50, 50, 150), False), ((150, 150, 150), False), ((50, 50), False)],
)
def test_a_win_is_beyond_noise_and_spread(others: tuple[float, ...], wins: bool) -> None:
    (ranked,) = ranking.ranking([OWN, OTHER], turns_of(*((100, other) for other in others)), {})
    places = {place["combination"]["notify"]: place for place in ranked["places"]}
    assert places["watched_word"]["wins"] is wins and not places["immediate"]["wins"]
    assert [place["ratio"] for place in ranked["places"]] == sorted(place["ratio"] for place in ranked["places"])
    assert (ranked["class"], ranked["from_bytes"], ranked["to_bytes"]) == ("small", 0, 512)


def test_sizes_fall_into_classes_without_a_gap() -> None:
    bounds = [(low, high) for _, low, high in ranking.CLASSES]
    assert bounds[0][0] == 0 and bounds[-1][1] is None
    assert all(high is not None and high + 1 == low for (_, high), (low, _) in zip(bounds, bounds[1:]))
    found = ranking.ranking([OWN, OTHER], turns_of((2, 1), keys=(PUT, BIG, RATE)), {})
    assert [(each["class"], each["operation"]) for each in found] == [
        ("small", "put_notify"),
        ("small", "send_rate"),
        ("large", "put_notify"),
    ]


def test_what_fell_out_has_a_reason_and_no_figure() -> None:
    found = ranking.results([OWN, OTHER, FORBIDDEN], turns_of((1, 2)), {OTHER: "byte 3"})
    assert [(each["baseline"], each["legal"], each["reason"], bool(each["operations"])) for each in found] == [
        (True, True, "", True),
        (False, True, "byte 3", False),
        (False, False, FORBIDDEN.reason, False),
    ]


# ---- the answer ----------------------------------------------------------------------------------


@pytest.fixture
def answer() -> dict[str, Any]:
    every = [OWN, OTHER, FORBIDDEN]
    turns = turns_of((100, 50), (120, 60), (90, 44), keys=(PUT, BIG, RATE))
    return {
        "schema": "weft.bench.1",
        "fabric": "tcp",
        "varied": ["notify"],
        "turns": 3,
        "date": "2026-11-20T10:00:00+00:00",
        "machine": {"processor": "A <fast> one", "cores": 2, "kernel": "Linux 6.1"},
        "versions": {"weft": "0.1.0", "library": "libfabric 1.17.0", "compiler": "g++ 12"},
        "load": {"before": [0.1, 0.1, 0.1], "after": [0.2, 0.1, 0.1]},
        "results": ranking.results(every, turns, {}),
        "ranking": ranking.ranking(every, turns, {}),
    }


def test_the_answer_is_as_its_schema_says(answer: dict[str, Any]) -> None:
    jsonschema.validate(answer, all_schemas()["bench"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**answer, "more": 1}, all_schemas()["bench"])


def test_recorded_results_are_shown_in_every_format(answer: dict[str, Any], weft: Run, tmp_path: Path) -> None:
    recorded = tmp_path / "run.json"
    recorded.write_text(json.dumps(answer), "utf-8")
    assert json.loads(weft("bench", "--from", recorded, "--format", "json").stdout) == answer
    rows = list(csv.DictReader(io.StringIO(weft("bench", "--from", recorded, "--format", "csv").stdout)))
    assert (
        len(rows) == 7
        and rows[0]["processor"] == "A <fast> one"
        and rows[3]["ratio"] == "0.5"
        and rows[6]["reason"] == FORBIDDEN.reason
    )
    shown = weft("bench", "--from", recorded).stdout
    for part in (
        "small (up to 512 bytes)",
        "large (over 16384 bytes)",
        "notify=watched_word  0.50 (0.49-0.50) *",
        "A <fast> one",
        "load 0.1 before",
        "libfabric 1.17.0",
        "illegal: notify=no: " + FORBIDDEN.reason,
    ):
        assert part in shown
    assert len(shown.splitlines()) <= 24 and "\x1b" not in shown


def test_the_own_answers_are_shown_in_time_and_alone_without_ratios(answer: dict[str, Any], weft: Run,
                                                                    tmp_path: Path) -> None:
    recorded = tmp_path / "run.json"
    recorded.write_text(json.dumps(answer), "utf-8")
    shown = " ".join(weft("bench", "--from", recorded).stdout.split())
    assert "the row's own answers bytes median p10 to p90 rate" in shown
    assert "put_notify 8 100 ns 92 ns to 116 ns" in shown
    assert "send, rate of 16 8 100 ns 92 ns to 116 ns 10.00 million/s" in shown
    alone = {**answer, "results": answer["results"][:1], "varied": []}
    recorded.write_text(json.dumps(alone), "utf-8")
    shown = weft("bench", "--from", recorded).stdout
    assert "100 ns" in shown and "Ratios" not in shown and "small (" not in shown


@pytest.mark.parametrize("options, alone", [
    (("--quick",), True), ((), False), (("--quick", "--vary", "notify"), False), (("--quick", "--list"), False)])
def test_quick_without_vary_asks_for_the_own_answers_only(options: tuple[str, ...], alone: bool, answer: dict[str, Any],
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Asked] = []
    monkeypatch.setattr(command, "measure", lambda what, report: asked.append(what) or answer)
    assert CliRunner().invoke(command.bench, ("--fabric", "tcp", *options)).exit_code == 0
    assert [each.own_only for each in asked] == [alone]


def test_the_own_answers_alone_are_one_combination(families: tuple[Family, ...], decided: dict[str, Decided]) -> None:
    row = decided["tcp"]
    found = combinations(row.fabric, row.fabric.ranges[-1], row.choices[-1], families, {})
    assert [(each.baseline, each.legal, each.answers) for each in found] == [(True, True, ())]


def test_a_table_fits_a_screen_and_keeps_the_rows_own_answers(answer: dict[str, Any]) -> None:
    many = [OWN, *(replace(OTHER, answers=(("notify", f"a{i}"),), changed=(("notify", f"a{i}"),)) for i in range(30))]
    turn: Turn = {each: {PUT: flat(100 - place)} for place, each in enumerate(many)}
    ranked = ranking.ranking(many, [turn], {})
    _, rows = showing.table_of(ranked, {"notify": "immediate"})
    assert len(rows) <= 9 and rows[0][0] == "notify=a29" and rows[-1][0] == "the row's own"


def test_the_page_is_one_file_that_loads_nothing(answer: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written = pages.write(answer, tmp_path / "out")
    assert {path.name for path in written} == {
        "index.html",
        "latency_put_notify.png",
        "rate_send.png",
        "cdf_put_notify.png",
    }
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written if path.suffix == ".png")
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert page.count("<svg") == page.count("</svg>") == 3
    assert (
        "http" not in page
        and "<img" not in page
        and "<script" not in page
        and "<link" not in page
        and "src=" not in page
    )
    assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)"', page))
    names = re.findall(r'\bid="([^"]*)"', page)
    assert len(names) == len(set(names)) and {target[1:] for target in re.findall(r'href="([^"]*)"', page)} <= set(
        names
    )
    for part in (
        "A &lt;fast&gt; one",
        "0.50 (0.49-0.50) *",
        "it needs &lt;order&gt; &amp; more",
        "libfabric 1.17.0",
        "load 0.1 before",
    ):
        assert part in page


def test_without_matplotlib_a_sentence_says_what_to_install(answer: dict[str, Any], weft: Run, tmp_path: Path) -> None:
    (tmp_path / "hidden" / "matplotlib").mkdir(parents=True)
    (tmp_path / "hidden" / "matplotlib" / "__init__.py").write_text("raise ImportError('not here')\n", "utf-8")
    recorded = tmp_path / "run.json"
    recorded.write_text(json.dumps(answer), "utf-8")
    done = weft("bench", "--from", recorded, "--out", "out", env={"PYTHONPATH": str(tmp_path / "hidden")})
    assert (
        done.returncode == 2
        and "python3-matplotlib; scripts/setup bench installs it" in done.stderr
        and "Traceback" not in done.stderr
    )
    assert not (tmp_path / "out").exists()


# ---- the command ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ((), "name one fabric"),
        (("--fabric", "tpc"), "no fabric 'tpc'; did you mean 'tcp'?"),
        (("--fabric", "loopback"), "nothing of it can be timed"),
        (("--fabric", "tcp", "--vary", "colour"), "no family 'colour': families are endpoint, "),
        (("--fabric", "tcp", "--sizes", "8,many"), "'many' is no number"),
        (("--fabric", "tcp", "--operations", "putt"), "no operation 'putt'"),
        (("--from", __file__), "is not what ./weft bench --format json printed"),
    ],
)
def test_wrong_usage_is_a_sentence_and_2(weft: Run, arguments: tuple[str, ...], sentence: str) -> None:
    done = weft("bench", *arguments)
    assert done.returncode == 2 and sentence in " ".join(done.stderr.split()) and "Traceback" not in done.stderr


def test_a_list_builds_nothing(weft: Run) -> None:
    done = weft("bench", "--fabric", "mapped", "--vary", "notify", "--list")
    assert done.returncode == 0, done.stderr
    assert "legal: the row's own" in done.stdout and "illegal: notify=" in done.stdout
    assert (
        done.stdout.startswith("mapped: nothing was measured; the row's own answers are notify=immediate\n")
        and "turns" not in done.stdout
    )
    found = json.loads(weft("bench", "--fabric", "mapped", "--vary", "notify", "--list", "--format", "json").stdout)
    jsonschema.validate(found, all_schemas()["bench"])


def test_a_fabric_that_is_not_here_is_77(weft: Run, tmp_path: Path) -> None:
    """The row does not describe this release of the library."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "pkg-config").write_text("#!/bin/sh\necho 1.9.0\n", "utf-8")
    (folder / "pkg-config").chmod(0o755)
    done = weft("bench", "--fabric", "tcp", "--list", env={"PATH": f"{folder}:/usr/bin:/bin"})
    assert (
        done.returncode == 77 and "fabric tcp is not on this machine: its row describes releases since" in done.stderr
    )
