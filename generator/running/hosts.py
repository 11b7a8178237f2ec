# SPDX-License-Identifier: Apache-2.0
"""Which host runs which rank: a list `a,b`, or a file with one `host [slots=N]` a line."""
from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

MOST_SLOTS = 65536
_HOST = re.compile(r"(?:[A-Za-z0-9_.-]+@)?[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9])?")
_SLOTS = re.compile(r"slots=([0-9]{1,6})")


class BadHosts(ValueError):
    """The list of hosts makes no sense; the text says where and what would be right."""


@dataclass(frozen=True)
class Host:
    """A machine, as ssh knows it. No slots: the ranks are divided evenly."""

    name: str
    slots: int | None = None

    @property
    def address(self) -> str:
        """Where other machines reach it: ssh's user is no part of that."""
        return self.name.rpartition("@")[2]


def hosts_of(text: str) -> tuple[Host, ...]:
    """Reads the option: a file if one has that name, else a list with commas. Errors: BadHosts."""
    path = Path(text)
    if "/" in text or path.is_file():
        return _of_file(path)
    return _distinct([_host(part.strip(), f"--hosts \"{text}\"") for part in text.split(",")], f"--hosts \"{text}\"")


def _of_file(path: Path) -> tuple[Host, ...]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise BadHosts(f"{path} cannot be read: {reason}") from None
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split("#", 1)[0].split()
        if words:
            found.append(_host(" ".join(words), f"{path}:{number}"))
    if not found:
        raise BadHosts(f"{path} names no host: a line is `host` or `host slots=N`")
    return _distinct(found, str(path))


def _host(text: str, place: str) -> Host:
    name, _, rest = text.partition(" ")
    slots = _SLOTS.fullmatch(rest)
    if not _HOST.fullmatch(name) or (rest and not slots):
        shown = text[:60].encode("unicode_escape").decode("ascii")
        raise BadHosts(f"{place}: \"{shown}\" is no host: it must be `host` or `host slots=N`")
    number = int(slots[1]) if slots else None
    if number is not None and not 1 <= number <= MOST_SLOTS:
        raise BadHosts(f"{place}: {name} has {number} slots; it must have 1 to {MOST_SLOTS}")
    return Host(name, number)


def _distinct(hosts: list[Host], place: str) -> tuple[Host, ...]:
    names = [host.name for host in hosts]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadHosts(f"{place}: {twice[0]} is named twice; give it slots=N instead")
    return tuple(hosts)


def places(hosts: tuple[Host, ...], ranks: int) -> list[Host]:
    """The host of each rank. Ranks with following numbers share a host. Errors: BadHosts, where slots are too few."""
    even = -(-ranks // len(hosts))
    found: list[Host] = []
    for host in hosts:
        found += [host] * (even if host.slots is None else host.slots)
    if len(found) < ranks:
        raise BadHosts(f"{ranks} ranks need {ranks} slots, and the hosts have {len(found)}")
    return found[:ranks]
