# SPDX-License-Identifier: Apache-2.0
"""docs/reference/matrix.html without a browser: its rows are the matrix, it needs no network, and its parts fit."""
from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from generator import emit
from generator.matrix.model import read_matrix
from generator.rules import Family

CASES = Path(__file__).resolve().parents[1] / "cases"
PAGE = "docs/reference/matrix.html"
VOID = {"meta", "input"}


class Parts(HTMLParser):
    """The elements of the page: tag, attributes and text, in their order. Every element is closed where it must be."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._open: list[int] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        if self._open and self.elements[self._open[-1]][0] in ("option", "dt", "dd"):
            assert tag not in ("option", "dt", "dd")
        self.elements.append((tag, dict(attrs), []))
        if tag not in VOID:
            self._open.append(len(self.elements) - 1)

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self._open.pop()][0] == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            self.elements[self._open[-1]][2].append(data)

    def all(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attributes, "".join(text)) for name, attributes, text in self.elements if name == tag]

    def rows(self) -> list[tuple[dict[str, str | None], list[str]]]:
        """Attributes and cells of each row of the table of all."""
        found: list[tuple[dict[str, str | None], list[str]]] = []
        for tag, attributes, text in self.elements:
            if tag == "tr":
                found.append((attributes, []))
            elif tag in ("td", "th") and found:
                found[-1][1].append("".join(text))
        return [(attributes, cells) for attributes, cells in found if "data-fabric" in attributes]


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / PAGE).read_text("utf-8")


@pytest.fixture(scope="module")
def parts(page: str) -> Parts:
    return Parts(page)


def _made(text: str, tmp_path: Path, root: Path, families: tuple[Family, ...]) -> Parts:
    (tmp_path / "m.yaml").write_text(text, "utf-8")
    files = emit.render(read_matrix(tmp_path / "m.yaml"), families, root / "templates")
    return Parts(files[PAGE].decode("utf-8"))


def test_the_rows_are_the_matrix(parts: Parts, root: Path) -> None:
    """Another parser reads the matrix: each cell that somebody wrote is a row with its value, and no other row is."""
    rows: dict[str, Any] = YAML(typ="safe").load((root / "providers.yaml").read_text("utf-8"))
    written = []
    for fabric, row in rows.items():
        if fabric != "sources":
            for facts in (row["facts"], *(each["facts"] for each in row.get("ranges", []))):
                written += [(fabric, name, _text(cell["is"])) for name, cell in facts.items()]
    shown = [(cells[0], cells[1], cells[2]) for attributes, cells in parts.rows()
             if attributes["data-group"] != "answers"]
    assert sorted(shown) == sorted(written)
    assert len(shown) > 800


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) if value != "" else '""'


def test_answers_are_those_of_the_headers(parts: Parts, root: Path) -> None:
    header = (root / "generated" / "shm.hpp").read_text("utf-8")
    first = header[header.index("policy_set<"):]
    answers = re.findall(r"answers::(\w+)::(\w+)", "\n".join(
        line for line in first[: first.index("\n  >;")].splitlines() if not line.lstrip().startswith("//")))
    shown = {(attributes["data-name"], cells[2]) for attributes, cells in parts.rows()
             if attributes["data-group"] == "answers" and attributes["data-fabric"] == "shm"}
    assert len(answers) > 20 and set(answers) <= shown


def test_a_filter_offers_each_value_that_rows_have(parts: Parts) -> None:
    offered: dict[str, set[str]] = {"fabric": set(), "trust": set()}
    for attributes, _ in parts.all("input"):
        if attributes["name"] in offered:
            offered[str(attributes["name"])].add(str(attributes["value"]))
    rows = [attributes for attributes, _ in parts.rows()]
    assert offered["fabric"] == {row["data-fabric"] for row in rows}
    assert offered["trust"] >= {row["data-trust"] for row in rows} and len(offered["trust"]) == 4
    options = [(attributes.get("value", text), text) for attributes, text in parts.all("option")]
    releases = {value: text for value, text in options if value and str(value).isdigit()}
    assert {each for row in rows for each in str(row["data-releases"]).split()} == set(releases)
    assert {"libfabric 1.17", "libfabric 2.1", "rdma-core 44.0"} <= set(releases.values())
    assert {row["data-group"] for row in rows} <= {text for _, text in options}
    assert {(row["data-group"], row["data-name"]) for row in rows} == {(attributes["data-group"], text)
                                                                       for attributes, text in parts.all("dt")}
    assert all(meaning.strip() for _, meaning in parts.all("dd"))


def test_the_page_needs_no_network(page: str, parts: Parts) -> None:
    for tag, attributes, _ in parts.elements:
        assert not {"src", "href", "srcset"} & set(attributes) and tag not in ("link", "img", "iframe", "base"), tag
    (style,), (script,) = parts.all("style"), parts.all("script")
    assert not re.search(r"url\(|@import|https?:", style[1])
    assert not re.search(r"\bfetch\b|XMLHttp|WebSocket|\bimport\b|https?:|innerHTML", script[1])
    assert "default-src 'none'" in page and page.count("<script") == 1


def test_the_script_names_parts_that_are_there(parts: Parts) -> None:
    script = parts.all("script")[0][1]
    ids = {attributes["id"] for _, attributes, _ in parts.elements if "id" in attributes}
    assert set(re.findall(r'getElementById\("(\w+)"\)', script)) | {"rows", "names"} == ids
    fields = {attributes["name"] for tag, attributes, _ in parts.elements if tag in ("input", "select")}
    asked = set(re.findall(r'state\.(?:get|has|getAll)\("(\w+)"\)', script))
    assert asked | {"left", "right"} == fields
    data = {name for attributes, _ in parts.rows() for name in attributes}
    assert {"data-fabric", "data-name", "data-group", "data-trust", "data-releases", "data-differs"} == data


def test_a_row_holds_in_the_releases_of_its_range(tmp_path: Path, root: Path, families: tuple[Family, ...]) -> None:
    made = _made((CASES / "valid_ranged.yaml").read_text("utf-8"), tmp_path, root, families)
    texts = {attributes["value"]: text for attributes, text in made.all("option")
             if str(attributes.get("value", "")).isdigit()}
    matrix = read_matrix(CASES / "valid_ranged.yaml").fabrics[0]
    first, *later = matrix.ranges
    changed = later[0].changed[0]
    rows = [attributes for attributes, cells in made.rows() if cells[1] == changed]
    assert len(rows) == 1 + sum(changed in span.changed for span in later)
    held = [texts[each] for row in rows for each in str(row["data-releases"]).split()]
    assert len(held) == len(set(held)) and f"libfabric {first.since}" in held and f"libfabric {later[0].since}" in held
    assert f"libfabric {matrix.until}" in texts.values() and f"libfabric {matrix.until}" not in held


def test_evidence_stays_text(tmp_path: Path, root: Path, families: tuple[Family, ...]) -> None:
    evil = "<script>alert(1)</script><b title='x'>&amp; {{ 7 }}"
    text = (CASES / "valid_tiny.yaml").read_text("utf-8").replace('text: "c"', f'text: "c {evil}"')
    made = _made(text, tmp_path, root, families)
    assert len(made.all("script")) == 1 and made.all("b") == []
    why = next(cells[5] for _, cells in made.rows() if cells[1] == "key_bytes")
    assert why == f"claimed: c {evil}"
