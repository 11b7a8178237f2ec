#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# pkg_config.sh <directory of .pc files> <compiler> <source> <binary> <version> <package...>: builds and runs a program
# with the flags of these packages alone, and compares the version that weft.pc states.
set -eu
PKG_CONFIG_PATH=$1
export PKG_CONFIG_PATH
stated=$(pkg-config --modversion weft)
if [ "$stated" != "$5" ]; then
  echo "weft.pc states version $stated; the project is version $5" >&2
  exit 1
fi
compiler=$2 source=$3 binary=$4
shift 5
# shellcheck disable=SC2046  # the flags are several words
"$compiler" -o "$binary" "$source" $(pkg-config --cflags --libs "$@")
"$binary"
