# SPDX-License-Identifier: Apache-2.0
"""`weft conformance`: the promises, the tests that show each, and their results on each fabric."""
