# SPDX-License-Identifier: Apache-2.0
"""The outputs of foreign programs and of our own, as figures: pure functions of the text, tested with recorded outputs.

Latencies are half round trips in nanoseconds, as ucx_perftest and fi_pingpong print them. For fetch_add a latency is
the whole operation.
"""
from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

Readings = dict[tuple[str, int], float]
"""(operation, bytes) to nanoseconds; a ratio for "… ratio"; bytes for "resident"."""


class NotUnderstood(Exception):
    """An output of another form; the sentence names what is missing."""


@dataclass(frozen=True)
class UcxLine:
    """One result of ucx_perftest -f: microseconds, and messages in a second."""

    median_us: float
    average_us: float
    rate: float


def ucx(text: str) -> UcxLine:
    """The last line of numbers: iterations, 50th percentile, average and overall latency, two bandwidths, two rates."""
    for line in reversed(text.splitlines()):
        words = line.removeprefix("Final:").split()
        if len(words) == 8 and all(re.fullmatch(r"[0-9.]+|inf", word) for word in words):
            return UcxLine(float(words[1]), float(words[2]), float(words[7]))
    raise NotUnderstood(f"ucx_perftest printed no line of eight numbers: {_last(text)}")


def fi_pingpong(text: str, size: int) -> float:
    """usec/xfer of the line of that size, in nanoseconds."""
    column = None
    for line in text.splitlines():
        words = line.split()
        if "usec/xfer" in words:
            column = words.index("usec/xfer")
        elif column is not None and len(words) > column and _bytes(words[0]) == size:
            return float(words[column]) * 1000
    raise NotUnderstood(f"fi_pingpong printed no line of {size} bytes: {_last(text)}")


def contender(text: str) -> Readings:
    """bench-contender and bench-floor."""
    return {(each["operation"], int(each["bytes"])): float(each["ns"]) for each in _json(text)["readings"]}


def duels(text: str) -> Readings:
    """Benches that let two contenders take turns.

    A scenario has a name, times (`…_ns`) and a ratio; perhaps bytes, and the name of its contender.
    """
    found: Readings = {}
    for each in _json(text)["scenarios"]:
        size = int(each.get("bytes", each.get("size", 0)))
        name = str(each.get("operation", each.get("scenario"))) + (f" beside {each['contender']}"
                                                                   if "contender" in each else "")
        if "ratio" in each:
            found[f"{name}: ratio", size] = _median(each["ratio"])
        for key, value in each.items():
            if key.endswith("_ns"):
                found[f"{name}: {key.removesuffix('_ns')}", size] = _median(value)
    return found


def coalesced(text: str) -> Readings:
    """bench-coalesced: rates of small messages as ratios, and the cost of a lone one."""
    answer = _json(text)
    bytes_each = int(answer["bytes"])
    found: Readings = {(f"{name.replace('_', ' ')}: ratio", bytes_each): _median(answer[name])
                       for name in ("coalesced_to_one_by_one", "coalesced_to_by_hand", "lone_round_trip_to_one_by_one")}
    return found | {(str(each["way"]), bytes_each): 1e9 / float(each["messages_per_s"]) for each in answer["ways"]}


def endpoint(text: str) -> Readings:
    """bench-endpoint: what a row's settings are worth."""
    answer = _json(text)
    connects = int(answer["connects"])
    return {("resident ratio", 0): float(answer["resident_ratio"]),
            ("connects ratio", connects): float(answer["connects_ratio"]),
            ("resident", 0): float(answer["row"]["resident_bytes"]),
            ("resident by default", 0): float(answer["library"]["resident_bytes"]),
            ("connect", 0): float(answer["row"]["connects_ns"]) / connects,
            ("connect by default", 0): float(answer["library"]["connects_ns"]) / connects}


def memory(text: str) -> Readings:
    """bench-memory: bytes per peer that the program requested, by the kind of receives."""
    found: Readings = {}
    for line in text.splitlines():
        match = re.match(r"(peers, .*?)\s{2,}(\d+)\s+([\d.]+)\s+([\d.]+)$", line)
        if match:
            found[f"asked per peer; {match.group(1).removeprefix('peers, ')}",
                  int(match.group(2))] = float(match.group(3))
            found[f"resident per peer; {match.group(1).removeprefix('peers, ')}",
                  int(match.group(2))] = float(match.group(4))
    if not found:
        raise NotUnderstood(f"bench-memory printed no line of peers: {_last(text)}")
    return found


def invocation(text: str) -> Readings:
    """bench/invocation/run --json: round trips and their ratio to the raw ping-pong."""
    found: Readings = {}
    for row in _rows(text):
        if row.get("ratio"):
            found[f"invocation {row['scenario']}", 0] = float(row["p50"]) * 1000
            found[f"invocation {row['scenario']}: ratio", 0] = _median(row["ratio"])
        above = row.get("above_flag_ns", row.get("above_raw_ns"))
        if above is not None:
            ns = _median(above) if isinstance(above, dict) else float(above)
            found[f"invocation {row['scenario']}: above", 0] = ns
    if not found:
        raise NotUnderstood("bench/invocation/run reported no scenario that has a contender")
    return found


def invocation_of_set(text: str) -> Readings:
    """bench/invocation/set_beside_fabric --json: round trips of the set and of the fabric alone."""
    told = _json(text)
    return {("invocation hot", 0): float(told["set_ns"]), ("invocation hot, alone", 0): float(told["fabric_ns"]),
            ("invocation hot: ratio", 0): _median(told["ratio"]),
            ("invocation hot: above", 0): _median(told["above_ns"])}


def _rows(text: str) -> list[Any]:
    try:
        answer = json.loads(text)
    except ValueError as error:
        raise NotUnderstood(f"no JSON: {error}: {_last(text)}") from None
    return answer if isinstance(answer, list) else [answer]


def _json(text: str) -> dict[str, Any]:
    rows = _rows(text)
    if len(rows) != 1 or not isinstance(rows[0], dict):
        raise NotUnderstood(f"no JSON object: {_last(text)}")
    return rows[0]


def _median(of: Any) -> float:
    """The median of {"median": …}, {"p50": …} or a plain number."""
    if isinstance(of, dict):
        return float(of["median"] if "median" in of else of["p50"])
    return float(of)


def _bytes(word: str) -> int:
    match = re.fullmatch(r"(\d+)([km]?)", word)
    return int(match.group(1)) * {"": 1, "k": 1 << 10, "m": 1 << 20}[match.group(2)] if match else -1


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return f'its last line: "{lines[-1].strip()}"' if lines else "it printed nothing"
