# SPDX-License-Identifier: Apache-2.0
"""What weft claims, as ratios with a bound. The readings of one run judge each line: it holds, fails, or was not
measured.

Puts stand beside puts, messages beside messages. A rival is the best of all that there is: each UCX, tuned or not. A
floor must be no slower than any contender of its table, else it is no floor.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .contenders import KERNEL, SET, SET_ELSEWHERE, SIZES, TCP_ELSEWHERE
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
    fabric: str = ""  # for a claim whose first reading names none

    def about(self, fabric: str) -> bool:
        """Whether the claim belongs to a run of that fabric."""
        return self.fabric == fabric or self.ours[0][0].endswith(f", {fabric}")


@dataclass(frozen=True)
class Judged:
    """A claim and its measurement."""

    claim: Claim
    found: Spread | None
    who: str
    why_not: str

    @property
    def narrow(self) -> bool:
        """The bound lies between the 10th and the 90th percentile: another run may judge otherwise."""
        return self.found is not None and self.found.low <= self.claim.bound <= self.found.high

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
_EVERY_UCX = ("UCX", "newer UCX", "newest UCX")
_TUNED_TAGS = tuple(f"{each} tag, tuned" for each in _EVERY_UCX)
_TUNED_MESSAGES = (*_TUNED_TAGS, *(f"{each} am, tuned" for each in _EVERY_UCX))
_TUNED_PUTS = tuple(f"{each} put, tuned" for each in _EVERY_UCX)
_UCX_MESSAGES = (*_TUNED_MESSAGES, "UCX tag", "UCX am")
_UCX_PUTS = (*_TUNED_PUTS, "UCX put")
_FLAG = "bench-flag, mapped"
_FLOOR = {"tcp": "raw socket", "mapped": "raw memory, copy and flag"}


def _flag(scenario: str, size: int = 8) -> tuple[Key, ...]:
    return ((_FLAG, scenario, size),)


def _size(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"


def _beside_ucx(fabric: str, transport: str) -> list[Claim]:
    """Each size above 8 bytes; 8 bytes have slices."""
    found = []
    for size in SIZES[1:]:
        what = f"{fabric}, {_size(size)}"
        found += [
            Claim(f"{what}: message / the best UCX message over {transport}", 1,
                  _of(_NOTICES[2:3], fabric, size), _of(_UCX_MESSAGES, transport, size)),
            Claim(f"{what}: put / the best UCX put over {transport}", 1,
                  _of(_NOTICES[3:], fabric, size), _of(_UCX_PUTS, transport, size)),
            Claim(f"{what}: put with notification / the best UCX message over {transport}", 1,
                  _of(_NOTICES[:2] if fabric == "tcp" else _NOTICES[1:2], fabric, size),
                  _of(_UCX_MESSAGES, transport, size))]
    return found


def _of_set() -> list[Claim]:
    """The set beside its fabrics alone, and beside UCX, which chooses among all its transports."""
    found = [
        Claim(f"hot invocation over {SET} on one host, above mapped alone", 5,
              ((f"bench/invocation of {SET}, mapped", "invocation hot: above", 0),), unit="ns", fabric=SET),
        Claim(f"hot invocation over {SET} by tcp / tcp alone", 1.01,
              ((f"bench/invocation of {SET}, tcp", "invocation hot: ratio", 0),), fabric=SET)]
    for kind in ("weft send", "weft put_notify"):
        found += [Claim(f"{SET}, one host, 8 B: {kind} / mapped alone", 1.05, _sliced((kind,), SET),
                        _sliced((kind,), "mapped alone")),
                  Claim(f"{SET}, two hosts, 8 B: {kind} / tcp alone", 1.01, _sliced((kind,), SET_ELSEWHERE),
                        _sliced((kind,), TCP_ELSEWHERE), fabric=SET)]
    for hosts, ours, theirs in (("one host", SET, "all"), ("two hosts", SET_ELSEWHERE, "all, two hosts")):
        rival = "the best UCX message of all transports"
        found.append(Claim(f"{SET}, {hosts}, 8 B: message / {rival}", 1, _sliced(("weft send",), ours),
                           _sliced(_TUNED_MESSAGES, theirs), fabric=SET))
        for size in SIZES[1:]:
            found += [Claim(f"{SET}, {hosts}, {_size(size)}: {what} / {rival}", 1, _of((kind,), ours, size),
                            _of(_UCX_MESSAGES, theirs, size), fabric=SET)
                      for what, kind in (("message", "weft send"), ("put with notification", "weft put_notify"))]
    return found


def _floors(fabric: str, transport: str) -> list[Claim]:
    """weft close to the floor, and the floor below all others. 3 % is noise."""
    found = []
    for size in SIZES:
        floor: tuple[Key, ...] = ((_FLOOR[fabric], "latency", size),)
        others = _of((*_UCX_MESSAGES, *_UCX_PUTS), transport, size)
        others += _of((*_NOTICES, *_BY_HAND) if fabric == "tcp" else _NOTICES[1:], fabric, size)
        found += [Claim(f"{fabric}, {_size(size)}: put / {_FLOOR[fabric]}", 1.05, _of(_NOTICES[3:], fabric, size),
                        floor),
                  Claim(f"{_FLOOR[fabric]}, {_size(size)}, is a floor: / the fastest contender", 1.03, floor, others,
                        fabric=fabric)]
    return found


def _of_kernel_sockets() -> list[Claim]:
    """The fabric without a library beside the bare socket that it drives, and beside UCX."""
    found = []
    for size in SIZES:
        ours, what = _of(_NOTICES[3:], KERNEL, size), f"{KERNEL}, {_size(size)}"
        found += [Claim(f"{what}: put / raw socket", 1.05, ours, (("raw socket", "latency", size),)),
                  Claim(f"{what}: put / the best UCX put over tcp", 1, ours, _of(_UCX_PUTS, "tcp", size)),
                  Claim(f"{what}: message / the best UCX message over tcp", 1, _of(_NOTICES[2:3], KERNEL, size),
                        _of(_UCX_MESSAGES, "tcp", size)),
                  Claim(f"{what}: put with notification / the best UCX message over tcp", 1,
                        _of(_NOTICES[:2], KERNEL, size), _of(_UCX_MESSAGES, "tcp", size))]
    return found


CLAIMS = (
    Claim("tcp, 8 B notification / the best UCX tag over tcp", .92, _sliced(_NOTICES[:2], "tcp"),
          _sliced(_TUNED_TAGS, "tcp")),
    Claim("tcp, 8 B notification / the best by hand", 1.02, _sliced(_NOTICES[:2], "tcp"), _sliced(_BY_HAND, "tcp")),
    *_beside_ucx("tcp", "tcp"),
    *_floors("tcp", "tcp"),
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
    Claim("mapped, put of 8 B / the best UCX put over posix", 1, _sliced((WORD,), "mapped"),
          _sliced(_TUNED_PUTS, "posix")),
    Claim("mapped, fetch_add / UCX over posix", 1.10, _flag("fetch_add beside instruction: one_way"),
          _of(("UCX put",), "posix", 8, "fetch_add")),
    Claim("mapped, put of 1 MiB / memcpy and flag", 1.05, _flag("put beside memcpy and flag: ratio", 1048576)),
    Claim("mapped, message of 8 B / the best UCX message over posix", 1, _sliced(("weft send",), "mapped"),
          _sliced(_TUNED_MESSAGES, "posix")),
    *_beside_ucx("mapped", "posix"),
    *_floors("mapped", "posix"),
    Claim("tcp, messages of 16 B a second, coalesced / not", 20,
          (("bench-coalesced, tcp", "coalesced to one by one: ratio", 16),), at_least=True),
    Claim("shm, messages of 16 B a second, coalesced / not", 10,
          (("bench-coalesced, shm", "coalesced to one by one: ratio", 16),), at_least=True),
    Claim("hot invocation over tcp / raw ping-pong", 1.05, (("bench/invocation, tcp", "invocation hot: ratio", 0),)),
    Claim("hot invocation over mapped, above the raw flag", 150,
          (("bench/invocation, mapped", "invocation hot: above", 0),), unit="ns"),
    *_of_kernel_sockets(),
    *_of_set(),
)


def judged(measured: Measured, fabrics: Sequence[str]) -> list[Judged]:
    """Each claim about the fabrics of the run."""
    return [_judge(claim, measured) for claim in CLAIMS if any(claim.about(fabric) for fabric in fabrics)]


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
