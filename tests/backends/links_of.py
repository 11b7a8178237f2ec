# SPDX-License-Identifier: Apache-2.0
"""Which network libraries a program links: links_of.py PROGRAM LIBRARY... -- FORBIDDEN...

Exit 1 unless the program itself needs every LIBRARY and no FORBIDDEN one. Needs of its libraries do not count.
"""

from __future__ import annotations

import re
import subprocess
import sys


def needed(program: str) -> set[str]:
    """The libraries in the program's own dynamic section, without versions: libfabric, libibverbs."""
    said = subprocess.run(
        ["readelf", "--dynamic", "--wide", program], check=True, capture_output=True, text=True, timeout=60
    ).stdout
    return {name.split(".so", 1)[0] for name in re.findall(r"\(NEEDED\).*\[([^\]]+)\]", said)}


def main(arguments: list[str]) -> int:
    """Prints each error in one sentence."""
    program, *names = arguments
    border = names.index("--")
    found = needed(program)
    wrong = [
        f"{program} does not need {name}; it needs {sorted(found)}" for name in names[:border] if name not in found
    ]
    wrong += [f"{program} needs {name}, the other backend's library" for name in names[border + 1 :] if name in found]
    print("\n".join(wrong) or f"{program} needs its own backend's library alone")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
