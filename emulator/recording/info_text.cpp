// SPDX-License-Identifier: Apache-2.0
#include "info_text.hpp"

#include "trace.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <type_traits>
#include <vector>

namespace weft::recording {
namespace {

struct attribute {
  const char* name;
  std::function<std::uint64_t(const fi_info&)> get;
  std::function<void(fi_info&, std::uint64_t)> set;
};

template <auto Member>
attribute own(const char* name) {
  return {
      name, [](const fi_info& of) { return static_cast<std::uint64_t>(of.*Member); },
      [](fi_info& of, std::uint64_t v) { of.*Member = static_cast<std::remove_reference_t<decltype(of.*Member)>>(v); }};
}
template <auto Part, auto Member>
attribute in(const char* name) {
  return {name,
          [](const fi_info& of) { return of.*Part == nullptr ? 0 : static_cast<std::uint64_t>((of.*Part)->*Member); },
          [](fi_info& of, std::uint64_t v) {
            auto& value = (of.*Part)->*Member;
            value = static_cast<std::remove_reference_t<decltype(value)>>(v);
          }};
}
#define WEFT_TX(member) in<&fi_info::tx_attr, &fi_tx_attr::member>("tx." #member)
#define WEFT_RX(member) in<&fi_info::rx_attr, &fi_rx_attr::member>("rx." #member)
#define WEFT_EP(member) in<&fi_info::ep_attr, &fi_ep_attr::member>("ep." #member)
#define WEFT_DOMAIN(member) in<&fi_info::domain_attr, &fi_domain_attr::member>("domain." #member)
#define WEFT_FABRIC(member) in<&fi_info::fabric_attr, &fi_fabric_attr::member>("fabric." #member)

const std::vector<attribute>& numbers() {
  static const std::vector<attribute> all{own<&fi_info::caps>("caps"),
                                          own<&fi_info::mode>("mode"),
                                          own<&fi_info::addr_format>("addr_format"),
                                          WEFT_TX(caps),
                                          WEFT_TX(mode),
                                          WEFT_TX(op_flags),
                                          WEFT_TX(msg_order),
                                          WEFT_TX(comp_order),
                                          WEFT_TX(inject_size),
                                          WEFT_TX(size),
                                          WEFT_TX(iov_limit),
                                          WEFT_TX(rma_iov_limit),
                                          WEFT_RX(caps),
                                          WEFT_RX(mode),
                                          WEFT_RX(op_flags),
                                          WEFT_RX(msg_order),
                                          WEFT_RX(comp_order),
                                          WEFT_RX(size),
                                          WEFT_RX(iov_limit),
                                          WEFT_EP(type),
                                          WEFT_EP(protocol),
                                          WEFT_EP(protocol_version),
                                          WEFT_EP(max_msg_size),
                                          WEFT_EP(msg_prefix_size),
                                          WEFT_EP(max_order_raw_size),
                                          WEFT_EP(max_order_war_size),
                                          WEFT_EP(max_order_waw_size),
                                          WEFT_EP(mem_tag_format),
                                          WEFT_EP(tx_ctx_cnt),
                                          WEFT_EP(rx_ctx_cnt),
                                          WEFT_DOMAIN(threading),
                                          WEFT_DOMAIN(control_progress),
                                          WEFT_DOMAIN(data_progress),
                                          WEFT_DOMAIN(resource_mgmt),
                                          WEFT_DOMAIN(av_type),
                                          WEFT_DOMAIN(mr_mode),
                                          WEFT_DOMAIN(mr_key_size),
                                          WEFT_DOMAIN(cq_data_size),
                                          WEFT_DOMAIN(cq_cnt),
                                          WEFT_DOMAIN(ep_cnt),
                                          WEFT_DOMAIN(tx_ctx_cnt),
                                          WEFT_DOMAIN(rx_ctx_cnt),
                                          WEFT_DOMAIN(max_ep_tx_ctx),
                                          WEFT_DOMAIN(max_ep_rx_ctx),
                                          WEFT_DOMAIN(max_ep_stx_ctx),
                                          WEFT_DOMAIN(max_ep_srx_ctx),
                                          WEFT_DOMAIN(cntr_cnt),
                                          WEFT_DOMAIN(mr_iov_limit),
                                          WEFT_DOMAIN(caps),
                                          WEFT_DOMAIN(mode),
                                          WEFT_DOMAIN(max_err_data),
                                          WEFT_DOMAIN(mr_cnt),
                                          WEFT_FABRIC(prov_version),
                                          WEFT_FABRIC(api_version)};
  return all;
}

/// Where a name is: text that libfabric frees. Null where the part is not there, or has no such name.
char** name_in(fi_domain_attr* domain, fi_fabric_attr* fabric, std::string_view which) {
  if (which == "domain.name") return domain == nullptr ? nullptr : &domain->name;
  if (fabric == nullptr) return nullptr;
  if (which == "fabric.name") return &fabric->name;
  return which == "fabric.prov_name" ? &fabric->prov_name : nullptr;
}

void set_address(void*& address, std::size_t& size, const std::string& bytes) {
  std::free(address);
  address = std::malloc(bytes.size());  // fi_freeinfo frees it
  size = address == nullptr ? 0 : bytes.size();
  if (size != 0) std::memcpy(address, bytes.data(), size);
}

/// False where there is no such attribute, or the value is none.
bool set(fi_info& into, std::string_view name, std::string_view value) {
  bool bad = false;
  if (name == "src_addr" || name == "dest_addr") {
    std::string bytes;
    if (!bytes_of(value, bytes) || bytes.empty()) return false;
    if (name == "src_addr") set_address(into.src_addr, into.src_addrlen, bytes);
    else set_address(into.dest_addr, into.dest_addrlen, bytes);
    return true;
  }
  if (char** place = name_in(into.domain_attr, into.fabric_attr, name); place != nullptr) {
    std::free(*place);
    *place = strdup(text_of(value, bad).c_str());
    return !bad;
  }
  std::uint64_t number = 0;
  for (const attribute& each : numbers())
    if (name == each.name && number_of(value, number)) return each.set(into, number), true;
  return false;
}

}  // namespace

std::string text_of_info(const fi_info* info) {
  if (info == nullptr) return "-";
  std::string text;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!text.empty()) text += ';';
    ((text += name) += ':') += value;
  };
  for (const attribute& each : numbers())
    if (const std::uint64_t value = each.get(*info); value != 0) add(each.name, std::to_string(value));
  for (const char* which : {"domain.name", "fabric.name", "fabric.prov_name"})
    if (char** name = name_in(info->domain_attr, info->fabric_attr, which); name != nullptr && *name != nullptr)
      add(which, word_of(*name));
  if (info->src_addr != nullptr) add("src_addr", hex_of(info->src_addr, info->src_addrlen));
  if (info->dest_addr != nullptr) add("dest_addr", hex_of(info->dest_addr, info->dest_addrlen));
  return text.empty() ? "nothing" : text;
}

fi_info* info_of_text(std::string_view text, std::string& why) {
  fi_info* made = fi_allocinfo();
  if (text == "nothing") return made;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(';'));
    text = text.find(';') == std::string_view::npos ? std::string_view{} : text.substr(text.find(';') + 1);
    const auto colon = one.find(':');
    if (colon != std::string_view::npos && set(*made, one.substr(0, colon), one.substr(colon + 1))) continue;
    why = "\"" + std::string(one.substr(0, 60)) + "\" is no attribute of fi_info";
    fi_freeinfo(made);
    return nullptr;
  }
  return made;
}

}  // namespace weft::recording
