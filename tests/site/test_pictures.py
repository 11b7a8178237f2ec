# SPDX-License-Identifier: Apache-2.0
"""The pictures that docs/reference/pages.py draws can be read: in light and in dark, by eyes and by screen readers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from headless import skip_without_browser

skip_without_browser()

PICTURES = sorted((ROOT / "docs/reference/generated").glob("*.svg"))
CONTRAST = 4.5  # WCAG 2.1, 1.4.3, for small text
# Of each text: what it says, its box, its colour, and the colour of the last rectangle that holds its middle.
_TEXTS = """
const rectangles = [...document.querySelectorAll('rect')];
return [...document.querySelectorAll('text')].map((text) => {
  const box = text.getBBox(), x = box.x + box.width / 2, y = box.y + box.height / 2;
  const inside = (rect) => { const b = rect.getBBox();
    return b.x <= x && x <= b.x + b.width && b.y <= y && y <= b.y + b.height; };
  const below = rectangles.filter(inside).at(-1), b = below.getBBox();
  return {text: text.textContent, box: [box.x, box.y, box.x + box.width, box.y + box.height],
          within: [b.x, b.y, b.x + b.width, b.y + b.height],
          ink: getComputedStyle(text).fill, paper: getComputedStyle(below).fill};
});
"""


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(", ")]
    linear = [part / 12.92 if part <= 0.03928 else float(((part + 0.055) / 1.055) ** 2.4) for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _overlap(a: list[float], b: list[float]) -> bool:
    return min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 4  # lines touch, words not


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("picture", PICTURES, ids=[path.stem for path in PICTURES])
def test_each_word_can_be_read(browser: Any, picture: Path, scheme: str) -> None:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                            {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.get(picture.as_uri())
    texts = browser.execute_script(_TEXTS)
    assert len(texts) > 20
    for each in texts:
        lighter, darker = sorted((_luminance(each["ink"]), _luminance(each["paper"])), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= CONTRAST, each
        assert (_luminance(each["paper"]) > 0.5) == (scheme == "light"), each
        inner, outer = each["box"], each["within"]
        assert outer[0] <= inner[0] and inner[2] <= outer[2], f"wider than its box: {each}"
    for number, one in enumerate(texts):
        for other in texts[number + 1:]:
            assert not _overlap(one["box"], other["box"]), (one, other)
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("picture", PICTURES, ids=[path.stem for path in PICTURES])
def test_a_screen_reader_gets_what_the_picture_says(browser: Any, picture: Path) -> None:
    browser.get(picture.as_uri())
    node = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    named = [each for each in node if each.get("role", {}).get("value") in ("image", "img", "graphics-document")]
    said = " ".join(each.get("name", {}).get("value", "") for each in named)
    words = {word for text in browser.execute_script(_TEXTS) for word in text["text"].split() if "_" in word}
    assert len(words) > 5
    assert [word for word in sorted(words) if word.strip(",:") not in said] == []


def test_all_pictures_are_judged() -> None:
    assert {"lowerings", "road", "states"} <= {path.stem for path in PICTURES}
