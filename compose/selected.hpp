// SPDX-License-Identifier: Apache-2.0
//
// The fabric that this binary was built for: `weft::selected`. The linked target (weft::tcp, weft::shm, ...) defines
// WEFT_FABRIC. A fabric is a build-time choice because its answers are types. For two fabrics in one program, include
// this only in the file with main(), and make everything else a template on the fabric. Hot path: no. Threads: none.
#pragma once

#if !defined(WEFT_FABRIC)
#error "weft: no fabric is selected. Link one target weft::<fabric> (CMake), or define WEFT_FABRIC=<fabric> [WEFT-C003]"
#endif

#if defined(WEFT_SET_HEADER)  // a set of fabrics: CMake writes the header (weft_add_fabric_set)
#include WEFT_SET_HEADER
#else
#define WEFT_TEXT_OF(text) #text
// A path, which formatting would space as a division.
// clang-format off
#define WEFT_HEADER_OF(fabric) WEFT_TEXT_OF(../generated/fabric.hpp)
// clang-format on
#include WEFT_HEADER_OF(WEFT_FABRIC)
#undef WEFT_HEADER_OF
#undef WEFT_TEXT_OF
#endif

namespace weft {

/// The fabric that this binary was built for.
using selected = fabrics::WEFT_FABRIC;

#define WEFT_NAME_OF(text) #text
#define WEFT_NAME_OF_MACRO(text) WEFT_NAME_OF(text)
/// The name of that choice, as CMake has it: "tcp", or the name of a set. Choose it for names of programs.
inline constexpr std::string_view selected_name = WEFT_NAME_OF_MACRO(WEFT_FABRIC);
#undef WEFT_NAME_OF_MACRO
#undef WEFT_NAME_OF

}  // namespace weft
