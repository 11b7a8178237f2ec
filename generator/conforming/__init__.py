# SPDX-License-Identifier: Apache-2.0
"""`weft conformance`: what is promised, which tests show it, and how those ended on each fabric."""
