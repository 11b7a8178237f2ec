// SPDX-License-Identifier: Apache-2.0
//
// wire/striped_region.hpp: a region of several rails. The mutator makes whole records, because the number of rails
// stops blind mutations.
#include "../../wire/striped_region.hpp"
#include "../target.hpp"

#include <random>

namespace weft::fuzz::wire_striped_region {

void check(const_bytes input) {
  const auto read = wire::parse_striped(input);
  if (!read) return;
  require(!read->rails.empty() && read->rails.size() <= wire::most_rails, "a region has 1 to 64 rails");
  require(read->page_bytes != 0, "a page has bytes");
  for (const wire::region_record& each : read->rails)
    require(each.length == read->rails.front().length && each.granted == read->rails.front().granted,
            "all rails describe one memory");
  require(same(wire::encode(*read), input), "an accepted input encodes to the same bytes");
  require(!wire::parse_striped(input.first(input.size() - 1)), "a parser refuses an input without its last byte");
}

std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t room, unsigned seed) {
  std::minstd_rand draw(seed);
  if (draw() % 2 == 0) return LLVMFuzzerMutate(data, size, room);
  wire::striped_record r;
  r.page_bytes = 1 + draw() % 8192;
  wire::region_record rail;
  rail.form = draw() % 2 == 0 ? wire::address_form::offset : wire::address_form::virtual_address;
  rail.granted = static_cast<rights>(draw() % 8);
  rail.length = draw();
  rail.fingerprint = draw();
  const std::size_t rails = 1 + draw() % wire::most_rails;
  for (std::size_t i = 0; i < rails; ++i) {
    rail.key_bytes = static_cast<std::uint8_t>(1 + draw() % 8);
    rail.key = draw() % 256;
    rail.base = rail.form == wire::address_form::offset ? 0 : draw();
    r.rails.push_back(rail);
  }
  const auto made = wire::encode(r);
  if (made.size() > room) return LLVMFuzzerMutate(data, size, room);
  std::memcpy(data, made.data(), made.size());
  return draw() % 4 == 0 ? LLVMFuzzerMutate(data, made.size(), room) : made.size();
}

}  // namespace weft::fuzz::wire_striped_region
WEFT_FUZZ_TARGET_WITH_MUTATOR(wire_striped_region)
