# SPDX-License-Identifier: Apache-2.0
"""`weft top`: shows the counters of running transports, again each second."""
from __future__ import annotations

import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ..errors.catalogue import INPUTS, with_id
from ..options import FINE, NumberRange, format_option
from ..report import as_json, show_table
from .exposition import prometheus_text
from .pages import Traffic, Transport, folder_of_user, running

_TOTALS = ("process", "program", "fabric", "peer", "posts", "bytes out", "messages", "bytes in", "notices", "failed",
           "again")
_RATES = ("process", "program", "fabric", "peer", "posts/s", "MB/s out", "messages/s", "MB/s in", "notices/s", "failed",
          "again")
_Key = tuple[str, int]


@click.command()
@click.option("--once", is_flag=True, help="Show the counts since the begin of each transport, and end.")
@click.option("--every", type=NumberRange(0.1, 3600), default=1.0, show_default=True, metavar="SECONDS",
              help="How often to show the counts of the time between.")
@format_option("table", "json", "prometheus")
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path),
              help="The folder of the transports' files.  [default: $XDG_RUNTIME_DIR/weft, or /dev/shm/weft-UID]")
def top(once: bool, every: float, kind: str, folder: Path | None) -> None:
    """Show the counters of running transports, again each second.

    It shows the transports of your user which were opened as weft::counted<F> and called expose_counters(), and those
    of programs in C and Python that run with WEFT_COUNTS=1. The files of ended processes are removed. JSON and
    Prometheus text are printed once. Ctrl-C ends the command.

    \b
    Examples:
      weft top
      weft top --once --format json
      weft top --format prometheus > /var/lib/prometheus/node-exporter/weft.prom
    """
    place = folder or folder_of_user()
    if kind == "json":
        click.echo(as_json("top", {"folder": str(place), "transports": [_as_json(each) for each in _found(place)]}))
    elif kind == "prometheus":
        click.echo(prometheus_text(_found(place)), nl=False)
    elif once:
        _show(_rows(_found(place), {}, 0), _TOTALS, place)
    else:
        _show_each(place, every)
    raise SystemExit(FINE)


def _found(folder: Path) -> list[Transport]:
    notes: list[str] = []
    found = list(running(folder, notes))
    for note in notes:
        click.echo(with_id(f"weft: {note}", INPUTS), err=True)
    return found


def _show_each(folder: Path, every: float) -> None:
    before: dict[_Key, Traffic] = {}
    at = 0.0
    try:
        while True:
            found, now = _found(folder), time.monotonic()
            rows = _rows(found, before, now - at if before else 0)
            if sys.stdout.isatty():
                click.clear()
            _show(rows, _RATES if before else _TOTALS, folder)
            before, at = _traffics(found), now
            sys.stdout.flush()
            time.sleep(every)
    except KeyboardInterrupt:
        return


def _traffics(found: list[Transport]) -> dict[_Key, Traffic]:
    """By file and connection; 0: the whole transport."""
    return {**{(each.path.name, 0): each.traffic for each in found},
            **{(each.path.name, peer.connection): peer.traffic for each in found for peer in each.peers}}


def _rows(found: list[Transport], before: dict[_Key, Traffic], seconds: float) -> list[list[str]]:
    rows = []
    for each in found:
        rows.append([str(each.process), each.program, each.fabric, f"all {len(each.peers)}",
                     *_numbers(each.traffic, before.get((each.path.name, 0)), seconds)])
        for peer in each.peers:
            name = (peer.address or f"#{peer.connection}") + (" (gone)" if peer.gone else "")
            rows.append(["", "", "", name, *_numbers(peer.traffic, before.get((each.path.name, peer.connection)),
                                                     seconds)])
    return rows


def _numbers(now: Traffic, before: Traffic | None, seconds: float) -> list[str]:
    """Totals, or what came each second since `before`."""
    flows = [(each.posts, each.bytes_out, each.others["messages"], each.bytes_in, each.others["notices"])
             for each in (now, before) if each is not None]
    ends = [str(now.failed), str(now.others["again"])]
    if seconds <= 0:
        return [*map(str, flows[0]), *ends]
    per_second = [(a - b) / seconds for a, b in zip(flows[0], flows[1] if len(flows) > 1 else (0,) * 5)]
    return [*(f"{rate / 1e6:.1f}" if i in (1, 3) else f"{rate:.0f}" for i, rate in enumerate(per_second)), *ends]


def _show(rows: list[list[str]], header: tuple[str, ...], folder: Path) -> None:
    if rows:
        show_table(header, rows)
    else:
        click.echo(f"no transport exposes counters in {folder}: open weft::counted<F>, and call expose_counters(); "
                   "run a program in C or Python with WEFT_COUNTS=1")


def _as_json(each: Transport) -> dict[str, Any]:
    return {"process": each.process, "program": each.program, "fabric": each.fabric, "listens_at": each.listens_at,
            "file": each.path.name, "counters": each.whole, "traffic": asdict(each.traffic),
            "peers": [{"connection": peer.connection, "gone": peer.gone, "address": peer.address,
                       "traffic": asdict(peer.traffic)} for peer in each.peers]}
