#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# pkg_config.sh <directory of .pc files> <compiler> <source> <binary>: builds and runs a program with what weft-loopback.pc says.
set -eu
PKG_CONFIG_PATH=$1
export PKG_CONFIG_PATH
# shellcheck disable=SC2046  # the flags are several words
"$2" -std=c++20 -o "$4" "$3" $(pkg-config --cflags --libs weft-loopback)
"$4"
