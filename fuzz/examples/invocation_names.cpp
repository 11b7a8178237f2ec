// SPDX-License-Identifier: Apache-2.0
//
// examples/invocation/library.hpp and functions.hpp: names of functions that a shipped object or an executor gives, and
// the texts of hashes and tokens.
#include "../target.hpp"

#include <invocation/library.hpp>

namespace weft::fuzz::invocation_names {

using namespace weft::invocation;

std::int64_t nothing(const std::byte*, std::uint32_t, std::byte*, std::uint32_t) { return 0; }

/// The lines are names, as the client reads them from an executor.
void check_names(std::string_view lines) {
  function_table table;
  std::uint32_t added = 0;
  while (!lines.empty()) {
    const std::string_view name = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), name.size() + 1));
    const bool known = table.find(name).has_value();
    const bool good = table.add(name, &nothing);
    require(!good || (good_name(name) && !known), "a name is accepted once, and only in its alphabet");
    added += good ? 1U : 0U;
    if (good) require(table.find(name).has_value(), "a name that was added is found");
  }
  require(table.size() == added && added <= most_functions, "the table has the accepted names");
  for (std::uint32_t i = 0; i < table.size(); ++i) require(table.at(i) == &nothing, "each index has a function");
  require(table.names().find('/') == std::string::npos, "no name is a path");
}

void check_hex(std::string_view text) {
  const auto hash = parse_digest(text);
  const auto secret = parse_token(text);
  require(!hash || text.size() == 64, "a hash has 64 digits");
  require(!secret || text.size() == 32, "a token has 32 digits");
  const std::string again = hash ? hex(*hash) : secret ? hex(*secret) : std::string();
  for (std::size_t i = 0; i < again.size(); ++i)
    require((text[i] | 0x20) == (again[i] | 0x20), "digits give the same digits");
}

void check(const_bytes input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  check_names(text);
  check_hex(text);
}

}  // namespace weft::fuzz::invocation_names
WEFT_FUZZ_TARGET(invocation_names)
