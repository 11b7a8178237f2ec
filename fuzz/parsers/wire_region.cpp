// SPDX-License-Identifier: Apache-2.0
//
// wire/region_bytes.hpp and compose/region.hpp: a peer's region. No place in the region leads past its end.
#include "../../compose/region.hpp"
#include "../target.hpp"

#include <optional>

namespace weft::fuzz::wire_region {

void check(const_bytes input) {
  // The last bytes choose an offset, so that places are asked for that no honest peer asks for.
  const std::size_t size = std::min(input.size(), wire::region_record_bytes);
  const const_bytes record = input.first(size);
  strict(
      record, [](const_bytes from) { return wire::parse_region(from); },
      [](const wire::region_record& value, bytes into) -> std::size_t {
        const auto made = wire::encode(value);
        if (into.size() < made.size()) return 0;
        std::copy(made.begin(), made.end(), into.begin());
        return made.size();
      });
  const auto read = wire::parse_region(record);
  if (!read) return;
  const auto offset = choices(input.subspan(size)).number<std::uint64_t>();
  const auto region = remote_region::parse(record, read->fingerprint, read->executor);
  require(bool(region), "a region of this fabric and this executor is accepted");
  const remote_place at = region->at(offset);
  require(offset <= region->size() ? at.room == region->size() - offset : at.room == 0,
          "no place has room past the end");
  require(at.room == 0 || at.address + at.room >= at.address, "no place goes past the last address");
  require(!remote_region::parse(record, read->fingerprint + 1, read->executor), "another fabric's region is refused");
}

}  // namespace weft::fuzz::wire_region
WEFT_FUZZ_TARGET(wire_region)
