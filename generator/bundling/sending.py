# SPDX-License-Identifier: Apache-2.0
"""Writes what a probe found, and where, into a bundle."""
from __future__ import annotations

from pathlib import Path

import click

from ..probing.rows import Probed, demands_of
from ..version import version_of
from .bundle import Bundle
from .machine import fi_info, machine, versions
from .signing import signed

ROOT = Path(__file__).resolve().parents[2]


def bundle_of(found: Probed) -> Bundle:
    """Everything that the reader needs to judge the row again, without the hardware."""
    demands = demands_of(found.fabric, "")
    by = found.found_by
    return Bundle({
        "fabric": found.fabric.name, "weft": version_of(ROOT),
        "demands": {"provider": demands.provider, "endpoint_type": demands.endpoint_type,
                    "fabric_name": demands.fabric_name, "settings": dict(demands.settings),
                    "backend": demands.backend},
        "provenance": {"library": by.library, "api": by.api, "kernel": by.kernel, "device": by.device,
                       "date": by.date},
        "findings": [{"behaviour": name, "ended": each.ended, "facts": dict(each.facts),
                      "why": _plain(each.why), "seconds": each.seconds} for name, each in found.seen.findings.items()],
        "fi_info": fi_info(demands.provider) if demands.backend == "libfabric" else "",
        "versions": versions(), "machine": machine()})


def send(found: Probed, path: Path, key: Path | None) -> None:
    """Writes the bundle, signed where there is a key, and says so. Errors: UsageError."""
    bundle = bundle_of(found)
    if key is not None:
        bundle = signed(bundle, key)
    try:
        bundle.write(path)
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror}") from None
    click.echo(f"wrote {path}: {bundle.name}, {'signed' if bundle.signature else 'not signed (--sign KEY)'}; it "
               "names devices and networks, no hosts and no users: look it through before you send it", err=True)


def _plain(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)[:2000]
