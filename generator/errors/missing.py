# SPDX-License-Identifier: Apache-2.0
"""What a start says where a package of Python is missing. This file needs none."""
from __future__ import annotations

_PACKAGES = "python3-click python3-rich python3-ruamel.yaml python3-jsonschema python3-jinja2"


def sentence(missing: ModuleNotFoundError) -> str:
    return f"weft: Python's {missing.name} is missing: apt-get install {_PACKAGES}"
