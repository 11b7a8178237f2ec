// SPDX-License-Identifier: Apache-2.0
//
// Which fabric this binary was built for: `weft::selected`, the one place where a program meets generated/.
// The linked target (weft::tcp, weft::shm, ...) defines WEFT_FABRIC; a fabric is a build-time choice because its
// answers are types. Include it in the file with main() and keep everything else templated on the fabric: two fabrics
// then fit one program. Hot path: no. Threads: nothing here runs.
#pragma once

#if !defined(WEFT_FABRIC)
#error \
    "weft: no fabric is selected. Link one target weft::<fabric> (CMake), or define WEFT_FABRIC=<fabric>, before <weft/compose/selected.hpp>"
#endif

#define WEFT_TEXT_OF(text) #text
// A path, which formatting would space as a division.
// clang-format off
#define WEFT_HEADER_OF(fabric) WEFT_TEXT_OF(../generated/fabric.hpp)
// clang-format on
#include WEFT_HEADER_OF(WEFT_FABRIC)
#undef WEFT_HEADER_OF
#undef WEFT_TEXT_OF

namespace weft {

/// The fabric that this binary was built for.
using selected = fabrics::WEFT_FABRIC;

}  // namespace weft
