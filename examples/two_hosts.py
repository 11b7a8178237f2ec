# SPDX-License-Identifier: Apache-2.0
"""Two hosts on this machine: network namespaces with an address each, joined by a cable (veth(4)). Needs root.

They end with the block, and nothing else of the machine changes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from running import Place

ADDRESSES = ("10.213.77.1", "10.213.77.2")


class Unavailable(Exception):
    """This machine cannot have such hosts; the text says why."""


def _ip(*words: str) -> None:
    try:
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=20)
    except subprocess.CalledProcessError as e:
        raise Unavailable(f"ip {' '.join(words)}: {e.stderr.strip()}") from None


@contextlib.contextmanager
def two_hosts() -> Iterator[tuple[Place, Place]]:
    """Yields where programs of the two hosts run."""
    if os.geteuid() != 0:
        raise Unavailable("network namespaces need root")
    if shutil.which("ip") is None:
        raise Unavailable("the command ip is missing (Debian: apt-get install iproute2)")
    names = (f"weft-{os.getpid()}-here", f"weft-{os.getpid()}-there")
    made: list[str] = []
    try:
        for name in names:
            _ip("netns", "add", name)
            made.append(name)
        _ip("-n", names[0], "link", "add", "weft0", "type", "veth", "peer", "name", "weft0", "netns", names[1])
        for name, address in zip(names, ADDRESSES):
            _ip("-n", name, "address", "add", f"{address}/30", "dev", "weft0")
            for link in ("lo", "weft0"):
                _ip("-n", name, "link", "set", link, "up")
        here, there = (
            Place(("ip", "netns", "exec", name), ("--node", address)) for name, address in zip(names, ADDRESSES)
        )
        yield here, there
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True, timeout=20)


def executor_on_each_host(program: Path, there: Place, folder: Path) -> Path:
    """A program that starts the executor on the manager's host, then on the other one, in turns."""
    script = folder / "executor-of-two-hosts"
    turn = folder / "first"
    script.write_text(
        "#!/bin/sh\n"
        f"if mkdir '{turn}' 2> /dev/null; then exec '{program}' \"$@\"; fi\n"
        f"rmdir '{turn}'\n"
        "# The manager names its own address after --node; the other host has another one.\n"
        "before= left=$#\n"
        "while [ $left -gt 0 ]; do\n"
        f"  if [ \"$before\" = --node ]; then word={there.node[1]}; else word=$1; fi\n"
        "  before=$1 left=$((left - 1))\n"
        "  shift\n"
        '  set -- "$@" "$word"\n'
        "done\n"
        f"exec {' '.join(there.command)} '{program}' \"$@\"\n"
    )
    script.chmod(0o755)
    return script
