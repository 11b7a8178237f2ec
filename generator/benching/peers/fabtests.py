# SPDX-License-Identifier: Apache-2.0
"""fabtests from a checked-out source: Debian has no package. The build is in a copy, so the checkout stays as it is."""
from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from .programs import ROOT

PROGRAMS = ("fi_msg_pingpong", "fi_rdm_pingpong")
_SECONDS = 900


class NotBuilt(Exception):
    """The source is no fabtests, or a step of its build failed; the sentence names the step and its last line."""


def built(source: Path, report: Callable[[str], None]) -> Path:
    """The folder of fabtests' programs, built from that folder (or its `fabtests` folder). Errors: NotBuilt."""
    place = next((each for each in (source, source / "fabtests") if _is_fabtests(each)), None)
    if place is None:
        raise NotBuilt(f"{source} is no source of fabtests: neither it nor its folder fabtests has a configure.ac of "
                       "that name; check out libfabric, and give its folder")
    folder = ROOT / "build" / "fabtests" / hashlib.sha256(str(place.resolve()).encode()).hexdigest()[:12]
    if not (folder / "configure.ac").exists():
        shutil.copytree(place, folder, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    report(f"builds {' and '.join(PROGRAMS)} of {place} in {folder}")
    if not (folder / "Makefile").exists():
        _step(["./autogen.sh"], folder)
        _step(["./configure"], folder)
    _step(["make", *(f"benchmarks/{each}" for each in PROGRAMS)], folder)
    return folder / "benchmarks"


def _is_fabtests(folder: Path) -> bool:
    file = folder / "configure.ac"
    return file.is_file() and "AC_INIT([fabtests]" in file.read_text("utf-8", "replace")


def _step(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotBuilt(f"{command[0]} of fabtests cannot be run: {error}") from None
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise NotBuilt(f"{command[0]} of fabtests failed: {lines[-1] if lines else 'it said nothing'} (scripts/setup "
                       "bench installs what the build needs)")
