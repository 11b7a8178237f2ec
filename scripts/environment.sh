# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The other scripts source this file. It makes builds and tests independent of the caller's environment.
# Sets root, build_root, jobs, python. It does not call git, because the checkout may belong to another user.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
while IFS= read -r variable; do
  case $variable in
    # The presets choose compilers and build tools.
    CC | CXX | CPP | CFLAGS | CXXFLAGS | CPPFLAGS | LDFLAGS | CPATH | CPLUS_INCLUDE_PATH | C_INCLUDE_PATH | \
      LIBRARY_PATH | GCC_* | MAKEFLAGS | MAKELEVEL | NINJA_* | CMAKE_* | CTEST_* | DESTDIR | VERBOSE)
      unset "$variable" ;;
    # These change what a test means: filters, another Python's modules, settings of the fabrics, git's repository.
    GTEST_* | TESTBRIDGE_* | PYTHON* | PYTEST_* | VIRTUAL_ENV | FI_* | OFI_* | *SAN_OPTIONS | GIT_* | LD_PRELOAD)
      unset "$variable" ;;
  esac
done < <(compgen -e)
export LC_ALL=C.UTF-8
# Libraries that libfabric loads write *.btr files when a signal ends a process. Tests end many processes so.
export HFI_NO_BACKTRACE=1 IPATH_NO_BACKTRACE=1
unset CDPATH

# Debian's own Python has the packages; another `python3` on PATH may not.
# shellcheck disable=SC2034  # the scripts that source this file use it
python=/usr/bin/python3
export PYTHONDONTWRITEBYTECODE=1
jobs=$(nproc)
export CMAKE_BUILD_PARALLEL_LEVEL=$jobs

build_root=$root/build
if ! mkdir -p "$build_root" 2> /dev/null || [ ! -w "$build_root" ]; then
  build_root=${TMPDIR:-/tmp}/weft-build-$(id -u)
  echo "build: $root/build is not writable; using $build_root"
  mkdir -p "$build_root"
fi

# say <title of the next step>
say() { printf '\n== %s\n' "$*"; }

# configure <preset> [cmake option...]: configures $build_root/<preset>.
configure() {
  local preset=$1 directory=$build_root/$1
  shift
  # CMake refuses a build directory of a checkout that was copied or moved.
  local cache=$directory/CMakeCache.txt
  if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    echo "build: $directory belongs to another checkout; making it anew"
    rm -rf "$directory"
  fi
  say "configure: preset $preset, in $directory"
  (cd "$root" && cmake --preset "$preset" -B "$directory" "$@")
}

# build <preset> [cmake --build option...]
build() {
  local preset=$1
  shift
  say "build: preset $preset, $jobs jobs"
  cmake --build "$build_root/$preset" -j "$jobs" "$@"
}
