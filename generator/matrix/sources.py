# SPDX-License-Identifier: Apache-2.0
"""The sources of providers.yaml. Each is named once, and cells cite the name in brackets.

"[libfabric-1.17-prov-tcp], mr_key_size 8" cites one source. The citation stands for the text of the source.
Refused here are sources that are unknown, of the wrong kind, cited by no cell, or the same as another source.
Refused too is a day that is in no calendar or still to come.
"""
from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .days import wrong_day, wrong_day_in
from .loader import Document, Problem, Where
from .refusing import shown
from .schema import CITATION

_CITED = re.compile(CITATION)
_FIELDS = {"claimed": ("text",), "copied": ("text",), "observed": ("date", "library", "setup")}
_OPTIONAL = ("setup",)


@dataclass(frozen=True)
class Source:
    """What a cell can cite. `text` for claimed and copied; the day, the library and how it was set up for observed."""

    kind: str
    text: str = ""
    date: str = ""
    library: str = ""
    setup: str = ""

    @property
    def sentence(self) -> str:
        """The text of the source that a citation names."""
        return self.text or " ".join(part for part in (self.date, self.library, self.setup) if part)


def cited(text: str) -> list[str]:
    """The names of the sources that a text cites."""
    return _CITED.findall(text)


def beside_sources(text: str) -> bool:
    """Whether evidence has a letter or a digit beside the names of its sources."""
    return any(letter.isalnum() for letter in _CITED.sub("", text))


def wrong_days(document: Document) -> list[Problem]:
    """A problem for each sentence that names a wrong day. Fields of a day alone are left to those who know them."""
    return [document.problem(where, f"{shown(where)} names {wrong}: write the right day")
            for where, text in _texts(document.data, ()) if where[-1] != "date" and (wrong := wrong_day_in(text))]


def _texts(data: Any, where: Where) -> Iterator[tuple[Where, str]]:
    if isinstance(data, str):
        yield where, data
    elif isinstance(data, (dict, list)):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _texts(value, (*where, key))


class Sources:
    """All sources of a matrix. Each citation is checked as it is read; `unused` says what no cell cited."""

    def __init__(self, document: Document, problems: list[Problem]) -> None:
        self._document = document
        self._problems = problems
        self._used: set[str] = set()
        self._all: dict[str, Source] = {}
        for name, raw in document.data.get("sources", {}).items():
            self._all[name] = _source(document, name, raw, problems)
        self._no_two_alike()

    def read(self, raw: Mapping[str, Any], where: Where, kind: str) -> str | None:
        """The evidence of one kind, each citation replaced by the text of its source; None without evidence."""
        text = raw.get(kind)
        if text is None:
            return None
        for name in cited(text):
            self._check(name, (*where, kind), kind)
        return _CITED.sub(lambda match: self._all[match[1]].sentence if match[1] in self._all else match[0], text)

    def unused(self) -> None:
        """Adds a problem for each source that no cell cites."""
        for name in self._all:
            if name not in self._used:
                self._refuse(("sources", name),
                             f"no cell cites the source '{name}': delete it, or cite it as \"[{name}]\"")

    def _check(self, name: str, where: Where, kind: str) -> None:
        self._used.add(name)
        source = self._all.get(name)
        if source is None:
            self._refuse(where, f"{shown(where)} cites [{name}], and there is no such source{_near(name, self._all)}")
        elif source.kind != kind and kind != "copied":
            self._refuse(where,
                         f"{shown(where)} cites [{name}], which is {source.kind}: cite a source whose kind is {kind}")

    def _no_two_alike(self) -> None:
        first: dict[Source, str] = {}
        for name, source in self._all.items():
            other = first.setdefault(source, name)
            if other != name:
                line = self._document.line(("sources", other))
                self._refuse(("sources", name),
                             f"the source '{name}' says the same as '{other}' (line {line}): keep one of the two")

    def _refuse(self, where: Where, sentence: str) -> None:
        self._problems.append(self._document.problem(where, sentence))


def _source(document: Document, name: str, raw: Mapping[str, Any], problems: list[Problem]) -> Source:
    where: Where = ("sources", name)
    fields = _FIELDS[raw["kind"]]
    for field in raw:
        if field != "kind" and field not in fields:
            problems.append(document.problem((*where, field), f"the source '{name}' is {raw['kind']} and has {field}: "
                                                              f"it has {' and '.join(fields)} only"))
    for field in fields:
        if field not in raw and field not in _OPTIONAL:
            problems.append(document.problem(where, f"the source '{name}' is {raw['kind']} and lacks {field}"))
    wrong = wrong_day(raw["date"]) if "date" in raw else ""
    if wrong:
        problems.append(document.problem((*where, "date"),
                                         f"the source '{name}' was observed on {wrong}: write the day of the "
                                         f"observation"))
    return Source(**raw)


def _near(name: str, known: Mapping[str, Source]) -> str:
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return "; did you mean " + " or ".join(f"'{each}'" for each in near) + "?" if near else ": add it under sources"
