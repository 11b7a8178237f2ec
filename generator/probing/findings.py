# SPDX-License-Identifier: Apache-2.0
"""What a probe is to find, and what it found."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..matrix.facts import Value


@dataclass(frozen=True)
class Demands:
    """Which provider to probe. Nothing else is believed: the probe finds what the provider needs, takes and refuses.

    - `provider`: the library's name for it ("tcp;ofi_rxm").
    - `endpoint_type`: connected or addressed.
    - `fabric_name`: picks one of several fabrics of one provider.
    - `node`: the local address of both processes.
    - `settings`: variables of the environment.
    - `seconds`: the limit of each behaviour (an emulated machine needs more).
    - `backend`: names the library.
    - `immediate_setting`: "NAME=VALUE" with which writes are said to carry an immediate, or nothing.
    """

    provider: str
    endpoint_type: str
    fabric_name: str = ""
    node: str = "127.0.0.1"
    settings: Mapping[str, str] = field(default_factory=dict)
    seconds: int = 10
    backend: str = "libfabric"
    immediate_setting: str = ""


@dataclass(frozen=True)
class Finding:
    """How one behaviour (or the claims) ended. `ended` is shown, refused, crashed, hung or missing; `why` is a sentence
    unless shown.
    """

    behaviour: str
    ended: str
    facts: Mapping[str, Any]
    why: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class CellFinding:
    """One cell: the library's claim, the result of the test, and what a row should say.

    `claimed` and `shown` are None without a claim or a result; `why_not` says why. For a lower bound, `tried` is how
    far the test goes, and `shown` how far it came. `lost`: a behaviour that would show the cell crashed, hung, was
    refused or did not answer. `gone`: all of them ended well, and yet nothing was shown. `one_sided`: true means that
    no violation was seen; a row may still say false. `elsewhere`: what is claimed under other requests, where it is
    not the same.
    """

    cell: str
    claimed: Value | None
    claim: str
    shown: Value | None
    test: str
    why_not: str = ""
    tried: int | None = None
    lost: bool = False
    gone: bool = False
    one_sided: bool = False
    elsewhere: tuple[tuple[str, Value], ...] = ()

    @property
    def value(self) -> Value | None:
        """What a row should say: the result, else the claim. A bound is the claim, unless the test fell short of it."""
        if self.shown is None or (self.tried is not None and self.claimed is not None and not self.differs):
            return self.claimed
        return self.shown

    @property
    def differs(self) -> bool:
        """Claim and behaviour differ: the matrix marks such a cell."""
        if self.claimed is None or self.shown is None:
            return False
        if self.tried is not None:
            return int(self.shown) < min(int(self.claimed), self.tried)
        return self.claimed != self.shown


@dataclass(frozen=True)
class Provenance:
    """Where and when: everything that a cell's evidence needs."""

    library: str
    api: str
    kernel: str
    device: str
    date: str
    bundle: str = ""  # the bundle that brought it, where it was seen elsewhere

    def __str__(self) -> str:
        return f"{self.date} {self.library} (API {self.api}), Linux {self.kernel}, {self.device}"
