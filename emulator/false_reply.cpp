// SPDX-License-Identifier: Apache-2.0
#include "false_reply.hpp"

#include "profile.hpp"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>

namespace weft::emulator {
namespace {

using setter = std::function<void(fi_info&, const std::string&)>;

std::uint64_t number(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t n = std::strtoull(text.c_str(), &end, 0);
  if (text.empty() || *end != '\0') refuse("WEFT_EMULATOR_REPLY: \"" + text + "\" is not a number");
  return n;
}
template <auto Part, auto Attribute>
setter attribute() {
  return [](fi_info& info, const std::string& text) {
    auto& value = (info.*Part)->*Attribute;
    value = static_cast<std::remove_reference_t<decltype(value)>>(number(text));
  };
}
template <auto Attribute>
setter own_attribute() {
  return [](fi_info& info, const std::string& text) {
    info.*Attribute = static_cast<std::remove_reference_t<decltype(info.*Attribute)>>(number(text));
  };
}
void set_name(fi_info& info, const std::string& text) {
  std::free(info.fabric_attr->name);
  info.fabric_attr->name = strdup(text.c_str());
}
/// libfabric appends the provider's own name.
void set_provider(fi_info& info, const std::string& text) { info.fabric_attr->prov_name = strdup(text.c_str()); }

/// The attributes of a reply that can be false. `atomic_attr` is the reply of fi_query_atomic.
const std::map<std::string, setter, std::less<>>& attributes() {
  static const std::map<std::string, setter, std::less<>> all{
      {"caps", own_attribute<&fi_info::caps>()},
      {"mode", own_attribute<&fi_info::mode>()},
      {"addr_format", own_attribute<&fi_info::addr_format>()},
      {"tx_attr.msg_order", attribute<&fi_info::tx_attr, &fi_tx_attr::msg_order>()},
      {"tx_attr.inject_size", attribute<&fi_info::tx_attr, &fi_tx_attr::inject_size>()},
      {"tx_attr.size", attribute<&fi_info::tx_attr, &fi_tx_attr::size>()},
      {"tx_attr.iov_limit", attribute<&fi_info::tx_attr, &fi_tx_attr::iov_limit>()},
      {"tx_attr.rma_iov_limit", attribute<&fi_info::tx_attr, &fi_tx_attr::rma_iov_limit>()},
      {"rx_attr.msg_order", attribute<&fi_info::rx_attr, &fi_rx_attr::msg_order>()},
      {"rx_attr.size", attribute<&fi_info::rx_attr, &fi_rx_attr::size>()},
      {"ep_attr.type", attribute<&fi_info::ep_attr, &fi_ep_attr::type>()},
      {"ep_attr.max_msg_size", attribute<&fi_info::ep_attr, &fi_ep_attr::max_msg_size>()},
      {"ep_attr.rx_ctx_cnt", attribute<&fi_info::ep_attr, &fi_ep_attr::rx_ctx_cnt>()},
      {"domain_attr.mr_mode", attribute<&fi_info::domain_attr, &fi_domain_attr::mr_mode>()},
      {"domain_attr.mr_key_size", attribute<&fi_info::domain_attr, &fi_domain_attr::mr_key_size>()},
      {"domain_attr.cq_data_size", attribute<&fi_info::domain_attr, &fi_domain_attr::cq_data_size>()},
      {"domain_attr.data_progress", attribute<&fi_info::domain_attr, &fi_domain_attr::data_progress>()},
      {"fabric_attr.name", set_name},
      {"fabric_attr.prov_name", set_provider},
      {"atomic_attr.size", [](fi_info&, const std::string&) {}},
      {"atomic_attr.count", [](fi_info&, const std::string&) {}},
  };
  return all;
}

}  // namespace

std::map<std::string, std::string> falsified() {
  std::map<std::string, std::string> all;
  const char* set = ::secure_getenv("WEFT_EMULATOR_REPLY");
  std::istringstream rest(set == nullptr ? "" : set);
  for (std::string one; std::getline(rest, one, ',');) {
    const auto equals = one.find('=');
    if (equals == std::string::npos) refuse("WEFT_EMULATOR_REPLY: \"" + one + "\" is not of the form attribute=value");
    all[one.substr(0, equals)] = one.substr(equals + 1);
  }
  return all;
}

void falsify(fi_info& info) {
  for (const auto& [each, value] : falsified()) {
    const auto found = attributes().find(each);
    if (found == attributes().end()) refuse("WEFT_EMULATOR_REPLY: \"" + each + "\" is not an attribute of a reply");
    found->second(info, value);
  }
}

}  // namespace weft::emulator
