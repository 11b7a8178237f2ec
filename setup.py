# SPDX-License-Identifier: Apache-2.0
"""What the wheel holds: package weft, and below weft/_tree the generator with the files that it reads.

These files lie below weft/_tree as they lie in a checkout, so the generator finds them in the same way in both. Where
CMake, pybind11 and Python's headers are there, the wheel also has the extension and libweft.so. It never has libfabric.
WEFT_BUILD names a build directory that has them already.
"""
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Distribution, find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
READ = ["providers.yaml", "cmake/headers.cmake", "core/facts.hpp", "core/version.hpp", "emulator/interfaces.yaml",
        "generated/profiles/*", "templates/*.j2", "templates/*/*"]
PYBIND11 = ("/usr/lib/cmake/pybind11", "/usr/share/cmake/pybind11", "/usr/local/share/cmake/pybind11")


def has_library() -> bool:
    """Whether the wheel gets the extension."""
    return "WEFT_BUILD" in os.environ or (
        (ROOT / "CMakeLists.txt").is_file() and shutil.which("cmake") is not None
        and any(Path(folder).is_dir() for folder in PYBIND11)
        and Path(sysconfig.get_paths()["include"], "Python.h").is_file())


class Wheel(Distribution):  # type: ignore[misc]
    """A wheel for one Python on one kind of machine, if it has the extension."""

    def has_ext_modules(self) -> bool:
        return has_library()


class Build(build_py):  # type: ignore[misc]
    """Python's files, then the extension and its library."""

    def run(self) -> None:
        super().run()
        if not has_library():
            print("weft: no extension in the wheel: CMake, pybind11-dev or python3-dev is missing", file=sys.stderr)
            return
        folder = os.environ.get("WEFT_BUILD")
        if folder is None:
            folder = str(ROOT / "build" / "wheel-library")
            subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DWEFT_BUILD_TESTS=OFF",
                            "-DWEFT_BUILD_BENCH=OFF", "-DWEFT_BUILD_EXAMPLES=OFF", "-DWEFT_INSTALL=OFF",
                            f"-DPython_EXECUTABLE={sys.executable}"], check=True)
            subprocess.run(["cmake", "--build", folder, "--target", "weft_python"], check=True)
        place = Path(self.build_lib) / "weft"
        subprocess.run(["cmake", "--install", folder, "--component", "wheel", "--prefix", place], check=True)


setup(
    cmdclass={"build_py": Build},
    distclass=Wheel,
    packages=["weft", "weft._tree", *(f"weft._tree.{name}" for name in find_packages(include=["generator*"]))],
    package_dir={"weft": "python/weft", "weft._tree": "."},
    package_data={"weft": ["py.typed", "*.pyi"], "weft._tree": READ,
                  "weft._tree.generator": ["*.yaml", "*/*.yaml", "*/*/*.yaml", "schemas/*.json"]},
    include_package_data=False,
)
