# SPDX-License-Identifier: Apache-2.0
"""What a campaign knows already: a file in build/, so that a campaign continues where it was interrupted."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from mutants import Mutant
from running import KILLED, LATE


@dataclass(frozen=True)
class Kept:
    """One judged mutant. It counts as long as `key` is its own; --resume also asks for an unchanged file."""

    key: str
    content: str  # hash of the file without the mutant
    verdict: str
    by: str
    seconds: float
    date: str
    commit: str


class State:
    """Verdicts by mutant; written after each one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kept: dict[str, Kept] = {}
        if path.exists():
            self.kept = {name: Kept(**each) for name, each in json.loads(path.read_text("utf-8")).items()}

    def keep(self, mutant: Mutant, judged: Kept) -> None:
        self.kept[mutant.id] = judged
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps({name: asdict(each) for name, each in sorted(self.kept.items())}, indent=1) + "\n")
        fresh.replace(self.path)

    def valid(self, mutant: Mutant) -> Kept | None:
        """The last verdict on this mutant, if the mutant and its tests are still the same."""
        found = self.kept.get(mutant.id)
        return found if found is not None and found.key == mutant.key() else None

    def done(self, mutant: Mutant, root: Path) -> bool:
        """Whether a continued campaign skips the mutant: it was killed, in the same file. Survivors run again."""
        found = self.valid(mutant)
        return (
            found is not None
            and found.verdict in (KILLED, LATE)
            and found.content == content_of(root / mutant.file)
        )


def content_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
