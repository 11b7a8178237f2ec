# SPDX-License-Identifier: Apache-2.0
"""What the wheel holds: package weft, and below weft/_tree the generator with the files that it reads.

These files lie below weft/_tree as they lie in a checkout, so the generator finds them in the same way in both.
"""
from setuptools import find_packages, setup

READ = ["providers.yaml", "cmake/headers.cmake", "core/facts.hpp", "core/version.hpp", "emulator/interfaces.yaml",
        "generated/profiles/*", "templates/*.j2", "templates/*/*"]

setup(
    packages=["weft", "weft._tree", *(f"weft._tree.{name}" for name in find_packages(include=["generator*"]))],
    package_dir={"weft": "python/weft", "weft._tree": "."},
    package_data={"weft": ["py.typed", "*.pyi"], "weft._tree": READ,
                  "weft._tree.generator": ["*.yaml", "*/*.yaml", "*/*/*.yaml", "schemas/*.json"]},
    include_package_data=False,
)
