// SPDX-License-Identifier: Apache-2.0
//
// wire/tagged.hpp: a message with a tag, the credit of its receiver, and the word of a hello.
#include "../../wire/tagged.hpp"
#include "../target.hpp"

#include <string_view>
#include <vector>

namespace weft::fuzz::wire_tagged {

void check(const_bytes input) {
  const auto message = wire::parse_tagged(input);
  const auto credit = wire::parse_tagged_credit(input);
  require(!message || !credit, "a message is no credit");
  require(wire::is_tagged(input) || (!message && !credit), "what is parsed was known by its first bytes");
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  require(wire::tagged_window_in(text) <= wire::largest_tagged_window, "no window is larger than the largest");
  require(text.starts_with(wire::without_tagged_word(text)), "the other words stay");
  if (message) {
    require(inside(message->payload, input), "the payload is in the input");
    require(message->payload.size() + wire::tagged_head_bytes == input.size(), "the payload ends with the message");
    std::vector<std::byte> again(input.begin(), input.end());
    wire::encode_tagged(again.data(), message->tag);
    require(same(again, input), "a message encodes to the same bytes");
  }
  if (credit) {
    std::vector<std::byte> again(wire::tagged_credit_bytes);
    wire::encode_tagged_credit(again.data(), *credit);
    require(same(again, input), "a credit encodes to the same bytes");
  }
}

}  // namespace weft::fuzz::wire_tagged
WEFT_FUZZ_TARGET(wire_tagged)
