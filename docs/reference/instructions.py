# SPDX-License-Identifier: Apache-2.0
"""The page docs/reference/instructions.md: the committed instruction counts of bench/instructions, with their dates."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path

PAGE = "docs/reference/instructions.md"
_HEAD = """\
# Instructions of an operation

Each figure is the number of the program's own instructions for one operation, counted under callgrind. Instructions of
the called library are in no figure.

- **bare**: by hand for one peer, without checks. It has only what libfabric, memory or verbs needs.
- **same checks**: by hand with all checks of weft. For a set it is weft over the one fabric, for a counted transport
  weft without counters.
- **weft**: through weft's public calls.

`-` means: no program by hand makes this operation by one call. The last column says how far weft is above bare.
[zero_overhead.md](../explanation/zero_overhead.md) says what the gate judges. [bench/README.md](../../bench/README.md)
says how the figures are made.
"""


def page(root: Path) -> str:
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root / "bench/instructions/gate"))
    import ratchet

    folder = root / "bench/instructions"
    text = ("<!-- Generated from the counts in bench/instructions by docs/reference/pages.py: do not edit. -->\n"
            "<!-- After a change there: scripts/docs --pages -->\n" + _HEAD)
    reasons: list[tuple[str, str, str]] = []
    for name, command, limits in (("counts.yaml", "run", "limits.json"),
                                  ("composed_counts.yaml", "composed", "composed_limits.json")):
        dates = ratchet.dates(folder / name)
        for fabric, compilers in sorted(ratchet.read(folder / name).items()):
            for compiler, operations in sorted(compilers.items()):
                row = fabric.removesuffix("-trusted")
                kind = ("" if row == fabric else ", with a trusted caller") + (
                    "" if command == "run" else ", operations of several parts")
                text += (f"\n## {row}{kind}\n\nCode of {compiler}, counted on {dates[fabric, compiler]} by "
                         f"`bench/instructions/{command} --build build/release --fabric {fabric} --write`.\n\n"
                         "| operation | bare | same checks | weft | weft above bare |\n|---|---|---|---|---|\n")
                for operation, count in operations.items():
                    figures = (count.bare, count.same_checks, count.weft)
                    cells = [f"`{operation}`", *map(_cell, figures), _more(count.weft, count.bare)]
                    text += f"| {' | '.join(cells)} |\n"
                    if count.because:
                        reasons.append((fabric, operation, f"A count rose: {count.because}"))
        for fabric, entries in json.loads((folder / limits).read_text("utf-8")).items():
            than = "bare, where 4 are promised" if fabric.endswith("-trusted") else "with the same checks"
            reasons += [(fabric, operation, f"{entry['more']} more than {than}: {entry['because']}")
                        for operation, entry in entries.items() if isinstance(entry, dict)]
    if reasons:
        text += "\n## NOT met, and rises\n\n"
        for fabric, operation, why in reasons:
            text += textwrap.fill(f"- {fabric}, `{operation}`: {why}.", 118, subsequent_indent="  ") + "\n"
    return text


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _more(weft: float, bare: float | None) -> str:
    return "-" if bare is None else f"{weft - bare:+.1f}"
