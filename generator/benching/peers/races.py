# SPDX-License-Identifier: Apache-2.0
"""Half round trips of 8 bytes of close contenders, in slices: for differences that turns of seconds hide (see
`slices`).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import outputs
from .contenders import BY_HAND, FLOORS, WEFT, Plan, not_there
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
    return found


def race(every: Sequence[Sequence[Racer]], plan: Plan, measured: Measured, report: Callable[[str], None]) -> None:
    """Adds readings of IN_SLICES.

    The number of a racer's round trips follows from its latency by turns. A contender without that latency takes no
    part.
    """
    rounds, seconds = (2, .2) if plan.quick else (_ROUNDS, _SECONDS)
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


def _own(fabric: str, kinds: Sequence[str], programs: Programs) -> list[Racer]:
    target = f"bench-contender.{fabric}"
    names = WEFT | BY_HAND | {"watched_write_by_pointers": "by hand, watched write by pointers"}
    return [_ladder(f"{names[kind]}, {fabric}", target, kind, programs) for kind in kinds]


def _floors(kinds: Sequence[str], programs: Programs) -> list[Racer]:
    return [_ladder(FLOORS[kind][0], "bench-floor", kind, programs) for kind in kinds]


def _ladder(name: str, target: str, kind: str, programs: Programs) -> Racer:
    program = programs.path(target)

    def once(count: int) -> Readings:
        return outputs.contender(run([program, "--as", kind, "--sizes", str(SIZE), "--count", str(count), "--limit",
                                      str(int(_DEADLINE)), "--no-rate"], seconds=_DEADLINE))

    return Racer(name, once, not_there(programs, target))


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
