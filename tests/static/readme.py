# SPDX-License-Identifier: Apache-2.0
"""The code in the documents is code that is compiled: each C++ block of the README's hello world stands in its file, and is at most 20 lines;
each of docs/operations.md stands in tests/static/operations.cpp."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIDES = ("listener", "caller")


def blocks(text: str) -> list[str]:
    return [found for found in re.findall(r"```cpp\n(.*?)```", text, re.S) if "int main()" in found]


def main() -> int:
    shown = blocks((ROOT / "README.md").read_text())
    if len(shown) != len(SIDES):
        print(f"README.md shows {len(shown)} programs; {len(SIDES)} are expected: {', '.join(SIDES)}")
        return 1
    wrong = 0
    for side, block in zip(SIDES, shown, strict=True):
        path = ROOT / "examples" / "hello" / f"{side}.cpp"
        source = path.read_text()
        lines = [line for line in source.splitlines() if line and not line.startswith("//")]
        if block not in source:
            print(f"README.md: the {side} is not what {path.relative_to(ROOT)} says")
            wrong += 1
        if len(lines) > 20:
            print(f"{path.relative_to(ROOT)}: {len(lines)} lines; the hello world has at most 20 per side")
            wrong += 1
    compiled = (ROOT / "tests" / "static" / "operations.cpp").read_text()
    tour = re.findall(r"```cpp\n(.*?)```", (ROOT / "docs" / "operations.md").read_text(), re.S)
    for block in tour:
        if block not in compiled:
            print(f"docs/operations.md: not in tests/static/operations.cpp: {block.splitlines()[0]}")
            wrong += 1
    return 1 if wrong or not tour else 0


if __name__ == "__main__":
    sys.exit(main())
