# SPDX-License-Identifier: Apache-2.0
"""Facts of the machine on which findings can depend. No names of hosts or users."""
from __future__ import annotations

import os
import platform
import re
import resource
import subprocess
from pathlib import Path

_ADDRESS = re.compile(r"^\s*(src_addr|dest_addr|src_addrlen|dest_addrlen|auth_key)\b.*\n", re.MULTILINE)


def machine() -> dict[str, str]:
    """By name. A fact that cannot be read is left out."""
    facts = {"architecture": platform.machine(), "kernel": platform.release(), "distribution": _distribution(),
             "processor": _field(Path("/proc/cpuinfo"), r"^model name\s*: (.*)$"),
             "processors": str(os.cpu_count() or ""), "page_bytes": str(os.sysconf("SC_PAGE_SIZE")),
             "memory": _field(Path("/proc/meminfo"), r"^MemTotal:\s*(.*)$"),
             "numa_nodes": str(len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))) or ""),
             "iommu_groups": str(len(list(Path("/sys/kernel/iommu_groups").glob("*")))),
             "lockable_memory": str(resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]),
             "virtualized": "yes" if "hypervisor" in _field(Path("/proc/cpuinfo"), r"^flags\s*: (.*)$").split()
             else "no", **_cards()}
    return {name: _one_line(value) for name, value in facts.items() if value}


def versions() -> dict[str, str]:
    """Of the libraries beside libfabric, whose release the findings have."""
    found = {"python": platform.python_version(), "fi_info": _said("fi_info", "--version"),
             "rdma_core": _said("dpkg-query", "-W", "-f", "${Version}", "rdma-core"),
             "libfabric_package": _said("dpkg-query", "-W", "-f", "${Version}", "libfabric1")}
    return {name: _one_line(value) for name, value in found.items() if value}


def fi_info(provider: str) -> str:
    """What fi_info says of a provider, without addresses of endpoints. Empty where it says nothing."""
    return _ADDRESS.sub("", _said("fi_info", "-v", "-p", provider))[:1 << 20]


def _cards() -> dict[str, str]:
    found = {}
    for number, card in enumerate(sorted(Path("/sys/class/infiniband").glob("*"))[:8], 1):
        told = [card.name, *(_field(card / name, r"^(.*)$") for name in ("hca_type", "board_id", "fw_ver"))]
        found[f"card_{number}"] = " ".join(filter(None, told))
    return found


def _distribution() -> str:
    return _field(Path("/etc/os-release"), r'^PRETTY_NAME="?([^"\n]*)"?$')


def _field(path: Path, pattern: str) -> str:
    try:
        found = re.search(pattern, path.read_text("utf-8", "replace"), re.MULTILINE)
    except OSError:
        return ""
    return found[1] if found else ""


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _one_line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:500]
