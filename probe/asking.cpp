// SPDX-License-Identifier: Apache-2.0
//
// Requests to fi_getinfo, and the needs of a provider.
// Hot path: no. Threads: none.
#include "asking.hpp"

#include "refused.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace weft::probe {

owned_info hints_of(const demands& about, const question& asked) {
  owned_info hints(fi_allocinfo());
  if (!hints) throw refused{"fi_allocinfo", FI_ENOMEM};
  hints->caps = asked.caps;
  hints->mode = asked.mode;
  // Some providers find an IPv6 address only under its own format.
  const bool wide = asked.address_format == FI_FORMAT_UNSPEC && about.node.find(':') != std::string::npos;
  hints->addr_format = wide ? std::uint32_t{FI_SOCKADDR_IN6} : asked.address_format;
  hints->ep_attr->type = about.connected ? FI_EP_MSG : FI_EP_RDM;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = asked.order;
  hints->tx_attr->op_flags = asked.op_flags;
  hints->domain_attr->mr_mode = asked.region_mode;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->data_progress = asked.progress;
  hints->domain_attr->cq_data_size = asked.immediate_bytes;
  hints->fabric_attr->prov_name = strdup(about.provider.c_str());
  if (!about.fabric_name.empty()) hints->fabric_attr->name = strdup(about.fabric_name.c_str());
  return hints;
}

bool socket_addresses(const fi_info& info) {
  return info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IN || info.addr_format == FI_SOCKADDR_IN6;
}

namespace {

/// lnx, asked for by its own name, puts the providers that it links before it: "shm+tcp;ofi_rxm:lnx" (fi_lnx(7)).
bool is_named(std::string_view returned, const std::string& asked) {
  return returned == asked || returned.ends_with(":" + asked);
}

}  // namespace

bool wanted(const demands& about, const fi_info& info) {
  const char* provider = info.fabric_attr->prov_name;
  const char* fabric = info.fabric_attr->name;
  return provider != nullptr && is_named(provider, about.provider) &&
         info.ep_attr->type == (about.connected ? FI_EP_MSG : FI_EP_RDM) &&
         (!about.pointers || (info.domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0) &&
         (!about.provider_keys || (info.domain_attr->mr_mode & FI_MR_PROV_KEY) != 0) &&
         (about.fabric_name.empty() || (fabric != nullptr && about.fabric_name == fabric));
}

namespace {

owned_info all_of(const demands& about, const question& asked, const char* node) {
  const owned_info hints = hints_of(about, asked);
  fi_info* found = nullptr;
  if (fi_getinfo(about.api, node, nullptr, node == nullptr ? 0 : FI_SOURCE, hints.get(), &found) != 0) return nullptr;
  return owned_info(found);
}

owned_info first_wanted(const demands& about, const owned_info& all) {
  for (const fi_info* each = all.get(); each != nullptr; each = each->next)
    if (wanted(about, *each)) return owned_info(fi_dupinfo(each));
  return nullptr;
}

}  // namespace

owned_info replies_to(const demands& about, const question& asked) {
  if (!about.node.empty())
    if (owned_info all = all_of(about, asked, about.node.c_str()); all && socket_addresses(*all)) return all;
  return all_of(about, asked, nullptr);
}

owned_info reply_to(const demands& about, const question& asked) {
  return first_wanted(about, replies_to(about, asked));
}

question least(const demands& about) {
  question base;
  if (about.atomics) base.caps |= FI_ATOMIC;
  base.progress = about.automatic ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
  base.immediate_bytes = sizeof(std::uint64_t);
  owned_info info = reply_to(about, base);
  for (const std::size_t narrower : {sizeof(std::uint32_t), std::size_t{0}}) {
    if (info) break;
    base.immediate_bytes = narrower;
    info = reply_to(about, base);
  }
  if (!info) throw refused{"fi_getinfo", FI_ENODATA};
  base.immediate_bytes = info->domain_attr->cq_data_size;
  const auto without = [&](question fewer) {
    const owned_info reply = reply_to(about, fewer);
    if (reply && reply->domain_attr->cq_data_size >= base.immediate_bytes) base = fewer;
  };
  for (const std::uint64_t bit : {FI_CONTEXT2, FI_CONTEXT, FI_RX_CQ_DATA}) {
    question fewer = base;
    fewer.mode &= ~bit;
    without(fewer);
  }
  for (const int bit : {FI_MR_VIRT_ADDR, FI_MR_PROV_KEY, FI_MR_LOCAL, FI_MR_ENDPOINT}) {
    question fewer = base;
    fewer.region_mode &= ~bit;
    without(fewer);
  }
  return base;
}

std::uint64_t granted_orders(const demands& about, const question& base) {
  question asked = base;
  asked.order = every_order;
  if (reply_to(about, asked)) return every_order;
  std::uint64_t granted = 0;
  for (const std::uint64_t bit : {FI_ORDER_SAS, FI_ORDER_WAW, FI_ORDER_SAW}) {
    asked.order = granted | bit;
    if (reply_to(about, asked)) granted |= bit;
  }
  return granted;
}

}  // namespace weft::probe
