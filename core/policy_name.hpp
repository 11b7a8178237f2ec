// SPDX-License-Identifier: Apache-2.0
//
// The name of an answer as C++ and providers.yaml spell it ("notify::immediate"). The compiler supplies it, so it is
// written once.
// Peers compare these names, so both compilers must produce the same text; tests/unit asserts that.
// Hot path: compile time only. Threads: none.
#pragma once

#include "policy.hpp"

#include <string_view>

namespace weft {

/// "family::answer", without the namespace weft::answers.
template <policy Answer>
constexpr std::string_view policy_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("Answer = ") + std::string_view("Answer = ").size());
  text = text.substr(0, text.find_first_of(";]"));
  for (const std::string_view house : {std::string_view("weft::"), std::string_view("answers::")})
    if (text.substr(0, house.size()) == house) text.remove_prefix(house.size());
  return text;
}

/// "notify" of "notify::immediate".
template <policy Answer>
constexpr std::string_view family_name() {
  return policy_name<Answer>().substr(0, policy_name<Answer>().find("::"));
}
/// "immediate" of "notify::immediate".
template <policy Answer>
constexpr std::string_view answer_name() {
  return policy_name<Answer>().substr(policy_name<Answer>().find("::") + 2);
}

}  // namespace weft
