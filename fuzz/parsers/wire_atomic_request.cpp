// SPDX-License-Identifier: Apache-2.0
//
// wire/control.hpp: atomics that the target executes. An accepted request is one that core/atomics.hpp offers.
#include "../../wire/control.hpp"
#include "../target.hpp"

namespace weft::fuzz::wire_atomic_request {

void check(const_bytes input) {
  if (const auto asked = wire::parse_atomic_request(input)) {
    require(offered(asked->operation, asked->type), "the operation exists for this type");
    require(size_of(asked->type) == 8 || (asked->operand | asked->expected) >> 32 == 0,
            "values are as wide as the type");
  }
  strict(
      input, [](const_bytes from) { return wire::parse_atomic_request(from); },
      [](const auto& value, bytes into) { return wire::encode(value, into); });
}

}  // namespace weft::fuzz::wire_atomic_request
WEFT_FUZZ_TARGET(wire_atomic_request)
