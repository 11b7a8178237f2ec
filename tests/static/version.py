# SPDX-License-Identifier: Apache-2.0
"""One version everywhere: version.py ROOT. Exit 1 names each file that states another version than core/version.hpp.

CMake and the command read the header. pyproject.toml, CHANGELOG.md and README's find_package line are written by hand.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

from sources import report


def check(root: Path) -> list[str]:
    """One sentence per file that disagrees with the header."""
    text = (root / "core" / "version.hpp").read_text(encoding="utf-8")
    numbers = []
    for part in ("MAJOR", "MINOR", "PATCH"):
        found = re.search(rf"^#define WEFT_VERSION_{part} (\d+)$", text, re.MULTILINE)
        if found is None:
            return [f"core/version.hpp: it must define WEFT_VERSION_{part} as one number"]
        numbers.append(found.group(1))
    version = ".".join(numbers)
    problems = []
    packaged = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if packaged != version:
        problems.append(f"pyproject.toml: the version is {packaged}, and core/version.hpp states {version}")
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(r"^## \[(\d+\.\d+\.\d+)\]", changes, re.MULTILINE)
    newest = section.group(1) if section else "missing"
    if newest != version:
        problems.append(f"CHANGELOG.md: the newest section is {newest}, and core/version.hpp states {version}")
    for wanted in re.findall(r"find_package\(weft (\d+\.\d+)[^)]*\)", (root / "README.md").read_text(encoding="utf-8")):
        if wanted != ".".join(numbers[:2]):
            problems.append(f"README.md: find_package asks for weft {wanted}, and core/version.hpp states {version}")
    return problems


if __name__ == "__main__":
    sys.exit(report(check(Path(sys.argv[1])), "every file states the same version"))
