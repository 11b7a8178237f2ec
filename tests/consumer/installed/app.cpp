// SPDX-License-Identifier: Apache-2.0
//
// The file name that the README's CMake lines use.
#include "../hello.cpp"
