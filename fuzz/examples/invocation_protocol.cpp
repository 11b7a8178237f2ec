// SPDX-License-Identifier: Apache-2.0
//
// examples/invocation/protocol.hpp: the greeting, the words of calls and replies, and the worker's check of a header
// that a client writes into its memory.
#include "../target.hpp"

#include <invocation/protocol.hpp>

namespace weft::fuzz::invocation_protocol {

using namespace weft::invocation;

void check(const_bytes input) {
  strict(
      input, [](const_bytes from) { return parse_greeting(from); },
      [](const greeting& g, bytes into) -> std::size_t {
        const auto made = encode(g);
        if (into.size() < made.size()) return 0;
        std::copy(made.begin(), made.end(), into.begin());
        return made.size();
      });
  choices from(input);
  const auto immediate = from.number<std::uint32_t>();
  require(call_word::of(immediate).immediate() == immediate, "the word of a call keeps all 32 bits");
  require(reply_word::of(immediate).immediate() == immediate, "the word of a reply keeps all 32 bits");
  const auto sequence = from.number<std::uint32_t>();
  const auto functions = from.number<std::uint32_t>();
  const auto capacity = from.number<std::uint32_t>();
  std::byte written[sizeof(call_header)]{};
  const const_bytes some = from.take(sizeof written);
  std::copy(some.begin(), some.end(), written);
  const auto header = copy_header<call_header>(written);
  const reply_code code = judge(header, sequence, functions, capacity);
  require(static_cast<std::uint32_t>(code) < reply_codes, "the check gives a known code");
  if (code != reply_code::ok) return;
  require(header.function < functions, "an accepted call names a function");
  require(header.length <= capacity, "an accepted call fits its slot");
  require(header.sequence == sequence && (header.flags & ~caller_sleeps) == 0, "an accepted call is the expected one");
}

}  // namespace weft::fuzz::invocation_protocol
WEFT_FUZZ_TARGET(invocation_protocol)
