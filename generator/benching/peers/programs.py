# SPDX-License-Identifier: Apache-2.0
"""The bench programs of this tree that a run needs, in a release build of their own. What cannot be built is reported.
"""
from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..building import Absent, folder_for

ROOT = Path(__file__).resolve().parents[3]
_SECONDS = 3600


@dataclass(frozen=True)
class Programs:
    """The folder of built programs, and the reason of each missing target."""

    folder: Path
    missing: dict[str, str]
    library: str
    compiler: str

    def path(self, target: str) -> Path:
        """The program of a target, in any folder."""
        name = target.split(".")[0]
        for part in ("bench", "examples"):
            for place in (self.folder / part).rglob(target):
                if place.is_file():
                    return place
        return self.folder / "bench" / name / target


def build(fabrics: Sequence[str], targets: Sequence[str], report: Callable[[str], None]) -> Programs:
    """Configures once, builds each target. Errors: Absent, where the tree cannot be configured."""
    folder = folder_for("peers", None)
    rows = dict.fromkeys(row for fabric in fabrics for row in fabric.split("_or_"))  # a set is named by its fabrics
    command = ["cmake", "--preset", "release", "-B", str(folder),
               f"-DWEFT_ONLY_FABRICS={';'.join([*rows, 'loopback'])}", "-DWEFT_GUEST_FABRICS="]
    configured = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if configured.returncode != 0:
        raise Absent(f"the bench programs cannot be configured: {_first_error(configured.stdout + configured.stderr)}: "
                     "scripts/setup bench installs what they need")
    known = _known(folder)
    wanted = [target for target in targets if target in known]
    missing = {target: "not built: this tree has no such bench here" for target in targets if target not in known}
    report(f"building {len(wanted)} programs in {folder} (of one the compiler has some 10 to 60 seconds)")
    done = subprocess.run(["cmake", "--build", str(folder), "--target", *wanted, "--", "-k", "0"], cwd=ROOT,
                          capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode != 0:
        failed = set(re.findall(r"FAILED: \S*?/CMakeFiles/([^/]+)\.dir/", done.stdout))
        missing |= {target: f"not built: {_first_error(done.stdout)}" for target in wanted if target in failed}
    return Programs(folder, missing, _library(configured.stdout), _compiler(folder))


def _known(folder: Path) -> set[str]:
    said = subprocess.run(["ninja", "-C", str(folder), "-t", "targets", "all"], capture_output=True, text=True,
                          timeout=120, check=False).stdout
    return {line.split(":")[0].split("/")[-1] for line in said.splitlines() if ":" in line}


def _first_error(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if "rror" in line or "Could not find" in line),
                text.strip()[-200:] or "it said nothing")


def _library(configured: str) -> str:
    return ", ".join(found.group(1) for found in re.finditer(r"weft: ((?:libfabric|rdma-core) \S+) \(",
                                                             configured)) or "none"


def _compiler(folder: Path) -> str:
    cache = (folder / "CMakeCache.txt").read_text("utf-8")
    found = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE)
    said = subprocess.run([found.group(1) if found else "c++", "--version"], capture_output=True, text=True, timeout=30,
                          check=False).stdout.splitlines()
    return said[0].strip() if said else "unknown"
