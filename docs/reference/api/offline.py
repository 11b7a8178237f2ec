# SPDX-License-Identifier: Apache-2.0
"""An extension of Sphinx: the site works when it is opened as a file, without a server and without a network.

Debian 12's furo expects a server. Its script is a module, which a browser does not load from a file. Its sheet of
styles imports an address of Debian's Apache, and has lost the rules for readers whose system is dark. All three are
mended in the built site. A release of furo that has them right stays as it is; tests/site judges the result.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

_NORMALIZE = Path("/usr/share/javascript/normalize.css/normalize.css")
_IMPORT_OF_APACHE = "@import url(/javascript/normalize.css/normalize.css);"
_DARK = re.compile(r'body\[data-theme="dark"\] \{([^}]*)\}')


def _mend(app: Any, failure: Exception | None) -> None:
    if failure is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    _mend_script(static / "scripts" / "furo.js")
    _mend_styles(static / "styles")


def _mend_script(script: Path) -> None:
    """A plain script before it (setup) makes the name that the module would import."""
    text = script.read_text("utf-8")
    script.write_text(text.replace('import Gumshoe from "./gumshoe-patched.js";', ""), encoding="utf-8")


def _mend_styles(folder: Path) -> None:
    sheet = folder / "furo.css"
    text = sheet.read_text("utf-8")
    if _IMPORT_OF_APACHE in text:
        text = text.replace(_IMPORT_OF_APACHE, "@import url(normalize.css);")
        shutil.copyfile(_NORMALIZE, folder / "normalize.css")
    dark = _DARK.search(text)
    if dark and "prefers-color-scheme" not in text:
        text += ("\n@media not print { @media (prefers-color-scheme: dark) {\n"
                 f'  body:not([data-theme="light"]) {{{dark[1]}}}\n'
                 '  html body:not([data-theme="light"]) .only-light { display: none !important; }\n'
                 '  body:not([data-theme="light"]) .only-dark { display: block !important; } } }\n')
    sheet.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.add_js_file("scripts/gumshoe-patched.js", priority=100)
    app.connect("build-finished", _mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
