// SPDX-License-Identifier: Apache-2.0
//
// wire/fabric_directory.hpp: what a listener with several fabrics says of itself. The mutator makes whole directories,
// because counts and lengths stop blind mutations.
#include "../../wire/fabric_directory.hpp"
#include "../target.hpp"

#include <random>

namespace weft::fuzz::wire_directory {

void check(const_bytes input) {
  const auto read = wire::parse_directory(input);
  if (!read) return;
  require(!read->fabrics.empty() && read->fabrics.size() <= wire::most_fabrics, "a directory has 1 to 8 fabrics");
  for (const wire::directory_entry& each : read->fabrics) {
    require(!each.fabric.empty() && each.fabric.size() <= wire::longest_fabric_name, "a fabric has a name");
    require(!each.address.empty() && each.address.size() <= wire::longest_fabric_address, "a fabric has an address");
    for (const char c : each.fabric + each.address) require(c > ' ' && c < 0x7f, "texts are printable");
  }
  require(same(wire::encode(*read), input), "an accepted input encodes to the same bytes");
  require(!wire::parse_directory(input.first(input.size() - 1)), "a parser refuses an input without its last byte");
}

std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t room, unsigned seed) {
  std::minstd_rand draw(seed);
  if (draw() % 2 == 0) return LLVMFuzzerMutate(data, size, room);
  wire::fabric_directory d;
  d.host = draw();
  d.user = static_cast<std::uint32_t>(draw() % 3);
  const auto text = [&](std::size_t most) {
    std::string made(1 + draw() % most, 'a');
    for (char& c : made) c = "az09_:.[]%"[draw() % 10];
    return made;
  };
  const std::size_t fabrics = 1 + draw() % wire::most_fabrics;
  for (std::size_t i = 0; i < fabrics; ++i) d.fabrics.push_back({text(32), draw(), text(draw() % 4 == 0 ? 256 : 24)});
  const auto made = wire::encode(d);
  if (made.size() > room) return size;
  std::memcpy(data, made.data(), made.size());
  return made.size();
}

}  // namespace weft::fuzz::wire_directory
WEFT_FUZZ_TARGET_WITH_MUTATOR(wire_directory)
