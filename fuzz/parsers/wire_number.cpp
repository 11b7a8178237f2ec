// SPDX-License-Identifier: Apache-2.0
//
// wire/control.hpp: notices, ring credits, and the count of a goodbye.
#include "../../wire/control.hpp"
#include "../target.hpp"

namespace weft::fuzz::wire_number {

void check(const_bytes input) {
  strict(
      input, [](const_bytes from) { return wire::parse_number(from); },
      [](const auto& value, bytes into) { return wire::encode(value, into); });
}

}  // namespace weft::fuzz::wire_number
WEFT_FUZZ_TARGET(wire_number)
