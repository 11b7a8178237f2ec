# SPDX-License-Identifier: Apache-2.0
"""`./weft clean`: shared memory that killed processes left behind."""
