# SPDX-License-Identifier: Apache-2.0
"""Where a release of libfabric lives: a root of a Debian release, or a folder with a source that is built there.

Each has a weft-probe of its own, compiled against its headers. Everything is under build/releases/NAME.
"""
from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML

from ..matrix.loader import Problem, Refused

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "releases"
LIST = "generator/releasing/releases.yaml"
# Of a source, these providers are built: those of the software rows, and the layers above them.
_PROVIDERS = ("tcp", "udp", "rxm", "rxd", "shm", "sockets")
_COMPILE = "nice -n 10 g++ -std=c++20 -O0 {include} {unit} -o {program} {link} -lfabric"
_SECONDS = 3600


class Lacking(Refused):
    """The machine cannot have the release: a reason to skip it, and no failure."""

    def __init__(self, sentence: str) -> None:
        super().__init__([Problem("scripts/releases", 1, sentence)])


@dataclass(frozen=True)
class Place:
    """`suite`: the code name of a Debian release, or nothing. `source`: the folder of a source, or none."""

    name: str
    suite: str = ""
    source: Path | None = None

    @property
    def folder(self) -> Path:
        return BUILD / self.name

    @property
    def what(self) -> str:
        """Where the library came from, in words."""
        return f"Debian's package, {self.suite}" if self.suite else "built from its source"

    def make(self) -> None:
        """Makes the root, or builds the source, where that was not done. Errors: Lacking; Refused."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.source is not None:
            self._build(self.source)
            return
        if shutil.which("debootstrap") is None and not (self.folder / "root").is_dir():
            raise Lacking(f'{self.name}: debootstrap is not installed; "scripts/setup ci" installs it')
        (self.folder / "build").mkdir(exist_ok=True)
        script = f'. "$root/scripts/environment.sh"; {self._variables()}; {_SOURCED}; require_namespaces; make_tree'
        done = _run(["nice", "-n", "10", "bash", "-c", f"set -euo pipefail; root={shlex.quote(str(ROOT))}; {script}"])
        if done.returncode == 77:
            raise Lacking(f"{self.name}: {_last(done.stderr)}")
        if done.returncode != 0:
            raise Refused([Problem("scripts/releases", 1, f"{self.name}: no root: {_last(done.stderr)}")])

    def program(self) -> Path:
        """A weft-probe of this release, compiled anew where its sources changed. Errors: Refused."""
        program, unit = self.folder / "build" / "weft-probe", self.folder / "build" / "probe.cpp"
        parts = [*sorted((ROOT / "probe").glob("*.cpp")), *sorted((ROOT / "probe" / "showing").glob("*.cpp"))]
        newest = max(path.stat().st_mtime for path in (ROOT / "probe").rglob("*.?pp"))
        shown = Path("/weft") if self.suite else ROOT
        unit.parent.mkdir(parents=True, exist_ok=True)
        # One unit: parsing the JSON library takes most of the time.
        unit.write_text("".join(f'#include "{shown / part.relative_to(ROOT)}"\n' for part in parts), encoding="utf-8")
        if not program.exists() or program.stat().st_mtime < newest:
            done = _run(self._compiling())
            if done.returncode != 0:
                first = next((line for line in done.stderr.splitlines() if "rror" in line), _last(done.stderr))
                raise Refused([Problem("probe", 1, f"{self.name}: weft-probe cannot be compiled: {first}")])
        if not self.suite:
            return program
        entry = self.folder / "weft-probe"
        entry.write_text("#!/usr/bin/env bash\n"
                         f"root={shlex.quote(str(ROOT))}; {self._variables()}; {_SOURCED}; "
                         'inside /build/weft-probe "$@"\n', encoding="utf-8")
        entry.chmod(0o755)
        return entry

    def _compiling(self) -> list[str]:
        """The command that compiles build/weft-probe. Header-only libraries are those of this machine."""
        if not self.suite:
            installed = self.folder / "installed"
            found = next(installed.glob("lib*/libfabric.so"), None)
            if found is None:
                raise Refused([Problem("scripts/releases", 1, f"{self.name} is not built: the part make builds it")])
            library = found.parent
            return shlex.split(_COMPILE.format(
                include=f"-I{shlex.quote(str(installed / 'include'))}",
                unit=shlex.quote(str(self.folder / "build" / "probe.cpp")),
                program=shlex.quote(str(self.folder / "build" / "weft-probe")),
                link=shlex.quote(f"-L{library}") + " " + shlex.quote(f"-Wl,-rpath,{library}")))
        for header in ("CLI", "nlohmann"):
            here = Path("/usr/include") / header
            if not here.is_dir():
                raise Lacking(f"{here} is missing: scripts/setup installs it (libcli11-dev, nlohmann-json3-dev)")
            shutil.copytree(here, self.folder / "build" / "include" / header, dirs_exist_ok=True)
        words = _COMPILE.format(include="-I/build/include", unit="/build/probe.cpp", program="/build/weft-probe",
                                link="")
        return self.entering(words)

    def entering(self, words: str) -> list[str]:
        """The command that runs words of the shell in the root of a Debian release. make() comes first."""
        return ["bash", "-c", f"root={shlex.quote(str(ROOT))}; {self._variables()}; {_SOURCED}; inside {words}"]

    def _variables(self) -> str:
        """Those of scripts/debian_root.sh."""
        return (f"caller=scripts/releases release={shlex.quote(self.suite)} packages=(g++ libfabric-dev) "
                f'cache="$root/build/releases/{self.name}" tree="$root/build/releases/{self.name}/root"')

    def _build(self, source: Path) -> None:
        """Copies the source, and builds the copy. Errors: Refused, with the builder's last line."""
        if any((self.folder / "installed").glob("lib*/libfabric.so")):
            return
        copy = self.folder / "source"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(source, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        chosen = " ".join(f"--enable-{name}" for name in _PROVIDERS)
        steps = ([] if (copy / "configure").exists() else ["./autogen.sh"])
        steps += [f"./configure --prefix={shlex.quote(str(self.folder / 'installed'))} --enable-only {chosen} "
                  "--disable-static CFLAGS=-O2", "make -j1", "make install"]
        with (self.folder / "build.txt").open("w", encoding="utf-8") as log:
            for step in steps:
                done = subprocess.run(f"nice -n 10 {step}", shell=True, cwd=copy, stdout=log, stderr=log,
                                      stdin=subprocess.DEVNULL, check=False, timeout=_SECONDS)
                if done.returncode != 0:
                    log.flush()
                    last = _last((self.folder / "build.txt").read_text("utf-8", "replace"))
                    raise Refused([Problem(str(source), 1, f"libfabric cannot be built: {step.split()[0]} says: {last} "
                                                           f"(the whole log is {self.folder / 'build.txt'})")])


_SOURCED = '. "$root/scripts/debian_root.sh"'


def places(sources: Sequence[Path]) -> tuple[Place, ...]:
    """The roots of generator/releasing/releases.yaml, and one for each source. Errors: Refused."""
    roots = YAML(typ="safe").load((ROOT / LIST).read_text("utf-8"))["roots"]
    return (*(Place(name, suite) for name, suite in roots.items()), *map(place_of_source, sources))


def place_of_source(source: Path) -> Place:
    """Named for the release that the source says it is. Errors: Refused, where it is no source of libfabric."""
    listed = source / "configure.ac"
    said = re.search(r"AC_INIT\(\[libfabric\], *\[([0-9][0-9a-z.]*)\]", listed.read_text("utf-8")) \
        if listed.is_file() else None
    if said is None:
        raise Refused([Problem(str(source), 1, "is no source of libfabric: it has no configure.ac that names libfabric "
                                               "and its release")])
    return Place(f"source-{said[1]}", source=source.resolve())


def rows() -> tuple[str, ...]:
    """The rows that every release is probed for."""
    return tuple(YAML(typ="safe").load((ROOT / LIST).read_text("utf-8"))["rows"])


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=_SECONDS, errors="replace", env={**os.environ, "LC_ALL": "C.UTF-8"})
    except subprocess.TimeoutExpired:
        raise Refused([Problem("scripts/releases", 1, f"{command[0]} did not end in an hour")]) from None


def _last(text: str) -> str:
    lines: Iterable[str] = (line.strip() for line in reversed(text.splitlines()))
    return next((line.removeprefix("scripts/releases: ") for line in lines if line), "no word")
