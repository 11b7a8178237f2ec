# SPDX-License-Identifier: Apache-2.0
"""A reader of the site searches it, and chooses dark or light. The site is opened as files, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from headless import SECONDS, skip_without_browser

skip_without_browser()

from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

_LOADED = "return performance.getEntriesByType('resource').map((entry) => entry.name)"
_RESULTS = "return [...document.querySelectorAll('#search-results li a')].map((link) => link.getAttribute('href'))"


def _search(browser: Any, site: Path, words: str) -> list[str]:
    """The addresses that a search of the first page finds, best first."""
    browser.get((site / "index.html").as_uri())
    box = browser.find_element(By.CSS_SELECTOR, "form.sidebar-search-container input[name=q]")
    box.send_keys(words, Keys.RETURN)
    WebDriverWait(browser, SECONDS).until(
        lambda page: page.find_elements(By.CSS_SELECTOR, "#search-results .search-summary")
        and not page.find_element(By.CSS_SELECTOR, "#search-results .search-summary").text.startswith("Searching"))
    found = []

    def complete(page: Any) -> bool:
        nonlocal found
        found = page.execute_script(_RESULTS)
        said = page.find_element(By.CSS_SELECTOR, "#search-results .search-summary").text
        return f"found {len(found)} page" in said or (not found and "did not match any" in said)

    WebDriverWait(browser, SECONDS).until(complete)
    assert browser.get_log("browser") == []
    assert [each for each in browser.execute_script(_LOADED) if not each.startswith("file:")] == []
    return found


@pytest.mark.parametrize(("words", "page"), [
    ("put_notify", "explanation/paths.html"),
    ("srun pmix", "how-to/launching/slurm.html"),
    ("WEFT-C039", "reference/generated/errors.html"),
    ("shared_secret", "reference/generated/errors.html"),
])
def test_a_search_finds_the_page_and_the_link_leads_there(browser: Any, site: Path, words: str, page: str) -> None:
    found = _search(browser, site, words)
    address = next((each for each in found if each.partition("#")[0].partition("?")[0] == page), None)
    assert address is not None, f"{words} finds {found}"
    browser.find_element(By.CSS_SELECTOR, f"#search-results li a[href='{address}']").click()
    WebDriverWait(browser, SECONDS).until(lambda there: (site / page).as_uri() in there.current_url)
    text = browser.find_element(By.TAG_NAME, "article").text
    assert all(word.lower() in text.lower() for word in words.split())
    assert browser.get_log("browser") == []


def test_a_word_that_no_page_has_finds_nothing(browser: Any, site: Path) -> None:
    assert _search(browser, site, "nosuchword") == []


def test_the_button_changes_the_theme(browser: Any, site: Path) -> None:
    browser.get((site / "index.html").as_uri())
    seen = set()
    for _ in range(3):  # the button goes round: as the system, light, dark
        seen.add(browser.execute_script("return document.body.dataset.theme"))
        browser.execute_script("document.querySelector('.theme-toggle').click()")
    assert seen == {"auto", "light", "dark"}
