# SPDX-License-Identifier: Apache-2.0
"""No provider's name in code: names.py ROOT. Exit 1 names each identifier or literal that holds one.

Behaviour has names; vendors have rows. The names come from providers.yaml:
each row's key and each part of its `provider` cells.
Comments may speak of providers (they give reasons), code may not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from sources import files, report, without_comments

FOLDERS = (
    *("core", "wire", "policies", "backends", "compose", "coroutines", "transfers", "event_loops", "threads"),
    *("history", "job"),
    *("examples", "probe", "emulator"),
)

# (path pattern, word): why this word is no provider's name there.
ALLOWED: dict[tuple[str, str], str] = {
    (r"", "loopback"): "the in-process backend; its row is named for it",
    (r"^backends/", "mapped"): "what memory is; the backend's namespace, and its row, are named for it",
    (r"^backends/streams/", "tcp"): "the internet protocol whose sockets the backend opens",
    (r"^core/", "verbs"): "a library (rdma-core), as an error's origin",
    (r"^(backends|probe)/verbs/", "verbs"): "the library, whose name the folder has",
    (r"^backends/libfabric/leftovers", "shm"): "the kernel's folder of shared memory, /dev/shm",
    (r"^backends/process/host", "shm"): "the kernel's folder of shared memory, /dev/shm",
    (r"^compose/counting/exposed_file", "shm"): "the kernel's folder of shared memory, /dev/shm",
    (r"^probe/showing/paths", "shm"): "the kernel's folder of shared memory, /dev/shm",
    (r"^probe/supervisor", "shm"): "the kernel's folder of shared memory, /dev/shm",
    (r"^backends/oob_exchange/", "tcp"): "the internet protocol that the side channel speaks",
    (r"^examples/asio_echo/", "tcp"): "the internet protocol, and Asio's class of its name",
    (r"^examples/migration/in_libfabric", "tcp"): "a program by hand names the provider that it was written for",
    (r"^examples/migration/in_verbs", "verbs"): "the member of rdma_cm_id that is the device",
    (r"^examples/asio_echo/", "sockets"): "what Asio accepts and reads",
}

# Phrases that are read before words are: the type's qualified name says what it is.
PHRASES: dict[str, str] = {
    r"\boob_exchange::tcp\b": "the side channel over that internet protocol, as a backend names it",
    r"\bRDMA_PS_TCP\b": "the connection manager's name for reliable connections, on any wire",
}

_WORD = re.compile(r"[A-Za-z0-9]+")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[^\n]*", re.MULTILINE)


def provider_names(root: Path) -> frozenset[str]:
    """Every name by which providers.yaml knows a provider or a fabric."""
    tree = YAML(typ="safe").load((root / "providers.yaml").read_text(encoding="utf-8"))
    found = {part for text in _names(tree) for part in re.split(r"[;\s]+", text.lower()) if part}
    return frozenset(found | {name.removeprefix("ofi_") for name in found})


def _names(tree: Any) -> Iterator[str]:
    for name, row in tree.items():
        if isinstance(row, dict) and "facts" in row:
            yield str(name)
            yield from _provider_cells(row)


def _provider_cells(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "provider":
                yield from _texts(value)
            else:
                yield from _provider_cells(value)
    elif isinstance(node, list):
        for value in node:
            yield from _provider_cells(value)


def _texts(cell: Any) -> Iterator[str]:
    if isinstance(cell, dict) and isinstance(cell.get("is"), str):
        yield cell["is"]


def check(root: Path) -> list[str]:
    """One sentence per identifier or literal that holds a provider's name."""
    names = provider_names(root)
    if len(names) < 3:
        return [
            f"providers.yaml: only {sorted(names)} found as names of providers; names.py no longer understands the file"
        ]
    problems = []
    for path in files(root, FOLDERS):
        name = path.relative_to(root).as_posix()
        code = _INCLUDE.sub("", without_comments(path.read_text(encoding="utf-8")))
        for phrase in PHRASES:
            code = re.sub(phrase, "", code)
        for number, line in enumerate(code.splitlines(), start=1):
            problems += [
                f'{name}:{number}: "{word}" is a provider\'s name: name the behaviour'
                for word in _hits(line, names, name)
            ]
    return problems


def _hits(line: str, names: frozenset[str], path: str) -> list[str]:
    """Names in a line: a whole token (udp_rxd), or a word of one (is_tcp)."""
    words = {*re.findall(r"\w+", line.lower()), *_WORD.findall(line.lower())}
    return sorted(word for word in words & names if not _allowed(path, word))


def _allowed(path: str, word: str) -> bool:
    return any(word == name and re.search(pattern, path) for pattern, name in ALLOWED)


if __name__ == "__main__":
    sys.exit(report(check(Path(sys.argv[1])), "no provider's name in code"))
