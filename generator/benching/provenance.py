# SPDX-License-Identifier: Apache-2.0
"""Where and with what a run was made: without it a figure says nothing."""
from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

from ..version import version_of

ROOT = Path(__file__).resolve().parents[2]
_CPUINFO = Path("/proc/cpuinfo")


def machine() -> dict[str, Any]:
    """Processor, cores that this process may use, kernel."""
    text = _CPUINFO.read_text("utf-8", errors="replace") if _CPUINFO.is_file() else ""
    model = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return {"processor": model.group(1).strip() if model else platform.machine(), "cores": len(os.sched_getaffinity(0)),
            "kernel": f"{platform.system()} {platform.release()}"}


def versions(library: str, compiler: str) -> dict[str, str]:
    """weft's own release with the commit, where there is one; library and compiler as the build found them."""
    return {"weft": version_of(ROOT) + _commit(), "library": library, "compiler": compiler}


def _commit() -> str:
    try:
        said = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"],
                              capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return f" ({said.stdout.strip()})" if said.returncode == 0 and said.stdout.strip() else ""


def load() -> list[float]:
    """Load averages over 1, 5 and 15 minutes."""
    return [round(each, 2) for each in os.getloadavg()]


def now() -> str:
    """Local time with its offset from UTC."""
    return datetime.now().astimezone().isoformat(timespec="seconds")
