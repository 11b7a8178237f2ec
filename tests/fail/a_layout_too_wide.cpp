// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: an immediate_layout has at most 32 bits, which is what every fabric carries: make fields narrower, or use spilled_layout
// EXPECT: [WEFT-C028]
#include <weft/compose/immediate_layout.hpp>

using weft::field;
#ifdef WEFT_FIXED
using call = weft::immediate_layout<field<"source", 8>, field<"id", 16>, field<"kind", 8>>;
#else
using call = weft::immediate_layout<field<"source", 8>, field<"id", 24>, field<"kind", 8>>;
#endif

int main() { return static_cast<int>(call{}.get<"id">()); }
