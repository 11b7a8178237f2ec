# SPDX-License-Identifier: Apache-2.0
"""UCX as a contender: its versions here, its settings, and which setting is best for each test and size.

UCX chooses protocols by thresholds that suit some machines. A claim against the defaults alone would be a claim against
a badly tuned rival, so each test has the best of some settings.
"""
from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...matrix.loader import Refused
from ...releasing.places import Place
from . import outputs
from .hosts import hosts_of
from .outputs import NotUnderstood, Readings
from .processes import SECONDS, Failed, free_port, pair
from .programs import ROOT

TESTS = {"tag_lat": ("tag", "latency"), "ucp_am_lat": ("am", "latency"), "ucp_put_lat": ("put", "latency"),
         "ucp_fadd": ("put", "fetch_add"), "tag_bw": ("tag", "rate"), "ucp_put_bw": ("put", "put rate")}
WAYS = ("tag", "am", "put")
Setting = tuple[str, ...]
"""Environment variables, each NAME=VALUE; none: UCX's defaults."""
_EAGER = "UCX_RNDV_THRESH=inf"
_ANY: tuple[Setting, ...] = ((), (_EAGER,), (_EAGER, "UCX_ZCOPY_THRESH=inf"), ("UCX_RNDV_THRESH=16k",),
                             ("UCX_RNDV_THRESH=16k", "UCX_RNDV_SCHEME=get_zcopy"),
                             (_EAGER, "UCX_TCP_TX_SEG_SIZE=64k", "UCX_TCP_RX_SEG_SIZE=64k"))
SETTINGS: Mapping[str, tuple[Setting, ...]] = {
    # By default tcp changes to rendezvous at some KiB, and its segments have 8 KiB.
    "tcp": ((), (_EAGER,), (_EAGER, "UCX_ZCOPY_THRESH=inf"), (_EAGER, "UCX_ZCOPY_THRESH=0"),
            (_EAGER, "UCX_TCP_TX_SEG_SIZE=64k", "UCX_TCP_RX_SEG_SIZE=64k"),
            (_EAGER, "UCX_TCP_TX_SEG_SIZE=256k", "UCX_TCP_RX_SEG_SIZE=256k"),
            (_EAGER, "UCX_TCP_SNDBUF=208k", "UCX_TCP_RCVBUF=208k")),
    # cma copies in one step, if the kernel permits that between these processes.
    "posix": ((), (_EAGER,), (_EAGER, "UCX_POSIX_SEG_SIZE=16k"), ("UCX_RNDV_THRESH=16k",),
              ("UCX_TLS=posix,cma",), ("UCX_TLS=posix,cma", "UCX_RNDV_THRESH=16k", "UCX_RNDV_SCHEME=get_zcopy"),
              ("UCX_TLS=posix,cma", "UCX_RNDV_THRESH=16k", "UCX_RNDV_SCHEME=put_zcopy")),
    # UCX chooses among all of its transports.
    "all": _ANY, "all, two hosts": _ANY,
}
_LEADING = 3  # settings that are tried more than once
_WARM = 80  # round trips of any size before timing, as large ones of ours have
# Enters the root with the machine's own devices, so that two processes share memory as outside. Debian 13's bench takes
# itself for an MPI program, and has -P 0. MPI moves no byte here, but its own UCX and shared memory would add 1.8 s to
# each start. Debian 14's has no MPI.
_ENTER = ('export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self && '
          'mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" && mount -t proc proc "$0/proc" && '
          'exec chroot "$0" /usr/bin/ucx_perftest "$@"')
# The index of a mirror that is a snapshot has a date that passed.
_INSTALL = ("command -v ucx_perftest >/dev/null || { apt-get -q -o Acquire::Check-Valid-Until=false update "
            "&& apt-get -q install -y --no-install-recommends ucx-utils; }")
_NEWER_ROOT = ROOT / "build" / "debian13" / "root"
_NEWEST = Place("debian-14", "forky")  # as in generator/releasing/releases.yaml


@dataclass(frozen=True)
class Ucx:
    """One UCX of this machine. `command` begins each call of its bench. `absent` says why there is none, else empty."""

    name: str
    command: tuple[str, ...]
    version: str
    absent: str = ""


@dataclass(frozen=True)
class Rival:
    """One UCX over one transport, with its best setting per test and size."""

    ucx: Ucx
    transport: str
    best: Mapping[tuple[str, int], Setting] = field(default_factory=dict)

    def tuned(self, way: str) -> str:
        """The name of the tuned contender."""
        return f"{self.ucx.name} {way}, tuned, {self.transport}"

    def setting(self, test: str, size: int) -> Setting:
        return self.best.get((test, size), ())


def found_here(report: Callable[[str], None], quick: bool) -> list[Ucx]:
    """The UCX of this machine, and those of the roots of Debian 13 (scripts/debian13) and of its successor
    (scripts/releases), made or completed now.
    """
    here = shutil.which("ucx_perftest")
    absent = "" if here else "not found: install ucx-utils (scripts/setup bench)"
    first = Ucx("UCX", ("ucx_perftest",), _version(()) if here else "not installed", absent)
    if quick:
        return [first, *(Ucx(name, (), "none", "takes no part in a quick run") for name in ("newer UCX", "newest UCX"))]
    newer = _in_root("newer UCX", "Debian 13", _NEWER_ROOT, report,
                     lambda: [str(ROOT / "scripts" / "debian13"), "sh", "-c", f"{_INSTALL} >&2"], ("-P", "0"))
    return [first, newer, _in_root("newest UCX", "Debian 14", _NEWEST.folder / "root", report, _installs_newest)]


def _installs_newest() -> list[str]:
    """Errors: Refused, where this machine cannot have the root."""
    _NEWEST.make()
    return _NEWEST.entering(f"sh -c {shlex.quote(f'{_INSTALL} >&2')}")


def _in_root(name: str, system: str, root: Path, report: Callable[[str], None],
             installing: Callable[[], list[str]], options: Sequence[str] = ()) -> Ucx:
    report(f"the {name}: looks for it in the {system} root")
    try:
        done = subprocess.run(installing(), capture_output=True, text=True, timeout=1200, check=False)
    except (OSError, subprocess.TimeoutExpired, Refused) as error:
        return Ucx(name, (), "none", f"no {system} root: {error}")
    if done.returncode != 0 or not (root / "usr/bin/ucx_perftest").is_file():
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return Ucx(name, (), "none", f"no {system} root with UCX: {lines[-1] if lines else 'it said nothing'}")
    command = ("unshare", "--mount", "--propagation", "private", "sh", "-c", _ENTER, str(root), *options)
    return Ucx(name, command, _version((f"--root={root}",)))


def _version(root: Sequence[str]) -> str:
    """That of the package: each call of ucx_perftest would open the devices."""
    if shutil.which("dpkg-query") is None:
        return "unknown"
    said = subprocess.run(["dpkg-query", *root, "-W", "-f=${Version}", "ucx-utils"], capture_output=True, text=True,
                          timeout=30, check=False, env={**os.environ, "LC_ALL": "C"})
    return said.stdout.strip() if said.returncode == 0 and said.stdout.strip() else "unknown"


def perftest(ucx: Ucx, transport: str, test: str, size: int, count: int, setting: Setting = (),
             seconds: float = SECONDS) -> str:
    """The output of UCX's own bench after that many iterations."""
    port = free_port()
    with hosts_of(transport) as hosts:
        server = [*hosts.apart(hosts.server), *ucx.command, "-p", str(port), "-f"]
        client = [*hosts.apart(hosts.client), *ucx.command, hosts.address, "-p", str(port), "-t", test, "-s", str(size),
                  "-n", str(count), "-w", str(max(count // 10, _WARM)), "-f"]
        environment = {"UCX_TLS": transport.split(",")[0], "UCX_WARN_UNUSED_ENV_VARS": "n", **hosts.environment,
                       **dict(_pairs(setting))}
        return pair(server, client, port, environment, seconds)


def _pairs(setting: Setting) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (each.partition("=") for each in setting)]


def count_of(transport: str, test: str, size: int, quick: bool) -> int:
    """How many iterations one run makes."""
    small, medium, large = (20000, 2000, 200) if transport in ("posix", "all") else (2000, 500, 50)
    count = (small if size <= 4096 else medium if size <= 65536 else large) // (2 if quick else 1)
    return small * 5 if test.endswith("_bw") else count


def read(rival: Rival, way: str, sizes: Sequence[int], quick: bool, tuned: bool) -> Readings:
    """All tests of that way: latencies of all sizes, rates and additions of 8 bytes."""
    found: Readings = {}
    for test, (of, operation) in TESTS.items():
        if of != way:
            continue
        for size in sizes if operation == "latency" else (8,):
            line = outputs.ucx(perftest(rival.ucx, rival.transport, test, size,
                                        count_of(rival.transport, test, size, quick),
                                        rival.setting(test, size) if tuned else ()))
            found[operation, size] = 1e9 / line.rate if "rate" in operation else line.median_us * 1000
    return found


def tune(ucx: Ucx, transport: str, sizes: Sequence[int], rounds: int, report: Callable[[str], None]) -> Rival:
    """Tries each setting at each size. Later rounds try only the settings that lead, and alternate who begins.

    The lowest median of rounds is best.
    """
    best: dict[tuple[str, int], Setting] = {}
    for test, (_, operation) in TESTS.items():
        for size in sizes if operation == "latency" else (8,):
            best[test, size] = lowest(_tried(ucx, transport, test, size, rounds, report))
    chosen = sorted({" ".join(each) or "defaults" for each in best.values()})
    report(f"{ucx.name} {ucx.version} over {transport}: {len(best)} cases tuned; best: {'; '.join(chosen)}")
    return Rival(ucx, transport, best)


def _tried(ucx: Ucx, transport: str, test: str, size: int, rounds: int,
           report: Callable[[str], None]) -> dict[Setting, list[float]]:
    found: dict[Setting, list[float]] = {}
    for turn in range(rounds):
        settings = SETTINGS[transport] if turn == 0 else leading(found)
        for setting in settings if turn % 2 == 0 else reversed(settings):
            try:
                line = outputs.ucx(perftest(ucx, transport, test, size, count_of(transport, test, size, True) // 2 + 5,
                                            setting))
            except (Failed, NotUnderstood) as error:
                report(f"{ucx.name}, {transport}, {test} of {size} B with {' '.join(setting) or 'defaults'}: {error}")
                continue
            found.setdefault(setting, []).append(1e6 / line.rate if test.endswith("_bw") else line.median_us)
    return found


def leading(tried: Mapping[Setting, Sequence[float]]) -> list[Setting]:
    """The settings with the lowest medians, in the order of the first round."""
    medians = {setting: sorted(values)[len(values) // 2] for setting, values in tried.items() if values}
    best = sorted(medians, key=lambda setting: medians[setting])[:_LEADING]
    return [setting for setting in tried if setting in best]


def lowest(tried: Mapping[Setting, Sequence[float]]) -> Setting:
    """The setting with the lowest median. Without a result, the defaults."""
    medians = {setting: sorted(values)[len(values) // 2] for setting, values in tried.items() if values}
    return min(medians, key=lambda setting: medians[setting]) if medians else ()


def settings_rows(rivals: Sequence[Rival], sizes: Sequence[int]) -> list[tuple[str, int, str]]:
    """Per tuned contender and size: its setting, for the page."""
    return [(rival.tuned(way), size, " ".join(rival.setting(test, size)) or "defaults")
            for rival in rivals if not rival.ucx.absent
            for test, (way, operation) in TESTS.items() if operation == "latency" for size in sizes]

