# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Read by the other scripts (`. scripts/environment.sh`): the same build and the same tests whatever the caller's environment.
# Sets root, build_root, jobs, python. No git: the checkout may belong to another user.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
while IFS= read -r variable; do
  case $variable in
    # Compilers and build tools are the presets' choice.
    CC | CXX | CPP | CFLAGS | CXXFLAGS | CPPFLAGS | LDFLAGS | CPATH | CPLUS_INCLUDE_PATH | C_INCLUDE_PATH | LIBRARY_PATH | GCC_* | \
      MAKEFLAGS | MAKELEVEL | NINJA_* | CMAKE_* | CTEST_* | DESTDIR | VERBOSE) unset "$variable" ;;
    # What would change a test's meaning: filters, another Python's modules, settings of the fabrics, git's idea of a repository.
    GTEST_* | TESTBRIDGE_* | PYTHON* | PYTEST_* | VIRTUAL_ENV | FI_* | OFI_* | *SAN_OPTIONS | GIT_* | LD_PRELOAD) unset "$variable" ;;
  esac
done < <(compgen -e)
export LC_ALL=C.UTF-8
# Libraries that libfabric loads for other fabrics leave *.btr files behind when a process is ended by a signal; tests do that a lot.
export HFI_NO_BACKTRACE=1 IPATH_NO_BACKTRACE=1
unset CDPATH

# Debian's own, whatever `python3` means on PATH: it is the one that has the packages.
# shellcheck disable=SC2034  # used by the scripts that read this file
python=/usr/bin/python3
export PYTHONDONTWRITEBYTECODE=1
jobs=$(nproc)
export CMAKE_BUILD_PARALLEL_LEVEL=$jobs

build_root=$root/build
if ! mkdir -p "$build_root" 2> /dev/null || [ ! -w "$build_root" ]; then
  build_root=${TMPDIR:-/tmp}/weft-build-$(id -u)
  echo "build: $root/build cannot be written, so $build_root is used"
  mkdir -p "$build_root"
fi

# say <what happens next>
say() { printf '\n== %s\n' "$*"; }

# configure <preset> [cmake option...]: into $build_root/<preset>.
configure() {
  local preset=$1 directory=$build_root/$1
  shift
  # A build directory that was made for another place (a copied or moved checkout) cannot be used again.
  if [ -f "$directory/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$directory/CMakeCache.txt"; then
    echo "build: $directory was made for another checkout, and is made anew"
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
