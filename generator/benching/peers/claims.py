# SPDX-License-Identifier: Apache-2.0
"""What weft claims, as ratios with a bound. The readings of one run judge each line: it holds, fails, or was not
measured.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .measured import Key, Measured, Spread
from .races import IN_SLICES, WORD


@dataclass(frozen=True)
class Claim:
    """`ours` against `theirs`, the best of each. Without `theirs` the reading is a ratio (or a difference) already."""

    text: str
    bound: float
    ours: tuple[Key, ...]
    theirs: tuple[Key, ...] = ()
    at_least: bool = False
    unit: str = ""


@dataclass(frozen=True)
class Judged:
    """A claim and its measurement."""

    claim: Claim
    found: Spread | None
    who: str
    why_not: str

    @property
    def met(self) -> bool | None:
        """None: not measured."""
        if self.found is None:
            return None
        return self.found.median >= self.claim.bound if self.claim.at_least else self.found.median <= self.claim.bound


def _of(names: Sequence[str], fabric: str, size: int = 8, operation: str = "latency") -> tuple[Key, ...]:
    return tuple((f"{name}, {fabric}", operation, size) for name in names)


def _sliced(names: Sequence[str], fabric: str) -> tuple[Key, ...]:
    return _of(names, fabric, operation=IN_SLICES)


_NOTICES = ("weft put_notify, watched word", "weft put_notify", "weft send", "weft put, watched by the target")
_BY_HAND = ("by hand, plain", "by hand, tuned write with immediate", "by hand, tuned send", "by hand, watched write")
_FLAG = "bench-flag, mapped"


def _flag(scenario: str, size: int = 8) -> tuple[Key, ...]:
    return ((_FLAG, scenario, size),)


CLAIMS = (
    Claim("tcp, 8 B notification / UCX tag over tcp", .92, _sliced(_NOTICES[:2], "tcp"), _sliced(("UCX tag",), "tcp")),
    Claim("tcp, 8 B notification / the best by hand", 1.02, _sliced(_NOTICES[:2], "tcp"), _sliced(_BY_HAND, "tcp")),
    Claim("tcp, 64 KiB / UCX tag over tcp", .60, _of(_NOTICES, "tcp", 65536), _of(("UCX tag",), "tcp", 65536)),
    Claim("tcp_rxm, 8 B / by hand, plain", .75, _sliced(_NOTICES, "tcp_rxm"), _sliced(("by hand, plain",), "tcp_rxm")),
    Claim("tcp_rxm, 100 connects / the library's default", .05, (("bench-endpoint, tcp_rxm", "connects ratio", 100),)),
    Claim("tcp_rxm, memory of an endpoint / the library's default", .20,
          (("bench-endpoint, tcp_rxm", "resident ratio", 0),)),
    Claim("shm, 8 B / by hand, plain", .75, _sliced(_NOTICES, "shm"), _sliced(("by hand, plain",), "shm")),
    Claim("shm, small RMA: offsets / pointers (FI_MR_VIRT_ADDR), half round trip", .25, _sliced(_NOTICES[3:], "shm"),
          _sliced(("by hand, watched write by pointers",), "shm")),
    Claim("shm, the call of a put of 8 B: offsets / pointers (FI_MR_VIRT_ADDR)", .25,
          _of(_NOTICES[3:], "shm", operation="call"),
          _of(("by hand, watched write by pointers",), "shm", operation="call")),
    Claim("mapped, put of 8 B / a flag looked at without rest", 1.05, _flag("put beside flag: ratio")),
    Claim("mapped, put of 8 B / a flag looked at with the same room", 1.05, _flag("put beside flag with room: ratio")),
    Claim("mapped, put of 8 B / UCX tag over posix", .40, _sliced((WORD,), "mapped"), _sliced(("UCX tag",), "posix")),
    Claim("mapped, fetch_add / UCX over posix", 1.10, _flag("fetch_add beside instruction: one_way"),
          _of(("UCX put",), "posix", 8, "fetch_add")),
    Claim("mapped, put of 1 MiB / memcpy and flag", 1.05, _flag("put beside memcpy and flag: ratio", 1048576)),
    Claim("mapped, message of 8 B / UCX tag over posix", .60, _sliced(("weft send",), "mapped"),
          _sliced(("UCX tag",), "posix")),
    Claim("mapped, message of 8 B / UCX am over posix", 1.00, _sliced(("weft send",), "mapped"),
          _sliced(("UCX am",), "posix")),
    Claim("tcp, messages of 16 B a second, coalesced / not", 20,
          (("bench-coalesced, tcp", "coalesced to one by one: ratio", 16),), at_least=True),
    Claim("shm, messages of 16 B a second, coalesced / not", 10,
          (("bench-coalesced, shm", "coalesced to one by one: ratio", 16),), at_least=True),
    Claim("hot invocation over tcp / raw ping-pong", 1.05, (("bench/invocation, tcp", "invocation hot: ratio", 0),)),
    Claim("hot invocation over mapped, above the raw flag", 150,
          (("bench/invocation, mapped", "invocation hot: above", 0),), unit="ns"),
)


def judged(measured: Measured, fabrics: Sequence[str]) -> list[Judged]:
    """Each claim about the fabrics of the run."""
    return [_judge(claim, measured) for claim in CLAIMS if any(claim.ours[0][0].endswith(f", {fabric}")
                                                               for fabric in fabrics)]


def _judge(claim: Claim, measured: Measured) -> Judged:
    ours = measured.lowest(claim.ours)
    theirs = measured.lowest(claim.theirs)
    if ours is None or (claim.theirs and theirs is None):
        wanting = claim.ours if ours is None else claim.theirs
        return Judged(claim, None, "", _why_not(wanting, measured))
    found = measured.ratio(ours, theirs) if theirs else measured.value(ours)
    who = f"{ours[0]} / {theirs[0]}" if theirs else ours[0]
    return Judged(claim, found, who, "" if found else "never in the same turn")


def _why_not(keys: Sequence[Key], measured: Measured) -> str:
    for name, operation, _ in keys:
        if said := measured.absent.get(name) or measured.failed.get(name):
            return f"{name}: {said}"
        if any(key[0] == name for key in measured.by_turn):
            return f"{name} tells no \"{operation}\""
    return f"{keys[0][0]} took no part"
