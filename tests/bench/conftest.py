# SPDX-License-Identifier: Apache-2.0
"""Puts the modules of bench/instructions/gate where the tests import them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "instructions" / "gate"))
