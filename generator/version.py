# SPDX-License-Identifier: Apache-2.0
"""The version of weft, as core/version.hpp states it."""
from __future__ import annotations

import re
from pathlib import Path


def version_of(root: Path) -> str:
    """Major, minor and patch, such as "0.2.0"; "unknown" if the header does not state all three."""
    try:
        text = (root / "core" / "version.hpp").read_text("utf-8")
    except OSError:
        return "unknown"
    stated = dict(re.findall(r"^#define WEFT_VERSION_(MAJOR|MINOR|PATCH) (\d+)$", text, re.MULTILINE))
    return ".".join(stated[part] for part in ("MAJOR", "MINOR", "PATCH")) if len(stated) == 3 else "unknown"
