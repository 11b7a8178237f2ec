# SPDX-License-Identifier: Apache-2.0
"""From what a probe found to a row of providers.yaml: a value and its evidence for each cell.

What was seen is believed before what is claimed. What was neither seen nor claimed gets the value that no answer can be hurt by, marked
as assumed; a cell for which there is no such value makes the row impossible.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..facts import FACT, FACTS, UNLIMITED, Value
from ..loader import Problem, Refused
from ..probing import CellFinding, Demands, Provenance

_LONGEST = 300
# The weaker belief costs speed, never correctness.
_SAFE: dict[str, Value] = {
    "fabric_name": "",
    "connects_lazily": True,
    "virtual_addressing_optional": False,
    "virtual_addressing_costs_order": True,
    "forgets_peers": False,
    "write_immediate_bytes": 0,
    "write_immediate_consumes_receive": False,
    "send_immediate_bytes": 0,
    "remote_counter_counts_writes": False,
    "order_send_after_write": False,
    "order_write_after_write": False,
    "bytes_visible_in_order": False,
    "order_send_after_send": False,
    "delivery_complete": False,
    "refused_write": "silent",
    "selective_completion": False,
    "atomics": "none",
    "atomic_operations": "none",
    "atomics_cost_order": True,
    "data_progress": "polling",
    "completion_wait": "none",
    "reports_killed_peer": False,
    "same_host": False,
    "inject_bytes": 0,
    "gather_limit": 1,
    "rma_gather_limit": 1,
    "fused_bytes": 0,
    "multi_receive": False,
    "shared_receives": False,
    "extended_posting": False,
    "split_queues": False,
    "thread_levels": False,
}


@dataclass(frozen=True)
class NewCell:
    """One cell of the new row. `differs` is what the library claims, where the test shows something else."""

    name: str
    value: Value
    claimed: str
    observed: str
    copied: str
    differs: Value | None

    @property
    def level(self) -> str:
        return "observed" if self.observed else "claimed" if self.claimed else "assumed"

    @property
    def told(self) -> str:
        return spelt(self.name, self.value)


def spelt(name: str, value: Value) -> str:
    """A value as providers.yaml spells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return "unlimited" if value >= UNLIMITED else str(value)
    return value if FACT[name].values else f'"{value}"'


def cells_of(demands: Demands, findings: Sequence[CellFinding], made: Provenance) -> list[NewCell]:
    """One cell for each fact, in the order of the facts. Errors: Refused, with the cells that nobody may guess."""
    found = {each.cell: each for each in findings}
    cells = []
    missing = []
    for fact in FACTS:
        cell = _cell(fact.name, found.get(fact.name), demands, made)
        if cell is None:
            missing.append(fact.name)
        else:
            cells.append(cell)
    if missing:
        raise Refused([Problem("weft add", 1, f"provider \"{demands.provider}\": neither claimed nor shown is {', '.join(missing)}, "
                                              "and no value of that is safe to assume: add the row by hand")])
    return cells


def _cell(name: str, found: CellFinding | None, demands: Demands, made: Provenance) -> NewCell | None:
    given: dict[str, Value] = {"provider": demands.provider, "fabric_name": demands.fabric_name, "endpoint_type": demands.endpoint_type}
    seen = f"{made.date} {made.library} {'loopback, ' if demands.node.startswith('127.') else ''}weft probe"
    if name in given:
        return NewCell(name, given[name], "", _sentence(f"{seen}, as asked for and returned"), "", None)
    value = found.value if found else None
    if found is None or value is None:
        if name not in _SAFE:
            return None
        why = found.why_not if found and found.why_not else "no probe shows it"
        return NewCell(name, _SAFE[name], "", "", _sentence(f"assumed, as the safe value: {why}"), None)
    claimed = _sentence(f"{made.library}: {found.claim}") if found.claimed is not None and found.claim else ""
    observed = _sentence(f"{seen}, {found.test}") if found.shown is not None else ""
    copied = "" if claimed or observed else _sentence(f"taken from {seen}")
    return NewCell(name, value, claimed, observed, copied, found.claimed if found.differs and observed else None)


def _sentence(text: str) -> str:
    """Evidence as the matrix takes it: one printable line without quotation marks, not too long."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text).replace('"', "'").replace("\\", "/")
    plain = " ".join(plain.split())
    return plain if len(plain) <= _LONGEST else plain[:_LONGEST - 4].rsplit(" ", 1)[0] + " ..."


def row_text(name: str, cells: Sequence[NewCell], demands: Demands, made: Provenance) -> str:
    """The row, as a person would write it."""
    release = ".".join(made.library.split()[-1].split(".")[:2])
    kind = "Connected" if demands.endpoint_type == "connected" else "Addressed"
    seen = _sentence(f"{made}, weft probe")
    lines = ["", f"{name}:", f'  summary: "{kind} endpoints of the provider {_sentence(demands.provider)}, as a probe found it."', "  backend: libfabric",
             f'  library: {{since: "{release}", observed: "{seen}"}}']
    if demands.settings:
        lines.append("  settings:")
        lines += [f'    {key}: {{value: "{value}", reason: "probed with it"}}' for key, value in demands.settings.items()]
    lines.append("  facts:")
    for cell in cells:
        parts = [f"is: {cell.told}"]
        if cell.differs is not None:
            parts.append(f"claimed_value: {spelt(cell.name, cell.differs)}")
        parts += [f'{kind}: "{text}"' for kind, text in (("claimed", cell.claimed), ("observed", cell.observed), ("copied", cell.copied)) if text]
        between = ",\n" + " " * (len(cell.name) + 7)
        lines.append(f"    {cell.name}: {{{parts[0]}{', ' if len(parts) == 2 else between}{between.join(parts[1:])}}}")
    return "\n".join(lines) + "\n"
