# SPDX-License-Identifier: Apache-2.0
"""weft for Conan 2: `conan create packaging/conan`. Libraries of networks are those of the system."""
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.scm import Version
from conan.errors import ConanInvalidConfiguration

FILES = ["CMakeLists.txt", "LICENSE", "weft.h", "weft.hpp", "providers.yaml"]
FOLDERS = ["abi", "backends", "cmake", "compose", "core", "coroutines", "emulator", "event_loops", "generated",
           "history", "job", "policies", "probe", "threads", "transfers", "wire"]


class Weft(ConanFile):
    name = "weft"
    description = "Bytes between processes over any network fabric: headers for C++20, and libweft.so for C"
    license = "Apache-2.0"
    topics = ("rdma", "libfabric", "verbs", "network")
    package_type = "shared-library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "libfabric": [True, False], "verbs": [True, False],
               "authentication": [True, False]}
    default_options = {"shared": True, "libfabric": True, "verbs": False, "authentication": False}

    def set_version(self):
        lines = load(self, Path(self.recipe_folder, "..", "..", "core", "version.hpp")).splitlines()
        self.version = ".".join(line.split()[-1] for line in lines if line.startswith("#define WEFT_VERSION_"))

    def configure(self):
        if not self.options.shared:
            self.package_type = "header-library"

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("weft needs Linux")
        oldest = {"gcc": "12", "clang": "14"}.get(str(self.settings.compiler))
        if oldest and Version(self.settings.compiler.version) < oldest:
            raise ConanInvalidConfiguration(f"weft needs {self.settings.compiler} {oldest} or later")
        if self.settings.compiler.get_safe("cppstd"):
            check_min_cppstd(self, 20)

    def requirements(self):
        if self.options.authentication:
            self.requires("openssl/[>=3 <4]")

    def export_sources(self):
        root = str(Path(self.recipe_folder, "..", ".."))
        for each in (*FILES, *(f"{folder}/*" for folder in FOLDERS)):
            copy(self, each, root, self.export_sources_folder, excludes="*/__pycache__/*")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        chain = CMakeToolchain(self)
        backends = ["loopback", "mapped", "streams",
                    *(each for each in ("libfabric", "verbs") if self.options.get_safe(each))]
        chain.cache_variables["WEFT_BACKENDS"] = ";".join(backends)
        chain.cache_variables["WEFT_BUILD_SHARED"] = bool(self.options.shared)
        chain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_OpenSSL"] = not self.options.authentication
        chain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_PMIx"] = True
        for each in ("PYTHON", "TESTS", "BENCH", "EXAMPLES"):
            chain.cache_variables[f"WEFT_BUILD_{each}"] = False
        chain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        if self.options.shared:
            cmake.build(target="weft_shared")

    def package(self):
        copy(self, "LICENSE", self.source_folder, str(Path(self.package_folder, "licenses")))
        CMake(self).install()

    def package_info(self):
        # weft brings its own CMake package, with targets that Conan cannot describe.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/weft"]
        self.cpp_info.libs = ["weft"] if self.options.shared else []

    def package_id(self):
        if not self.info.options.shared:
            self.info.settings.clear()
