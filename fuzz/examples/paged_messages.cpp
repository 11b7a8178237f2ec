// SPDX-License-Identifier: Apache-2.0
//
// examples/paged_writer/messages.hpp: what the reader and the writer of pages send each other.
#include "../target.hpp"

#include <paged_writer/messages.hpp>

#include <span>
#include <variant>

namespace weft::fuzz::paged_messages {

void check(const_bytes input) {
  strict(
      input, [](const_bytes from) { return paged::parse(from); },
      [](const paged::message& m, bytes into) -> std::size_t {
        const paged::letter again = std::visit([](const auto& each) { return paged::letter(each); }, m);
        if (into.size() < again.view().size()) return 0;
        std::copy(again.view().begin(), again.view().end(), into.begin());
        return again.view().size();
      });
  require(!paged::is_region(input) || !paged::parse(input), "a region's description is no message");
}

}  // namespace weft::fuzz::paged_messages
WEFT_FUZZ_TARGET(paged_messages)
