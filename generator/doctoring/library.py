# SPDX-License-Identifier: Apache-2.0
"""What libfabric on this machine answers. A process of its own asks, as a provider may hang, crash or end it."""
from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 30
_MARK = "weft: "  # of the answer; a provider may write to the standard output too
_ENDPOINTS = {1: "connected", 2: "datagram", 3: "addressed"}  # enum fi_ep_type: FI_EP_MSG, FI_EP_DGRAM, FI_EP_RDM


@dataclass(frozen=True)
class Offer:
    """One endpoint that the library offers."""

    provider: str
    endpoint: str
    domain: str
    fabric: str = ""


@dataclass(frozen=True)
class Library:
    """`version`: as 1.17; empty where the library is not here, and `why` says why. `loads`: files that came with it."""

    version: str = ""
    path: str = ""
    offers: tuple[Offer, ...] = ()
    loads: tuple[str, ...] = ()
    why: str = ""

    def providers(self) -> list[str]:
        return sorted({each.provider for each in self.offers})


class _EpAttr(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int)]


class _DomainAttr(ctypes.Structure):
    _fields_ = [("domain", ctypes.c_void_p), ("name", ctypes.c_char_p)]


class _FabricAttr(ctypes.Structure):
    _fields_ = [("fabric", ctypes.c_void_p), ("name", ctypes.c_char_p), ("prov_name", ctypes.c_char_p)]


class _Info(ctypes.Structure):
    """The head of struct fi_info, which no release may change (fi_getinfo(3), <rdma/fabric.h>)."""


_Info._fields_ = [("next", ctypes.POINTER(_Info)), ("caps", ctypes.c_uint64), ("mode", ctypes.c_uint64),
                  ("addr_format", ctypes.c_uint32), ("src_addrlen", ctypes.c_size_t),
                  ("dest_addrlen", ctypes.c_size_t), ("src_addr", ctypes.c_void_p), ("dest_addr", ctypes.c_void_p),
                  ("handle", ctypes.c_void_p), ("tx_attr", ctypes.c_void_p), ("rx_attr", ctypes.c_void_p),
                  ("ep_attr", ctypes.POINTER(_EpAttr)), ("domain_attr", ctypes.POINTER(_DomainAttr)),
                  ("fabric_attr", ctypes.POINTER(_FabricAttr))]


def ask_library() -> Library:
    """Loads libfabric as the loader finds it for a program, and asks for all that it offers."""
    command = [sys.executable, "-B", "-m", f"{__package__}.library"]
    top = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (top, os.environ.get("PYTHONPATH"))))}
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False,
                              env=environment)
    except subprocess.TimeoutExpired:
        return Library(why=f"libfabric did not answer in {SECONDS} s: a provider hangs, and FI_PROVIDER=tcp leaves "
                           "the others out")
    told = next((line for line in reversed(done.stdout.splitlines()) if line.startswith(_MARK)), "")
    if done.returncode != 0 or not told:
        return Library(why=f"libfabric ended the process that asked it (code {done.returncode})")
    return read(json.loads(told.removeprefix(_MARK)))


def read(told: dict[str, Any]) -> Library:
    return Library(told["version"], told["path"], tuple(Offer(*each) for each in told["offers"]),
                   tuple(told["loads"]), told["why"])


def _told() -> dict[str, Any]:
    empty: dict[str, Any] = {"version": "", "path": "", "offers": [], "loads": [], "why": ""}
    try:
        library = ctypes.CDLL("libfabric.so.1")
    except OSError as error:
        return {**empty, "why": f"the loader finds no libfabric.so.1 ({error})"}
    library.fi_version.restype = ctypes.c_uint32
    version = library.fi_version()
    library.fi_getinfo.argtypes = [ctypes.c_uint32, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64,
                                   ctypes.c_void_p, ctypes.POINTER(ctypes.POINTER(_Info))]
    found = ctypes.POINTER(_Info)()
    offers = []
    if library.fi_getinfo(version, None, None, 0, None, ctypes.byref(found)) == 0:
        at = found
        while at:
            info = at.contents
            offers.append([info.fabric_attr.contents.prov_name.decode(),
                           _ENDPOINTS.get(info.ep_attr.contents.type, "other"),
                           (info.domain_attr.contents.name or b"").decode(errors="replace"),
                           (info.fabric_attr.contents.name or b"").decode(errors="replace")])
            at = info.next
    loads = sorted({line.split()[-1] for line in Path("/proc/self/maps").read_text("utf-8").splitlines()
                    if ".so" in line and line.split()[-1].startswith("/")})
    path = next((each for each in loads if "libfabric.so" in each), "")
    return {**empty, "version": f"{version >> 16}.{version & 0xffff}", "path": path, "loads": loads,
            "offers": [list(each) for each in dict.fromkeys(map(tuple, offers))]}


if __name__ == "__main__":
    print(f"\n{_MARK}{json.dumps(_told())}")
