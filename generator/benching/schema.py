# SPDX-License-Identifier: Apache-2.0
"""What `weft bench --format json` prints, field by field."""
from __future__ import annotations

from ..matrix.schema import Schema

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_NUMBER: Schema = {"type": "number", "minimum": 0}
_NUMBERS: Schema = {"type": "array", "items": _NUMBER}


def _closed(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _described(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


def bench_fields() -> Schema:
    """The members of the answer, without the name of the schema."""
    answers = _described({"type": "object", "additionalProperties": _TEXT},
                         "family to answer, of the varied families; those not named are the row's own")
    spread: Schema = {
        "ratio": _described(_NUMBER, "median over the turns of: median of this combination / median of the row's own "
                                     "answers, in the same turn; 1 for those"),
        "ratio_p10": _described(_NUMBER, "10th percentile of these ratios"),
        "ratio_p90": _described(_NUMBER, "90th percentile of these ratios"),
    }
    operation = _closed({
        "operation": _described(_TEXT, "put_notify, send (round trips), put_visible, fetch_add (until it ended), "
                                       "put_notify_rate, send_rate (per operation), put (per put of sixteen without a "
                                       "completion)"),
        "bytes": _described(_COUNT, "of each operation"),
        "window": _described({"type": ["integer", "null"], "minimum": 1},
                             "operations posted before one answer is awaited; null where each is awaited"),
        "median_ns": _described(_NUMBER, "median over the turns of the turn's median"),
        "p10_ns": _described(_NUMBER, "10th percentile of the turns' medians"),
        "p90_ns": _described(_NUMBER, "90th percentile of the turns' medians"),
        **spread,
        "quantiles_ns": _described(_NUMBERS, "of single operations, at 0, 5, 10, ... 100 percent, each the median over "
                                             "the turns; of windows: the mean of one"),
    })
    result = _closed({
        "combination": answers,
        "followed": _described({"type": "object", "additionalProperties": _TEXT},
                               "what the rules choose instead of answers of the row that these make illegal"),
        "legal": {"type": "boolean"},
        "baseline": _described({"type": "boolean"}, "whether these are the row's own answers"),
        "reason": _described(_TEXT, "why it is illegal; of a legal one why it was not measured; else empty"),
        "operations": {"type": "array", "items": operation},
    })
    place = _closed({"combination": answers, "baseline": {"type": "boolean"}, **spread,
                     "wins": _described({"type": "boolean"},
                                        "first of its class, ratio_p90 below 0.97 (less than 3 % is noise), of three "
                                        "turns at least")})
    ranked = _closed({
        "class": {"enum": ["small", "medium", "large"]},
        "from_bytes": _COUNT,
        "to_bytes": _described({"type": ["integer", "null"]}, "included; null: no bound"),
        "operation": _TEXT,
        "places": _described({"type": "array", "items": place},
                             "best first; of several sizes or windows the median of their ratios"),
    })
    return {
        "fabric": _TEXT,
        "varied": _described({"type": "array", "items": _TEXT}, "the varied families"),
        "turns": _COUNT,
        "date": _described(_TEXT, "of the run's begin, ISO 8601 with the offset from UTC"),
        "machine": _closed({"processor": _TEXT, "cores": _COUNT, "kernel": _TEXT}),
        "versions": _closed({"weft": _described(_TEXT, "version, and the commit where there is one"),
                             "library": _described(_TEXT, "name and release"),
                             "compiler": _TEXT}),
        "load": _described(_closed({"before": _NUMBERS, "after": _NUMBERS}), "load averages over 1, 5 and 15 minutes"),
        "results": {"type": "array", "items": result},
        "ranking": {"type": "array", "items": ranked},
    }
