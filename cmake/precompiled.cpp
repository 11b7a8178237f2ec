// SPDX-License-Identifier: Apache-2.0
//
// The unit to which a precompiled header belongs (WeftPrecompiled.cmake). CMake needs one source file.
