# SPDX-License-Identifier: Apache-2.0
"""Two hosts on this machine: network namespaces with an address each, joined by a cable (veth(4)). Needs root.

Libraries that look for shared memory get process numbers, System V memory and a /dev/shm of their own too: else they
would take two namespaces for one host.
"""
from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from .processes import Failed

CABLE = "weft0"
TWO_HOSTS = "two hosts"
_ADDRESSES = ("10.213.78.1", "10.213.78.2")
_SECONDS = 20
_NUMBERS = itertools.count()
_OWN_MEMORY = ("unshare", "--ipc", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "sh", "-c",
               'mount -t tmpfs none /dev/shm && exec "$@"', "sh")


@dataclass(frozen=True)
class Hosts:
    """Where the client and the server of a pair run. `address` is the server's, `own` the client's.

    `space`: the server's namespace; empty for one host.
    """

    client: tuple[str, ...] = ()
    server: tuple[str, ...] = ()
    own: str = "127.0.0.1"
    address: str = "127.0.0.1"
    space: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def apart(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """The words in front of a program of a library that looks for shared memory."""
        return (*command, *_OWN_MEMORY) if command else ()


ONE_HOST = Hosts()


def why_not() -> str:
    """Why this machine cannot have two hosts, or nothing."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for command, package in (("ip", "iproute2"), ("unshare", "util-linux")):
        if shutil.which(command) is None:
            return f"the command {command} is missing: install {package}"
    return ""


def _ip(*words: str) -> None:
    try:
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(f"ip {' '.join(words)}: {error}") from None
    except subprocess.CalledProcessError as error:
        raise Failed(f"ip {' '.join(words)}: {error.stderr.strip()}") from None


def _until_running(name: str) -> None:
    """The kernel says a second late that a cable is plugged in, and UCX takes no interface before (IFF_RUNNING)."""
    until = time.monotonic() + _SECONDS
    while True:
        said = subprocess.run(["ip", "-n", name, "-json", "link", "show", CABLE], capture_output=True, text=True,
                              timeout=_SECONDS, check=False).stdout
        if '"operstate":"UP"' in said:
            return
        if time.monotonic() > until:
            raise Failed(f"the interface {CABLE} in {name} does not come up within {_SECONDS} s")
        time.sleep(.02)


@contextlib.contextmanager
def two_hosts() -> Iterator[Hosts]:
    """They end with the block. Errors: Failed."""
    number = next(_NUMBERS)
    names = [f"weft-bench-{os.getpid()}-{number}-{side}" for side in ("here", "there")]
    made: list[str] = []
    try:
        for name in names:
            _ip("netns", "add", name)
            made.append(name)
        _ip("-n", names[0], "link", "add", CABLE, "type", "veth", "peer", "name", CABLE, "netns", names[1])
        for name, address in zip(names, _ADDRESSES, strict=True):
            _ip("-n", name, "address", "add", f"{address}/30", "dev", CABLE)
            for link in ("lo", CABLE):
                _ip("-n", name, "link", "set", link, "up")
        for name in names:
            _until_running(name)
        here, there = (("ip", "netns", "exec", name) for name in names)
        yield Hosts(here, there, *_ADDRESSES, names[1],
                    {"FI_TCP_IFACE": CABLE, "UCX_NET_DEVICES": CABLE, "WEFT_NODE": _ADDRESSES[0]})
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True, timeout=_SECONDS)


def hosts_of(name: str) -> contextlib.AbstractContextManager[Hosts]:
    """The hosts of a contest: its name ends with "two hosts", or they are one."""
    return two_hosts() if name.endswith(TWO_HOSTS) else contextlib.nullcontext(ONE_HOST)
