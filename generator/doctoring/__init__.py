# SPDX-License-Identifier: Apache-2.0
"""`weft doctor`: what is on this machine, what is missing, and what mends it.

machine.py reads files below a root, so that a test plants a fault in a folder of its own. library.py asks libfabric in
a process of its own. limits.py judges limits, cards.py judges devices, fabrics.py judges libraries. Each check is a
function from a machine to findings.
"""
