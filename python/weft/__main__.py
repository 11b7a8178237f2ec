# SPDX-License-Identifier: Apache-2.0
"""`python3 -m weft`: the command `weft`, of an installed package."""
from weft._tree.generator.cli import main

main()
