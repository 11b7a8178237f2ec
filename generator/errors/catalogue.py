# SPDX-License-Identifier: Apache-2.0
"""Reads the catalogue of errors, and finds the id that belongs to a sentence.

Letters: C compile time, M files that the command reads, O opening and calls, R codes of a status, W wrong use of the
command.
"""
from __future__ import annotations

import difflib
import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

FOLDER = Path(__file__).resolve().parent / "pages"
KINDS = {"C": "Compile time", "O": "Opening, connecting, and checked calls", "R": "Codes of a status",
         "M": "Files that the command reads", "W": "Use of the command"}
RETIRED: frozenset[str] = frozenset()  # ids of errors that are gone
INPUTS, USAGE = "inputs", "usage"  # kinds of sentences that always have an id

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 300}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_PARTS = ("title", "says", "cause", "see", "mend", "example")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "propertyNames": {"pattern": "^WEFT-[CMORW][0-9]{3}$"},
    "additionalProperties": {
        "type": "object",
        "properties": {**{part: _TEXT for part in _PARTS}, "code": _TEXT, "programs": _TEXTS, "untagged": _TEXT,
                       "matches": _TEXTS, "otherwise": {"enum": [INPUTS, USAGE]}},
        "required": list(_PARTS), "additionalProperties": False}}

_ID = re.compile(r"\[(WEFT-[A-Z][0-9]{3})\]")


@dataclass(frozen=True)
class Error:
    """One entry. `says`: the sentence or its beginning. `code`: an enumerator of weft::errc. `programs`: files of
    tests/fail. `untagged`: why the compiler's message has no id. `matches`: patterns of sentences.
    """

    id: str
    title: str
    says: str
    cause: str
    see: str
    mend: str
    example: str
    code: str = ""
    programs: tuple[str, ...] = ()
    untagged: str = ""
    matches: tuple[str, ...] = ()
    otherwise: str = ""


@functools.cache
def all_errors() -> dict[str, Error]:
    """Id to entry, by letter and number."""
    found: dict[str, Error] = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        for name, raw in YAML(typ="safe").load(path.read_text("utf-8")).items():
            if name in found:
                raise ValueError(f"{path.name}: {name} is there twice: an id belongs to one error")
            programs, matches = (tuple(raw.pop(key, ())) for key in ("programs", "matches"))
            found[name] = Error(name, **raw, programs=programs, matches=matches)
    return {name: found[name] for name in sorted(found)}


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """In the order of the files' entries, which begins with the more exact ones."""
    found = []
    for path in sorted(FOLDER.glob("*.yaml")):
        for name, raw in YAML(typ="safe").load(path.read_text("utf-8")).items():
            found += [(name, re.compile(each)) for each in raw.get("matches", ())]
    return tuple(found)


def id_of(sentence: str, kind: str) -> str:
    """The id of a sentence: one that it ends with, that of the first pattern, or the general one of its kind."""
    told = _ID.search(sentence)
    if told:
        return told[1]
    general = next(each.id for each in all_errors().values() if each.otherwise == kind)
    letters = ("O", general[5])
    return next((name for name, pattern in _patterns() if name[5] in letters and pattern.search(sentence)), general)


def with_id(sentence: str, kind: str) -> str:
    """The sentence, with its id in brackets at the end."""
    return sentence if _ID.search(sentence) else f"{sentence} [{id_of(sentence, kind)}]"


def is_id(word: str) -> bool:
    """Whether somebody means an id: WEFT-C017, weft-c017, C017, [WEFT-C017]. e810 may be a row, named for its card."""
    return re.fullmatch(rf"\[?(WEFT-[A-Z0-9]*|[{''.join(KINDS)}][0-9]{{3}})\]?", word, re.IGNORECASE) is not None


def spelt(word: str) -> str:
    """The id as the catalogue spells it."""
    bare = word.strip("[]").upper()
    return bare if bare.startswith("WEFT-") else f"WEFT-{bare}"


def nearest(word: str) -> list[str]:
    """Known ids that look like this one, at most three."""
    return difflib.get_close_matches(spelt(word), list(all_errors()), n=3, cutoff=0.6)
