# SPDX-License-Identifier: Apache-2.0
"""Checks of limits: locked memory, huge pages, /dev/shm, and the container's memory and processes."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .library import Library
from .machine import MIB, NOTE, OK, PROBLEM, Finding, Machine, size

_LOCKED = 64 * MIB  # what a handful of queues and regions need
_SHM_ENDPOINT = 16 * MIB  # libfabric's shm, for each endpoint
_IPC_LOCK = 14  # capabilities(7)
_FEW_PROCESSES = 64


def locked_memory(machine: Machine, library: Library) -> Iterator[Finding]:
    """Cards read memory that must stay in place: how much may this process lock, and who lifts the limit?"""
    limit = machine.field("/proc/self/limits", r"^Max locked memory\s+(\S+)")
    if limit == "unlimited" or machine.capability("CapEff", _IPC_LOCK):
        why = "has no limit" if limit == "unlimited" else "is not limited, as this process has CAP_IPC_LOCK in effect"
        yield Finding("locked_memory", OK, f"Locked memory {why}.")
        return
    if not limit.isdecimal():
        return
    cards = bool(machine.names("/sys/class/infiniband"))
    if int(limit) >= _LOCKED:
        yield Finding("locked_memory", OK, f"The limit of locked memory is {size(int(limit))}.")
    else:
        yield Finding("locked_memory", PROBLEM if cards else NOTE,
                      f"The limit of locked memory is {size(int(limit))}; registered memory of cards counts, and "
                      f"{size(_LOCKED)} is little already.",
                      "Raise it: ulimit -l unlimited, LimitMEMLOCK=infinity (systemd), --ulimit memlock=-1 (Docker).")
    if machine.user != 0 and machine.capability("CapBnd", _IPC_LOCK) and machine.in_container:
        yield Finding("ipc_lock", PROBLEM if cards else NOTE,
                      f"The container was given IPC_LOCK, which does nothing for user {machine.user}: it is not in "
                      "effect for users other than root.",
                      "Raise the limit of locked memory instead, or run as root.")


def huge_pages(machine: Machine, library: Library) -> Iterator[Finding]:
    """Some providers (efa, shm on request) take huge pages where there are some."""
    total, free = (machine.field("/proc/meminfo", rf"^HugePages_{which}:\s+(\d+)") for which in ("Total", "Free"))
    if not total:
        return
    if total == "0":
        yield Finding("huge_pages", NOTE, "No huge pages are reserved; providers then take plain pages.",
                      "Where efa complains, reserve some (sysctl vm.nr_hugepages=512).")
    elif free == "0":
        yield Finding("huge_pages", NOTE, f"All {total} huge pages are taken; providers then take plain pages.",
                      "Reserve more (sysctl vm.nr_hugepages), or end the program that has them.")
    else:
        yield Finding("huge_pages", OK, f"{free} of {total} huge pages are free.")


def shared_memory(machine: Machine, library: Library) -> Iterator[Finding]:
    """/dev/shm holds endpoints of shm and regions of mapped. Docker gives 64 MiB, Kubernetes too."""
    found = machine.space(machine.path("/dev/shm"))
    if found is None or found[0] == 0:
        yield Finding("shared_memory", PROBLEM, "/dev/shm is not there, which shm and mapped need.",
                      "Mount it (mount -t tmpfs tmpfs /dev/shm).")
        return
    total, free = found
    if free < 2 * _SHM_ENDPOINT:
        yield Finding("shared_memory", PROBLEM,
                      f"/dev/shm has {size(free)} free of {size(total)}; an endpoint of shm takes "
                      f"{size(_SHM_ENDPOINT)}.",
                      "Run ./weft clean for what dead processes left, or enlarge it (docker run --shm-size=1g).")
    elif total <= 64 * MIB:
        yield Finding("shared_memory", NOTE,
                      f"/dev/shm has {size(total)}, as containers give it; an endpoint of shm takes "
                      f"{size(_SHM_ENDPOINT)}.",
                      "Enlarge it: docker run --shm-size=1g, or an emptyDir with medium Memory (Kubernetes).")
    else:
        yield Finding("shared_memory", OK, f"/dev/shm has {size(free)} free of {size(total)}.")


def memory_limit(machine: Machine, library: Library) -> Iterator[Finding]:
    """The least limit of memory on the way up from this process's group."""
    least = _least(machine, "memory.max", "memory/memory.limit_in_bytes")
    if least is None or least[0] >= 1 << 50:
        yield Finding("memory_limit", OK, "No control group limits memory.")
        return
    limit, folder = least
    used = _taken(machine, folder)
    if limit - used < 256 * MIB:
        yield Finding("memory_limit", PROBLEM,
                      f"The control group may take {size(limit)} of memory, and has taken {size(used)}: the kernel "
                      "kills a process that asks for more.",
                      "Raise the limit (docker run --memory, resources.limits.memory in Kubernetes).")
    else:
        yield Finding("memory_limit", OK,
                      f"The control group may take {size(limit)} of memory, and has taken {size(used)}.")


def _taken(machine: Machine, folder: str) -> int:
    """Without pages of files that nobody used for long: the kernel drops these before it kills a process."""
    counted = machine.number(f"{folder}/memory.current") or machine.number(f"{folder}/memory.usage_in_bytes") or 0
    files = [machine.field(f"{folder}/memory.stat", rf"^{name} (\d+)$") for name in ("total_inactive_file",
                                                                                    "inactive_file")]
    return max(0, counted - int(files[0] or files[1] or 0))


def process_limit(machine: Machine, library: Library) -> Iterator[Finding]:
    """The least limit of processes and threads on the way up from this process's group."""
    least = _least(machine, "pids.max", "pids/pids.max")
    if least is None:
        yield Finding("process_limit", OK, "No control group limits processes and threads.")
        return
    limit, folder = least
    used = machine.number(f"{folder}/pids.current") or 0
    if limit - used < _FEW_PROCESSES:
        yield Finding("process_limit", PROBLEM,
                      f"The control group may have {limit} processes and threads, and has {used}: starting more fails.",
                      "Raise the limit (docker run --pids-limit, podPidsLimit in Kubernetes).")
    else:
        yield Finding("process_limit", OK, f"The control group may have {limit} processes and threads, and has {used}.")


def _least(machine: Machine, unified: str, old: str) -> tuple[int, str] | None:
    """The least number and the folder that has it: of version 2 of control groups, or of version 1."""
    controller = old.partition("/")[0]
    own = machine.field("/proc/self/cgroup", r"^0::(.*)$") or "/"
    earlier = machine.field("/proc/self/cgroup", rf"^\d+:(?:[\w,]*,)?{controller}(?:,[\w,]*)?:(.*)$") or "/"
    top = f"/sys/fs/cgroup/{controller}"
    places = [(f"/sys/fs/cgroup{each}".rstrip("/"), unified) for each in _upwards(own)]
    places += [(f"{top}{each}".rstrip("/"), old.partition("/")[2]) for each in _upwards(earlier)]
    found = [(number, folder) for folder, name in places
             if (number := machine.number(f"{folder}/{name}")) is not None]
    return min(found, default=None)


def _upwards(group: str) -> list[str]:
    path = Path("/") / group.lstrip("/")
    return [str(path), *map(str, path.parents)]
