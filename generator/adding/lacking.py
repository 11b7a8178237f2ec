# SPDX-License-Identifier: Apache-2.0
"""Why libfabric does not answer with a provider: what a listed one lacks, found by relaxing one demand at a time.

fi_info (fi_info(1), Debian: libfabric-bin) asks. Only answers that bear the provider's own name count: the library also
answers with layers above a provider, as `tcp;ofi_rxm` above `tcp`. A sentence names the promise that the provider
cannot keep: docs/decisions/0021-partial-providers.md.
"""
from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..matrix.refusing import did_you_mean

TYPES = {"FI_EP_MSG": "connected", "FI_EP_RDM": "addressed", "FI_EP_DGRAM": "datagram"}
# The layer of libfabric that makes addressed endpoints with writes of a provider's own endpoints: fi_rxd(7), fi_rxm(7).
LAYERS = {"datagram": "ofi_rxd", "connected": "ofi_rxm"}
_SECONDS = 60
Answers = frozenset[tuple[str, str]]  # provider, kind of endpoint
Ask = Callable[..., Answers | None]
Largest = Callable[[str, str], int | None]  # bytes of a message, by provider and kind of endpoint
# The promise of each capability: section `contract` of tests/conformance/promises.yaml.
PROMISES = {"messages": ("messages_with_boundaries", 4), "writes": ("put_and_get", 5),
            "reliability": ("each_operation_ends_once", 8)}


@dataclass(frozen=True)
class Lacking:
    """`sentence`: what is missing. `instead`: a provider and a kind of endpoint to go on with, or none."""

    sentence: str
    instead: tuple[str, str] | None = None


def found_out(provider: str, kinds: list[str], listed: list[str], ask: Ask,
              largest: Largest = lambda _provider, _kind: None) -> Lacking | None:
    """Which demand of weft the provider does not meet; none where it meets all that fi_info can ask for.

    `ask` answers to fewer demands, or None where it cannot ask; so does `largest`.
    """
    parts = re.split("[;+:]", provider)
    unknown = [part for part in parts if part not in listed]
    if unknown and listed:
        known = ", ".join(name for name in listed if not name.startswith("ofi_hook"))
        return Lacking(f"there is no {unknown[0]}{did_you_mean(unknown[0], listed) or f'; fi_info -l lists {known}'}")
    anything = ask(provider=provider)
    if anything is None:
        return Lacking("fi_info cannot be asked what it has (Debian: libfabric-bin)")
    if not anything:
        return Lacking("it is listed, and offers nothing here: its device is missing, or it needs settings "
                       "(--environment NAME=VALUE; fi_info -e describes them)")
    own = _of(provider, anything)
    if not own:
        names = sorted({name for name, _ in anything})
        kind = next((kind for kind in kinds if (names[0], kind) in anything), None)
        return Lacking(f"it calls itself {' or '.join(names)} here",
                       (names[0], kind) if kind and len(names) == 1 else None)
    able = _of(provider, ask(provider=provider, caps=("FI_MSG", "FI_RMA")))
    for kind in kinds:
        if kind in own and kind not in able and kind != "datagram":
            return _without_a_capability(provider, kind, own, ask)
    return _layered(provider, own, kinds, ask) or _unreliable(provider, own, able, kinds, largest)


def _without_a_capability(provider: str, kind: str, own: set[str], ask: Ask) -> Lacking:
    """The kind is there, and messages with writes are not: which of the two it is."""
    messages = kind in _of(provider, ask(provider=provider, caps=("FI_MSG",)))
    writes = kind in _of(provider, ask(provider=provider, caps=("FI_RMA",)))
    has = {(True, True): "messages and writes, and not both at once", (True, False): "messages, and no writes (FI_RMA)",
           (False, True): "writes, and no messages (FI_MSG)", (False, False): "neither messages nor writes"}
    if not messages and not writes and kind in _of(provider, ask(provider=provider, caps=("FI_TAGGED",))):
        has[False, False] = "tagged messages only (FI_TAGGED)"
    broken = [name for name, there in (("messages", messages), ("writes", writes)) if not there or messages == writes]
    return _layered(provider, own, ["addressed"], ask) or Lacking(
        f"its {kind} endpoints have {has[messages, writes]}: {_promised(*broken)}")


def _promised(*capabilities: str) -> str:
    """The promise that stands on what is missing."""
    numbers = " and ".join(str(PROMISES[each][1]) for each in capabilities)
    words = {"messages": "messages", "writes": "puts and gets", "reliability": "one end of each operation"}
    return (f"weft promises {' and '.join(words[each] for each in capabilities)} on every fabric "
            f"(contract {numbers} in docs/conformance.md)")


def _unreliable(provider: str, own: set[str], able: set[str], kinds: list[str], largest: Largest) -> Lacking | None:
    """Datagrams only, and no layer of libfabric that repeats lost ones: fi_endpoint(3), FI_EP_DGRAM."""
    missing = [kind for kind in kinds if kind not in own]
    if own == {"datagram"} or "datagram" in own & set(kinds):
        size = largest(provider, "datagram")
        return Lacking(f"its datagrams{f' of at most {size} bytes' if size else ''} may be lost, repeated and "
                       f"reordered: {_promised('reliability')}, and {LAYERS['datagram']}, which repeats lost ones, is "
                       "not offered above it")
    if missing and not able & set(kinds):
        return Lacking(f"it has {' and '.join(sorted(own))} endpoints only, and no {' or '.join(missing)} ones")
    return None


def _layered(provider: str, own: set[str], kinds: list[str], ask: Ask) -> Lacking | None:
    """A layer of libfabric above the provider that has what weft needs, where the provider has another kind only."""
    there = " and ".join(sorted(own))
    for kind, layer in LAYERS.items():
        above = f"{provider};{layer}"
        asked_for = "addressed" in kinds or kind == "datagram" and kind in kinds
        if kind in own and asked_for and ";" not in provider:
            if "addressed" in _of(above, ask(provider=above, caps=("FI_MSG", "FI_RMA"))):
                return Lacking(f"it has {there} endpoints, and {layer} makes addressed ones of them",
                               (above, "addressed"))
    return None


def _of(provider: str, answers: Answers | None) -> set[str]:
    """The kinds of endpoints of a provider. lnx puts the providers that it links before its own name and a colon."""
    return {kind for name, kind in answers or () if name == provider or name.endswith(f":{provider}")}


class FiInfo:
    """fi_info of this machine, with the settings of the probe."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._environment = {**settings, **os.environ}

    def listed(self) -> list[str]:
        """The providers that fi_info -l names, layers included; none where it cannot be asked."""
        return re.findall(r"^(\S+):$", self._run("-l") or "", re.M)

    def ask(self, *, provider: str, caps: tuple[str, ...] = ()) -> Answers | None:
        """Provider and kind of each answer to these demands; None without fi_info."""
        text = self._run("-p", provider, *(("-c", "|".join(caps)) if caps else ()))
        if text is None:
            return None
        answers = re.findall(r"^provider: (.+)\n(?:[ \t]+.*\n)*?[ \t]+type: (\w+)", text, re.M)
        return frozenset((name.strip(), TYPES[kind]) for name, kind in answers if kind in TYPES)

    def largest(self, provider: str, kind: str) -> int | None:
        """Bytes of a message, or None where fi_info does not say it."""
        name = next(name for name, each in TYPES.items() if each == kind)
        sizes = re.findall(r"^[ \t]+max_msg_size: (\d+)$", self._run("-v", "-p", provider, "-t", name) or "", re.M)
        return min(map(int, sizes)) if sizes else None

    def _run(self, *words: str) -> str | None:
        try:
            done = subprocess.run(["fi_info", *words], capture_output=True, text=True, timeout=_SECONDS, check=False,
                                  env=self._environment, stdin=subprocess.DEVNULL, errors="replace")
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout
