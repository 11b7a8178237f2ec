# SPDX-License-Identifier: Apache-2.0
"""The contenders of a run, and how each runs once.

Names are `<what>, <over what>`; those of weft begin with "weft".
"""
from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import outputs, ucx
from .hosts import hosts_of, why_not
from .outputs import Readings
from .processes import SECONDS, free_port, pair, run
from .programs import ROOT, Programs
from .ucx import Rival

SIZES = (8, 1024, 4096, 16384, 65536, 1048576)
QUICK_SIZES = (8, 4096, 65536)
WEFT = {"put_notify": "weft put_notify", "watched_word": "weft put_notify, watched word", "send": "weft send",
        "put": "weft put, watched by the target", "fetch_add": "weft fetch_add"}
BY_HAND = {"plain": "by hand, plain", "tuned": "by hand, tuned write with immediate",
           "tuned_send": "by hand, tuned send", "watched_write": "by hand, watched write",
           "raw_fetch_add": "by hand, fetch_add"}
FLOORS = {"socket": ("raw socket", "sockets"), "put": ("raw memory, copy and flag", "memory"),
          "ring": ("raw memory, ring of messages", "memory")}
# A large transfer as a stream: bytes of one send() and of the kernel's buffers; 0: all, and the kernel's own. The floor
# is the fastest of them at each size.
STREAMS = ((0, 0), (8192, 0), (32768, 0), (0, 212992), (32768, 212992))
KERNEL = "kernel_tcp"
SET, SET_OF = "mapped_or_tcp", ("mapped", "tcp")
SET_ELSEWHERE, TCP_ELSEWHERE = f"{SET}, two hosts", "tcp, two hosts"
# of UCX, and the table of each
TRANSPORTS = {"tcp": "sockets", "posix": "memory", "all": "one host", "all, two hosts": "two hosts"}
# The library moves data in a thread of its own. Nothing is pinned, and programs that never sleep take milliseconds.
OWN_THREAD = ("sockets",)
FOREIGN_FABRICS = {"tcp": ("msg", "tcp"), "tcp_rxm": ("rdm", "tcp;ofi_rxm"), "sockets": ("rdm", "sockets"),
                   "shm": ("rdm", "shm"), "udp_rxd": ("rdm", "udp;ofi_rxd")}


@dataclass(frozen=True)
class Plan:
    """The size of a run."""

    sizes: tuple[int, ...]
    turns: int
    seconds: float  # no turn begins later
    quick: bool


@dataclass(frozen=True)
class Contender:
    """One contender. `absent` says why it takes no part and how to mend that; else it is empty."""

    name: str
    table: str  # sockets, memory, own
    once: Callable[[Plan], Readings]
    absent: str = ""
    at_most: int = 1000  # turns: long contenders have fewer
    part: str = ""  # for a contender that runs in parts: one failed part loses nothing of the others

    @property
    def label(self) -> str:
        """The name in reports of failures."""
        return f"{self.name}, {self.part}" if self.part else self.name


def same_host(fabric: str) -> str:
    """The table of a fabric's contenders."""
    return {"shm": "memory", "mapped": "memory", SET: "one host"}.get(fabric, "sockets")


def all_contenders(fabrics: Sequence[str], programs: Programs, rivals: Sequence[Rival]) -> list[Contender]:
    """All contenders, in the order of their runs."""
    found = [_floor(kind, programs) for kind, (_, table) in FLOORS.items()
             if any(same_host(fabric) == table for fabric in fabrics)]
    for fabric in fabrics:
        for kind in _kinds(fabric):
            found += [_own(fabric, kind, programs, "")] + ([] if kind in ("fetch_add", "raw_fetch_add",
                                                                          "watched_write_by_pointers")
                                                           else [_own(fabric, kind, programs, "large transfers")])
        if fabric in FOREIGN_FABRICS:
            found += [_fi_pingpong(fabric), _fabtests(fabric)]
    if SET in fabrics:
        found += [_own(fabric, kind, programs, part, "two hosts") for fabric in SET_OF[1:] + (SET,)
                  for kind in ("put_notify", "send") for part in ("", "large transfers")]
    for rival in rivals:
        table = TRANSPORTS[rival.transport]
        found += [_ucx(rival, way, table, tuned) for way in ucx.WAYS
                  for tuned in ((False, True) if rival.ucx.name == "UCX" else (True,))]
    return found + _duels(fabrics, programs)


def transports(fabrics: Sequence[str]) -> list[str]:
    """UCX's transports beside these fabrics."""
    tables = {same_host(each) for each in fabrics} | ({"two hosts"} if SET in fabrics else set())
    return [transport for transport, table in TRANSPORTS.items() if table in tables]


def targets(fabrics: Sequence[str]) -> list[str]:
    """The programs that such a run needs, the most important first."""
    needed = dict.fromkeys([*fabrics, *(SET_OF if SET in fabrics else ())])
    wanted = ["bench-floor", *(f"bench-contender.{fabric}" for fabric in needed)]
    for fabric in needed:
        wanted += {"tcp": ["bench-raw-pingpong.tcp", "bench-memory.tcp", "bench-coalesced.tcp"],
                   "shm": ["bench-coalesced.shm"],
                   "tcp_rxm": ["bench-endpoint.tcp_rxm", "bench-memory.tcp_rxm"],
                   "mapped": ["bench-flag.mapped"]}.get(fabric, [])
        if fabric in ("tcp", "mapped", SET):
            wanted += [f"invocation-{role}.{fabric}" for role in ("manager", "executor", "client")]
    return wanted


def _kinds(fabric: str) -> list[str]:
    kinds = ["put_notify", "watched_word", "send", "put", "fetch_add"]
    if fabric in ("mapped", SET):
        return [kind for kind in kinds if kind != "watched_word"]
    if fabric == KERNEL:
        return kinds
    kinds += ["plain", "tuned", "tuned_send", "watched_write"]
    return kinds + (["raw_fetch_add"] if fabric != "tcp" else []) + (["watched_write_by_pointers"] if fabric == "shm"
                                                                     else [])


def _count(table: str, quick: bool) -> str:
    return str((40000 if table == "memory" else 2000) // (2 if quick else 1))


def _floor(kind: str, programs: Programs) -> Contender:
    name, table = FLOORS[kind]
    program = programs.path("bench-floor")

    def climbed(plan: Plan, sizes: Sequence[int], *options: str) -> Readings:
        return outputs.contender(run([program, "--as", kind, "--sizes", ",".join(map(str, sizes)), "--count",
                                      _count(table, plan.quick), "--limit", "20", *options]))

    def once(plan: Plan) -> Readings:
        if kind != "socket":
            return climbed(plan, plan.sizes)
        large = [size for size in plan.sizes if size > 4096]
        found = climbed(plan, [size for size in plan.sizes if size <= 4096])
        for piece, buffers in STREAMS if large else ():
            for key, ns in climbed(plan, large, "--no-rate", "--piece", str(piece), "--kernel-buffers",
                                   str(buffers)).items():
                found[key] = min(ns, found.get(key, ns))
        return found

    return Contender(name, table, once, not_there(programs, "bench-floor"))


def _own(fabric: str, kind: str, programs: Programs, part: str, hosts: str = "") -> Contender:
    """`hosts`: "two hosts", or where there is one, nothing."""
    over = f"{fabric}, {hosts}" if hosts else fabric
    name = f"{(WEFT | BY_HAND).get(kind, 'by hand, watched write by pointers')}, {over}"
    table = hosts or same_host(fabric)

    def once(plan: Plan) -> Readings:
        sizes = [size for size in plan.sizes if (size > 4096) == bool(part)]
        return ladder(fabric, programs, hosts, ["--as", kind, "--sizes", ",".join(map(str, sizes)), "--count",
                                                _count("memory" if table in ("memory", "one host") else "", plan.quick),
                                                "--limit", "20", *(["--no-rate"] if part else [])])

    absent = not_there(programs, f"bench-contender.{fabric}") or (why_not() if hosts else "")
    return Contender(name, table, once, absent, part=part)


def ladder(fabric: str, programs: Programs, hosts: str, arguments: Sequence[str], seconds: float = SECONDS) -> Readings:
    """One run of weft's contender over the fabric, on one host or on two."""
    program = programs.path(f"bench-contender.{fabric}")
    with hosts_of(hosts) as places:
        second = ["--second-namespace", places.space, "--second-node", places.address] if places.space else []
        return outputs.contender(run([*places.client, program, *arguments, *second], places.environment, seconds))


def not_there(programs: Programs, target: str) -> str:
    """Why a program takes no part, or nothing."""
    if target in programs.missing:
        return programs.missing[target]
    return "" if programs.path(target).is_file() else "not built"


def _ucx(rival: Rival, way: str, table: str, tuned: bool) -> Contender:
    def once(plan: Plan) -> Readings:
        return ucx.read(rival, way, plan.sizes, plan.quick, tuned)

    name = rival.tuned(way) if tuned else f"{rival.ucx.name} {way}, {rival.transport}"
    return Contender(name, table, once, rival.ucx.absent)


def _fi_pingpong(fabric: str) -> Contender:
    endpoint, provider = FOREIGN_FABRICS[fabric]

    def once(plan: Plan) -> Readings:
        found: Readings = {}
        for size in plan.sizes:
            port = free_port()
            count = "400" if size <= 4096 else "100" if size <= 65536 else "20"
            same = ["-e", endpoint, "-p", provider, "-I", count, "-S", str(size)]
            found["latency", size] = outputs.fi_pingpong(pair(["fi_pingpong", *same, "-B", str(port)],
                                                              ["fi_pingpong", *same, "-P", str(port), "127.0.0.1"],
                                                              port,
                                                                      pinned=fabric not in OWN_THREAD), size)
        return found

    return Contender(f"fi_pingpong, {fabric}", same_host(fabric), once,
                     "" if shutil.which("fi_pingpong") else "not found: install libfabric-bin (scripts/setup bench)",
                     at_most=5)


def _fabtests(fabric: str) -> Contender:
    endpoint, provider = FOREIGN_FABRICS[fabric]
    program = f"fi_{endpoint}_pingpong"

    def once(plan: Plan) -> Readings:
        found: Readings = {}
        for size in plan.sizes:
            port = free_port()
            share = 2 if plan.quick else 1
            count = 50 if fabric in OWN_THREAD else (4000 if size <= 4096 else 400 if size <= 65536 else 50) // share
            same = [program, "-p", provider, "-I", str(count), "-S", str(size)]
            found["latency", size] = outputs.fi_pingpong(pair([*same, "-s", "127.0.0.1", "-B", str(port)],
                                                              [*same, "-P", str(port), "127.0.0.1"], port,
                                                              pinned=fabric not in OWN_THREAD), size)
        return found

    return Contender(f"fabtests {program}, {fabric}", same_host(fabric), once, "" if shutil.which(program) else
                     "not found: Debian has no package of fabtests; name their source (--fabtests), or use PATH "
                     "(\"by hand, plain\" makes the same calls)", at_most=5)


def _duels(fabrics: Sequence[str], programs: Programs) -> list[Contender]:
    """Benches that contain their contender."""
    found = []
    kinds: list[tuple[str, str, list[str], Callable[[str], Readings], int]] = [
        ("bench-flag", "mapped", ["--spin", "--json"], outputs.duels, 15),
        ("bench-coalesced", "tcp", ["--json"], outputs.coalesced, 3),
        ("bench-coalesced", "shm", ["--json"], outputs.coalesced, 3),
        ("bench-endpoint", "tcp_rxm", ["--json"], outputs.endpoint, 2),
        ("bench-memory", "tcp", ["--peers", "200"], outputs.memory, 1),
        ("bench-memory", "tcp_rxm", ["--peers", "100"], outputs.memory, 1)]
    for program, fabric, arguments, reads, at_most in kinds:
        if fabric not in fabrics:
            continue
        target = f"{program}.{fabric}"

        def once(plan: Plan, target: str = target, arguments: list[str] = arguments,
                 reads: Callable[[str], Readings] = reads) -> Readings:
            return reads(run([programs.path(target), *arguments], seconds=60))

        found.append(Contender(f"{program}, {fabric}", "own", once, not_there(programs, target), at_most))
    found += [_invocation(fabric, programs) for fabric in ("tcp", "mapped") if fabric in fabrics]
    return found + [_invocation_of_set(fabric, programs) for fabric in SET_OF if SET in fabrics]


def _invocation(fabric: str, programs: Programs) -> Contender:
    def once(plan: Plan) -> Readings:
        with tempfile.TemporaryDirectory() as folder:
            answer_file = Path(folder) / "invocation.json"
            run([sys.executable, "-B", ROOT / "bench/invocation/run", "--build", programs.folder, "--fabric", fabric,
                 "--turns", "5", "--count", "400", "--json", answer_file], seconds=90)
            return outputs.invocation(answer_file.read_text("utf-8"))

    return Contender(f"bench/invocation, {fabric}", "own", once, not_there(programs, f"invocation-client.{fabric}"),
                     at_most=9)


def _invocation_of_set(fabric: str, programs: Programs) -> Contender:
    def once(plan: Plan) -> Readings:
        with tempfile.TemporaryDirectory() as folder:
            answer_file = Path(folder) / "set.json"
            run([sys.executable, "-B", ROOT / "bench/invocation/set_beside_fabric", "--build", programs.folder, "--set",
                 SET, "--fabric", fabric, "--turns", "5", "--json", answer_file], seconds=120)
            return outputs.invocation_of_set(answer_file.read_text("utf-8"))

    return Contender(f"bench/invocation of {SET}, {fabric}", "own", once,
                     not_there(programs, f"invocation-client.{SET}"), at_most=9)
