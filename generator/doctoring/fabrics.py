# SPDX-License-Identifier: Apache-2.0
"""Checks of libraries: libfabric, its providers, what it loads at start, rdma-core, and copies between processes."""
from __future__ import annotations

from collections.abc import Iterator

from ..matrix.model import Version
from .library import Library
from .machine import NOTE, OK, PROBLEM, Finding, Machine

OLDEST, NEWEST = Version(1, 15), Version(2, 6)  # releases that weft compiles with, and the last one that was observed
_LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")


def libfabric(machine: Machine, library: Library) -> Iterator[Finding]:
    """Is it here, and is it a release that was observed?"""
    if not library.version:
        yield Finding("libfabric", PROBLEM, f"libfabric is not usable here: {library.why}.",
                      "Install it (apt-get install libfabric1); mapped and loopback work without it.")
        return
    version = Version.of(library.version)
    where = f"libfabric {version} at {library.path}"
    if version < OLDEST:
        yield Finding("libfabric", PROBLEM, f"{where} is older than {OLDEST}, the first release that weft supports.",
                      f"Install libfabric {OLDEST} to {NEWEST}.")
    elif NEWEST < version:
        yield Finding("libfabric", NOTE, f"{where} is newer than {NEWEST}, the last release that was observed.",
                      "Run ./weft check --live; it compares the rows with this release.")
    else:
        yield Finding("libfabric", OK, f"{where}; releases {OLDEST} to {NEWEST} are supported.")


def providers(machine: Machine, library: Library) -> Iterator[Finding]:
    """Does it offer any, and does the environment hide some?"""
    if not library.version:
        return
    limited = machine.environment.get("FI_PROVIDER", "")
    if not library.offers:
        yield Finding("providers", PROBLEM, "libfabric offers no provider.",
                      "Unset FI_PROVIDER." if limited else "Bring a network interface up (ip link set lo up).")
    elif limited:
        yield Finding("providers", NOTE, f"FI_PROVIDER is set to \"{limited}\" and hides all other providers; there "
                      f"are {', '.join(library.providers())}.", "Unset FI_PROVIDER.")
    else:
        yield Finding("providers", OK, f"Providers: {', '.join(library.providers())}.")


def slow_start(machine: Machine, library: Library) -> Iterator[Finding]:
    """The constructor of libinfinipath sleeps about 0.25 s before main(), whatever FI_PROVIDER says."""
    slow = next((each for each in library.loads if "libinfinipath" in each), "")
    if slow:
        yield Finding("slow_start", NOTE, f"libfabric loads {slow}, which sleeps for about 0.25 s at each start of a "
                      "program, also where FI_PROVIDER names another provider.",
                      "Use a libfabric that was built without psm, or take mapped or loopback, which do not load it.")
    elif library.version:
        yield Finding("slow_start", OK, "Nothing that libfabric loads is known to sleep at start.")


def rdma_core(machine: Machine, library: Library) -> Iterator[Finding]:
    """Are libibverbs and librdmacm here?"""
    missing = [name for name in ("libibverbs.so.1", "librdmacm.so.1")
               if not any(machine.path(f"{folder}/{name}").exists() for folder in _LIBRARIES)]
    if missing:
        yield Finding("rdma_core", PROBLEM if machine.names("/sys/class/infiniband") else NOTE,
                      f"rdma-core is not complete: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} "
                      "missing, which verbs and ibverbs need.",
                      "Install it (apt-get install libibverbs1 librdmacm1 ibverbs-providers).")
    else:
        yield Finding("rdma_core", OK, "rdma-core is here: libibverbs and librdmacm.")


def ptrace(machine: Machine, library: Library) -> Iterator[Finding]:
    """shm copies large messages by process_vm_readv(2), which Yama may forbid."""
    scope = machine.number("/proc/sys/kernel/yama/ptrace_scope")
    if scope is None or scope == 0:
        yield Finding("ptrace", OK, "Processes of one user may copy each other's memory, as shm does.")
        return
    who = {1: "only from their descendants", 2: "only with CAP_SYS_PTRACE"}.get(scope, "not at all")
    yield Finding("ptrace", NOTE, f"Yama's ptrace_scope is {scope}: processes may copy memory of others {who}, so "
                  "that shm copies large messages twice.",
                  "Set it to 0 where this is safe (sysctl kernel.yama.ptrace_scope=0); mapped does not need it.")
