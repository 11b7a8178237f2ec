// SPDX-License-Identifier: Apache-2.0
//
// wire/fused.hpp: the header of a put_notify in one message. The payload has any length.
#include "../../wire/fused.hpp"
#include "../target.hpp"

namespace weft::fuzz::wire_fused {

void check(const_bytes input) {
  const auto head = wire::parse_fused(input);
  require(head.has_value() == (input.size() >= wire::fused_head_bytes), "a header is read if it is whole");
  if (!head) return;
  strict(
      input.first(wire::fused_head_bytes), [](const_bytes from) { return wire::parse_fused(from); },
      [](const auto& value, bytes into) { return wire::encode(value, into); });
}

}  // namespace weft::fuzz::wire_fused
WEFT_FUZZ_TARGET(wire_fused)
