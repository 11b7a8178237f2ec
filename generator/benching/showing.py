# SPDX-License-Identifier: Apache-2.0
"""The result of `weft bench` for people: one ranked table per class of sizes, and the reason of each missing
combination.
"""
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import click

from ..report import as_csv, show_table

_ROWS = 9
_SHORT = {"put_notify": "put_notify", "send": "send", "put_visible": "put visible", "fetch_add": "fetch_add",
          "put_notify_rate": "put_notify, rate",
          "send_rate": "send, rate", "put": "put, unsignalled"}


def name_of(combination: dict[str, str], own: dict[str, str]) -> str:
    """The answers that are not the row's own."""
    return ", ".join(f"{family}={answer}" for family, answer in combination.items()
                     if own.get(family) != answer) or "the row's own"


def own_answers(answer: dict[str, Any]) -> dict[str, str]:
    """The answers of the baseline, by family."""
    own: dict[str, str] = next((each["combination"] for each in answer["results"] if each["baseline"]), {})
    return own


def provenance(answer: dict[str, Any]) -> str:
    """One line: when, where and with which versions the figures were measured."""
    machine, versions, load = answer["machine"], answer["versions"], answer["load"]
    return (f"{answer['fabric']}, {answer['date']}, {machine['processor']}, {machine['cores']} cores, "
            f"{machine['kernel']}; weft {versions['weft']}, "
            f"{versions['library']}, {versions['compiler']}; {answer['turns']} turns; load {load['before'][0]} before, "
            f"{load['after'][0]} after")


def _classes(answer: dict[str, Any]) -> Iterable[tuple[str, list[dict[str, Any]]]]:
    for name in dict.fromkeys(each["class"] for each in answer["ranking"]):
        yield name, [each for each in answer["ranking"] if each["class"] == name]


def _bounds(ranked: dict[str, Any]) -> str:
    low, high = ranked["from_bytes"], ranked["to_bytes"]
    return f"over {low - 1} bytes" if high is None else f"up to {high} bytes" if low == 0 else f"{low} to {high} bytes"


def table_of(ranked: list[dict[str, Any]], own: dict[str, str]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of one class, the best first by the geometric mean over the operations."""
    cells: dict[str, dict[str, dict[str, Any]]] = {}
    for each in ranked:
        for place in each["places"]:
            cells.setdefault(name_of(place["combination"], own), {})[each["operation"]] = place
    means = {name: math.exp(sum(math.log(max(place["ratio"], 1e-9)) for place in places.values()) / len(places))
             for name, places in cells.items()}
    order = sorted(cells, key=lambda name: means[name])
    shown = order if len(order) <= _ROWS else [name for name in order if name in order[:_ROWS - 1]
                                               or name == "the row's own"]
    rows = [[name, *(_cell(cells[name].get(each["operation"])) for each in ranked)] for name in shown]
    return ["answers", *(_SHORT.get(each["operation"], each["operation"]) for each in ranked)], rows


def _cell(place: dict[str, Any] | None) -> str:
    if place is None:
        return "-"
    if place["baseline"]:
        return "1"
    return f"{place['ratio']:.2f} ({place['ratio_p10']:.2f}-{place['ratio_p90']:.2f})" + (" *" if place["wins"] else "")


def show(answer: dict[str, Any]) -> None:
    """The tables, the winners, and what was not measured."""
    own = own_answers(answer)
    answers = ", ".join(f"{family}={one}" for family, one in own.items())
    if answer["turns"] == 0:
        click.echo(f"{answer['fabric']}: nothing was measured; the row's own answers are {answers}")
    else:
        click.echo(provenance(answer))
        show_table(("the row's own answers", "bytes", "median", "p10 to p90", "rate"), _own_times(answer))
    if len([each for each in answer["results"] if each["operations"]]) > 1:
        click.echo(f"\nRatios of medians to the row's own answers ({answers}), turn by turn; p10 to p90; less is "
                   "faster; *: first, and beyond the noise of 3 %")
    for name, ranked in _classes(answer) if len(answer["results"]) > 1 else ():
        header, rows = table_of(ranked, own)
        left = max(len(each["places"]) for each in ranked) - len(rows)
        show_table(header, rows, title=f"\n{name} ({_bounds(ranked[0])})")
        if left > 0:
            click.echo(f"and {left} more: --format csv")
    click.echo("")
    for each in answer["results"]:
        if not each["legal"]:
            click.echo(f"illegal: {name_of(each['combination'], own)}: {each['reason']}")
        elif answer["turns"] == 0:
            click.echo(f"legal: {name_of(each['combination'], own)}" + _then(each))
        elif each["reason"]:
            click.echo(f"not measured: {name_of(each['combination'], own)}: {each['reason']}")


def _own_times(answer: dict[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """One row per operation, size and window. A round trip has no rate."""
    rows = []
    for one in next((each["operations"] for each in answer["results"] if each["baseline"]), []):
        trip = one["window"] is None and one["operation"] != "put"
        name = _SHORT.get(one["operation"], one["operation"]) + (f" of {one['window']}" if one["window"] else "")
        median = max(one["median_ns"], 1e-3)
        bandwidth = f", {one['bytes'] * 1e3 / median:.0f} MB/s" if one["bytes"] >= 1024 else ""
        rows.append((name, str(one["bytes"]), _time(one["median_ns"]), f"{_time(one['p10_ns'])} to "
                     f"{_time(one['p90_ns'])}", "" if trip else f"{_rate(1e9 / median)}{bandwidth}"))
    return rows


def _rate(each_second: float) -> str:
    return f"{each_second / 1e6:.2f} million/s" if each_second >= 1e6 else f"{each_second / 1e3:.1f} thousand/s"


def _time(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e3:.2f} µs" if nanoseconds >= 1000 else f"{nanoseconds:.0f} ns"


def _then(result: dict[str, Any]) -> str:
    """The other choices of the rules, in families that are not varied."""
    more = [f"{family}={answer}" for family, answer in result["followed"].items()
            if family not in result["combination"]]
    return f" (with it {', '.join(more)})" if more else ""


def csv_of(answer: dict[str, Any]) -> str:
    """One line per combination and operation; an illegal combination has one line."""
    own = own_answers(answer)
    header = ("fabric", "combination", "legal", "baseline", "operation", "bytes", "window", "median_ns", "p10_ns",
              "p90_ns", "ratio", "ratio_p10", "ratio_p90", "reason",
              "date", "processor", "cores", "kernel", "weft", "library", "compiler", "load")
    made = (answer["date"], answer["machine"]["processor"], str(answer["machine"]["cores"]),
            answer["machine"]["kernel"], answer["versions"]["weft"],
            answer["versions"]["library"], answer["versions"]["compiler"], str(answer["load"]["before"][0]))
    rows = []
    for each in answer["results"]:
        first = (answer["fabric"], name_of(each["combination"], own), str(each["legal"]).lower(),
                 str(each["baseline"]).lower())
        for one in each["operations"] or [{}]:
            rows.append((*first, *("" if one.get(column) is None else str(one[column]) for column in header[4:13]),
                         each["reason"], *made))
    return as_csv(header, rows)
