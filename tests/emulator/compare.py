#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares fi_info's reply for each emulated fabric with the record of the real one, for the installed libfabric.

Records are replies of real providers (recorded/fi_info-<release>.txt) and the tables of libfabric's sources
(recorded/libfabric_sources.yaml). recorded/differences.yaml must explain every difference, and every explanation must
still have its difference.
Exit 0: no unexplained difference. Exit 1: a line for each. Exit 77: no record of this release.
"""
from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
RECORDED = Path(__file__).resolve().parent / "recorded"
LISTS = ("caps", "mode", "mr_mode", "msg_order")
NUMBERS = ("mr_key_size", "cq_data_size", "inject_size", "size", "iov_limit", "rma_iov_limit", "max_msg_size")
WORDS = ("type", "data_progress")
# The facts that cells record; the rest of a reply is not compared.
TOLD = {
    "caps": {
        f"FI_{name}"
        for name in (
            "MSG TAGGED RMA ATOMIC SEND RECV READ WRITE REMOTE_READ REMOTE_WRITE "
            "MULTI_RECV RMA_EVENT SOURCE DIRECTED_RECV"
        ).split()
    },
    "mode": {"FI_CONTEXT", "FI_CONTEXT2", "FI_RX_CQ_DATA", "FI_MSG_PREFIX", "FI_LOCAL_MR"},
    "mr_mode": {"FI_MR_LOCAL", "FI_MR_VIRT_ADDR", "FI_MR_PROV_KEY", "FI_MR_ENDPOINT"},
    "msg_order": {"FI_ORDER_SAS", "FI_ORDER_SAW", "FI_ORDER_WAW"},
}
Reply = dict[str, Any]


def parse(block: str) -> Reply:
    """The first value of each attribute in a block of `fi_info -v`.

    It prints transmit before receive, and operations before the domain.
    """
    found: Reply = {}
    for name, value in re.findall(r"^\s*(\w+): (.*)$", block, re.MULTILINE):
        name = "data_progress" if name == "progress" else name  # its name since libfabric 2.0
        if name in found:
            continue
        if name in LISTS:
            found[name] = sorted(set(re.findall(r"FI_\w+", value)) & TOLD[name])
        elif name in NUMBERS:
            found[name] = int(value)
        elif name in WORDS:
            found[name] = value.strip()
    return found


def recorded(release: str) -> dict[str, Reply]:
    """Records by row."""
    found: dict[str, Reply] = {}
    replies = RECORDED / f"fi_info-{release}.txt"
    if replies.exists():
        for part in re.split(r"^row: ", replies.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            row, _, block = part.partition("\n")
            found[row] = parse(block)
    tables = YAML(typ="safe").load((RECORDED / "libfabric_sources.yaml").read_text(encoding="utf-8"))
    for row, table in tables.get(release, {}).items():
        found[row] = {
            name: sorted(value) if isinstance(value, list) else value
            for name, value in table.items()
            if name != "source"
        }
    return found


def emulated(row: str, build: Path) -> Reply:
    """fi_info's reply for the row under emulation."""
    profile = (ROOT / "generated" / "profiles" / f"{row}.profile").read_text(encoding="utf-8")
    provider = re.findall(r"^provider = (.*)$", profile, re.MULTILINE)[-1]
    said = subprocess.run(
        [
            "/usr/bin/python3",
            "-B",
            str(ROOT / "weft"),
            "emulate",
            row,
            "--build",
            str(build),
            "--",
            "fi_info",
            "-v",
            "-p",
            provider,
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    blocks = [
        block
        for block in re.split(r"^---$", said.stdout, flags=re.MULTILINE)
        if re.search(r"name: .*-emulated$", block, re.MULTILINE)
        and re.search(rf"prov_name: {re.escape(provider)}$", block, re.MULTILINE)
    ]
    if not blocks:
        raise SystemExit(f"compare: fi_info found no emulated {row}: {said.stderr.strip()}")
    return parse(blocks[0])


def differences(row: str, real: Reply, here: Reply) -> dict[tuple[str, str], tuple[Any, Any]]:
    return {(row, name): (here.get(name), value) for name, value in real.items() if here.get(name) != value}


def release() -> str:
    said = subprocess.run(["fi_info", "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
    found = re.search(r"^libfabric: (\d+\.\d+)", said, re.MULTILINE)
    return found.group(1) if found else ""


def explained(of: str) -> dict[tuple[str, str], Reply]:
    """The explanations for a release, by row and attribute; an entry may cover several rows and releases."""
    entries = YAML(typ="safe").load((RECORDED / "differences.yaml").read_text(encoding="utf-8"))
    return {(row, entry["attribute"]): entry for entry in entries for row in entry["rows"] if of in entry["releases"]}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="tests/emulator/compare.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, required=True, help="build directory with the emulator")
    given = parser.parse_args()
    this = release()
    known = recorded(this)
    if not known:
        print(f"compare: nothing was recorded of libfabric {this}")
        return 77
    found: dict[tuple[str, str], tuple[Any, Any]] = {}
    for row, real in known.items():
        found |= differences(row, real, emulated(row, given.build.resolve()))
    why = explained(this)
    for row, name in sorted(found):
        here, real = found[row, name]
        print(
            f"{row} {name}: emulated {here}, recorded {real}: "
            f"{why[row, name]['why'] if (row, name) in why else 'NOT EXPLAINED'}"
        )
    stale = sorted(set(why) - set(found))
    for row, name in stale:
        print(f"{row} {name}: recorded/differences.yaml explains a difference that is none (libfabric {this})")
    fresh = [key for key in found if key not in why]
    print(
        f"compare: libfabric {this}, {len(known)} rows, {len(found)} differences, "
        f"{len(fresh)} not explained, {len(stale)} explained without need"
    )
    return 1 if fresh or stale else 0


if __name__ == "__main__":
    sys.exit(main())
