# SPDX-License-Identifier: Apache-2.0
"""A provider without a row becomes a working fabric.

The provider is probed, and the row is written with its evidence. Then headers are generated, compiled and run.
row.py turns the findings of a probe into a row. trying.py builds and runs the conformance suites of the row.
command.py is `./weft add`.
"""
