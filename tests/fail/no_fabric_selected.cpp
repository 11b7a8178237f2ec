// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: no fabric is selected. Link one target weft::<fabric> (CMake), or define WEFT_FABRIC=<fabric>
// EXPECT: [WEFT-C003]
#include <weft/compose/selected.hpp>

int main() {}
