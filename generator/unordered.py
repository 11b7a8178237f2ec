# SPDX-License-Identifier: Apache-2.0
"""The worst of all fabrics, for the emulator: a row that promises nothing. It is made from the rows of the matrix.

Sizes are the smallest of any addressed row over libfabric, demands the greatest. Everything else is the worst that a
row may say. `python3 -m generator.unordered FOLDER` writes the headers for its programs to FOLDER/generated.
"""
from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from .matrix.facts import FACTS, Value
from .matrix.model import Cell, Evidence, Fabric, Matrix, Range, read_matrix
from .rules import read_rules

NAME = "unordered"
WORST: dict[str, Value] = {
    "provider": NAME, "fabric_name": "", "endpoint_type": "addressed", "address_resolution": "opaque",
    "connects_lazily": True, "forgets_peers": False,
    "virtual_addressing": True, "virtual_addressing_optional": False, "virtual_addressing_costs_order": False,
    "key_owner": "provider", "local_registration": True, "region_endpoint_binding": True,
    "write_immediate_bytes": 0, "write_immediate_consumes_receive": False, "remote_counter_counts_writes": False,
    "order_send_after_write": False, "order_write_after_write": False, "bytes_visible_in_order": False,
    "order_send_after_send": False,
    "refused_write": "silent", "atomics": "none", "atomic_operations": "none", "atomics_cost_order": False,
    "data_progress": "polling", "completion_wait": "none", "reports_killed_peer": False, "same_host": False,
    "fused_bytes": 0, "multi_receive": False, "shared_receives": False, "extended_posting": False,
    "split_queues": False, "thread_levels": False, "full_queue": "loses", "full_completion_queue": "loses",
    "address_formats": "str", "own_node_path": "shared_memory", "write_immediate_setting": "",
    "selective_completion": True,  # every row has it, and weft needs it where the library overwrites contexts
    "delivery_complete": True,  # without it and without order, no answer can show a target that the bytes are there
}
GREATEST = ("context_bytes",)  # more is worse for these; for all other numbers the smallest is the worst


def unordered(matrix: Matrix) -> Fabric | None:
    """None where the matrix has fewer than two addressed rows over libfabric, or a row of this name."""
    spans = [span for fabric in matrix.fabrics if fabric.backend == "libfabric" for span in fabric.ranges
             if span.cells["endpoint_type"].value == "addressed"]
    if len({span.cells["provider"].value for span in spans}) < 2 or matrix.fabric(NAME) is not None:
        return None
    evidence = Evidence("no fabric: the worst that a row may say", None)

    def value(name: str) -> Value:
        if name in WORST:
            return WORST[name]
        numbers: Iterable[Value] = (span.cells[name].value for span in spans)
        return max(map(int, numbers)) if name in GREATEST else min(map(int, numbers))

    since = min(span.since for span in spans)
    cells = {fact.name: Cell(fact.name, value(fact.name), evidence, 0) for fact in FACTS}
    return Fabric(NAME, "The worst of all fabrics: it promises nothing that a row may leave out.", "libfabric",
                  evidence, (),
                  (Range(since, None, cells, (), 0),), None, 0)


def main(output: Path) -> None:
    """Writes what differs. Errors: Refused."""
    from .emit import render, write

    root = Path(__file__).resolve().parent.parent
    row = unordered(read_matrix(root / "providers.yaml", "providers.yaml"))
    if row is None:
        raise SystemExit("providers.yaml has no two addressed rows over libfabric to take the worst of, or a row of "
                         "the name unordered")
    files = render(Matrix("providers.yaml", (row,)), read_rules(root / "generator" / "rules.yaml"), root / "templates")
    write({name: data for name, data in files.items() if name.endswith(".hpp")}, output)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
