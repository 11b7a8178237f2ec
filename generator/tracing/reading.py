# SPDX-License-Identifier: Apache-2.0
"""Reads records of docs/reference/traces.md, and refuses what is none with a sentence that names file and line."""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

FIRST_LINE = "weft-trace 1"
LARGEST = 1 << 30  # bytes: a larger file is no record that a person can use
_TIME = re.compile(r"\d{1,9}\.\d{9}")
_THREAD = re.compile(r"t[1-9]\d{0,5}")
_CALL = re.compile(r"[a-z]+\d*\.\w+")
_ANSWER = re.compile(r"-?\d{1,19}")


class NoRecord(Exception):
    """The file is no record. The text is a sentence that begins with its name and line."""


@dataclass(frozen=True)
class Event:
    """One call. `answer` is None where the program was killed in it."""

    line: int
    at: float  # seconds since the first event
    thread: int
    object: str
    verb: str
    request: dict[str, str]
    answer: int | None
    results: dict[str, str]

    @property
    def took(self) -> float:
        """Seconds from the call to its answer."""
        return float(self.results.get("took", "0"))

    @property
    def completions(self) -> list[dict[str, str]]:
        """The fields of each completion in the answer."""
        return [dict(one.partition(":")[::2] for one in value.split(";"))
                for name, value in self.results.items() if name.startswith("entry")]


@dataclass
class Record:
    """What one process asked and was answered."""

    path: Path
    program: str
    events: list[Event] = field(default_factory=list)
    whole: bool = False  # the program ended, and the record with it


def _words(text: str, place: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for word in text.split(" ") if text else []:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise NoRecord(f"{place}: \"{word[:40]}\" is not name=value")
        while name in pairs:  # a list of equal names keeps its order
            name += "'"
        pairs[name] = value
    return pairs


def _event(text: str, number: int, place: str, cut: bool) -> Event | None:
    """None where not even the call is whole, or at the end of the record."""
    parts = text.split(" ", 4)
    if cut and len(parts) < 5:
        return None
    if len(parts) < 4 or parts[0] != str(number):
        raise NoRecord(f"{place}: the line does not begin with its number: lines were removed or added")
    if not _TIME.fullmatch(parts[1]):
        raise NoRecord(f"{place}: the second word is not a time such as 0.000012345")
    if not _THREAD.fullmatch(parts[2]):
        raise NoRecord(f"{place}: the third word is neither a thread such as t1 nor \"end\"")
    if not _CALL.fullmatch(parts[3]):
        raise NoRecord(f"{place}: \"{parts[3][:40]}\" is no call such as ep1.send")
    rest = " " + (parts[4] if len(parts) > 4 else "")
    asked, equals, answered = rest.partition(" = ")
    if not equals and not cut:
        raise NoRecord(f"{place}: the event has no answer (\" = \")")
    owner, _, verb = parts[3].partition(".")
    if cut:
        return Event(number, float(parts[1]), int(parts[2][1:]), owner, verb, {}, None, {})
    answer, _, results = answered.partition(" ")
    if not _ANSWER.fullmatch(answer):
        raise NoRecord(f"{place}: the answer is not a number")
    told = _words(results, place)
    if not _TIME.fullmatch(told.get("took", "0.000000000")):
        raise NoRecord(f"{place}: took is not a time such as 0.000012345")
    return Event(number, float(parts[1]), int(parts[2][1:]), owner, verb, _words(asked[1:], place), int(answer), told)


def read_record(path: Path) -> Record:
    """Errors: NoRecord. A record of a killed program ends with its last whole event."""
    try:
        if path.stat().st_size > LARGEST:
            raise NoRecord(f"{path}: more than 1 GiB is no record")
        text = path.read_bytes().decode("ascii")
    except OSError as error:
        raise NoRecord(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise NoRecord(f"{path}: this is no record of weft: it has bytes that are not ASCII") from None
    lines = text.split("\n")
    if lines[0] != FIRST_LINE:
        raise NoRecord(f"{path}:1: this is no record of weft: its first line is not \"{FIRST_LINE}\"")
    if len(lines) < 3 or not lines[1].startswith("program="):
        raise NoRecord(f"{path}:2: the second line of a record begins with \"program=\"")
    record = Record(path, unquote(lines[1][len("program="):].partition(" ")[0]))
    for number, line in enumerate(lines[2:], 3):
        cut = number == len(lines)
        place = f"{path}:{number}"
        if cut and not line:
            break
        if record.whole:
            raise NoRecord(f"{place}: a line follows the end of the record")
        if not cut and re.fullmatch(rf"{number} {_TIME.pattern} end", line):
            record.whole = True
            continue
        event = _event(line, number, place, cut)
        if event is not None:
            record.events.append(event)
    return record
