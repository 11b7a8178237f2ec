# SPDX-License-Identifier: Apache-2.0
"""Appends a made-up row to a copy of the matrix: row.py MATRIX COPY. The row combines facts as no other row does.

Exit 1 names a cell of the matrix that this row does not answer, so that a new cell is not forgotten here.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ruamel.yaml import YAML

NAME = "made_up"
SOURCE = '  made-up: {kind: claimed, text: "made up"}\n'
FACTS: dict[str, str] = {
    "provider": '""',
    "fabric_name": '""',
    "endpoint_type": "addressed",
    "address_resolution": "opaque",
    "connects_lazily": "true",
    "forgets_peers": "false",
    "address_formats": '"str"',
    "own_node_path": "fabric",
    "write_immediate_setting": '""',
    "full_completion_queue": "loses",
    "virtual_addressing": "true",
    "virtual_addressing_optional": "false",
    "virtual_addressing_costs_order": "false",
    "key_owner": "provider",
    "key_bytes": "4",
    "local_registration": "true",
    "region_endpoint_binding": "true",
    "write_immediate_bytes": "0",
    "write_immediate_consumes_receive": "false",
    "send_immediate_bytes": "0",
    "remote_counter_counts_writes": "false",
    "order_send_after_write": "false",
    "order_write_after_write": "false",
    "bytes_visible_in_order": "false",
    "order_send_after_send": "false",
    "delivery_complete": "true",
    "refused_write": "silent",
    "selective_completion": "false",
    "atomics": "none",
    "atomic_operations": "none",
    "atomics_cost_order": "false",
    "data_progress": "polling",
    "completion_wait": "descriptor",
    "reports_killed_peer": "false",
    "same_host": "false",
    "context_bytes": "64",
    "inject_bytes": "16",
    "gather_limit": "2",
    "rma_gather_limit": "1",
    "queue_depth": "256",
    "largest_message": "1048576",
    "largest_write": "1048576",
    "fused_bytes": "64",
    "multi_receive": "true",
    "shared_receives": "false",
    "extended_posting": "false",
    "split_queues": "true",
    "thread_levels": "false",
    "full_queue": "loses",
}


def row() -> str:
    """The row as a person would write it."""
    lines = [
        "",
        f"{NAME}:",
        '  summary: "A made-up row: known facts in a combination that no row has."',
        "  backend: loopback",
        '  library: {since: "1.0", claimed: "[made-up]"}',
        "  facts:",
    ]
    lines += [f'    {cell}: {{is: {value}, claimed: "[made-up]"}}' for cell, value in FACTS.items()]
    return "\n".join(lines) + "\n"


def main(matrix: Path, copy: Path) -> int:
    text = matrix.read_text(encoding="utf-8")
    known = YAML(typ="safe").load(text)["loopback"]["facts"]
    missing = [cell for cell in known if cell not in FACTS]
    if missing:
        print(f"tests/made_up_row/row.py: the made-up row does not answer {', '.join(missing)}", file=sys.stderr)
        return 1
    text = text.replace("\nsources:\n", f"\nsources:\n{SOURCE}", 1)
    copy.write_text(text + row(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
