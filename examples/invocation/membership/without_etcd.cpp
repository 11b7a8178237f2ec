// SPDX-License-Identifier: Apache-2.0
//
// In place of managers.cpp where the headers of libcurl or nlohmann's JSON are not installed.
#include "managers.hpp"

namespace weft::invocation {

struct managers::state {};
managers::managers(std::unique_ptr<state> s) : s_(std::move(s)) {}
managers::~managers() = default;
result<std::unique_ptr<managers>> managers::join(const std::string&, const std::string&) {
  return {error(errc::unsupported, "membership"),
          "--membership: this program was built without etcd: install libcurl4-openssl-dev and build it again"};
}
bool managers::tend() { return false; }
std::string managers::elsewhere(const token&) const { return {}; }
std::string managers::addresses() const { return {}; }

}  // namespace weft::invocation
