# SPDX-License-Identifier: Apache-2.0
"""Settings of Sphinx for the site. The pages are those of docs/; this folder holds those of the API."""

import logging
import os
import re
import sys
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

_root = Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
_version = (_root / "core/version.hpp").read_text("utf-8")

project = "weft"
author = "the authors of weft"
copyright = "the authors of weft, Apache-2.0"  # Sphinx wants this name
release = ".".join(re.findall(r"#define WEFT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", _version))

extensions = ["breathe", "myst_parser", "offline"]
root_doc = "index"
exclude_patterns = ["tables/*", "**/*.py"]
breathe_projects = {"weft": os.environ["WEFT_DOCS_OUTPUT"] + "/xml"}
breathe_default_project = "weft"
breathe_default_members = ("members",)
breathe_show_include = False

myst_heading_anchors = 3
suppress_warnings = ["myst.header"]

lexers["mermaid"] = TextLexer()  # a diagram of states: shown as text here

html_theme = "furo"
html_show_search_summary = False  # a page that is opened as a file may not read other files
html_title = f"weft {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]


class _LinksAreCheckedElsewhere(logging.Filter):
    """tests/static/docs.py checks links. Many lead out of docs/, where the site has nothing."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "'myst' reference target not found" not in record.getMessage()


def setup(app: Any) -> None:
    for handler in logging.getLogger("sphinx").handlers:
        handler.filters.insert(0, _LinksAreCheckedElsewhere())
