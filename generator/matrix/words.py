# SPDX-License-Identifier: Apache-2.0
"""Cells whose text has a form: what is wrong with it."""
from __future__ import annotations

import re
from typing import Any

from .interfaces import unknown_format

_ASSIGNMENT = re.compile(r"[A-Z][A-Z0-9_]*=[^\s=]+")


def wrong_text(name: str, text: Any) -> str:
    """What is wrong with the text of a cell, where its words have a form; else empty."""
    if name == "address_formats" and (unknown := unknown_format(text)):
        return unknown
    if name == "write_immediate_setting" and text and not _ASSIGNMENT.fullmatch(text):
        return f'"{text}" is not of the form NAME=VALUE'
    if name in ("provider", "fabric_name") and text != text.strip():
        return f'"{text}" has blanks at its ends: write the name as fi_info prints it'
    return ""
