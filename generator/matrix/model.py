# SPDX-License-Identifier: Apache-2.0
"""The meaning of providers.yaml: fabrics, releases, facts and evidence, as values that do not change.

A range of a row is complete here: the cells that it does not restate are those of the range before.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from . import atomics
from .facts import FACT, FACTS, UNLIMITED, Value
from .loader import Document, Problem, Refused, Where, load
from .half_round_trip import HalfRoundTrip, read_half_round_trip
from .measured import Measured, read_measured
from .reserved import why_taken
from .refusing import require
from .schema import matrix_schema
from .sources import Sources, beside_sources, wrong_days
from .words import wrong_text


@dataclass(frozen=True, order=True)
class Version:
    """A release of a library."""

    major: int
    minor: int

    @staticmethod
    def of(text: str) -> Version:
        major, minor = text.split(".")
        return Version(int(major), int(minor))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


@dataclass(frozen=True)
class Evidence:
    """Why a cell is believed."""

    claimed: str | None
    observed: str | None
    copied: str | None = None

    def __str__(self) -> str:
        parts = [f"claimed: {self.claimed}" if self.claimed else "",
                 f"observed: {self.observed}" if self.observed else "",
                 f"copied: {self.copied}" if self.copied else ""]
        return "; ".join(part for part in parts if part)


@dataclass(frozen=True)
class Cell:
    """One fact of one row."""

    name: str
    value: Value
    evidence: Evidence
    line: int
    claimed_value: Value | None = None  # what the library claims, where that was seen to be wrong
    claimed_until: Version | None = None  # the first release that keeps that claim, or does not make it

    @property
    def as_text(self) -> str:
        """The value as providers.yaml spells it."""
        return _spelt(self.value)

    @property
    def told_claim(self) -> str:
        """What the library claims, where behaviour differs; else empty."""
        if self.claimed_value is None:
            return ""
        return _spelt(self.claimed_value) + (f" before {self.claimed_until}" if self.claimed_until else "")

    def claimed_by(self, release: Version | None) -> Value | None:
        """The claimed value of a release, or of any."""
        over = release is not None and self.claimed_until is not None and self.claimed_until <= release
        return None if over else self.claimed_value


def _spelt(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value == UNLIMITED:
        return "unlimited"
    return str(value) if value != "" else '""'


@dataclass(frozen=True)
class Setting:
    """A variable of the environment that a row wants."""

    name: str
    value: str
    reason: str


@dataclass(frozen=True)
class Range:
    """A row for a range of releases: every cell answered."""

    since: Version
    until: Version | None
    cells: Mapping[str, Cell]
    changed: tuple[str, ...]  # against the range before
    line: int


@dataclass(frozen=True)
class Override:
    """Answers chosen by hand: family to (answer, line)."""

    answers: Mapping[str, tuple[str, int]]
    reason: str


@dataclass(frozen=True)
class Fabric:
    """One row."""

    name: str
    summary: str
    backend: str
    library: Evidence
    settings: tuple[Setting, ...]
    ranges: tuple[Range, ...]  # oldest first, at least one
    override: Override | None
    line: int
    measured: Mapping[str, Measured] = field(default_factory=lambda: MappingProxyType({}))
    half_round_trip: HalfRoundTrip | None = None

    @property
    def since(self) -> Version:
        return self.ranges[0].since

    @property
    def until(self) -> Version | None:
        return self.ranges[-1].until


@dataclass(frozen=True)
class Matrix:
    """All rows, in the order of the file."""

    file: str
    fabrics: tuple[Fabric, ...]

    def fabric(self, name: str) -> Fabric | None:
        return next((fabric for fabric in self.fabrics if fabric.name == name), None)


def read_matrix(path: Path, name: str | None = None) -> Matrix:
    """Errors: Refused."""
    return matrix_of(load(path, name))


def matrix_of(document: Document) -> Matrix:
    """What a loaded file means. Errors: Refused."""
    require(document, matrix_schema())
    problems = wrong_days(document)
    sources = Sources(document, problems)
    fabrics = tuple(_fabric(document, sources, key, row, problems)
                    for key, row in document.data.items() if key != "sources")
    sources.unused()
    if problems:
        raise Refused(problems)
    return Matrix(document.file, fabrics)


def _evidence(sources: Sources, raw: Mapping[str, Any], where: Where) -> Evidence:
    return Evidence(*(sources.read(raw, where, kind) for kind in ("claimed", "observed", "copied")))


def _check_cells(document: Document, raw: Mapping[str, Any], where: Where, problems: list[Problem]) -> None:
    """What the schema cannot say: operations that there are not, a claim that does not differ, and no word of what was
    seen.
    """
    fabric = where[0]
    for name, cell in raw.items():
        if "observed" in cell and not beside_sources(cell["observed"]):
            problems.append(document.problem((*where, name, "observed"),
                                             f"{fabric}.{name}.observed has no word beside its source: say what was "
                                             f"done and seen"))
        if name == "atomic_operations":
            problems += [document.problem((*where, name, "is"), f"{fabric}.{name}: {wrong}")
                         for wrong in atomics.read(cell["is"]).wrong]
        if wrong := wrong_text(name, cell["is"]):
            problems.append(document.problem((*where, name, "is"), f"{fabric}.{name}: {wrong}"))
        if "claimed_value" not in cell:
            if "claimed_until" in cell:
                problems.append(document.problem((*where, name, "claimed_until"),
                                                 f"{fabric}.{name}: claimed_until ends a claimed_value, and there is "
                                                 "none: leave it out"))
            continue
        if cell["claimed_value"] == cell["is"]:
            problems.append(document.problem((*where, name, "claimed_value"),
                                             f"{fabric}.{name}: claimed_value is what the cell is: "
                                             "it stands only where the library claims "
                                             "something else; leave it out"))
        elif "observed" not in cell:
            problems.append(document.problem((*where, name, "claimed_value"),
                                             f"{fabric}.{name}: claimed_value says that behaviour differs from the "
                                             f"claim: "
                                             "add observed: \"[source], what was seen\""))


def _cells(document: Document, sources: Sources, raw: Mapping[str, Any], where: Where) -> dict[str, Cell]:
    def value(name: str, key: str = "is") -> Value:
        given: Value = raw[name][key]
        return UNLIMITED if FACT[name].is_number and given == "unlimited" else given

    return {fact.name: Cell(fact.name, value(fact.name), _evidence(sources, raw[fact.name], (*where, fact.name)),
                            document.line((*where, fact.name)),
                            value(fact.name, "claimed_value") if "claimed_value" in raw[fact.name] else None,
                            Version.of(raw[fact.name]["claimed_until"]) if "claimed_until" in raw[fact.name] else None)
            for fact in FACTS if fact.name in raw}


def _fabric(document: Document, sources: Sources, name: str, row: Mapping[str, Any], problems: list[Problem]) -> Fabric:
    if taken := why_taken(name):
        problems.append(document.problem((name,), f"no row can have the name '{name}', which {taken}: choose another"))
    settings = tuple(Setting(key, raw["value"], raw["reason"]) for key, raw in row.get("settings", {}).items())
    if settings and row["backend"] != "libfabric":
        problems.append(document.problem((name, "settings"),
                                         f"{name}.settings has no effect: the backend {row['backend']} reads no "
                                         f"settings, only libfabric does; leave them out"))
    override = None
    if "override" in row:
        answers = {family: (answer, document.line((name, "override", family)))
                   for family, answer in row["override"].items() if family != "reason"}
        override = Override(MappingProxyType(answers), row["override"]["reason"])
    ranges = _ranges(document, sources, name, row, problems)
    if row["backend"] == "libfabric" and ranges[0].cells["provider"].value == "":
        problems.append(document.problem((name, "facts", "provider"),
                                         f"{name}.provider is empty: a libfabric row names its provider, as fi_info "
                                         f"prints it"))
    measured = MappingProxyType(read_measured(document, name, row.get("measured", {}), problems))
    library = _evidence(sources, row["library"], (name, "library"))
    return Fabric(name, row["summary"], row["backend"], library, settings, ranges, override, document.line((name,)),
                  measured, read_half_round_trip(document, name, row.get("half_round_trip"), problems))


def _ranges(document: Document, sources: Sources, name: str, row: Mapping[str, Any],
            problems: list[Problem]) -> tuple[Range, ...]:
    end = Version.of(row["library"]["until"]) if "until" in row["library"] else None
    starts = [Version.of(row["library"]["since"])]
    _check_cells(document, row["facts"], (name, "facts"), problems)
    cells = [_cells(document, sources, row["facts"], (name, "facts"))]
    changed: list[tuple[str, ...]] = [()]
    lines = [document.line((name,))]
    for index, raw in enumerate(row.get("ranges", [])):
        where: Where = (name, "ranges", index)
        start = Version.of(raw["since"])
        if start <= starts[-1]:
            problems.append(document.problem((*where, "since"),
                                             f"{name}: the range since {start} does not come after the one since "
                                             f"{starts[-1]}: "
                                             "give ranges oldest first"))
        _check_cells(document, raw["facts"], (*where, "facts"), problems)
        restated = _cells(document, sources, raw["facts"], (*where, "facts"))
        for key, cell in restated.items():
            if cell.value == cells[-1][key].value:
                problems.append(document.problem((*where, "facts", key),
                                                 f"{name}.{key} is {cell.as_text} before {start} too: "
                                                 "a range restates only the cells that change"))
        starts.append(start)
        cells.append({key: restated.get(key, before) for key, before in cells[-1].items()})
        changed.append(tuple(restated))
        lines.append(document.line(where))
    if end is not None and end <= starts[-1]:
        problems.append(document.problem((name, "library", "until"),
                                         f"{name}: until {end} is not after since {starts[-1]}: "
                                         "until is the first release that the row no "
                                         "longer describes"))
    for each in cells:
        listed = each["atomic_operations"]
        if each["atomics"].value == "none" != listed.value:
            problems.append(Problem(document.file, listed.line,
                                    f"{name}.atomic_operations is {listed.as_text}, but atomics is none (line "
                                    f"{each['atomics'].line}): one of the two is wrong"))
    ends = [*starts[1:], end]
    return tuple(Range(start, stop, MappingProxyType(each), names, line)
                 for start, stop, each, names, line in zip(starts, ends, cells, changed, lines))
