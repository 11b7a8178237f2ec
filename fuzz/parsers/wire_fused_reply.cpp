// SPDX-License-Identifier: Apache-2.0
//
// wire/fused.hpp: replies to a fused put_notify.
#include "../../wire/fused.hpp"
#include "../target.hpp"

namespace weft::fuzz::wire_fused_reply {

void check(const_bytes input) {
  strict(
      input, [](const_bytes from) { return wire::parse_fused_reply(from); },
      [](const auto& value, bytes into) { return wire::encode(value, into); });
}

}  // namespace weft::fuzz::wire_fused_reply
WEFT_FUZZ_TARGET(wire_fused_reply)
