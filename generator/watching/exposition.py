# SPDX-License-Identifier: Apache-2.0
"""Counters as Prometheus text, format 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from .pages import KINDS, OTHERS, PARTS, WHOLE, Traffic, Transport

_OF_PARTS = {"posted": ("posts", "Posts that the transport took."),
             "bytes": ("posted_bytes", "Bytes of the posts that the transport took."),
             "completed": ("completed", "Operations that ended well; those without a context do not count."),
             "failed": ("failed", "Operations that failed.")}
_OF_OTHERS = {"again": "Posts that found a full queue.", "refused": "Posts that were refused for another reason.",
              "messages": "Messages that were received.", "message_bytes": "Bytes of the messages that were received.",
              "notices": "Notices of put_notify that arrived."}
_OF_WHOLE = {"polls": "Calls of progress().", "polls_found": "Calls of progress() that found entries.",
             "peers_met": "Connections that were established.", "peers_lost": "Peers that were lost.",
             "stale": "Messages of connections that no longer exist.", "garbled": "Messages that no transport sends.",
             "turned_away": "Callers that got no place.", "sleeps": "Sleeps of the owner.",
             "timed_sleeps": "Sleeps that a timer ended.", "missed_wakes": "Wake-ups that came too late."}
Labels = tuple[tuple[str, str], ...]


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _sample(name: str, labels: Labels, value: int) -> str:
    return f"{name}{{{','.join(f'{key}={chr(34)}{_escaped(text)}{chr(34)}' for key, text in labels)}}} {value}"


def _of_transport(each: Transport) -> Labels:
    return (("process", str(each.process)), ("transport", each.path.stem), ("program", each.program),
            ("fabric", each.fabric))


def _traffics(found: Iterable[Transport]) -> Iterator[tuple[Labels, Traffic]]:
    """The traffic of each peer, and under an empty peer the traffic of all others.

    Two fabrics of a set may give two peers one number. The second one is N.2: a sample that repeats is an error.
    """
    for each in found:
        seen: Counter[int] = Counter()
        yield (*_of_transport(each), ("peer", ""), ("address", "")), each.rest
        for peer in each.peers:
            seen[peer.connection] += 1
            number = str(peer.connection) + (f".{seen[peer.connection]}" if seen[peer.connection] > 1 else "")
            yield (*_of_transport(each), ("peer", number), ("address", peer.address)), peer.traffic


def prometheus_text(found: Sequence[Transport]) -> str:
    """All counters; empty without transports."""
    lines: list[str] = []

    def family(short: str, help_text: str, samples: Iterable[tuple[Labels, int]]) -> None:
        name = f"weft_{short}_total"
        lines.extend((f"# HELP {name} {help_text}", f"# TYPE {name} counter"))
        lines.extend(_sample(name, labels, value) for labels, value in samples)

    if not found:
        return ""
    traffics = list(_traffics(found))
    for part in PARTS:
        family(*_OF_PARTS[part], [((*labels, ("operation", kind)), each.operations[kind][part])
                                  for labels, each in traffics for kind in KINDS])
    for other in OTHERS:
        family(other, _OF_OTHERS[other], [(labels, each.others[other]) for labels, each in traffics])
    for name in WHOLE:
        family(name, _OF_WHOLE[name], [(_of_transport(each), each.whole[name]) for each in found])
    return "\n".join(lines) + "\n"
