# SPDX-License-Identifier: Apache-2.0
"""Cells falsified one at a time, and where each is caught: by the generator, the compiler, an opening transport, or the
probe alone.

`python3 -B -m tests.generator.wrong_cells` writes docs/reference/generated/wrong_cells.md from this list.
test_wrong_cells.py proves each line of it.
"""
from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "generated" / "wrong_cells.md"
STAGES = {
    "generate": "`./weft generate` refuses the row",
    "compile": "the program does not compile",
    "open": "`weft::open` refuses, before the first byte",
    "probe": "nothing contradicts it before the first byte: `./weft probe` sees the behaviour",
}


@dataclass(frozen=True)
class WrongCell:
    """A true row with one wrong cell. `says`: part of the sentence that the author of the cell reads."""

    stage: str
    row: str
    cell: str
    value: str
    says: str

    @property
    def name(self) -> str:
        return f"{self.row}.{self.cell}"


def _of(stage: str, *cases: tuple[str, str, str, str]) -> list[WrongCell]:
    return [WrongCell(stage, *case) for case in cases]


CELLS: list[WrongCell] = [
    *_of("generate",
         ("tcp", "delivery_complete", "false",
          "has no legal answer to write_fault (how is the initiator notified of a refused write?)"),
         ("udp_rxd", "endpoint_type", "datagram", "expected one of connected, addressed"),
         ("sockets", "key_bytes", "300", "key_bytes is the number 300: expected a number from 1 to 255"),
         ("cxi", "context_bytes", "16", "context_bytes is the number 16: expected one of 0, 32, 64"),
         ("sockets", "atomics", "none", "but atomics is none ("),
         ("tcp_rxm", "provider", '""', "a libfabric row names its provider, as fi_info prints it"),
         ("shm", "forgets_peers", "false",
          "forgets_peers is false before 2.0 too: a range restates only the cells that change"),
         ("verbs", "atomics", "provider",
          "atomics is provider before 2.2 too: a range restates only the cells that change"),
         ("efa", "largest_message", "no", "bare 'no' means different things to different readers")),
    *_of("compile",
         ("tcp", "region_endpoint_binding", "true",
          "weft: regions bound to an endpoint need one endpoint; a connected fabric has one per link"),
         ("ibverbs_roce", "virtual_addressing", "false",
          "weft: with rdma-core remote addresses are the target's pointers"),
         ("ibverbs_roce", "region_endpoint_binding", "true", "weft: rdma-core binds no regions"),
         ("ibverbs_roce", "write_immediate_consumes_receive", "false",
          "weft: a write with an immediate consumes a receive"),
         ("ibverbs_iwarp", "endpoint_type", "addressed", "weft: this backend has reliable connections only")),
    *_of("open",
         ("tcp", "virtual_addressing", "true",
          "virtual_addressing: asked yes, returned no, baked yes (region_address depends on it)"),
         ("tcp", "key_owner", "provider",
          "key_owner provider: asked yes, returned no, baked yes (region_key depends on it)"),
         ("tcp", "local_registration", "true",
          "local_registration: asked yes, returned no, baked yes (local_descriptor depends on it)"),
         ("tcp", "write_immediate_bytes", "16",
          'its provider "tcp" does not grant write_immediate_bytes: 16 (it returns 8)'),
         ("tcp", "atomics", "provider",
          "does not grant together, though any fewer of them, endpoint_type: connected and atomics: provider"),
         ("tcp", "provider", "tpc", 'has no provider "tpc" here, or no device for it (fi_info -l lists what it has)'),
         ("sockets", "inject_bytes", "100000", "inject_bytes: asked at least 100000, returned "),
         ("sockets", "queue_depth", "1000000", "queue_depth (transmit): asked at least 1000000, returned "),
         ("tcp_rxm", "gather_limit", "64", "gather_limit: asked at least 64, returned "),
         ("shm", "endpoint_type", "connected", "does not grant endpoint_type: connected (it returns addressed)"),
         ("udp_rxd", "inject_bytes", "1000000", "inject_bytes: asked at least 1000000, returned "),
         ("shm", "write_immediate_bytes", "16", 'its provider "shm" does not grant write_immediate_bytes: 16')),
    *_of("probe",
         ("tcp", "refused_write", "reported", "and the test shows silent"),
         ("tcp", "completion_wait", "none", "and the test shows descriptor"),
         ("tcp", "selective_completion", "false", "and the test shows true"),
         ("tcp", "own_node_path", "shared_memory", "and the test shows fabric"),
         ("tcp", "full_completion_queue", "refuses", "and the test shows keeps"),
         ("tcp_rxm", "address_formats", '"in"', "and the test shows in in6"),
         ("sockets", "write_immediate_setting", '"FI_SOCKETS_X=1"', 'and the test shows ""'),
         ("sockets", "atomic_operations", "none", "and the test shows add"),
         ("sockets", "reports_killed_peer", "true", "and the test shows false"),
         ("tcp_rxm", "remote_counter_counts_writes", "true", "and the test shows false"),
         ("tcp_rxm", "atomics_cost_order", "false", "and the test shows true"),
         ("shm", "virtual_addressing_costs_order", "false", "and the test shows true"),
         ("udp_rxd", "virtual_addressing_optional", "true", "and the test shows false")),
]


def falsified(case: WrongCell, row: str, name: str) -> str:
    """The text of a matrix with this row alone, under this name, with its wrong cell."""
    text, found = re.subn(rf"(\n    {case.cell}: {{is: )(\"[^\"]*\"|[^,}}]+)", rf"\g<1>{case.value}", row, count=1)
    if found != 1 or text == row:
        raise ValueError(f"{case.name} is not there, or is {case.value} already")
    return text.replace("ROW:", f"{name}:", 1)


def page() -> str:
    """docs/reference/generated/wrong_cells.md."""
    lines = ["<!-- Written by tests/generator/wrong_cells.py: do not edit. -->",
             "<!-- After a change there: python3 -B -m tests.generator.wrong_cells -->",
             "# Where a wrong cell is caught", "",
             "A wrong fact gives a diagnostic. Each line is a true row of `providers.yaml` with one cell made wrong.",
             "`tests/generator/test_wrong_cells.py` makes it wrong and checks the sentence.", "",
             "| cell | made | caught at | the sentence says |", "|---|---|---|---|"]
    for case in CELLS:
        says = case.says.replace("|", "\\|")
        lines.append(f"| {case.name} | {case.value} | {case.stage} | {says} |")
    lines += ["", *(f"- **{stage}**: {meaning}." for stage, meaning in STAGES.items()), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
