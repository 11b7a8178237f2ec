// SPDX-License-Identifier: Apache-2.0
//
// The version of weft, for the preprocessor. CMakeLists.txt and `./weft --version` read it from here.
// docs/stability.md says what a new version may change. The wire format has its own number (wire/hello.hpp).
// Hot path: compile time only. Threads: none.
#pragma once

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 2
#define WEFT_VERSION_PATCH 0

/// One integer that grows with each release: 10000 * major + 100 * minor + patch. Version 0.2.0 is 200.
/// Choose it for `#if WEFT_VERSION >= 200` in a program that compiles against several versions.
#define WEFT_VERSION (WEFT_VERSION_MAJOR * 10000 + WEFT_VERSION_MINOR * 100 + WEFT_VERSION_PATCH)
