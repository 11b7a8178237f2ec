# SPDX-License-Identifier: Apache-2.0
"""Reads compiled functions of a program: their bytes, conditional branches, calls through pointers, and allocating
calls.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ALLOCATES = re.compile(r"<(_Zn[wa]\w*|_Zd[la]\w*|malloc|calloc|realloc|aligned_alloc|posix_memalign|free)(@[\w.]+)*>")


@dataclass
class Code:
    """Counts of one function, without its cold part."""

    bytes: int = 0
    conditional: int = 0
    indirect: int = 0
    allocating: int = 0

    def __iadd__(self, other: Code) -> Code:
        self.bytes += other.bytes
        self.conditional += other.conditional
        self.indirect += other.indirect
        self.allocating += other.allocating
        return self


def functions(program: Path) -> dict[str, Code]:
    """All functions of a program, by their linker names."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", str(program)], capture_output=True, text=True,
                             check=True, timeout=120).stdout
    found: dict[str, Code] = {}
    here, start = Code(), 0
    for line in listing.splitlines():
        if head := re.match(r"([0-9a-f]+) <(.+)>:$", line):
            here, start = found.setdefault(head[2], Code()), int(head[1], 16)
            continue
        part = re.match(r"\s*([0-9a-f]+):\t(\S+)\s*(.*)$", line)
        if part is None or part[2].startswith("nop") or part[2] in ("cs", "data16", "xchg"):
            continue  # padding
        here.bytes = int(part[1], 16) - start  # up to its last instruction
        if part[2].startswith("j") and part[2] != "jmp":
            here.conditional += 1
        elif part[2] in ("call", "callq", "jmp", "jmpq"):
            here.indirect += part[3].startswith("*")
            here.allocating += ALLOCATES.search(part[3]) is not None
    return found


def compiler(program: Path) -> str:
    """The compiler and its main version, such as "g++ 12". clang's programs name the g++ of their start files too."""
    said = subprocess.run(["readelf", "-p", ".comment", str(program)], capture_output=True, text=True, check=True,
                          timeout=120).stdout
    for name, version in (("clang++", r"clang version (\d+)"), ("g++", r"GCC: \(.*\) (\d+)")):
        if match := re.search(version, said):
            return f"{name} {match[1]}"
    return "unknown"


def of(all_functions: dict[str, Code], names: set[str]) -> Code:
    """The sum over these functions."""
    total = Code()
    for name in names:
        total += all_functions.get(name, Code())
    return total
