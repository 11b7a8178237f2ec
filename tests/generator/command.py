# SPDX-License-Identifier: Apache-2.0
"""How tests run the command."""
from __future__ import annotations

import subprocess
from collections.abc import Callable

Run = Callable[..., "subprocess.CompletedProcess[str]"]  # the value of the fixture `weft`
