# SPDX-License-Identifier: Apache-2.0
"""The result of a run: one object for JSON, the tables on a screen, and docs/performance.md."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ...report import plain_table, show_table
from ...matrix.schema import Schema
from .claims import Judged
from .contenders import Contender, Plan
from .measured import Measured, Spread
from .programs import ROOT
from .races import IN_SLICES
from .ucx import Rival, settings_rows
from ..slices import SLICE_SECONDS

_TITLES = {"sockets": "Over sockets of one host", "memory": "Through memory of one host",
           "one host": "One host, and each library chooses how",
           "two hosts": "Two hosts (network namespaces), and each library chooses how"}
Table = tuple[str, list[str], list[list[str]]]


def duration(ns: float) -> str:
    """Nanoseconds below ten microseconds, then microseconds."""
    if ns < 1000:
        return f"{ns:.1f} ns" if ns < 100 else f"{ns:.0f} ns"
    return f"{ns / 1000:.2f} µs" if ns < 10000 else f"{ns / 1000:.0f} µs"


def size_of(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size // 1024} KiB" if size < 1 << 20 else f"{size >> 20} MiB"


def _ratio(found: Spread, unit: str = "") -> str:
    digits = 0 if unit else 3 if found.median < 10 else 1
    return f"{found.median:.{digits}f} ({found.low:.{digits}f} to {found.high:.{digits}f}){' ' + unit if unit else ''}"


def claims_table(all_judged: Sequence[Judged]) -> Table:
    rows = []
    for each in all_judged:
        unit = f" {each.claim.unit}" if each.claim.unit else ""
        bound = f"{'≥' if each.claim.at_least else '≤'} {each.claim.bound:g}{unit}"
        verdict = {True: "met", False: "NOT met", None: "not measured"}[each.met]
        verdict += ", within the spread" if each.narrow else ""
        rows.append([each.claim.text, bound, _ratio(each.found, each.claim.unit) if each.found else "", verdict,
                     each.who or each.why_not])
    return "What is claimed", ["claim", "bound", "measured (p10 to p90)", "", "by"], rows


def latency_tables(contenders: Sequence[Contender], measured: Measured, plan: Plan) -> list[Table]:
    """Half round trips, with the ratio of each to the floor of its table in the first column of sizes."""
    found = []
    for table, title in _TITLES.items():
        rows = []
        for each in contenders:
            if each.table == table and not each.part:
                cells = [measured.value((each.name, "latency", size)) for size in plan.sizes]
                if any(cells):
                    rows.append([each.name, *(duration(cell.median) if cell else "" for cell in cells)])
        if rows:
            found.append((f"{title}: half round trip", ["", *map(size_of, plan.sizes)], rows))
    return found


def sliced_table(measured: Measured) -> Table:
    """The contenders that raced in slices."""
    rows = [[name, duration(value.median), f"{duration(value.low)} to {duration(value.high)}"]
            for name, operation, number in measured.by_turn
            if operation == IN_SLICES and (value := measured.value((name, operation, number)))]
    return "In slices: half round trip of 8 bytes", ["", "median", "p10 to p90"], rows


def rate_table(contenders: Sequence[Contender], measured: Measured) -> Table:
    """Many transfers in one direction, and additions."""
    rows = []
    for each in (one for one in contenders if not one.part):
        rate = measured.value((each.name, "rate", 8)) or measured.value((each.name, "put rate", 8))
        add = measured.value((each.name, "fetch_add", 8))
        call = measured.value((each.name, "call", 8))
        if rate or add:
            rows.append([each.name, duration(rate.median) if rate else "",
                         f"{1e9 / rate.median / 1e6:.2f}" if rate and rate.median > 0 else "",
                         duration(call.median) if call else "", duration(add.median) if add else ""])
    return ("Many of 8 bytes in one direction, the call alone of a put that the target does not look for meanwhile, "
            "and fetch_add",
            ["", "one of many", "million a second", "the call", "fetch_add"], rows)


def others_table(contenders: Sequence[Contender], measured: Measured) -> Table:
    """The results of the benches of one subject: connects, memory, invocation, mapped memory, coalescing."""
    own = {each.name for each in contenders if each.table == "own"}
    rows = []
    for name, operation, number in measured.by_turn:
        value = measured.value((name, operation, number))
        if name in own and value:
            in_bytes = "resident" in operation or "asked" in operation
            figure = (f"{value.median:.3f}" if "ratio" in operation else f"{value.median / 1024:.1f} KiB" if in_bytes
                      else duration(value.median))
            rows.append([name, operation + (f", {number}" if number else ""), figure, str(value.turns)])
    return "Connects, memory, invocation, mapped memory, coalescing", ["bench", "what", "median", "turns"], rows


def left_out(measured: Measured) -> Table:
    return "Left out", ["contender", "why"], [[name, why] for name, why in (measured.absent | measured.failed).items()]


def settings_table(rivals: Sequence[Rival], plan: Plan) -> Table:
    """Which settings the tuned rivals have."""
    rows = [[name, size_of(size), setting] for name, size, setting in settings_rows(rivals, plan.sizes)]
    return "The best settings of UCX, of those tried", ["contender", "bytes", "settings"], rows


def tables(contenders: Sequence[Contender], measured: Measured, plan: Plan,
           all_judged: Sequence[Judged], rivals: Sequence[Rival]) -> list[Table]:
    every = [claims_table(all_judged), *latency_tables(contenders, measured, plan), sliced_table(measured),
             rate_table(contenders, measured), others_table(contenders, measured), settings_table(rivals, plan),
             left_out(measured)]
    return [table for table in every if table[2]]


def show(every: Sequence[Table]) -> None:
    for title, header, rows in every:
        show_table(header, rows, title)
        print()


def answer(provenance: dict[str, Any], measured: Measured, all_judged: Sequence[Judged],
           settings: Sequence[tuple[str, int, str]]) -> dict[str, Any]:
    """The members of the JSON answer, without the schema's name."""
    readings = [{"contender": name, "operation": operation, "bytes": size, **asdict(value)}
                for name, operation, size in measured.by_turn
                if (value := measured.value((name, operation, size)))]
    claims = [{"claim": each.claim.text, "bound": each.claim.bound, "at_least": each.claim.at_least,
               "unit": each.claim.unit or "ratio", "met": each.met, "narrow": each.narrow,
               "found": asdict(each.found) if each.found else None, "who": each.who, "why_not": each.why_not}
              for each in all_judged]
    return {**provenance, "turns": measured.turns, "claims": claims, "readings": readings,
            "settings": [{"contender": name, "bytes": size, "settings": setting} for name, size, setting in settings],
            "left_out": [{"contender": name, "why": why} for name, why in (measured.absent | measured.failed).items()]}


def page(every: Sequence[Table], parts: dict[str, Any]) -> str:
    """docs/performance.md."""
    environment = Environment(  # noqa: S701  Markdown
        loader=FileSystemLoader(str(ROOT / "templates")), undefined=StrictUndefined, autoescape=False,
                              keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("performance.md.j2").render(tables=every, slice_ms=round(SLICE_SECONDS * 1000),
                                                                **parts)


def peers_fields() -> Schema:
    """The members of `weft bench --peers --format json`."""
    text: Schema = {"type": "string"}
    number: Schema = {"type": "number"}
    numbers: Schema = {"type": "array", "items": number}

    def closed(**properties: Any) -> Schema:
        return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}

    values = {"median": number, "low": number, "high": number, "turns": {"type": "integer", "minimum": 1}}
    found: Schema = {"oneOf": [{"type": "null"}, closed(**values)]}
    claim = closed(claim=text, bound=number, at_least={"type": "boolean"}, unit=text, met={"type": ["boolean", "null"]},
                   narrow={"type": "boolean"},
                   found=found, who=text, why_not=text)
    reading = closed(contender=text, operation=text, bytes={"type": "integer", "minimum": 0}, **values)
    return {"command": text, "date": text, "machine": closed(processor=text, cores={"type": "integer"}, kernel=text),
            "versions": {"type": "object", "additionalProperties": text},
            "load": closed(before=numbers, after=numbers), "turns": {"type": "integer", "minimum": 0},
            "claims": {"type": "array", "items": claim},
            "readings": {"type": "array", "items": reading},
            "settings": {"type": "array", "items": closed(contender=text, bytes={"type": "integer", "minimum": 8},
                                                          settings=text)}, "left_out": {"type": "array",
                                                                          "items": closed(contender=text, why=text)}}


__all__ = ["answer", "page", "peers_fields", "plain_table", "show", "tables"]
