# SPDX-License-Identifier: Apache-2.0
"""Debian's Chromium without a window, for the tests of pages.

Tests skip where chromium, chromium-driver or python3-selenium is missing (scripts/setup browser installs them), unless
WEFT_BROWSER=required.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SECONDS = 30  # the last resort of a wait; pages answer at once


def skip_without_browser() -> None:
    """Skips the module that calls it."""
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if importlib.util.find_spec("selenium") is None:
        missing.append("selenium")
    if missing and os.environ.get("WEFT_BROWSER") != "required":
        pytest.skip(f"no {', '.join(missing)} here: scripts/setup browser installs them", allow_module_level=True)


@contextmanager
def chromium(profile: Path, *words: str) -> Iterator[Any]:
    """A browser that keeps its profile in a folder, with more words for its command line."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 f"--user-data-dir={profile}", *words):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver"))) as driver:
        driver.set_page_load_timeout(120)
        yield driver
