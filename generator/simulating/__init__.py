# SPDX-License-Identifier: Apache-2.0
"""`weft simulate`: many seeds of whole systems in virtual time."""
