# SPDX-License-Identifier: Apache-2.0
"""docs/reference/matrix.html in a browser without a window: people's clicks filter and compare."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from generator import decided as rows_of
from generator.browsing.site import site
from generator.matrix.model import read_matrix
from generator.rules import Family

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "site"))
from headless import SECONDS, chromium, skip_without_browser  # noqa: E402

skip_without_browser()

from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

Row = dict[str, Any]
_SHOWN = "return [...document.querySelectorAll('#rows tbody tr')].filter((row) => row.offsetParent !== null)" \
         ".map((row) => [...row.cells].map((cell) => cell.textContent))"
_COMPARED = "return [...document.querySelectorAll('#compared tbody tr')].filter((row) => row.offsetParent !== null)" \
            ".map((row) => [row.className, ...[...row.cells].map((cell) => cell.textContent)])"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("browser")) as driver:
        yield driver


@pytest.fixture(scope="module")
def model(root: Path, families: tuple[Family, ...]) -> dict[str, Any]:
    return site(rows_of.decide_all(read_matrix(root / "providers.yaml"), families), families)


@pytest.fixture
def page(browser: Any, root: Path) -> Any:
    """The page as it is opened, with all its rows."""
    browser.get("about:blank")
    browser.get((root / "docs/reference/matrix.html").as_uri())
    return browser


def _told(group: str, name: str) -> str:
    return f"{name} (answer)" if group == "answers" else name


def _expected(model: dict[str, Any], fits: Callable[[Row], bool]) -> list[tuple[str, str, str]]:
    return [(row["fabric"], _told(row["group"], row["name"]), row["value"]) for row in model["rows"] if fits(row)]


def _wait_for(page: Any, wanted: list[tuple[str, str, str]]) -> None:
    WebDriverWait(page, SECONDS).until(lambda one: [tuple(row[:3]) for row in one.execute_script(_SHOWN)] == wanted,
                                  f"expected {len(wanted)} rows, as {wanted[:3]}")
    count = page.find_element(By.ID, "count").text
    assert count.startswith(f"{len(wanted)} of ")
    assert page.get_log("browser") == []


def _tick(page: Any, name: str, value: str) -> None:
    page.find_element(By.CSS_SELECTOR, f"input[name={name}][value={value}]").click()


def _number(model: dict[str, Any], release: str) -> str:
    return next(str(each["number"]) for each in model["releases"] if each["text"] == release)


def test_every_row_is_shown_at_first(page: Any, model: dict[str, Any]) -> None:
    _wait_for(page, _expected(model, lambda row: True))
    assert not page.find_element(By.ID, "compared").is_displayed()


def test_fabrics_and_trust(page: Any, model: dict[str, Any]) -> None:
    _tick(page, "fabric", "tcp")
    _wait_for(page, _expected(model, lambda row: row["fabric"] == "tcp"))
    _tick(page, "fabric", "efa")
    _tick(page, "trust", "observed")
    wanted = _expected(model, lambda row: row["fabric"] in ("tcp", "efa") and row["level"] == "observed")
    assert wanted
    _wait_for(page, wanted)
    _tick(page, "differs", "yes")
    _wait_for(page, _expected(model, lambda row: row["fabric"] in ("tcp", "efa") and row["level"] == "observed"
                              and row["differs"]))
    page.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    _wait_for(page, _expected(model, lambda row: True))


def test_words_and_groups(page: Any, model: dict[str, Any]) -> None:
    meanings = {(each["group"], each["name"]): each["meaning"] for each in model["names"]}

    def says(row: Row, *words: str) -> bool:
        text = f"{row['name']} {row['name'].replace('_', ' ')} {meanings[row['group'], row['name']]}".lower()
        return all(word in text for word in words)

    page.find_element(By.NAME, "words").send_keys("Order  write")
    _wait_for(page, _expected(model, lambda row: says(row, "order", "write")))
    Select(page.find_element(By.NAME, "group")).select_by_visible_text("answers")
    wanted = _expected(model, lambda row: says(row, "order", "write") and row["group"] == "answers")
    _wait_for(page, wanted)
    page.find_element(By.NAME, "words").send_keys(" nothing-has-this")
    _wait_for(page, [])


def test_releases(page: Any, model: dict[str, Any]) -> None:
    for release in ("libfabric 1.15", "libfabric 2.1", "rdma-core 44.0"):
        Select(page.find_element(By.NAME, "release")).select_by_visible_text(release)
        wanted = _expected(model, lambda row, n=_number(model, release): n in row["releases"].split())
        assert 0 < len(wanted) < len(model["rows"])
        _wait_for(page, wanted)
    assert "opx" in {row["fabric"] for row in model["rows"]}


def test_two_fabrics_side_by_side(page: Any, model: dict[str, Any]) -> None:
    Select(page.find_element(By.NAME, "left")).select_by_visible_text("tcp")
    Select(page.find_element(By.NAME, "right")).select_by_visible_text("shm")
    Select(page.find_element(By.NAME, "release")).select_by_visible_text("libfabric 2.1")
    number = _number(model, "libfabric 2.1")
    sides = [{(row["group"], row["name"]): row for row in model["rows"] if row["fabric"] == fabric
              and number in row["releases"].split()} for fabric in ("tcp", "shm")]
    names = [(each["group"], each["name"]) for each in model["names"]]

    def line(name: tuple[str, str]) -> list[str]:
        left, right = (side[name] for side in sides)
        told = [f"{row['value']} ({row['mark']} {row['level']}" + (f", claimed {row['claim']}" if row["claim"] else "")
                + ")" for row in (left, right)]
        return ["unlike" if left["value"] != right["value"] else "", _told(*name),
                *[text.replace("( ", "(") for text in told]]

    WebDriverWait(page, SECONDS).until(lambda one: one.execute_script(_COMPARED) == [line(name) for name in names])
    _tick(page, "unlike", "yes")
    unlike = [line(name) for name in names if line(name)[0]]
    assert 0 < len(unlike) < len(names)
    WebDriverWait(page, SECONDS).until(lambda one: one.execute_script(_COMPARED) == unlike)
    assert page.get_log("browser") == []


def test_the_address_keeps_what_was_asked(page: Any, model: dict[str, Any], root: Path) -> None:
    _tick(page, "fabric", "cxi")
    Select(page.find_element(By.NAME, "left")).select_by_visible_text("cxi")
    Select(page.find_element(By.NAME, "right")).select_by_visible_text("efa")
    WebDriverWait(page, SECONDS).until(lambda one: one.current_url.endswith("#fabric=cxi&left=cxi&right=efa"))
    address = page.current_url
    page.get("about:blank")
    page.get(address)
    _wait_for(page, _expected(model, lambda row: row["fabric"] == "cxi"))
    assert page.find_element(By.ID, "compared").is_displayed()
    page.get((root / "docs/reference/matrix.html").as_uri() + "#fabric=no_such&trust=%3Cb%3E&release=x")
    WebDriverWait(page, SECONDS).until(lambda one: len(one.execute_script(_SHOWN)) == len(model["rows"]))
