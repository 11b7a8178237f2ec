// SPDX-License-Identifier: Apache-2.0
//
// wire/striped_region.hpp: the private data by which connections recognise each other as rails of one pair.
#include "../../wire/striped_region.hpp"
#include "../target.hpp"

namespace weft::fuzz::wire_rail_words {

void check(const_bytes input) {
  if (const auto words = wire::parse_rail_words(input))
    require(words->rail < words->rails && words->rails <= wire::most_rails, "a rail is one of its rails");
  strict(
      input, [](const_bytes from) { return wire::parse_rail_words(from); },
      [](const wire::rail_words& value, bytes into) -> std::size_t {
        const auto made = wire::encode(value);
        if (into.size() < made.size()) return 0;
        std::copy(made.begin(), made.end(), into.begin());
        return made.size();
      });
}

}  // namespace weft::fuzz::wire_rail_words
WEFT_FUZZ_TARGET(wire_rail_words)
