# SPDX-License-Identifier: Apache-2.0
"""Which rows have an endpoint here, on which devices, and why the others have none."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..doctoring.library import Library
from ..doctoring.machine import Machine
from ..matrix.model import Fabric
from ..probing.compare import range_for

_ALWAYS = {"mapped": "processes of this host", "streams": "sockets of the kernel",
           "loopback": "one process, in virtual time"}


@dataclass(frozen=True)
class Listed:
    """A row. `devices`: what it works on; empty where it does not, and `why` says why.

    `numa_nodes`: by device, where the system knows the node.
    """

    fabric: str
    backend: str
    works: bool
    devices: tuple[str, ...]
    why: str = ""
    numa_nodes: Mapping[str, int] = field(default_factory=dict)

    def described(self) -> list[str]:
        """The devices for people: mlx5_0 (NUMA node 1)."""
        return [f"{each} (NUMA node {self.numa_nodes[each]})" if each in self.numa_nodes else each
                for each in self.devices]


def listed(fabrics: Iterable[Fabric], machine: Machine, library: Library) -> list[Listed]:
    """Every row, in the order of the matrix."""
    found = (_one(each, machine, library) for each in fabrics)
    return [replace(each, numa_nodes=_numa_nodes(each.devices, machine)) for each in found]


def _numa_nodes(devices: Iterable[str], machine: Machine) -> dict[str, int]:
    """The kernel writes -1 where firmware does not say. A domain of libfabric may add a word: rdmap0-rdm."""
    found: dict[str, int] = {}
    for each in devices:
        for name in dict.fromkeys((each, each.rpartition("-")[0])):
            for kind in ("infiniband", "net", "cxi"):
                node = machine.number(f"/sys/class/{kind}/{name}/device/numa_node") if name else None
                if node is not None:
                    found.setdefault(each, node)
    return found


def _one(fabric: Fabric, machine: Machine, library: Library) -> Listed:
    if fabric.backend in _ALWAYS:
        return Listed(fabric.name, fabric.backend, True, (_ALWAYS[fabric.backend],))
    if fabric.backend == "verbs":
        return _of_cards(fabric, machine)
    if not library.version:
        return _absent(fabric, f"libfabric is not usable here: {library.why}")
    span = range_for(fabric, library.version)
    if span is None:
        until = f" to before {fabric.until}" if fabric.until else " on"
        return _absent(fabric, f"the row describes libfabric from {fabric.since}{until}, and {library.version} is here")
    provider, endpoint = str(span.cells["provider"].value), str(span.cells["endpoint_type"].value)
    named = str(span.cells["fabric_name"].value)
    of_provider = [each for each in library.offers if each.provider == provider and named in ("", each.fabric)]
    found = dict.fromkeys(each.domain for each in of_provider if each.endpoint == endpoint)
    if found:
        return Listed(fabric.name, fabric.backend, True, tuple(found))
    if of_provider:
        return _absent(fabric, f"provider {provider} offers no {endpoint} endpoint here")
    hidden = machine.environment.get("FI_PROVIDER", "")
    return _absent(fabric, f"FI_PROVIDER is \"{hidden}\" and hides others" if hidden
                   else f"libfabric {library.version} has no provider {provider} here, or no device for it")


def _of_cards(fabric: Fabric, machine: Machine) -> Listed:
    """Devices of iWARP say that they are RNICs; all others carry RoCE or InfiniBand."""
    folder = "/sys/class/infiniband"
    wanted = fabric.name.endswith("_iwarp")
    found = tuple(name for name in machine.names(folder)
                  if machine.text(f"{folder}/{name}/node_type").startswith("4:") == wanted)
    if found:
        return Listed(fabric.name, fabric.backend, True, found)
    return _absent(fabric, f"no {'iWARP' if wanted else 'InfiniBand or RoCE'} device in {folder}")


def _absent(fabric: Fabric, why: str) -> Listed:
    return Listed(fabric.name, fabric.backend, False, (), why)
