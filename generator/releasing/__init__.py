# SPDX-License-Identifier: Apache-2.0
"""Every release of libfabric that can be had: built or installed, probed row by row, and compared (scripts/releases).
"""
