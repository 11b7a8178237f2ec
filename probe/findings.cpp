// SPDX-License-Identifier: Apache-2.0
//
// Writes facts as lines of JSON.
// Hot path: no. Threads: one owner.
#include "findings.hpp"

#include <unistd.h>

namespace weft::probe {

void findings::line(const nlohmann::json& content) const {
  const std::string text = content.dump() + "\n";
  if (write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) throw abandoned{};
}

void findings::refusal(const std::string& side, const refused& why) const {
  line({{"refused", {{"side", side}, {"call", why.call}, {"code", why.code}, {"name", error_name(why.code)}}}});
}

}  // namespace weft::probe
