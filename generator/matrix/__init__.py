# SPDX-License-Identifier: Apache-2.0
"""providers.yaml: read, checked, understood and written.

Read: loader (text to tree with line numbers), facts (the cells), schema (shape), refusing (what does not fit).
Understood: sources (citations), measured (benches), model (meaning), trust (how far a cell is believed).
Written: layout, for the commands that edit the file.
"""
