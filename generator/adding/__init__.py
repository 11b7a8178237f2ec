# SPDX-License-Identifier: Apache-2.0
"""A provider without a row becomes a working fabric.

The provider is probed, and the row is made with its evidence. Then headers are generated, compiled and run, in a copy
of the tree. command.py is `./weft add`, adding.py has its steps, telling.py what it prints.
row.py turns the findings of a probe into a row. lacking.py says what a provider has not. staging.py copies the tree and
changes it at once. trying.py builds and runs the suites. blaming.py finds the cells that failed suites rest on.
interrupting.py ends everything when a signal comes.
"""
