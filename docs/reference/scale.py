# SPDX-License-Identifier: Apache-2.0
"""scale.md: how function invocation and peers grow in a simulated world; from two tables and the example's limits."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

PAGE = "docs/reference/scale.md"
FIGURES = "docs/tables/scale.json"
PEERS = "docs/tables/many_peers.json"
_LIMITS = {"peers": ("examples/invocation/protocol.hpp", r"most_peers =\s*(\d+)"),
           "callers": ("examples/invocation/manager.hpp", r"uint32_t callers = (\d+)")}
_WANTED = 10_000  # executors, with ten clients each
_GIB = float(1 << 30)
Run = dict[str, Any]


def page(root: Path) -> str:
    """The runs, how their counts grow, and what ends the growth first."""
    runs: list[Run] = list(json.loads((root / FIGURES).read_text("utf-8")).values())
    alone = sorted((each for each in runs if each["managers"] == 1), key=lambda each: int(each["executors"]))
    workers = _workers(root)
    within = sorted((each for each in runs if _in_one(each) <= workers), key=lambda each: int(each["executors"]))
    if len(alone) < 2 or len(within) < 2:
        raise SystemExit(f"{FIGURES}: two sizes with one manager, and two with at most {workers} executors for each,\n"
                         "are needed; scripts/nightly scale runs them")
    return (
        "# Scale of function invocation\n\n"
        "A simulated world runs the example's manager, workers and clients in virtual time, in one thread.\n"
        "There are ten clients for each executor, and all come at once. A client connects, gets\n"
        f"an executor of one worker, calls it {alone[0]['calls_each']} times, and releases it.\n"
        "Where every place is taken, it asks again after 20 ms.\n\n"
        "```sh\n"
        "scripts/nightly scale\n"
        "```\n\n"
        f"Run on {max(each['day'] for each in runs)}. Counts do not depend on the machine; processor times do.\n\n"
        + _table(runs) + "\n## How it grows\n\n" + _growth(alone, within) + "\n## What ends the growth first\n\n"
        + _bottlenecks(root, alone)
        + "\n## Peers of one listener\n\n" + _peers(json.loads((root / PEERS).read_text("utf-8")))
    )


def _table(runs: list[Run]) -> str:
    head = ("executors", "clients", "managers", "messages a client", "bytes a client", "refused tries a client",
            "messages of managers a client", "managers' processor time a client", "transports at once",
            "memory a transport")
    rows = [head, ("---",) * len(head)]
    for each in runs:
        clients = each["clients"]
        rows.append((
            f"{each['executors']:,}", f"{clients:,}", str(each["managers"]), f"{each['packets'] / clients:.1f}",
            f"{each['packet_bytes'] / clients:,.0f}", f"{(each['refused'] + each['turned_away']) / clients:.2f}",
            f"{each['manager_packets'] / clients:.1f}", f"{_processor(each) * 1e3:.2f} ms", f"{each['peak_ports']:,}",
            f"{each['peak_bytes'] / each['peak_ports'] / 1024:,.0f} KiB"))
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def _processor(each: Run) -> float:
    """Seconds of a processor that a client costs its manager."""
    return float(each["manager_processor_ns"]) / 1e9 / float(each["clients"])


def _peers(seen: Run) -> str:
    return (
        f"{seen['peers']:,} connections of one caller meet one listener over an addressed fabric,\n"
        f"{seen['at_once']} at a time, and then all are idle. Run on {seen['day']}.\n"
        "Bytes are counted in the allocator, less those of the simulated network. They include\n"
        "the allocator's own. Looks are records that timers and sleeps read. `loopback.many_peers` holds the looks at\n"
        "small sizes.\n\n"
        "```sh\n"
        f"tests/invocation/scale/record.py --build build/nightly/scale --peers {seen['peers']}\n"
        "```\n\n"
        "| of each peer | |\n| --- | --- |\n"
        f"| its record | {seen['record_bytes']} bytes |\n"
        f"| the most that weft kept until all had met, mean of both sides | {seen['bytes_a_peer']:.1f} bytes |\n"
        f"| the simulated network besides | {seen['network_bytes_a_peer']:.0f} bytes |\n"
        f"| records that its hello is compared with | {seen['compared_a_hello']:.2f} |\n"
        f"| looks until all have met | {seen['looks_in_meeting'] / seen['peers']:.2f} |\n"
        f"| looks in 1,000 sleeps of an idle listener | {seen['looks_in_1000_sleeps'] / seen['peers']:.2f} |\n"
        f"| looks in an idle second | {seen['looks_in_an_idle_second'] / seen['peers']:.2f} |\n"
        f"| processor time of the simulation | {seen['processor_us_a_peer']:.1f} µs |\n\n"
        "Beside the record a peer has a quarter of a byte, which says whether it needs work. A caller has 5.3 bytes\n"
        "in the listener's index besides, by which a repeated hello finds it.\n"
    )


def _exponent(small: Run, large: Run, what: str) -> float:
    return math.log(large[what] / small[what]) / math.log(large["executors"] / small["executors"])


def _growth(alone: list[Run], within: list[Run]) -> str:
    small, large = alone[0], alone[-1]
    fewest, most = within[0], within[-1]
    lines = [
        f"The power with which a count grows. 1 is in proportion. With a manager for at most\n"
        f"{_in_one(most):,} executors each, which its limit permits, the sizes are {fewest['executors']:,} and\n"
        f"{most['executors']:,} executors. With one manager and the limit lifted, they are {small['executors']:,} and\n"
        f"{large['executors']:,}. `invocation.scaled.loopback` holds the first four to 1.1 at small sizes.\n\n"
        f"| count | {most['managers']} managers | one manager |\n| --- | --- | --- |\n"]
    for what, name in (("packets", "messages"), ("packet_bytes", "bytes"),
                       ("manager_packets", "messages of managers"), ("manager_bytes", "bytes of managers"),
                       ("events", "events of the run"),
                       ("peak_bytes", "memory of all, with the simulated fabric"),
                       ("manager_processor_ns", "processor time of managers")):
        lines.append(f"| {name} | {_exponent(fewest, most, what):.2f} | {_exponent(small, large, what):.2f} |\n")
    lines.append(
        "\nOne manager of all is saturated. Clients then wait longer in virtual time, and poll while they wait:\n"
        "these are most events of the run.\n")
    if most["clients"] == large["clients"]:
        lines.append(_same_world(most, large))
    return "".join(lines)


def _same_world(many: Run, one: Run) -> str:
    """What a manager's growth costs, where both runs have the same executors and clients."""
    power = 1 + math.log(_processor(one) / _processor(many)) / math.log(_in_one(one) / _in_one(many))
    return (
        f"\nProcessor time also depends on the size of the world, here {many['peak_bytes'] / _GIB:.0f} GiB and more.\n"
        f"Each of {many['managers']} managers does no more than the manager of a small world, and costs more. So the\n"
        "last row compares two sizes of the world, not of a manager. Within the large world a client costs\n"
        f"{_processor(many) * 1e3:.2f} ms with managers of {_in_one(many):,} executors, and "
        f"{_processor(one) * 1e3:.2f} ms with one of {_in_one(one):,}:\n"
        f"**with the executors of one manager its processor time grows with the power {power:.2f}**.\n")


def _in_one(each: Run) -> int:
    """Executors of one manager."""
    return -(-int(each["executors"]) // int(each["managers"]))


def _limit(root: Path, name: str) -> int:
    file, pattern = _LIMITS[name]
    found = re.search(pattern, (root / file).read_text("utf-8"))
    if found is None:
        raise SystemExit(f"{file}: {pattern} is not there any more; docs/reference/scale.py reads it")
    return int(found[1])


def _workers(root: Path) -> int:
    """That one manager has places for."""
    return (_limit(root, "peers") - _limit(root, "callers")) // 2


def _bottlenecks(root: Path, alone: list[Run]) -> str:
    peers, callers, workers = _limit(root, "peers"), _limit(root, "callers"), _workers(root)
    small, large = alone[0], alone[-1]
    text = (
        f"1. **Places of one manager: {workers} executors** of one worker. Its transport has {peers} peers, as\n"
        f"   shared memory's address table has no more: {callers} for callers, and the rest in halves\n"
        "   for clients and workers.\n"
        f"   {_WANTED:,} executors need {-(-_WANTED // workers)} managers. The runs above lift the limit\n"
        "   (`manager_options::most_peers`), to find what comes next.\n"
        f"2. **The manager's processor.** With {large['executors']:,} executors a client costs it\n"
        f"   {_processor(large) * 1e3:.2f} ms, so one core serves {1 / _processor(large):,.0f} clients in a second;\n"
        f"   with {small['executors']:,} it serves {1 / _processor(small):,.0f}. The figure includes the\n"
        "   calls of the simulated fabric.\n"
        f"3. **Memory of the machine that simulates.** Two transports stand for an executor and its client:\n"
        f"   {large['peak_bytes'] / large['executors'] / 1024:,.0f} KiB for each executor.\n"
    )
    if large["executors"] >= _WANTED:
        return text
    ratio = _WANTED / large["executors"]
    seconds = large["seconds"] * ratio ** max(1.0, math.log(large["seconds"] / max(1, small["seconds"]))
                                              / math.log(large["executors"] / small["executors"]))
    return text + (
        f"\n{_WANTED:,} executors with {10 * _WANTED:,} clients were not run. By these figures they take about\n"
        f"{large['peak_bytes'] * ratio / _GIB:,.0f} GiB and {seconds / 60:,.0f} minutes of one core.\n"
    )
