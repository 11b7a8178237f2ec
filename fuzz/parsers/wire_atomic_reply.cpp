// SPDX-License-Identifier: Apache-2.0
//
// wire/control.hpp: replies to atomics that the target executed.
#include "../../wire/control.hpp"
#include "../target.hpp"

namespace weft::fuzz::wire_atomic_reply {

void check(const_bytes input) {
  strict(
      input, [](const_bytes from) { return wire::parse_atomic_reply(from); },
      [](const auto& value, bytes into) { return wire::encode(value, into); });
}

}  // namespace weft::fuzz::wire_atomic_reply
WEFT_FUZZ_TARGET(wire_atomic_reply)
