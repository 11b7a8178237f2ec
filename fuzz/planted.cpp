// SPDX-License-Identifier: Apache-2.0
//
// Targets with a deliberate fault each. A test runs them and expects the sentence of the property, or the report of
// AddressSanitizer. They show that a fault of this kind in a parser would be found.
#include "../wire/control.hpp"
#include "../wire/hello.hpp"
#include "target.hpp"

#include <optional>

/// A parser that ignores bytes at the end.
namespace weft::fuzz::planted_lenient {
void check(const_bytes input) {
  strict(
      input,
      [](const_bytes from) { return wire::parse_atomic_reply(from.first(std::min<std::size_t>(from.size(), 17))); },
      [](const auto& value, bytes into) { return wire::encode(value, into); });
}
}  // namespace weft::fuzz::planted_lenient
WEFT_FUZZ_TARGET(planted_lenient)

/// A parser that forgets a field, so that an encoder writes another value.
namespace weft::fuzz::planted_forgetful {
void check(const_bytes input) {
  strict(
      input,
      [](const_bytes from) {
        auto no = wire::parse_refusal(from);
        if (no && !no->reason.empty()) no->code = 0;
        return no;
      },
      [](const auto& value, bytes into) { return wire::encode(value, into); });
}
}  // namespace weft::fuzz::planted_forgetful
WEFT_FUZZ_TARGET(planted_forgetful)

/// A parser that believes a length.
namespace weft::fuzz::planted_believer {
void check(const_bytes input) {
  if (input.size() < 2) return;
  const auto length = std::to_integer<std::size_t>(input[0]);
  std::byte sum{};
  for (std::size_t i = 0; i < length; ++i) sum ^= input.data()[1 + i];
  require(sum != std::byte{0x5a} || length != 255, "never reached");
}
}  // namespace weft::fuzz::planted_believer
WEFT_FUZZ_TARGET(planted_believer)
