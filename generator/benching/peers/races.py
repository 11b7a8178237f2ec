# SPDX-License-Identifier: Apache-2.0
"""Half round trips of 8 bytes of close contenders, in slices: for differences that turns of seconds hide (see
`slices`).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from . import outputs
from .contenders import BY_HAND, FLOORS, SET, WEFT, Plan, ladder, not_there
from .hosts import TWO_HOSTS, why_not
from .measured import Key, Measured
from .outputs import Readings
from .processes import run
from .programs import Programs
from .ucx import Rival, perftest
from ..slices import in_slices

IN_SLICES = "half round trip in slices"
SIZE = 8
_DEADLINE = 120.0
_ROUNDS, _SECONDS = 25, .3  # who begins alternates; a round is short, so that the host moves nothing within one
# Each round has processes of its own. On some hosts some pairs of processes take four times as long as others of the
# same program, for their whole life.
QUICK_ROUNDS = 11
_FLAG = "bench-flag.mapped"
WORD = "weft put of a word"


@dataclass(frozen=True)
class Racer:
    """A contender that makes that many round trips, and prints the half of one.

    `alone`: the key of its latency by turns, if not its own.
    """

    name: str
    once: Callable[[int], Readings]
    absent: str
    alone: Key | None = None

    def latency(self, measured: Measured) -> float | None:
        """By turns, in nanoseconds."""
        found = measured.value(self.alone or (self.name, "latency", SIZE))
        return found.median if found else None


def races(fabrics: Sequence[str], programs: Programs, rivals: Sequence[Rival]) -> list[list[Racer]]:
    """Contenders to run together: those of one claim."""
    found = []
    if "tcp" in fabrics:
        found.append([*_own("tcp", ("watched_word", "put_notify", "watched_write", "tuned", "plain"), programs),
                      *_ucx("tcp", {"tag": "tag_lat"}, rivals)])
    if "tcp_rxm" in fabrics:
        found.append(_own("tcp_rxm", ("watched_word", "put", "send", "plain"), programs))
    if "shm" in fabrics:
        found.append(_own("shm", ("put_notify", "watched_word", "put", "send", "plain", "watched_write_by_pointers"),
                          programs))
    if "mapped" in fabrics:
        found.append([*_floors(("put", "ring"), programs), _word(programs), *_own("mapped", ("put", "send"), programs),
                      *_ucx("posix", {"tag": "tag_lat", "am": "ucp_am_lat", "put": "ucp_put_lat"}, rivals)])
    if SET in fabrics:
        kinds = ("put_notify", "send")
        # Another name than in the race above, whose slices were others.
        alone = [replace(each, name=f"{each.name} alone", alone=(each.name.replace("mapped", SET), "latency", SIZE))
                 for each in _own("mapped", kinds, programs)]
        found.append([*_own(SET, kinds, programs), *alone,
                      *_ucx("all", {"tag": "tag_lat", "am": "ucp_am_lat"}, rivals)])
        found.append([*_own(SET, kinds, programs, TWO_HOSTS), *_own("tcp", kinds, programs, TWO_HOSTS),
                      *_ucx(f"all, {TWO_HOSTS}", {"tag": "tag_lat", "am": "ucp_am_lat"}, rivals)])
    return found


def race(every: Sequence[Sequence[Racer]], plan: Plan, measured: Measured, report: Callable[[str], None]) -> None:
    """Adds readings of IN_SLICES.

    The number of a racer's round trips follows from its latency by turns. A contender without that latency takes no
    part.
    """
    rounds, seconds = (QUICK_ROUNDS, .2) if plan.quick else (_ROUNDS, _SECONDS)
    for number, racers in enumerate(every):
        present = [each for each in racers if not each.absent and each.latency(measured)]
        for turn in range(rounds):
            order = present if turn % 2 == 0 else present[::-1]
            for name, result in in_slices({each.name: _bound(each, seconds, measured) for each in order}).items():
                if isinstance(result, Exception):
                    measured.failed[name] = f"failed in slices: {result}"
                    report(f"{name}, in slices: {result}")
                else:
                    measured.by_turn.setdefault((name, IN_SLICES, SIZE), {})[turn] = result["latency", SIZE]
        report(f"in slices, {number + 1} of {len(every)}: {', '.join(each.name for each in present)}")


def _bound(racer: Racer, seconds: float, measured: Measured) -> Callable[[], Readings]:
    alone = racer.latency(measured)
    assert alone is not None  # contenders without a latency are not here
    count = max(int(seconds * 1e9 / (2 * alone)), 1000)
    return lambda: racer.once(count)


def _own(fabric: str, kinds: Sequence[str], programs: Programs, hosts: str = "") -> list[Racer]:
    names = WEFT | BY_HAND | {"watched_write_by_pointers": "by hand, watched write by pointers"}
    target = f"bench-contender.{fabric}"
    absent = not_there(programs, target) or (why_not() if hosts else "")
    over = f"{fabric}, {hosts}" if hosts else fabric
    return [Racer(f"{names[kind]}, {over}", _climb(fabric, kind, programs, hosts), absent) for kind in kinds]


def _climb(fabric: str, kind: str, programs: Programs, hosts: str) -> Callable[[int], Readings]:
    return lambda count: ladder(fabric, programs, hosts, _arguments(kind, count), _DEADLINE)


def _arguments(kind: str, count: int) -> list[str]:
    return ["--as", kind, "--sizes", str(SIZE), "--count", str(count), "--limit", str(int(_DEADLINE)), "--no-rate"]


def _floors(kinds: Sequence[str], programs: Programs) -> list[Racer]:
    program = programs.path("bench-floor")

    def climb(kind: str) -> Callable[[int], Readings]:
        return lambda count: outputs.contender(run([program, *_arguments(kind, count)], seconds=_DEADLINE))

    return [Racer(FLOORS[kind][0], climb(kind), not_there(programs, "bench-floor")) for kind in kinds]


def _word(programs: Programs) -> Racer:
    """A word without notice. The other contenders' eight bytes come before a number that the target watches.

    Its program alternates with a flag by hand.
    """
    scenario = "put beside flag: one_way"
    program = programs.path(_FLAG)

    def once(count: int) -> Readings:
        report = run([program, "--spin", "--word-alone", "--turns", "4", "--count", str(count // 2), "--limit",
                    str(int(_DEADLINE)), "--json", "-"], seconds=_DEADLINE)
        return {("latency", SIZE): outputs.duels(report)[scenario, SIZE]}

    return Racer(f"{WORD}, mapped", once, not_there(programs, _FLAG), ("bench-flag, mapped", scenario, SIZE))


def _ucx(transport: str, tests: dict[str, str], rivals: Sequence[Rival]) -> list[Racer]:
    def of(rival: Rival, way: str, test: str) -> Racer:
        def once(count: int) -> Readings:
            line = outputs.ucx(perftest(rival.ucx, transport, test, SIZE, count, rival.setting(test, SIZE), _DEADLINE))
            return {("latency", SIZE): line.median_us * 1000}

        return Racer(rival.tuned(way), once, rival.ucx.absent)

    return [of(rival, way, test) for rival in rivals if rival.transport == transport for way, test in tests.items()]
