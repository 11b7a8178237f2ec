# SPDX-License-Identifier: Apache-2.0
"""weft moves bytes between processes over any network fabric."""
