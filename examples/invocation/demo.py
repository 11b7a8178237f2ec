#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Functions over every fabric of this machine: one client source, one executor source, five networks.

For each fabric a manager and clients run as processes of their own; the manager starts the executors. One executor
compresses a real file, another decompresses it. Then thousands of invocations run, and every result is checked.
At the end one program of two fabrics serves an executor beside it and one on another host.
Exit 0: nothing lost, accounting exact everywhere. Exit 1 otherwise. Exit 2: usage. Exit 77: --set, and this machine
cannot have two hosts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path[:0] = [str(each) for each in Path(__file__).resolve().parents[:2]]
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402
from running import Failed, Manager, clean_shared_memory, program  # noqa: E402
from two_hosts import Unavailable, executor_on_each_host, two_hosts  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FABRICS = ("tcp", "tcp_rxm", "sockets", "shm", "udp_rxd")
SET = "mapped_or_tcp"  # one program of two fabrics; each executor is reached by the best one
SIZE = 64
REPLY_HEADER = 32
REAL_FILE = ROOT / "providers.yaml"
WEFT = ROOT / "weft" if (ROOT / "weft").exists() else Path("weft")  # of the checkout, else the installed command


@dataclass
class Row:
    """Results of the demo on one fabric. Times in microseconds."""

    fabric: str
    answers: dict[str, str] = field(default_factory=dict)
    asked: int = 0
    done: int = 0
    lost: int = 0
    exact: bool = False
    real_file: str = ""
    hot_p50: float | None = None
    hot_p99: float | None = None
    warm_p50: float | None = None
    cold_total: float | None = None
    raw_p50: float | None = None
    error: str = ""

    @property
    def ratio(self) -> float | None:
        return self.hot_p50 / self.raw_p50 if self.hot_p50 and self.raw_p50 else None

    @property
    def good(self) -> bool:
        return not self.error and self.lost == 0 and self.done == self.asked > 0 and self.exact


def answers_of(build: Path, fabric: str) -> dict[str, str]:
    """The answer per family that the manager's program was built with: a row's ranges may differ."""
    program = build / "examples" / "invocation" / f"invocation-manager.{fabric}"
    said = subprocess.run(
        [str(WEFT), "inspect", str(program), "--format", "json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if said.returncode != 0:
        return {}
    answers = json.loads(said.stdout)["binaries"][0]["fabrics"][0]["answers"]
    return dict(each.split("::", 1) for each in answers.split())


def raw_round_trip(build: Path, fabric: str) -> float | None:
    """Median round trip in microseconds of the hand-written ping-pong with the size of a reply, where it is built."""
    raw = build / "bench" / "raw_pingpong" / f"bench-raw-pingpong.{fabric}"
    if not raw.exists():
        return None
    try:
        said = subprocess.run(
            [str(raw), "--size", str(SIZE + REPLY_HEADER), "--json", "-"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return float(json.loads(said.stdout)["round_trip_ns"]["p50"]) / 1000
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return None


def real_work(manager: Manager, folder: Path) -> str:
    """Compresses a real file on an executor, decompresses it on another, checks both against this side's own."""
    packed, unpacked = folder / "packed", folder / "unpacked"
    for arguments in (
        ("--polling", "warm", "invoke", "compress", "--input", str(REAL_FILE), "--output", str(packed)),
        (
            "--output-bytes",
            str(REAL_FILE.stat().st_size),
            "invoke",
            "decompress",
            "--input",
            str(packed),
            "--output",
            str(unpacked),
        ),
    ):
        done = manager.client(*arguments)
        if done.returncode != 0:
            raise Failed(f"{arguments[-5]} failed: {done.stderr.strip()}")
    original = REAL_FILE.read_bytes()
    if unpacked.read_bytes() != original or zlib.decompress(packed.read_bytes()) != original:
        raise Failed(f"{REAL_FILE.name} came back with other contents")
    return f"{len(original)} -> {packed.stat().st_size} bytes"


def try_fabric(build: Path, fabric: str, invocations: int, screen: Console) -> Row:
    row = Row(fabric, answers_of(build, fabric))
    try:
        with clean_shared_memory(), tempfile.TemporaryDirectory(prefix="weft-demo-") as folder:
            with Manager(build, fabric) as manager:
                screen.print(f"{fabric}: a real file", highlight=False)
                row.real_file = real_work(manager, Path(folder))
                screen.print(f"{fabric}: {invocations} invocations", highlight=False)
                warm_count = max(100, min(1000, invocations // 4))
                hot = manager.measure(
                    "run", "echo", "--count", str(invocations), "--size", str(SIZE), limit=60 + invocations / 100
                )
                warm = manager.measure(
                    "--polling",
                    "warm",
                    "--own-polling",
                    "warm",
                    "run",
                    "echo",
                    "--count",
                    str(warm_count),
                    "--size",
                    str(SIZE),
                    limit=180,
                )
                row.asked = hot["asked"] + warm["asked"]
                row.done = hot["done"] + warm["done"]
                row.lost = row.asked - row.done
                row.hot_p50, row.hot_p99, row.warm_p50 = hot["p50_us"], hot["p99_us"], warm["p50_us"]
                row.cold_total = sum(hot["cold_us"].values())
                code, said = manager.stop()
                # The manager exits with 0 when every bill was exact, also those of the real file.
                row.exact = code == 0 and hot["accounting"]["exact"] and warm["accounting"]["exact"]
                if code is None:
                    row.error = f"the manager did not end in time: {said.strip()}"
        screen.print(f"{fabric}: the hand-written ping-pong", highlight=False)
        row.raw_p50 = raw_round_trip(build, fabric)
    except (Failed, OSError, KeyError, ValueError) as e:
        row.error = str(e) or type(e).__name__
    return row


@dataclass
class SetRow:
    """One manager and its client on one host; an executor beside them, and one on another host."""

    asked: int = 0
    done: int = 0
    exact: bool = False
    reached: dict[str, float] = field(default_factory=dict)  # fabric -> median of a hot invocation in microseconds
    left_out: str = ""
    error: str = ""

    @property
    def good(self) -> bool:
        if self.left_out:
            return True
        return not self.error and self.done == self.asked > 0 and self.exact and set(self.reached) == {"mapped", "tcp"}

    @property
    def line(self) -> str:
        begin = f"one program of two fabrics ({SET}): "
        if self.left_out:
            return f"{begin}not run: {self.left_out}"
        if self.error:
            return f"{begin}failed: {self.error}"
        places = {"mapped": "executor on this host", "tcp": "executor on another host (a network namespace)"}
        each = "; ".join(f"{places[name]} by {name}, hot p50 {time:.1f} us" for name, time in self.reached.items())
        exact = "exact" if self.exact else "NOT exact"
        return f"{begin}{each}; {self.done} invocations, {self.asked - self.done} lost, one accounting, {exact}"


def try_set(build: Path, invocations: int, screen: Console) -> SetRow:
    row = SetRow()
    screen.print(f"{SET}: {2 * invocations} invocations on two hosts", highlight=False)
    try:
        with two_hosts() as (here, there), tempfile.TemporaryDirectory(prefix="weft-demo-") as folder:
            executor = executor_on_each_host(program(build, "executor", SET), there, Path(folder))
            with Manager(build, SET, ("--executor", str(executor)), places=(here, here)) as manager:
                exact = True
                for _ in range(2):
                    hot = manager.measure(
                        "run", "echo", "--count", str(invocations), "--size", str(SIZE), limit=60 + invocations / 100
                    )
                    row.asked += hot["asked"]
                    row.done += hot["done"]
                    row.reached[hot["fabric"]] = hot["p50_us"]
                    exact = exact and hot["accounting"]["exact"]
                row.exact = exact and manager.stop()[0] == 0
    except Unavailable as e:
        row.left_out = str(e)
    except (Failed, OSError, KeyError, ValueError) as e:
        row.error = str(e) or type(e).__name__
    return row


def differing(rows: list[Row]) -> list[str]:
    """Families with different answers on these fabrics; the others add nothing to a comparison."""
    families = list(dict.fromkeys(family for row in rows for family in row.answers))
    return (
        [family for family in families if len({row.answers.get(family) for row in rows}) > 1]
        if len(rows) > 1
        else families
    )


def table_of(rows: list[Row]) -> Table:
    """One column per fabric: the table stays narrow whatever the number of families."""
    table = Table(title="functions over every fabric", title_justify="left", header_style="bold")
    table.add_column("", no_wrap=True)
    for row in rows:
        table.add_column(row.fabric, overflow="fold")
    families = list(dict.fromkeys(family for row in rows for family in row.answers))
    apart = set(differing(rows))

    def number(value: float | None, unit: str = " us") -> str:
        return "n/a" if value is None else f"{value:.1f}{unit}"

    for family in families:
        name = family if family in apart else f"[dim]{family}[/dim]"
        table.add_row(
            name,
            *(
                row.answers.get(family, "n/a") if family in apart else f"[dim]{row.answers.get(family, 'n/a')}[/dim]"
                for row in rows
            ),
        )
    table.add_section()
    table.add_row("invocations done", *(str(row.done) for row in rows))
    table.add_row("lost", *(str(row.lost) if not row.error else "[red]failed[/red]" for row in rows))
    table.add_row("accounting exact", *("yes" if row.exact else "[red]no[/red]" for row in rows))
    table.add_row("hot p50", *(number(row.hot_p50) for row in rows))
    table.add_row("hot p99", *(number(row.hot_p99) for row in rows))
    table.add_row("warm p50", *(number(row.warm_p50) for row in rows))
    table.add_row(
        "cold total", *("n/a" if row.cold_total is None else f"{row.cold_total / 1000:.1f} ms" for row in rows)
    )
    table.add_row("hot p50 / raw ping-pong", *("n/a" if row.ratio is None else f"{row.ratio:.2f}" for row in rows))
    return table


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/demo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build",
        type=Path,
        default=ROOT / "build" / "release",
        help="build directory with the programs (default: build/release)",
    )
    parser.add_argument(
        "--fabric", action="append", choices=FABRICS, help="only this fabric (repeatable; default: all five)"
    )
    parser.add_argument("--set", action="store_true", help="only the program of two fabrics, on two hosts")
    parser.add_argument(
        "--invocations", type=int, default=5000, metavar="N", help="hot invocations per fabric (default: 5000)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found as JSON")
    given = parser.parse_args()
    if given.invocations < 1:
        parser.error("--invocations must be at least 1")
    fabrics = () if given.set else tuple(dict.fromkeys(given.fabric or FABRICS))
    missing = [fabric for fabric in fabrics if not program(given.build, "client", fabric).exists()]
    if missing:
        parser.error(f"{', '.join(missing)}: not built in {given.build}; run scripts/demo, or give --build")
    screen = Console(stderr=True)
    rows = [try_fabric(given.build, fabric, given.invocations, screen) for fabric in fabrics]
    both = None
    if given.fabric is None and program(given.build, "client", SET).exists():
        both = try_set(given.build, given.invocations, screen)
    if given.json is not None:
        facts = [asdict(row) | {"ratio": row.ratio, "good": row.good} for row in rows]
        given.json.write_text(json.dumps({"schema": "weft.demo.1", "size": SIZE, "fabrics": facts,
                    "set": None if both is None else asdict(both) | {"good": both.good}}, indent=2) + "\n")
    out = Console() if sys.stdout.isatty() else Console(width=132)
    if rows:
        out.print(table_of(rows))
    for row in rows:
        if row.error:
            screen.print(f"{row.fabric}: {row.error}", style="red", highlight=False, markup=False)
    if both is not None:
        out.print(both.line, style=None if both.good else "red", highlight=False, markup=False, soft_wrap=True)
    if given.set and (both is None or both.left_out):
        return 77
    return 0 if all(row.good for row in (*rows, *([both] if both else []))) else 1


if __name__ == "__main__":
    sys.exit(main())
