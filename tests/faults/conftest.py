# SPDX-License-Identifier: Apache-2.0
"""The tests import the modules of this folder."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
