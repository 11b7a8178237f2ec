# SPDX-License-Identifier: Apache-2.0
"""Checks of RDMA devices: are there some, are their ports up, may this user open them, and has RoCE an address?"""
from __future__ import annotations

from collections.abc import Iterator

from .library import Library
from .machine import NOTE, OK, PROBLEM, Finding, Machine

_DEVICES = "/sys/class/infiniband"
_NODES = "/dev/infiniband"


def devices(machine: Machine, library: Library) -> Iterator[Finding]:
    """Is there a device, and is a port of each active?"""
    names = machine.names(_DEVICES)
    if not names:
        yield Finding("devices", NOTE, "No RDMA device is here; tcp, shm, mapped and others do not need one.",
                      "Load the driver of the card, or a soft device (rdma link add rxe0 type rxe netdev eth0).")
        return
    for name in names:
        states = {port: machine.text(f"{_DEVICES}/{name}/ports/{port}/state")
                  for port in machine.names(f"{_DEVICES}/{name}/ports")}
        if any("ACTIVE" in state for state in states.values()):
            yield Finding("devices", OK, f"{name} has an active port.")
        else:
            said = ", ".join(f"port {port} is {state or 'silent'}" for port, state in states.items())
            yield Finding("devices", PROBLEM, f"{name} has no active port: {said or 'it has no port'}.",
                          "Bring its link up (ip link set DEVICE up; for InfiniBand a subnet manager must run).")


def permissions(machine: Machine, library: Library) -> Iterator[Finding]:
    """A program opens a device by /dev/infiniband/uverbsN, and connects by /dev/infiniband/rdma_cm."""
    if not machine.names(_DEVICES):
        return
    nodes = machine.names(_NODES)
    wanted = [each for each in nodes if each.startswith("uverbs")]
    if not wanted:
        yield Finding("permissions", PROBLEM, f"The kernel has an RDMA device, and {_NODES} has no uverbs file.",
                      "Load ib_uverbs (modprobe ib_uverbs), or give the files to the container "
                      "(docker run --device /dev/infiniband).")
    if "rdma_cm" not in nodes:
        yield Finding("permissions", PROBLEM, f"{_NODES}/rdma_cm is missing, which connecting needs.",
                      "Load rdma_ucm (modprobe rdma_ucm), or give the file to the container "
                      "(docker run --device /dev/infiniband/rdma_cm).")
    closed = [each for each in (*wanted, *(["rdma_cm"] if "rdma_cm" in nodes else []))
              if not machine.may_use(f"{_NODES}/{each}")]
    if closed:
        yield Finding("permissions", PROBLEM,
                      f"User {machine.user} may not read and write {', '.join(f'{_NODES}/{each}' for each in closed)}.",
                      "Set the rights by a udev rule (MODE=\"0666\"), or put the user into the group of the files.")
    elif wanted and "rdma_cm" in nodes:
        yield Finding("permissions", OK, f"The files of {_NODES} may be read and written.")


def addresses(machine: Machine, library: Library) -> Iterator[Finding]:
    """A port of RoCE needs a GID of version 2, which it has where its network interface has an IP address."""
    for name in machine.names(_DEVICES):
        for port in machine.names(f"{_DEVICES}/{name}/ports"):
            folder = f"{_DEVICES}/{name}/ports/{port}"
            if machine.text(f"{folder}/link_layer") != "Ethernet" or _is_iwarp(machine, name):
                continue
            found = [index for index in machine.names(f"{folder}/gids")
                     if machine.text(f"{folder}/gids/{index}").strip("0:")
                     and "v2" in machine.text(f"{folder}/gid_attrs/types/{index}")]
            if found:
                yield Finding("addresses", OK, f"{name} port {port} has {len(found)} GIDs of RoCE v2.")
            else:
                yield Finding("addresses", PROBLEM, f"{name} port {port} has no GID of RoCE v2, so that nobody "
                              "reaches it.",
                              "Give its network interface an IP address (ip address add ... dev ...).")


def _is_iwarp(machine: Machine, name: str) -> bool:
    return machine.text(f"{_DEVICES}/{name}/node_type").startswith("4:")  # RNIC
