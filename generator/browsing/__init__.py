# SPDX-License-Identifier: Apache-2.0
"""The matrix as a page that people filter in a browser: docs/reference/matrix.html, one file that needs no network."""
