# SPDX-License-Identifier: Apache-2.0
"""Pictures of docs/, drawn from the code's own data. docs/reference/pages.py writes them and compares them.

Each module has one function that takes the tree's root and returns a picture as SVG. A picture has a title and a
description for readers who do not see it, and its own light and dark colours.
"""
