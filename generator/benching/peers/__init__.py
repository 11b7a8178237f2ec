# SPDX-License-Identifier: Apache-2.0
"""weft, other libraries, hand-written code and the machine's floors, compared in one run: `weft bench --peers`."""
from .command import play_peers

__all__ = ["play_peers"]
