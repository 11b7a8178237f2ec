# SPDX-License-Identifier: Apache-2.0
"""The steps of `./weft add`: probe, row, suites in a copy of the tree, and then the tree itself."""
from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import click

from .. import emit
from ..decided import Decided, decide_all
from ..matrix.facts import FACT
from ..matrix.loader import Problem, Refused, load_text
from ..matrix.model import Matrix, matrix_of, read_matrix
from ..matrix.reserved import wrong_name
from ..probing import CellFinding, Demands, Provenance, probe, provenance
from ..probing.patch import difference
from ..rules import Family, read_rules
from . import telling
from .blaming import fewest, made_safe, suspects
from .interrupting import Interruptible
from .lacking import FiInfo, found_out
from .row import NewCell, added, cells_of
from .staging import replace_all, stage
from .trying import Tried, conform

ROOT = Path(__file__).resolve().parents[2]
MATRIX = ROOT / "providers.yaml"


@dataclass(frozen=True)
class Wanted:
    """What was asked for. `kinds`: the kinds of endpoints, in the order in which they are tried."""

    fabric: str
    provider: str
    kinds: list[str]
    node: str
    settings: dict[str, str]
    dry_run: bool
    keep: bool
    program: Path | None
    build: Path


@dataclass(frozen=True)
class Row:
    """The new row: its cells, the whole matrix as text and as it is understood, and the answers of the row."""

    cells: list[NewCell]
    text: str
    matrix: Matrix
    decided: Decided


class Add:
    """One run. `written`: whether the row is in the tree."""

    def __init__(self, wanted: Wanted, state: Interruptible) -> None:
        self.written = False
        self._wanted = wanted
        self._state = state
        self._rules: tuple[Family, ...] = read_rules(ROOT / "generator" / "rules.yaml", "generator/rules.yaml")
        self._before = MATRIX.read_text(encoding="utf-8")

    def run(self) -> int:
        """The exit code. Errors: Refused; Interrupted."""
        wanted = self._wanted
        self._refuse_name()
        demands, findings, made = self._probed()
        self._state.check()
        row = self._row(cells_of(demands, findings), demands, made)
        telling.findings(wanted.fabric, demands, made, row.cells)
        telling.answers(row.decided)
        if wanted.dry_run:
            click.echo(difference(self._before, row.text, MATRIX.name).strip("\n"))
            return 0
        row, tried = self._tried(row, demands, made)
        if tried.failed:
            telling.failures(row.decided, row.cells, tried)
        if not tried.failed or wanted.keep:
            self._write(row)
        telling.end(wanted.fabric, tried, wanted.keep)
        return 1 if tried.failed else 0

    def _refuse_name(self) -> None:
        """Errors: Refused, where the matrix cannot take a row of this name."""
        name = self._wanted.fabric
        wrong = wrong_name(name)
        if not wrong and any(name == family.name for family in self._rules):
            wrong = "is the name of a family"
        if wrong:
            raise Refused([Problem("weft add", 1, f"'{name}' cannot be the name of a row: it {wrong}")])
        row = read_matrix(MATRIX, MATRIX.name).fabric(name)
        if row:
            raise Refused([Problem(MATRIX.name, row.line, f"there is a row {name} already: choose another name, or "
                                                          f"probe it with ./weft probe {name}")])

    def _probed(self) -> tuple[Demands, list[CellFinding], Provenance]:
        """Probes the first kind of endpoints that the provider has, or what libfabric offers in place of it.
        Errors: Refused, with what the provider lacks.
        """
        wanted = self._wanted
        tries = [(wanted.provider, kind) for kind in wanted.kinds if kind in FACT["endpoint_type"].values]
        refused = None
        for provider, kind in tries:
            try:
                return self._probed_as(provider, kind)
            except Refused as problem:
                if type(problem) is not Refused:
                    raise  # more is known than that the library does not answer
                refused = problem
        library = FiInfo(wanted.settings)
        lacking = found_out(wanted.provider, wanted.kinds, library.listed(), library.ask, library.largest)
        if lacking is None:  # it has everything, and ended the probe's question: the refusal says how
            raise refused or AssertionError("kinds is never empty")
        about = f'provider "{wanted.provider}": {lacking.sentence}'
        if lacking.instead is None:
            chosen = os.environ.get("FI_PROVIDER")
            hidden = f"; FI_PROVIDER={chosen} is set here, and hides others" if chosen else ""
            raise Refused([Problem("libfabric", 1, about + hidden)]) from refused
        click.echo(f"{about}; going on with \"{lacking.instead[0]}\"", err=True)
        return self._probed_as(*lacking.instead)

    def _probed_as(self, provider: str, kind: str) -> tuple[Demands, list[CellFinding], Provenance]:
        demands = Demands(provider=provider, endpoint_type=kind, node=self._wanted.node,
                          settings=self._wanted.settings)
        click.echo(f"probing provider \"{provider}\", {kind} endpoints", err=True)
        found = probe(demands, program=self._wanted.program, report=telling.behaviour)
        return demands, found, provenance(demands, program=self._wanted.program)

    def _row(self, cells: list[NewCell], demands: Demands, made: Provenance) -> Row:
        """The matrix with the row. Errors: Refused, where a family has no legal answer."""
        name = self._wanted.fabric
        text = added(self._before, name, cells, demands, made)
        matrix = matrix_of(load_text(text, f"{MATRIX.name} with the row {name}"))
        decided = next(each for each in decide_all(matrix, self._rules) if each.fabric.name == name)
        return Row(cells, text, matrix, decided)

    def _tried(self, row: Row, demands: Demands, made: Provenance) -> tuple[Row, Tried]:
        """The suites, again while one fails that rests on a cell without proof. Each time fewer cells are of that kind.
        """
        build = self._wanted.build
        build.mkdir(parents=True, exist_ok=True)
        log = build / "add.txt"
        log.write_text("", encoding="utf-8")
        while True:
            stage(ROOT, build / "tree")
            emit.write(self._files(row), build / "tree")
            tried = conform(build / "tree", self._wanted.fabric, build / "build", log)
            self._state.check()
            wrong = fewest(suspects(tried.failed, row.decided, row.cells))
            if not wrong:
                return row, tried
            telling.mended(row.cells, wrong, tried)
            row = self._row(made_safe(row.cells, wrong), demands, made)

    def _files(self, row: Row) -> dict[str, bytes]:
        """What the matrix makes, and the matrix."""
        made = emit.render(row.matrix, self._rules, ROOT / "templates", ROOT / emit.README)
        return {**made, MATRIX.name: row.text.encode("utf-8")}

    def _write(self, row: Row) -> None:
        """Writes the matrix and what is generated from it, all or nothing. Errors: Refused."""
        if MATRIX.read_text(encoding="utf-8") != self._before:
            raise Refused([Problem(MATRIX.name, 1, "was changed while suites ran: nothing is written; run again")])
        files = self._files(row)
        with self._state.undisturbed():
            replace_all(ROOT, files)
            self.written = True
        click.echo(f"wrote row {self._wanted.fabric} to {MATRIX.name}, generated/{self._wanted.fabric}.hpp")
