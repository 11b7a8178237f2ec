# SPDX-License-Identifier: Apache-2.0
"""How tests run the command."""
from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

Run = Callable[..., "subprocess.CompletedProcess[str]"]  # the value of the fixture `weft`
_LAST_RESORT = 500  # seconds of wall time


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


def run_forked(
    command: Callable[[], NoReturn], arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], seconds: int = 60
) -> subprocess.CompletedProcess[str]:
    """Runs weft's `command` in a fork of this process, which has its modules: a start takes most of a short call.

    The limits are those of `run_limited`. Both outputs are files.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            _become(command, arguments, cwd, env, (out.fileno(), errors.fileno()), seconds)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(["weft", *arguments], code, out.read().decode(), errors.read().decode())


def _become(
    command: Callable[[], NoReturn],
    arguments: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    outputs: tuple[int, int],
    seconds: int,
) -> NoReturn:
    code: object = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        signal.alarm(_LAST_RESORT)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(outputs[0], 1)
        os.dup2(outputs[1], 2)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # the test's own are pytest's
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        sys.argv = ["weft", *arguments]
        command()
    except SystemExit as ending:
        code = ending.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
    except BaseException:  # noqa: BLE001  nothing of the child may reach the test that forked it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)
