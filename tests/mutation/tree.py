# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree in which mutants are planted. The tree itself is never changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

from mutants import Mutant


class Copy:
    """The copy at `at`. Files that did not change keep their time, so builds stay incremental."""

    def __init__(self, root: Path, at: Path) -> None:
        self.root, self.at = root, at

    def refresh(self) -> None:
        """Makes the copy equal to the tree: its files of git, and new ones that git does not ignore."""
        names = self._git("ls-files", "-co", "--exclude-standard", "-z").split("\0")
        wanted = {name for name in names if name and (self.root / name).is_file()}
        kept = self.at / ".copied"
        before = set(kept.read_text("utf-8").splitlines()) if kept.exists() else set()
        for name in sorted(before - wanted):
            (self.at / name).unlink(missing_ok=True)
        for name in sorted(wanted):
            source, target = self.root / name, self.at / name
            content = source.read_bytes()
            if target.is_file() and target.read_bytes() == content:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod(source.stat().st_mode)
        kept.write_text("".join(f"{name}\n" for name in sorted(wanted)), encoding="utf-8")

    def plant(self, mutant: Mutant) -> None:
        """Errors: WrongList."""
        text = (self.root / mutant.file).read_text("utf-8")
        (self.at / mutant.file).write_text(mutant.applied(text), encoding="utf-8")

    def restore(self, mutant: Mutant) -> None:
        """The file gets a new time: an object of the mutant is then older than its source."""
        (self.at / mutant.file).write_bytes((self.root / mutant.file).read_bytes())

    def commit(self) -> str:
        """The tree's commit, with a + if files differ from it."""
        changed = self._git("status", "--porcelain").strip()
        return self._git("rev-parse", "--short=12", "HEAD").strip() + ("+" if changed else "")

    def _git(self, *words: str) -> str:
        done = subprocess.run(["git", "-C", str(self.root), *words], capture_output=True, text=True, check=True)
        return done.stdout
