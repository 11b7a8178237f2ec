#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# pkg_config.sh <directory of .pc files> <compiler> <source> <binary> <version>: builds and runs a program with the
# flags of weft-loopback.pc alone, and compares the version that weft.pc states.
set -eu
PKG_CONFIG_PATH=$1
export PKG_CONFIG_PATH
stated=$(pkg-config --modversion weft)
if [ "$stated" != "$5" ]; then
  echo "weft.pc states version $stated; the project is version $5" >&2
  exit 1
fi
# shellcheck disable=SC2046  # the flags are several words
"$2" -o "$4" "$3" $(pkg-config --cflags --libs weft-loopback)
"$4"
