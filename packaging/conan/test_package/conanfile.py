# SPDX-License-Identifier: Apache-2.0
"""A user of the Conan package: the programs of tests/consumer."""
from pathlib import Path

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class Consumer(ConanFile):
    settings = "os", "compiler", "build_type", "arch"
    generators = "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        chain = CMakeToolchain(self)
        chain.user_presets_path = False  # it would be a file of the checkout
        chain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            for program in sorted(Path(self.cpp.build.bindir).glob("in_c*")):
                self.run(str(program.resolve()), env="conanrun")
