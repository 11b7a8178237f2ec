# SPDX-License-Identifier: Apache-2.0
"""From what a probe found to a row of providers.yaml: a value and its evidence for each cell.

What was seen is believed before what is claimed. A fact that was neither seen nor claimed gets the safe value, marked
as assumed. If a fact has no safe value, no row can be made.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..matrix.facts import FACT, FACTS, UNLIMITED, Value
from ..matrix.layout import Part, citing, entry, pair, plain_name, sentence, with_source, without_unused
from ..matrix.loader import Problem, Refused
from ..probing import CellFinding, Demands, Provenance
from ..probing.patch import source_name, source_of
from ..matrix.sources import Source

_TAKEN = "taken from the probe"
# The weaker belief costs speed, never correctness.
SAFE: dict[str, Value] = {
    "fabric_name": "",
    "connects_lazily": True,
    "virtual_addressing_optional": False,
    "virtual_addressing_costs_order": True,
    "forgets_peers": False,
    "address_formats": "",
    "own_node_path": "shared_memory",
    "write_immediate_setting": "",
    "full_completion_queue": "loses",
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
    "full_queue": "loses",
}


@dataclass(frozen=True)
class NewCell:
    """One cell of the new row. `differs` is what the library claims, where the test shows something else.

    Of the evidence it has what is said and seen; `added` puts the sources before it.
    """

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
    def as_text(self) -> str:
        return spelt(self.name, self.value)


def spelt(name: str, value: Value) -> str:
    """A value as providers.yaml spells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return "unlimited" if value >= UNLIMITED else str(value)
    return value if FACT[name].values else f'"{value}"'


def cells_of(demands: Demands, findings: Sequence[CellFinding]) -> list[NewCell]:
    """One cell for each fact, in the order of the facts. Errors: Refused, with the cells that nobody may guess."""
    found = {each.cell: each for each in findings}
    cells = []
    missing = []
    for fact in FACTS:
        cell = _cell(fact.name, found.get(fact.name), demands)
        if cell is None:
            missing.append(fact.name)
        else:
            cells.append(cell)
    if missing:
        raise Refused([Problem("weft add", 1,
                               f"provider \"{demands.provider}\": neither claimed nor shown is {', '.join(missing)}, "
                               "and no value of that is safe to assume: add the row by hand")])
    return cells


def _cell(name: str, found: CellFinding | None, demands: Demands) -> NewCell | None:
    given: dict[str, Value] = {"provider": demands.provider, "fabric_name": demands.fabric_name,
                               "endpoint_type": demands.endpoint_type}
    if name in given:
        return NewCell(name, given[name], "", "as asked for and returned", "", None)
    value = found.value if found else None
    if found and (found.lost or found.gone or (found.one_sided and found.shown is True)):
        value = None  # a claim is not believed where the behaviour that shows it was lost
    if found is None or value is None:
        if name not in SAFE:
            return None
        return NewCell(name, SAFE[name], "", "", found.why_not if found and found.why_not else "no probe shows it",
                       None)
    claimed = found.claim if found.claimed is not None else ""
    observed = found.test if found.shown is not None else ""
    return NewCell(name, value, claimed, observed, "" if claimed or observed else _TAKEN,
                   found.claimed if found.differs and observed else None)


def consistent(cells: Sequence[NewCell]) -> list[NewCell]:
    """Where atomics were not proved, there are no operations of them."""
    none = any(cell.name == "atomics" and cell.value == "none" for cell in cells)
    return [NewCell(cell.name, "none", "", "", "atomics is none", None)
            if none and cell.name == "atomic_operations" and cell.value != "none" else cell for cell in cells]


def added(matrix: str, name: str, cells: Sequence[NewCell], demands: Demands, made: Provenance) -> str:
    """The matrix with the row at its end, and with the sources that the row cites."""
    matrix, run = with_source(matrix, source_name(made), source_of(made))
    matrix, library = with_source(matrix, plain_name(made.library), Source("claimed", sentence(made.library)))
    matrix, safe = with_source(matrix, "assumed", Source("copied", "assumed, as the safe value"))
    return without_unused(matrix.rstrip("\n") + "\n\n" + _row_text(name, cells, demands, made, (library, run, safe)))


def _row_text(name: str, cells: Sequence[NewCell], demands: Demands, made: Provenance,
              sources: tuple[str, str, str]) -> str:
    """The row, as a person would write it."""
    library, run, safe = sources
    release = ".".join(made.library.split()[-1].split(".")[:2])
    kind = "Connected" if demands.endpoint_type == "connected" else "Addressed"
    lines = [f"{name}:",
             pair("summary", f"{kind} endpoints of the provider {sentence(demands.provider)}, as a probe found it.", 2),
             "  backend: libfabric", entry("library", [("since", release, True), ("observed", f"[{run}]", True)], 2)]
    if demands.settings:
        lines.append("  settings:")
        lines += [entry(key, [("value", value, True), ("reason", "probed with it", True)], 4)
                  for key, value in demands.settings.items()]
    lines.append("  facts:")
    for cell in consistent(cells):
        parts: list[Part] = [_part("is", cell.name, cell.value)]
        if cell.differs is not None:
            parts.append(_part("claimed_value", cell.name, cell.differs))
        if cell.claimed:
            parts.append(("claimed", citing(library, cell.claimed), True))
        if cell.observed:
            parts.append(("observed", citing(run, cell.observed), True))
        if cell.copied:
            parts.append(("copied", f"taken from [{run}]" if cell.copied == _TAKEN else citing(safe, cell.copied),
                          True))
        lines.append(entry(cell.name, parts, 4))
    return "\n".join(lines) + "\n"


def _part(key: str, name: str, value: Value) -> Part:
    return (key, str(value), True) if FACT[name].cpp == "text" else (key, spelt(name, value), False)
