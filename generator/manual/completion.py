# SPDX-License-Identifier: Apache-2.0
"""Completes words of the command in bash, zsh and fish: click's own scripts, and names of fabrics and errors."""
from __future__ import annotations

import re
from collections.abc import Sequence

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from ..errors.catalogue import all_errors
from ..options import ROOT

SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
VARIABLE = "_WEFT_COMPLETE"
_ROW = re.compile(r"^([a-z][a-z0-9_]*):\s*$", re.MULTILINE)


def script(command: click.Command, shell: str) -> str:
    """What the shell reads at its start. The shell itself is not asked for its version."""
    found = SHELLS[shell](command, {}, "weft", VARIABLE)
    return found.source_template % found.source_vars()


def fabrics_and_errors(context: click.Context, parameter: click.Parameter, begun: str) -> Sequence[str]:
    """Names that begin so. The matrix is not read as YAML, which takes a second."""
    text = (ROOT / "providers.yaml").read_text("utf-8")
    names = [name for name in _ROW.findall(text) if name != "sources"]
    return [name for name in (*names, *(all_errors() if begun else ())) if name.startswith(begun)]
