// SPDX-License-Identifier: Apache-2.0
//
// In place of managers.cpp where the headers of libcurl or nlohmann's JSON are not installed.
#include "directory.hpp"
#include "managers.hpp"

namespace weft::invocation {

namespace {
constexpr char missing[] = "this program was built without etcd: install libcurl4-openssl-dev and build it again";
}  // namespace

struct managers::state {};
managers::managers(std::unique_ptr<state> s) : s_(std::move(s)) {}
managers::~managers() = default;
result<std::unique_ptr<managers>> managers::join(const std::string&, const std::string&, const std::string&) {
  return {error(errc::unsupported, "membership"), std::string("--membership: ") + missing};
}
bool managers::tend() { return false; }
std::string managers::elsewhere(const token&) const { return {}; }
std::string managers::addresses() const { return {}; }

struct manager_directory::state {};
manager_directory::manager_directory(std::unique_ptr<state> s) : s_(std::move(s)) {}
manager_directory::~manager_directory() = default;
result<std::unique_ptr<manager_directory>> manager_directory::open(const std::string&) {
  return {error(errc::unsupported, "membership"), missing};
}
bool manager_directory::tend() { return false; }
std::vector<std::string> manager_directory::for_clients() const { return {}; }
std::vector<std::string> manager_directory::for_nodes() const { return {}; }
bool manager_directory::lists(const std::string&) const { return true; }

}  // namespace weft::invocation
