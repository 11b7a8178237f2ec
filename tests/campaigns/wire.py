# SPDX-License-Identifier: Apache-2.0
"""A wire that loses, repeats, reorders, delays and corrupts packets, between two network namespaces of its own.

A TUN device in each namespace, and one relay in a child process: every fate of a packet comes from a seed. Needs root
and /dev/net/tun. The namespaces, and all sockets in them, end with the wire.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import heapq
import itertools
import json
import os
import random
import select
import signal
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

_TUNSETIFF, _IFF_TUN, _IFF_NO_PI, _CLONE_NEWNET = 0x400454CA, 0x1, 0x1000, 0x40000000
ENDS = ("10.88.0.1", "10.88.0.2")  # in namespaces that this module makes
READ_AT_ONCE = 64
_NUMBERS = itertools.count()


@dataclass(frozen=True)
class Faults:
    """Shares are of packets, 0 to 1."""

    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0  # delayed by 2 ms, so later packets overtake it
    corrupt: float = 0.0  # one bit flipped; checksums of IP, TCP and UDP catch it
    jitter_ms: float = 0.0  # each packet waits for up to so long
    cut_every_s: float = 0.0  # the wire is dead for cut_for_s in each such time
    cut_for_s: float = 0.0


class Unavailable(Exception):
    """This machine cannot have such a wire; the text says why."""


def _setns(file: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(file, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def _tun(namespace: str, address: str) -> int:
    """A TUN device inside a namespace; its packets come through the returned descriptor."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    inside = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    _setns(inside)
    try:
        device = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH", b"wire", _IFF_TUN | _IFF_NO_PI))
        for words in (("addr", "add", f"{address}/24", "dev", "wire"), ("link", "set", "wire", "up"),
                      ("link", "set", "lo", "up")):
            subprocess.run(["ip", *words], check=True, capture_output=True)
    finally:
        _setns(home)
        os.close(home)
        os.close(inside)
    os.set_blocking(device, False)
    return device


class _Relay:
    def __init__(self, devices: tuple[int, int], faults: Faults, seed: int) -> None:
        self.other = {devices[0]: devices[1], devices[1]: devices[0]}
        self.faults = faults
        self.random = random.Random(seed)  # noqa: S311 - a repeatable choice, no secret
        self.fates: Counter[str] = Counter()
        self.waiting: list[tuple[float, int, int, bytes]] = []
        self.begin = time.monotonic()
        self.number = 0

    def cut(self, now: float) -> bool:
        f = self.faults
        return f.cut_every_s > 0 and (now - self.begin) % f.cut_every_s > f.cut_every_s - f.cut_for_s

    def later(self, to: int, packet: bytes, seconds: float) -> None:
        self.number += 1
        heapq.heappush(self.waiting, (time.monotonic() + seconds, self.number, to, packet))

    def take(self, packet: bytes, to: int) -> None:
        f, r = self.faults, self.random
        lost, repeated, overtaken, changed = (r.random() < share
                                              for share in (f.loss, f.duplicate, f.reorder, f.corrupt))
        self.fates["packets"] += 1
        if lost or self.cut(time.monotonic()):
            self.fates["lost"] += 1
            return
        if changed:
            self.fates["corrupted"] += 1
            at = r.randrange(20, len(packet)) if len(packet) > 20 else 0  # past the address, which routes it
            packet = packet[:at] + bytes([packet[at] ^ (1 << r.randrange(8))]) + packet[at + 1:]
        if repeated:
            self.fates["repeated"] += 1
            self.write(to, packet)
        delay = r.uniform(0, f.jitter_ms / 1000) if f.jitter_ms else 0.0
        if overtaken:
            self.fates["reordered"] += 1
            delay += 0.002
        if delay > 0:
            self.later(to, packet, delay)
        else:
            self.write(to, packet)

    @staticmethod
    def write(to: int, packet: bytes) -> None:
        with contextlib.suppress(OSError):  # the device is full, or the packet is one that the kernel refuses
            os.write(to, packet)

    def run(self) -> None:
        while True:
            wait = max(0.0, min(0.05, self.waiting[0][0] - time.monotonic())) if self.waiting else 0.05
            ready, _, _ = select.select(list(self.other), [], [], wait)
            for device in ready:
                for _ in range(READ_AT_ONCE):
                    try:
                        packet = os.read(device, 65535)
                    except BlockingIOError:
                        break
                    self.take(packet, self.other[device])
            now = time.monotonic()
            while self.waiting and self.waiting[0][0] <= now:
                _, _, to, packet = heapq.heappop(self.waiting)
                self.write(to, packet)


@contextlib.contextmanager
def wire(faults: Faults, seed: int) -> Iterator[tuple[tuple[str, str], Counter[str]]]:
    """Two namespaces, joined: yields their names, and a counter that has the fates of packets after the block."""
    if os.geteuid() != 0:
        raise Unavailable("network namespaces need root")
    if not Path("/dev/net/tun").exists():
        raise Unavailable("this kernel has no /dev/net/tun")
    number = next(_NUMBERS)  # one process may have many wires side by side
    names = (f"weft-{os.getpid()}-{number}a", f"weft-{os.getpid()}-{number}b")
    fates: Counter[str] = Counter()
    made: list[str] = []
    try:
        for name in names:
            subprocess.run(["ip", "netns", "add", name], check=True, capture_output=True)
            made.append(name)
        words = [sys.executable, "-B", __file__, *names, str(seed), json.dumps(asdict(faults))]
        relay = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            if relay.stdout is None or relay.stdout.readline().strip() != "ready":
                raise Unavailable("the relay between the namespaces did not start")
            yield names, fates
        finally:
            relay.send_signal(signal.SIGTERM)
            said, _ = relay.communicate(timeout=10)
            fates.update(json.loads(said or "{}"))
    except subprocess.CalledProcessError as e:
        raise Unavailable(f"{' '.join(e.cmd)}: {e.stderr.decode(errors='replace').strip()}") from None
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def _relay_main() -> None:
    parser = argparse.ArgumentParser(description="the relay of a wire; wire() starts it")
    parser.add_argument("namespaces", nargs=2)
    parser.add_argument("seed", type=int)
    parser.add_argument("faults", help="JSON")
    given = parser.parse_args()
    names = {each.name for each in fields(Faults)}
    faults = Faults(**{name: float(value) for name, value in json.loads(given.faults).items() if name in names})
    relay = _Relay((_tun(given.namespaces[0], ENDS[0]), _tun(given.namespaces[1], ENDS[1])), faults, given.seed)

    def end(*_: object) -> None:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, end)
    print("ready", flush=True)
    try:
        relay.run()
    finally:
        print(json.dumps(relay.fates), flush=True)


if __name__ == "__main__":
    _relay_main()
