# SPDX-License-Identifier: Apache-2.0
"""Every page of the site, as files: links lead somewhere, and a browser shows it whole on a phone and on a desk.

The browser keeps pictures of the main pages in build/site/, for people to look at.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest
from conftest import ROOT
from headless import skip_without_browser

skip_without_browser()

WIDTHS = {"phone": (390, 844), "desk": (1280, 900)}
MAIN = ("index", "tutorial/README", "how-to/README", "reference/README", "reference/api/transport",
        "reference/generated/errors", "explanation/concepts", "explanation/connection_states",
        "explanation/lowerings", "explanation/paths", "matrix", "performance", "glossary", "search")
_TOO_WIDE = """
const root = document.documentElement;
return root.scrollWidth <= root.clientWidth ? [] :
  [...document.querySelectorAll('body *')].filter((each) => each.getBoundingClientRect().right > root.clientWidth + 1)
    .slice(0, 3).map((each) => `${each.tagName}.${each.className}: ${each.textContent.trim().slice(0, 60)}`)
    .concat([`${root.scrollWidth} of ${root.clientWidth} pixels`]);
"""
_NOT_LOADED = "return [...document.images].filter((each) => !each.complete || !each.naturalWidth)" \
              ".map((each) => each.src)"
_WITHOUT_TEXT = "return [...document.images].filter((each) => !each.alt.trim()).map((each) => each.src)"


class _Page(HTMLParser):
    """What a page points at, and the places of it that can be pointed at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.targets += [value for name in ("href", "src") if (value := given.get(name))]
        self.places.update(value for name in ("id", "name") if (value := given.get(name)))


def _dead_links(site: Path) -> list[str]:
    pages = {path.resolve(): _Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    dead = []
    for path, page in pages.items():
        for target in page.targets:
            if re.match(r"[a-z]+:", target):
                continue
            address, place = urldefrag(target)
            file = (path.parent / unquote(address.partition("?")[0])).resolve() if address else path
            if not file.is_file():
                dead.append(f"{path.relative_to(site)}: {target} is no file")
            elif file in pages and place and unquote(place) not in pages[file].places:
                dead.append(f"{path.relative_to(site)}: {target} is no place of that page")
    return dead


def test_every_local_link_leads_somewhere(site: Path) -> None:
    assert _dead_links(site) == []


def _size(browser: Any, size: str) -> None:
    width, height = WIDTHS[size]
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"})


@pytest.mark.parametrize("size", WIDTHS)
def test_every_page_is_whole(browser: Any, site: Path, size: str) -> None:
    _size(browser, size)
    problems = []
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 100
    for path in pages:
        browser.get(path.as_uri())
        found = [f"too wide: {each}" for each in browser.execute_script(_TOO_WIDE)]
        found += [f"not loaded: {each}" for each in browser.execute_script(_NOT_LOADED)]
        found += [f"without a text: {each}" for each in browser.execute_script(_WITHOUT_TEXT)]
        found += [f"console: {each['message']}" for each in browser.get_log("browser")]
        problems += [f"{path.relative_to(site)}: {each}" for each in found]
    assert problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", WIDTHS)
def test_pictures_of_the_main_pages(browser: Any, site: Path, size: str, scheme: str) -> None:
    _size(browser, size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                            {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    folder = ROOT / "build" / "site"
    folder.mkdir(parents=True, exist_ok=True)
    for page in MAIN:
        browser.get((site / f"{page}.html").as_uri())
        colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", colour)[:3])) > 382) == (scheme == "light"), f"{page} is {colour}"
        assert browser.save_screenshot(str(folder / f"{page.replace('/', '.')}.{size}.{scheme}.png"))
