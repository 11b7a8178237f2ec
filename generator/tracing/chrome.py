# SPDX-License-Identifier: Apache-2.0
"""A record as Chrome trace events, which Perfetto and chrome://tracing open.

A call is a slice of its thread (phase X). An operation is an asynchronous slice from its post to its completion (b, e).
The value of a counter is a counter track (C). Times are microseconds. The format: "Trace Event Format", Google.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .reading import Event, Record

Slice = dict[str, Any]
MICROSECONDS = 1e6
NOT_SHOWN = ("took", "saw")


def _call(event: Event, process: int) -> Slice:
    told = {**event.request, **{name: value for name, value in event.results.items() if name not in NOT_SHOWN}}
    return {"name": f"{event.object}.{event.verb}", "cat": "call", "ph": "X", "pid": process, "tid": event.thread,
            "ts": event.at * MICROSECONDS, "dur": event.took * MICROSECONDS,
            "args": {"line": event.line, "answer": "none" if event.answer is None else event.answer, **told}}


def _operations(event: Event, process: int, posts: dict[str, Event]) -> Iterator[Slice]:
    """An end for each completion, and its beginning with it: a post without an end is a call only."""
    failed = event.results.get("err")
    for each in event.completions:
        post = posts.get(each.get("of", "-"))
        if post is None:
            continue
        base = {"name": post.verb, "cat": "operation", "id": post.line, "pid": process, "tid": post.thread}
        yield {**base, "ph": "b", "ts": post.at * MICROSECONDS, "args": {"line": post.line, **post.request}}
        yield {**base, "ph": "e", "ts": (event.at + event.took) * MICROSECONDS,
               "args": {"line": event.line, **each, **({"err": failed} if failed else {})}}


def slices(record: Record, process: int) -> Iterator[Slice]:
    """The trace events of one record, shown as the process of this number."""
    yield {"name": "process_name", "ph": "M", "pid": process, "tid": 0,
           "args": {"name": f"{record.path.name}: {record.program}"}}
    posts: dict[str, Event] = {}
    for event in record.events:
        yield _call(event, process)
        yield from _operations(event, process, posts)
        if event.answer == 0 and event.object.startswith(("ep", "tx", "rx", "srx")):
            posts[str(event.line)] = event
        if event.object.startswith("cntr") and event.verb == "read" and event.answer is not None:
            yield {"name": event.object, "ph": "C", "pid": process, "ts": event.at * MICROSECONDS,
                   "args": {"value": event.answer}}


def chrome(records: Iterable[Record]) -> dict[str, Any]:
    """One document of several records: each is a process."""
    return {"displayTimeUnit": "ns",
            "traceEvents": [each for number, record in enumerate(records, 1) for each in slices(record, number)]}
