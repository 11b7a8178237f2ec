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
        """The fact, or None unless the behaviour came to its end: what a lost one had told proves nothing."""
        found = self.findings.get(behaviour)
        return found.facts.get(name) if found and found.ended == "shown" else None

    def told(self, behaviour: str, name: str) -> Any:
        """The fact, also of a behaviour that ended before its end."""
        found = self.findings.get(behaviour)
        return found.facts.get(name) if found else None

    def ran(self, behaviour: str) -> bool:
        return behaviour in self.findings

    def lost(self, behaviours: tuple[str, ...]) -> bool:
        """One of them was run and did not come to its end."""
        return any(self.findings[name].ended != "shown" for name in behaviours if name in self.findings)

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
