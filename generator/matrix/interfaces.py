# SPDX-License-Identifier: Apache-2.0
"""What a provider has of libfabric's interface beyond the cells: emulator/interfaces.yaml, as lines of a profile."""
from __future__ import annotations

import errno
import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from .loader import Problem, Refused

FILE = Path(__file__).resolve().parents[2] / "emulator" / "interfaces.yaml"
DEFAULT = "default"
_SOURCE = "source"
# Numbers of rdma/fabric.h: the formats of addresses, in the order of its enumeration.
FORMATS = ("FI_FORMAT_UNSPEC", "FI_SOCKADDR", "FI_SOCKADDR_IN", "FI_SOCKADDR_IN6", "FI_SOCKADDR_IB", "FI_ADDR_PSMX",
            "FI_ADDR_GNI", "FI_ADDR_BGQ", "FI_ADDR_MLX", "FI_ADDR_STR", "FI_ADDR_PSMX2", "FI_ADDR_IB_UD", "FI_ADDR_EFA",
            "FI_ADDR_PSMX3", "FI_ADDR_OPX", "FI_ADDR_CXI")
_WORDS = {number: name.removeprefix("FI_SOCKADDR_").removeprefix("FI_ADDR_").lower()
          for number, name in enumerate(FORMATS) if number > 1}
_ADDRESS = ("format", "bytes", "number_at", "number_bits", "check_at")


def format_words(numbers: Iterable[int]) -> str:
    """Numbers of rdma/fabric.h in the words of the cell address_formats: "in in6"."""
    return " ".join(_WORDS.get(each, str(each)) for each in sorted(set(numbers)))


def unknown_format(words: str) -> str:
    """A sentence about the first word that is no format, or that is there twice; else empty."""
    every = words.split()
    if unknown := [word for word in every if word not in _WORDS.values()]:
        return f"{unknown[0]} is no format of addresses; there are {', '.join(_WORDS.values())}"
    twice = [word for word in every if every.count(word) > 1]
    return f"{twice[0]} is there twice: name each format of addresses once" if twice else ""


def format_numbers(words: str) -> str:
    """The reverse, as the emulator reads it. Errors: Refused, for a word of no format."""
    if unknown := unknown_format(words):
        raise Refused([Problem("address_formats", 1, unknown)])
    number = {word: each for each, word in _WORDS.items()}
    return " ".join(str(number[word]) for word in words.split())


def interface(fabric: str, file: Path = FILE) -> tuple[tuple[str, str], ...]:
    """Name and value of each attribute of a row, in the order of `default`.

    Errors: Refused, for an attribute that `default` does not have, a missing source, or a value of no known form.
    """
    entries = _entries(file)
    own = entries.get(fabric, entries[DEFAULT])
    usual = entries[DEFAULT]
    unknown = sorted(set(own) - set(usual))
    if unknown or not str(own.get(_SOURCE, "")).strip():
        what = f"has no attribute {unknown[0]}" if unknown else "needs a source: release and file"
        raise Refused([Problem(file.name, 1, f"{fabric}: an interface {what}; there are {', '.join(usual)}")])
    return tuple((name, _as_text(file, fabric, name, own.get(name, value)))
                 for name, value in usual.items() if name != _SOURCE)


@functools.cache
def _entries(file: Path) -> dict[str, dict[str, Any]]:
    with file.open(encoding="utf-8") as text:
        entries: dict[str, dict[str, Any]] = YAML(typ="safe").load(text)
    return {name: dict(entry) for name, entry in entries.items()}


def _as_text(file: Path, fabric: str, name: str, value: Any) -> str:
    try:
        return _FORMS.get(name, _plain)(value)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Refused([Problem(file.name, 1, f"{fabric}.{name}: {value!r} is not of the form that the file's comment "
                               "describes")]) from None


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _address(value: Any) -> str:
    parts = [str(value[each]) for each in _ADDRESS]
    return " ".join([str(FORMATS.index(parts[0])), *parts[1:]])


def _code(value: Any) -> str:
    """An error's number by its name; libfabric's numbers are those of the system."""
    return "0" if value == "none" else str(getattr(errno, value.removeprefix("FI_")))


_FORMS: dict[str, Callable[[Any], str]] = {"address": _address, "cancel_of_unknown": _code, "counted": " ".join,
                                           "mem_tag_format": "0x{:016x}".format}
