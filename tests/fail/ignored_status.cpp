// SPDX-License-Identifier: Apache-2.0
// EXPECT: nodiscard
#pragma GCC diagnostic error "-Wunused-result"
#pragma GCC diagnostic error "-Wunused-value"  // where newer clang puts it
#include <weft/core/error.hpp>

weft::status post() { return {}; }

int main() {
#ifdef WEFT_FIXED
  return post() ? 0 : 1;
#else
  post();
#endif
}
