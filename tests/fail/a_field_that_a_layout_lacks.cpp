// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: this layout has no field of that name
// EXPECT: [WEFT-C027]
#include <weft/compose/immediate_layout.hpp>

using call = weft::immediate_layout<weft::field<"source", 8>, weft::field<"id", 16>>;

int main() {
#ifdef WEFT_FIXED
  return static_cast<int>(call{}.get<"id">());
#else
  return static_cast<int>(call{}.get<"ident">());
#endif
}
