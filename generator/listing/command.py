# SPDX-License-Identifier: Apache-2.0
"""`weft list`: prints which fabrics and devices work on this machine."""
from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from ..doctoring.machine import Machine
from ..errors.catalogue import INPUTS, with_id
from ..matrix.model import read_matrix
from ..options import FINE, NEGATIVE, format_option, matrix_option, refusing, shown
from ..report import as_csv, as_json, show_table
from .judging import listed


@click.command(name="list")
@matrix_option
@format_option("table", "json", "csv")
@refusing
def list_fabrics(matrix: Path, kind: str) -> None:
    """List the fabrics and devices that work on this machine, and why others do not.

    libfabric is asked as a program would find it. A fabric works where the library offers the row's provider with the
    row's kind of endpoint. Nothing is opened: a peer may still not be reachable. The exit code is 1 where libfabric
    is not usable. Where the system knows a device's NUMA node, it stands after the device:
    transport_options::device_near chooses by it.

    \b
    Examples:
      ./weft list
      ./weft list --format json
    """
    machine = Machine()
    library = machine.library()
    found = listed(read_matrix(matrix, shown(matrix)).fabrics, machine, library)
    if kind == "json":
        click.echo(as_json("list", {"library": library.version,
                                    "fabrics": [{**asdict(each), "devices": list(each.devices)} for each in found]}))
    elif kind == "csv":
        click.echo(as_csv(("fabric", "backend", "works", "devices", "why", "numa_nodes"),
                          [(each.fabric, each.backend, "yes" if each.works else "no", " ".join(each.devices), each.why,
                            " ".join(f"{name}={node}" for name, node in each.numa_nodes.items())) for each in found]))
    else:
        show_table(("fabric", "works", "devices, or why not"),
                   [(each.fabric, "yes" if each.works else "no", ", ".join(each.described()) or each.why)
                    for each in found])
    if not library.version:
        click.echo(with_id(f"weft: libfabric has no provider to offer, and only fabrics without it are listed as "
                           f"working: {library.why}", INPUTS), err=True)
    raise SystemExit(FINE if library.version else NEGATIVE)
