// SPDX-License-Identifier: Apache-2.0
//
// wire/control.hpp: flushes and their replies.
#include "../../wire/control.hpp"
#include "../target.hpp"

namespace weft::fuzz::wire_token {

void check(const_bytes input) {
  strict(
      input, [](const_bytes from) { return wire::parse_token(from); },
      [](const auto& value, bytes into) { return wire::encode_token(value, into); });
}

}  // namespace weft::fuzz::wire_token
WEFT_FUZZ_TARGET(wire_token)
