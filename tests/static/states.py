# SPDX-License-Identifier: Apache-2.0
"""One file assigns the states of connections and links: states.py ROOT. Exit 1 names each assignment elsewhere.

compose/connecting/transitions.hpp has the table and advance(). A state that another file assigns escapes the table, its
tests and the page that is made from it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sources import files, report, without_comments

TABLE = "compose/connecting/transitions.hpp"
LINK_TABLE = "compose/connecting/link_table.hpp"  # the same of a connection's link
_ASSIGNED = re.compile(
    r"(?:\.|->)\s*(?:state|link_is)\s*=(?!=)"  # r.state = …
    r"|\bstd::exchange\(\s*\w+(?:\.|->)(?:state|link_is)\b"
    r"|(?:\.|->)(?:live\s*=(?!=)|set_live\()"  # the hot path's copy of the state
)


def check(root: Path) -> list[str]:
    """One sentence per assignment."""
    problems = []
    for path in files(root, ("compose",)):
        name = path.relative_to(root).as_posix()
        if name in (TABLE, LINK_TABLE):
            continue
        text = without_comments(path.read_text(encoding="utf-8"))
        for match in _ASSIGNED.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            problems.append(f"{name}:{line}: assigns a connection's state; report an event to advance() ({TABLE})")
    return problems


if __name__ == "__main__":
    sys.exit(report(check(Path(sys.argv[1])), "one file assigns the states of connections"))
