# SPDX-License-Identifier: Apache-2.0
"""What libweft.so gives and takes: exports.py LIBRARY. Exit 1 names each difference.

- It exports the functions of weft.h and nothing else, each with the version WEFT_0 (abi/libweft.map).
- No name of C++ leaves it, and it needs none of libfabric, libibverbs and librdmacm to start.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOADED = ("libfabric", "libibverbs", "librdmacm")
SONAME = "libweft.so.0"


def main(library: str) -> int:
    """Exit code; prints one sentence per difference."""
    header = set(re.findall(r"^WEFT_API[^(]*?\b(weft_\w+)\(", (ROOT / "weft.h").read_text(encoding="utf-8"), re.M))
    listed = set(re.findall(r"^    (\w+);$", (ROOT / "abi/libweft.map").read_text(encoding="utf-8"), re.M))
    exported = _exported(library)
    wrong = [f"{name} is in weft.h, and abi/libweft.map does not list it" for name in sorted(header - listed)]
    wrong += [f"{name} is in abi/libweft.map, and weft.h does not declare it" for name in sorted(listed - header)]
    wrong += [f"the library does not export {name}" for name in sorted(listed - exported.keys())]
    wrong += [
        f"the library exports {name} of version \"{version}\": it may export functions of weft.h only, with WEFT_0"
        for name, version in sorted(exported.items())
        if name not in listed or version != "WEFT_0"
    ]
    dynamic = _run("readelf", "--dynamic", "--wide", library)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    wrong += [f"the library needs {name} to start" for name in needed if name.startswith(LOADED)]
    if f"[{SONAME}]" not in dynamic:
        wrong.append(f"the library's soname is not {SONAME}")
    print("\n".join(wrong) or f"{len(exported)} functions, all of weft.h; needs {', '.join(needed)}")
    return 1 if wrong or not header else 0


def _exported(library: str) -> dict[str, str]:
    found = {}
    for line in _run("nm", "--dynamic", "--defined-only", "--with-symbol-versions", library).splitlines():
        kind, whole = line.split()[-2:]
        name, _, version = whole.partition("@@")
        if kind != "A":  # the version's own name
            found[name] = version
    return found


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: exports.py LIBRARY", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1]))
