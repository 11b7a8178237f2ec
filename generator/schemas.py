# SPDX-License-Identifier: Apache-2.0
"""The JSON schemas of what the commands read and print, and their copies in files.

The copies are for editors, and for programs that read the output. `python3 -B -m generator.schemas` writes them to
generator/schemas/*.schema.json. A test keeps them equal to the schemas here.
"""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .benching.peers.page import peers_fields
from .benching.schema import bench_fields
from .bundling.bundle import bundle_schema
from .conforming.judging import ELSEWHERE, EMULATED, NATIVE, VERDICTS
from .conforming.promises import PLACES, promises_schema
from .inspecting import KEYS
from .matrix.schema import Schema, matrix_schema, rules_schema
from .watching.pages import KINDS, OTHERS, PARTS, WHOLE

FOLDER = Path(__file__).resolve().parent / "schemas"
_WIDTH = 120
_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}


def _closed(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _answer(name: str, **properties: Any) -> Schema:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"weft {name} --format json",
            **_closed({"schema": {"const": f"weft.{name}.1"}, **properties})}


def all_schemas() -> dict[str, Schema]:
    """File name (without .schema.json) to schema."""
    problem = _closed({"file": _TEXT, "line": {"type": "integer", "minimum": 1}, "sentence": _TEXT})
    explained = _closed({"family": _TEXT, "question": _TEXT, "since": _TEXT, "answer": _TEXT, "short": _TEXT,
                         "parts": _TEXTS, "reason": _TEXT,
                         "not_taken": {"type": "array", "items": _closed({"answer": _TEXT, "why": _TEXT})}})
    number: Schema = {"type": "integer", "minimum": 0}
    traffic = _closed({"operations": _closed({kind: _closed({part: number for part in PARTS}) for kind in KINDS}),
                       "others": _closed({name: number for name in OTHERS})})
    least: Schema = {"type": "number", "minimum": 0}
    trust = _closed({"observed": number, "claimed": number, "copied": number, "differ": number})
    built = _closed({**{key: _TEXT for key in KEYS}, "row": _TEXT})
    row = _closed({"fabric": _TEXT, "backend": _TEXT, "since": _TEXT, "until": {"type": ["string", "null"]},
                   "trust": trust, "cells": {"type": "object", "additionalProperties": _TEXT}})
    maybe: Schema = {"type": ["string", "null"]}
    judged = _closed({"cell": _TEXT, "row": _TEXT, "claimed": maybe, "claim": _TEXT, "request": _TEXT,
                      "claimed_with": {"type": "object", "additionalProperties": _TEXT}, "shown": maybe,
                      "test": _TEXT, "why_not": _TEXT, "verdict": _TEXT, "sentence": _TEXT})
    fault = _closed({"behaviour": _TEXT, "sentence": _TEXT})
    probed: Schema = {"fabric": _TEXT, "cells": {"type": "array", "items": judged},
                      "faults": {"type": "array", "items": fault},
                      "provenance": _closed({"library": _TEXT, "api": _TEXT, "kernel": _TEXT, "device": _TEXT,
                                             "date": _TEXT})}
    three: Schema = {"type": ["array", "null"], "items": _TEXT, "minItems": 3, "maxItems": 3}
    benched = _closed({"fabric": _TEXT, "family": _TEXT, "class": _TEXT, "operation": _TEXT, "winner": _TEXT,
                       "than": _TEXT, "recorded": three, "today": three,
                       "verdict": {"enum": ["agrees", "differs", "contradicts", "not measured"]}, "sentence": _TEXT})
    absent = _closed({"fabric": _TEXT, "why": _TEXT, "lost": {"type": "boolean"}})
    shown = _closed({"fabric": _TEXT, "verdict": {"enum": list(VERDICTS)},
                     "kind": {"enum": [NATIVE, EMULATED, ELSEWHERE, ""]},
                     "answers": _TEXT, "notes": _TEXTS})
    promise = _closed({"name": _TEXT, "section": _TEXT, "number": number, "says": _TEXT,
                       "cells": {"type": "array", "items": shown}})
    return {
        "providers": matrix_schema(),
        "promises": promises_schema(),
        "rules": rules_schema(),
        "bundle": bundle_schema(),
        "conformance": _answer("conformance",
                               fabrics={"type": "array", "items": _closed({"fabric": _TEXT, "library": _TEXT,
                                                                            "where": {"enum": list(PLACES.values())}})},
                               promises={"type": "array", "items": promise}),
        "mapping": _answer("mapping", promises=number, fabrics=_TEXTS, problems={"type": "array", "items": problem}),
        "sources": _answer("sources", sources={"type": "array", "items": _closed(
            {"folder": _TEXT, "fabrics": _TEXTS, "results": _TEXT, "made_by": _TEXTS})}),
        "bench": _answer("bench", **bench_fields()),
        "peers": _answer("peers", **peers_fields()),
        "generate": _answer("generate", files=_TEXTS, written=_TEXTS, unaccounted=_TEXTS),
        "check": _answer("check", files={"type": "integer"}, problems={"type": "array", "items": problem},
                         warnings={"type": "array", "items": problem}, trust=trust),
        "inspect": _answer("inspect",
                           binaries={"type": "array",
                                     "items": _closed({"file": _TEXT, "fabrics": {"type": "array", "items": built},
                                                       "sets": {"type": "array", "items": {
                                                           "type": "array", "items": _closed(
                                                               {"fabric": _TEXT, "why": _TEXT})}}})},
                           can_talk={"type": ["boolean", "null"]}, why_not=_TEXT),
        "ordering": _answer("ordering", fabric=_TEXT, orders={"type": "array", "minItems": 1, "items": _closed(
            {"order": _TEXT, "since": _TEXT, "answer": {"enum": ["yes", "if asked", "no"]}, "reason": _TEXT})}),
        "clean": _answer("clean", folder=_TEXT, files={"type": "array", "items": _closed(
            {"file": _TEXT, "bytes": number, "process": number, "end": _TEXT})}),
        "doctor": _answer("doctor", findings={"type": "array", "minItems": 1, "items": _closed(
            {"check": _TEXT, "status": {"enum": ["ok", "note", "problem"]}, "sentence": _TEXT, "mend": _TEXT})},
            problems=number),
        "list": _answer("list", library=_TEXT, fabrics={"type": "array", "minItems": 1, "items": _closed(
            {"fabric": _TEXT, "backend": _TEXT, "works": {"type": "boolean"}, "devices": _TEXTS, "why": _TEXT,
             "numa_nodes": {"type": "object", "additionalProperties": number}})}),
        "top": _answer("top", folder=_TEXT, transports={"type": "array", "items": _closed({
            "process": number, **{name: _TEXT for name in ("program", "fabric", "listens_at", "file")},
            "counters": _closed({name: number for name in WHOLE}), "traffic": traffic,
            "peers": {"type": "array", "items": _closed({"connection": number, "gone": {"type": "boolean"},
                                                         "address": _TEXT, "traffic": traffic})}})}),
        "errors": _answer("errors", errors={"type": "array", "minItems": 1, "items": _closed({
            **{name: _TEXT for name in ("id", "kind", "title", "says", "cause", "see", "mend", "example")},
            "programs": _TEXTS})}),
        "simulate": _answer("simulate", row=_TEXT, system=_TEXT, faults=_TEXT, commit=_TEXT, seeds=number,
                            failed={"type": "array", "items": _closed({"seed": number, **{
                                name: _TEXT for name in ("finding", "sentence", "repeat", "shortest")}})},
                            operations=number, processor_seconds=least, virtual_seconds=least, rate=least,
                            real_seconds=least),
        "explain": _answer("explain", fabric=_TEXT, answers={"type": "array", "minItems": 1, "items": explained}),
        "probe": _answer("probe", **probed),
        "live": _answer("live", fabrics={"type": "array", "items": _closed(probed)},
                        absent={"type": "array", "items": absent}, measured={"type": "array", "items": benched},
                        outside=_TEXTS, limits=_TEXTS),
        "matrix": _answer("matrix", shows={"enum": ["answers", "facts"]}, fabrics={"type": "array", "items": row}),
    }


def text_of(schema: Schema) -> str:
    """The bytes of a schema's file: JSON in lines of at most 120 columns where that is possible.

    `x-right` is left out: it is for the sentences of weft's own refusals, and editors do not know it.
    """
    return _lines(_without_sentences(schema), 0, 0) + "\n"


def _without_sentences(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_sentences(each) for key, each in value.items() if key != "x-right"}
    return [_without_sentences(each) for each in value] if isinstance(value, list) else value


def _lines(value: Any, indent: int, column: int) -> str:
    """JSON that begins in `column`: in one line where it fits, else as many members in a line as fit."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or (indent and column + len(flat) < _WIDTH - 2):
        return flat
    heads = [json.dumps(key) + ": " for key in value] if isinstance(value, dict) else [""] * len(value)
    members = value.values() if isinstance(value, dict) else value
    starts = [column + 1, *[indent + 1] * len(heads)]  # the first member is right after the bracket
    inner = [head + _lines(each, indent + 1, start + len(head)) for head, each, start in zip(heads, members, starts)]
    return f"{flat[0]}{_filled(inner, indent + 1, column + 1)}{flat[-1]}"


def _filled(items: list[str], indent: int, column: int) -> str:
    """The items, after a bracket in front of `column`: an item in several lines begins a line, others share lines."""
    lines: list[str] = []
    for number, item in enumerate(items):
        text = item + ("," if number + 1 < len(items) else "")
        start = indent if len(lines) > 1 else column
        fits = bool(lines) and start + len(lines[-1]) + 1 + len(text) < _WIDTH - 2
        if fits and "\n" not in text and "\n" not in lines[-1]:
            lines[-1] += " " + text
        else:
            lines.append(text)
    return ("\n" + " " * indent).join(lines)


if __name__ == "__main__":
    for name, schema in all_schemas().items():
        (FOLDER / f"{name}.schema.json").write_text(text_of(schema), encoding="utf-8")
