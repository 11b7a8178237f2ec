# SPDX-License-Identifier: Apache-2.0
"""A provider that weft has never seen becomes a working fabric: probed, written down with its evidence, generated, compiled, run.

row.py turns what a probe found into a row; trying.py builds and runs the conformance suites of it; command.py is `./weft add`.
"""
