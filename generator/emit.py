# SPDX-License-Identifier: Apache-2.0
"""From decided rows to files.

Templates print and decide nothing: every name, number and sentence is made before them. No date, no tool's version, no
path of a machine: the same matrix and rules give the same bytes. A file is written only if its bytes differ.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from .browsing.site import site
from .decided import decide_all
from .header import header, struct_names
from .matrix.model import Fabric, Matrix
from .matrix.writing import replace
from .page import page, short_table
from .profile import profile
from .rules import Family
from .unordered import unordered
from .why_not import why_not


README = "README.md"
_SHORT_MATRIX = re.compile(r"<!-- matrix: .*?<!-- end of matrix -->\n", re.DOTALL)


def render(matrix: Matrix, families: tuple[Family, ...], templates: Path,
           readme: Path | None = None) -> dict[str, bytes]:
    """Every generated file: path below the output folder, and its bytes. For a README, the part between its marks.

    Errors: Refused.
    """
    decided = decide_all(matrix, families)
    environment = ImmutableSandboxedEnvironment(loader=FileSystemLoader(str(templates)), undefined=StrictUndefined,
                                                autoescape=lambda name: bool(name and name.endswith(".html.j2")),
                                                trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    of_profile = environment.get_template("profile.j2")
    files = {}
    if worst := unordered(matrix):
        files[f"generated/profiles/{worst.name}.profile"] = of_profile.render(profile=profile(worst))
    for each in decided:
        shown = header(each, families)
        files[f"generated/{each.fabric.name}.hpp"] = environment.get_template("fabric.hpp.j2").render(shown)
        refused = why_not(each, struct_names(each.fabric), families)
        files[f"generated/{each.fabric.name}.why_not.hpp"] = environment.get_template("why_not.hpp.j2").render(refused)
        if each.fabric.backend == "libfabric":
            files[f"generated/profiles/{each.fabric.name}.profile"] = of_profile.render(profile=profile(each.fabric))
    listed = [_cmake(each.fabric) for each in decided]
    files["generated/fabrics.cmake"] = environment.get_template("fabrics.cmake.j2").render(fabrics=listed)
    files["docs/matrix.md"] = environment.get_template("matrix.md.j2").render(page(decided, families))
    files["docs/reference/matrix.html"] = environment.get_template("matrix_site/matrix.html.j2").render(
        site(decided, families))
    text = readme.read_text("utf-8") if readme is not None and readme.is_file() else ""
    if _SHORT_MATRIX.search(text):
        short = environment.get_template("readme_matrix.md.j2").render(short_table(decided))
        files[README] = _SHORT_MATRIX.sub(lambda _: short, text, count=1)
    return {name: text.encode("utf-8") for name, text in files.items()}


def write(files: Mapping[str, bytes], output: Path) -> list[str]:
    """Writes what differs; returns the names of what it wrote."""
    written = []
    for name, data in files.items():
        path = output / name
        if path.is_file() and path.read_bytes() == data:
            continue
        replace(path, data)
        written.append(name)
    return written


def _cmake(fabric: Fabric) -> dict[str, str]:
    return {"name": fabric.name, "backend": fabric.backend, "since": str(fabric.since),
            "until": str(fabric.until or "")}
