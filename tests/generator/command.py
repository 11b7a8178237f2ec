# SPDX-License-Identifier: Apache-2.0
"""How tests run the command."""
from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

Run = Callable[..., "subprocess.CompletedProcess[str]"]  # the value of the fixture `weft`
_LAST_RESORT = 500.0


def run_limited(
    command: Sequence[str | Path],
    seconds: int = 60,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    text_in: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a command with a limit of processor time for each process. Other programs of a busy machine take none of it.

    A process over the limit is killed. A command that sleeps for ever ends at the last resort, in wall time.
    """
    return subprocess.run(
        command,
        input=text_in,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=env,
        timeout=_LAST_RESORT,
        check=False,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_CPU, (seconds, seconds)),
    )
