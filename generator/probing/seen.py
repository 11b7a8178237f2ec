# SPDX-License-Identifier: Apache-2.0
"""All findings of one provider, read by name: `seen.claim("key_bytes")`, `seen.fact("keys", "widest_key_bytes")`."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .findings import Finding

CLAIMS = "claims"


@dataclass(frozen=True)
class Seen:
    """Findings by the name of their behaviour; a behaviour that was not run is not there."""

    findings: Mapping[str, Finding]

    def claim(self, name: str) -> Any:
        return self.fact(CLAIMS, name)

    def fact(self, behaviour: str, name: str) -> Any:
        """The fact, or None where the behaviour was not run or ended before it."""
        found = self.findings.get(behaviour)
        return found.facts.get(name) if found else None

    def crashed(self, behaviour: str) -> bool:
        found = self.findings.get(behaviour)
        return found is not None and found.ended == "crashed"

    def refused(self, behaviour: str) -> bool:
        found = self.findings.get(behaviour)
        return found is not None and found.ended == "refused"

    def why_not(self, behaviours: tuple[str, ...]) -> str:
        """Why a cell that needs these behaviours was not shown."""
        reasons = []
        for name in behaviours:
            found = self.findings.get(name)
            if found is None:
                reasons.append(f"{name} was not run")
            elif found.ended != "shown":
                reasons.append(f"{name} {found.ended}: {found.why}")
        return "; ".join(reasons)
