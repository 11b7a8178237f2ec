# SPDX-License-Identifier: Apache-2.0
"""The site that scripts/docs built, and a browser that reaches no network."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from headless import chromium

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site() -> Path:
    folder = Path(os.environ.get("WEFT_SITE", ROOT / "build" / "docs" / "html")).resolve()
    if not (folder / "index.html").is_file():
        pytest.fail(f"{folder} has no index.html; scripts/docs builds the site, WEFT_SITE names its folder")
    return folder


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("browser"), "--host-resolver-rules=MAP * ~NOTFOUND") as driver:
        yield driver
