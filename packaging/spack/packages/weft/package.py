# SPDX-License-Identifier: Apache-2.0
"""weft for Spack: a variant for each backend. `spack repo add packaging/spack`, then `spack install weft`."""
from pathlib import Path

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage

CHECKOUT = Path(__file__).resolve().parents[4]


class Weft(CMakePackage):
    """Bytes between processes over any network fabric: headers for C++20, and libweft.so for C."""

    git = f"file://{CHECKOUT}"

    license("Apache-2.0")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    variant("shared", default=True, description="Build libweft.so, the library for C")
    variant("libfabric", default=True, description="Build fabrics over libfabric")
    variant("verbs", default=False, description="Build fabrics over rdma-core")
    variant("authentication", default=False, description="Let peers prove a shared secret (OpenSSL)")
    variant("pmix", default=False, description="Let processes of a job meet by PMIx")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    # Programs compile weft's headers, so they need those of the libraries too.
    depends_on("libfabric@1.15:", when="+libfabric")
    depends_on("rdma-core", when="+verbs")
    depends_on("openssl@3:", when="+authentication")
    depends_on("pmix", when="+pmix")

    conflicts("%gcc@:11", msg="weft needs g++ 12 or later")
    conflicts("%clang@:13", msg="weft needs clang 14 or later")
    conflicts("platform=windows", msg="weft needs Linux")
    conflicts("platform=darwin", msg="weft needs Linux")

    def cmake_args(self):
        backends = ["loopback", "mapped", "streams"]
        backends += [name for name in ("libfabric", "verbs") if self.spec.satisfies(f"+{name}")]
        return [
            self.define("WEFT_BACKENDS", backends),
            self.define_from_variant("WEFT_BUILD_SHARED", "shared"),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_OpenSSL", "+authentication" not in self.spec),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_PMIx", "+pmix" not in self.spec),
            self.define("WEFT_BUILD_PYTHON", False),
            self.define("WEFT_BUILD_TESTS", False),
            self.define("WEFT_BUILD_BENCH", False),
            self.define("WEFT_BUILD_EXAMPLES", False),
        ]
