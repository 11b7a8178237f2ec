# SPDX-License-Identifier: Apache-2.0
"""`weft list`: which fabrics and devices work on this machine. judging.py joins rows and the library's answer."""
