# SPDX-License-Identifier: Apache-2.0
"""`./weft run`: starts the ranks of a job on this machine, or by ssh on others, and ends them together."""
