# SPDX-License-Identifier: Apache-2.0
"""Soft-iWARP's kernel module, which Debian's kernels leave out.

It is built from Debian's own kernel source, which is only unpacked.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from packages import archive, failed, run, unpack

MAKEFILE = """obj-m := siw.o
siw-y := {objects}
"""


def build(debian: archive, release: str, into: Path, cache: Path) -> None:
    """Builds siw.ko for the kernel release. Downloads about 200 MB, which are removed afterwards."""
    work = cache / "siw-work"
    shutil.rmtree(work, ignore_errors=True)
    headers = f"linux-headers-{release}"
    tools = [name for name in debian.depends(headers) if re.match(r"linux-(headers|kbuild)-", name)]
    for package in (headers, *tools):
        unpack(debian.fetch(package, work / "downloads"), work / "root")
    folder = _source(debian, work)
    objects = sorted(each.with_suffix(".o").name for each in folder.glob("siw_*.c"))
    (folder / "Makefile").write_text(MAKEFILE.format(objects=" ".join(objects)))
    tree = work / "root/usr/src" / headers
    # Debian's headers name each other by their installed paths.
    makefile = tree / "Makefile"
    makefile.write_text(makefile.read_text().replace("/usr/src", str(work / "root/usr/src")))
    run(["make", "-C", str(tree), f"M={folder}", "-j2", "modules"], 300)
    if not (folder / "siw.ko").exists():
        raise failed(f"make left no siw.ko in {folder}")
    shutil.copy(folder / "siw.ko", into)
    shutil.rmtree(work)


def _source(debian: archive, work: Path) -> Path:
    package = next((name for name in debian.depends("linux-source") if name.startswith("linux-source-")), "")
    if not package:
        raise failed("apt knows no package linux-source, which soft-iWARP's module is built from")
    unpack(debian.fetch(package, work / "downloads"), work / "root")
    siw = f"{package}/drivers/infiniband/sw/siw"
    run(["tar", "-C", str(work), "-xf", str(work / f"root/usr/src/{package}.tar.xz"), siw], 300)
    return work / siw
