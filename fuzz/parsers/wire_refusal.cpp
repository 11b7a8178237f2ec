// SPDX-License-Identifier: Apache-2.0
//
// wire/hello.hpp: refusals and their sentences.
#include "../../wire/hello.hpp"
#include "../target.hpp"

namespace weft::fuzz::wire_refusal {

void check(const_bytes input) {
  if (const auto no = wire::parse_refusal(input))
    require(inside(no->reason, input) && no->reason.size() <= wire::largest_reason, "the sentence is in the input");
  strict(
      input, [](const_bytes from) { return wire::parse_refusal(from); },
      [](const auto& value, bytes into) { return wire::encode(value, into); });
}

}  // namespace weft::fuzz::wire_refusal
WEFT_FUZZ_TARGET(wire_refusal)
