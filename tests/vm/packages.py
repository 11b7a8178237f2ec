# SPDX-License-Identifier: Apache-2.0
"""Debian's packages, fetched and unpacked into a folder. Nothing is installed, so an ordinary user can do it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


class cannot(Exception):
    """This machine cannot host the guest; the text says why, and what would help."""


class failed(Exception):
    """A step failed; the text names it."""


def run(command: list[str], deadline: float, folder: Path | None = None) -> str:
    """The command's standard output. Raises failed with its last lines."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=deadline, check=False)
    except subprocess.TimeoutExpired as late:
        raise failed(f"{' '.join(command)}: not done within {deadline:.0f} s") from late
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines()[-12:]
        raise failed(f"{' '.join(command)}: exit {done.returncode}\n  " + "\n  ".join(said))
    return done.stdout


class archive:
    """apt's lists: the system's, or, where those are missing or too old, lists of its own in the cache folder."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._options: list[str] = ["-o", "APT::Sandbox::User=root"]

    def depends(self, package: str) -> list[str]:
        """The package's dependencies, by name; they contain the kernel's version."""
        said = self._either(["apt-cache", "depends", package])
        return re.findall(r"^\s*Depends: ([^<\s]+)", said, re.MULTILINE)

    def fetch(self, package: str, into: Path) -> Path:
        """Downloads the package's candidate version. Returns: the file."""
        into.mkdir(parents=True, exist_ok=True)
        for old in into.glob(f"{package}_*.deb"):
            old.unlink()
        self._either(["apt-get", "-q", "download", package], folder=into)
        files = list(into.glob(f"{package}_*.deb"))
        if len(files) != 1:
            raise failed(f"apt-get download {package}: expected one file in {into}, found {len(files)}")
        return files[0]

    def _either(self, command: list[str], folder: Path | None = None) -> str:
        try:
            said = run([command[0], *self._options, *command[1:]], 600, folder)
            if said.strip() or command[0] != "apt-cache":
                return said
        except failed:
            if self._private():
                raise
        if self._private():
            return said
        self._update()
        return self._either(command, folder)

    def _private(self) -> bool:
        return len(self._options) > 2

    def _update(self) -> None:
        state = self._cache / "apt"
        for folder in ("state/lists/partial", "cache/archives/partial"):
            (state / folder).mkdir(parents=True, exist_ok=True)
        self._options += [
            "-o",
            f"Dir::State={state}/state",
            "-o",
            "Dir::State::status=/var/lib/dpkg/status",
            "-o",
            f"Dir::Cache={state}/cache",
        ]
        run(["apt-get", *self._options, "-q", "update"], 600)


def unpack(package: Path, into: Path) -> None:
    """Extracts the package's files below a folder."""
    into.mkdir(parents=True, exist_ok=True)
    run(["dpkg-deb", "-x", str(package), str(into)], 300)
