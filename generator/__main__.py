# SPDX-License-Identifier: Apache-2.0
"""`python3 -m generator`: the same as ./weft."""
from .cli import main

main()
