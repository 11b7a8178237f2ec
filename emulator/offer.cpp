// SPDX-License-Identifier: Apache-2.0
//
// The answer of fi_getinfo(3): one fi_info with exactly the row's capabilities, or nothing where the hints request more
// or do not accept the provider's needs. Like real providers it returns -FI_ENODATA only; WEFT_EMULATOR_EXPLAIN=1
// prints the attribute. With WEFT_EMULATOR_REPLY the reply disregards the hints and has false attributes
// (false_reply.cpp).
#include "connections.hpp"
#include "false_reply.hpp"
#include "rules.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace weft::emulator {
namespace {

/// Connected endpoints have one peer and no tags, so there is no selection.
std::uint64_t message_caps(const profile& row) {
  if (row.connected) return FI_MSG | FI_SEND | FI_RECV;
  return FI_MSG | FI_SEND | FI_RECV | FI_SOURCE | (row.tagged ? std::uint64_t{FI_TAGGED} : 0) |
         (row.directed_receive ? std::uint64_t{FI_DIRECTED_RECV} : 0);
}
constexpr std::uint64_t of_messages = FI_MSG | FI_TAGGED | FI_SEND | FI_RECV | FI_DIRECTED_RECV | FI_MULTI_RECV;
constexpr std::uint64_t remote_caps = FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

std::uint64_t all_caps(const profile& row) {
  return message_caps(row) | (row.multi_receive ? std::uint64_t{FI_MULTI_RECV} : 0) | remote_caps | FI_LOCAL_COMM |
         FI_REMOTE_COMM | (row.atomics ? std::uint64_t{FI_ATOMIC} : 0) |
         (row.remote_counter_counts_writes ? std::uint64_t{FI_RMA_EVENT} : 0);
}

int memory_mode(const profile& row) {
  return FI_MR_ALLOCATED | (row.virtual_addressing ? FI_MR_VIRT_ADDR : 0) | (row.provider_keys ? FI_MR_PROV_KEY : 0) |
         (row.local_registration ? FI_MR_LOCAL : 0) | (row.region_endpoint_binding ? FI_MR_ENDPOINT : 0);
}

std::uint64_t operation_mode(const profile& row) {
  return (row.context_bytes >= sizeof(fi_context2) ? FI_CONTEXT2
          : row.context_bytes > 0                  ? FI_CONTEXT
                                                   : 0) |
         (row.write_immediate_consumes_receive ? FI_RX_CQ_DATA : 0);
}

std::uint64_t order(const profile& row, bool with_atomics) {
  const bool costs = with_atomics && row.atomics_cost_order;
  return (row.order_send_after_send ? FI_ORDER_SAS : 0) | (row.order_send_after_write && !costs ? FI_ORDER_SAW : 0) |
         (row.order_write_after_write ? FI_ORDER_WAW : 0);
}

std::uint64_t tag_format(const profile& row) { return row.connected || !row.tagged ? 0 : row.mem_tag_format; }

std::size_t immediate_bytes(const profile& row) {
  return std::max(write_immediate_width(row), row.send_immediate_bytes);
}

/// The answer for programs without messages, which has no mode. As in libfabric's prov/psm2 (psmx2_attr.c) it comes
/// last: only where the usual one needs a mode that the program does not offer, or has immediates that are too narrow.
bool without_messages(const profile& row, const fi_info* hints) {
  if (row.immediate_without_messages == 0 || hints == nullptr || (hints->caps & of_messages) != 0) return false;
  return (operation_mode(row) & ~hints->mode) != 0 ||
         (hints->domain_attr != nullptr && hints->domain_attr->cq_data_size > immediate_bytes(row));
}

/// The row, as the program that gives these hints sees it.
profile seen_with(const profile& row, const fi_info* hints) {
  profile seen = row;
  if (!without_messages(row, hints)) return seen;
  seen.context_bytes = 0;
  seen.write_immediate_bytes = row.immediate_without_messages;
  return seen;
}

/// One number for two limits. Like libfabric's prov/efa (efa_prov_info.c) it is the larger one for callers that request
/// remote writes too.
std::uint64_t largest_transfer(const profile& row, std::uint64_t caps) {
  return (caps & FI_RMA) != 0 ? std::max(row.largest_message, row.largest_write) : row.largest_message;
}

/// Orders in the hints that the row does not promise. Some providers check none: the program gets an answer without the
/// order that it requested, and has to compare.
bool refused_order(const profile& row, std::uint64_t wanted, bool with_atomics) {
  if ((wanted & ~order(row, with_atomics)) == 0) return false;
  if (!row.order_hints_checked && ::secure_getenv("WEFT_EMULATOR_EXPLAIN") != nullptr)
    broken("order_hints_checked",
           "fi_getinfo was asked for an order that this fabric does not promise, and it answers all the same: compare "
           "tx_attr->msg_order of the answer with the hints");
  return row.order_hints_checked;
}

/// Why the hints are refused; null where they are accepted.
const char* obstacle(const profile& row, const fi_info& hints) {
  const std::uint64_t secondary = FI_SOURCE | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_SHARED_AV;
  if ((hints.caps & ~(all_caps(row) | secondary)) != 0) return "caps: more than the row has";
  // Receives that immediates of writes consume concern only targets of writes.
  const std::uint64_t needed = operation_mode(row) & ~((hints.caps & FI_RMA) == 0 ? std::uint64_t{FI_RX_CQ_DATA} : 0);
  if (hints.mode != 0 || hints.caps != 0)
    if ((needed & ~hints.mode) != 0)
      return "mode: the provider needs a mode that is not offered (FI_CONTEXT, FI_CONTEXT2, FI_RX_CQ_DATA)";
  const bool atomics = (hints.caps & FI_ATOMIC) != 0;
  if (hints.tx_attr != nullptr) {
    if (refused_order(row, hints.tx_attr->msg_order, atomics)) return "tx_attr->msg_order: more than the row promises";
    if (hints.tx_attr->inject_size > row.inject_bytes) return "tx_attr->inject_size";
    if (hints.tx_attr->size > row.queue_depth) return "tx_attr->size";
    if (hints.tx_attr->iov_limit > row.gather_limit) return "tx_attr->iov_limit";
    if (hints.tx_attr->rma_iov_limit > row.rma_gather_limit) return "tx_attr->rma_iov_limit";
    if ((hints.tx_attr->op_flags & FI_DELIVERY_COMPLETE) != 0 && !row.delivery_complete)
      return "tx_attr->op_flags: FI_DELIVERY_COMPLETE";
  }
  if (hints.rx_attr != nullptr) {
    if (refused_order(row, hints.rx_attr->msg_order, atomics)) return "rx_attr->msg_order: more than the row promises";
    if (hints.rx_attr->size > row.queue_depth) return "rx_attr->size";
  }
  if (hints.ep_attr != nullptr) {
    const fi_ep_type wanted = row.connected ? FI_EP_MSG : FI_EP_RDM;
    if (hints.ep_attr->type != FI_EP_UNSPEC && hints.ep_attr->type != wanted) return "ep_attr->type";
    if (hints.ep_attr->max_msg_size > largest_transfer(row, hints.caps)) return "ep_attr->max_msg_size";
    if (std::countl_zero(hints.ep_attr->mem_tag_format) < std::countl_zero(tag_format(row)))
      return "ep_attr->mem_tag_format: more bits than programs have";
    const auto too_many = [&](std::size_t n) { return n != FI_SHARED_CONTEXT && n > row.contexts; };
    if (too_many(hints.ep_attr->tx_ctx_cnt) || too_many(hints.ep_attr->rx_ctx_cnt))
      return "ep_attr->tx_ctx_cnt, rx_ctx_cnt: more contexts than an endpoint has";
  }
  if (hints.domain_attr != nullptr) {
    const fi_domain_attr& domain = *hints.domain_attr;
    constexpr int old_basic = 1 << 0;
    const int offered =
        domain.mr_mode == old_basic ? FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED : domain.mr_mode;
    if ((hints.caps & (FI_RMA | FI_ATOMIC)) != 0 || hints.caps == 0)
      if (hints.caps != 0 && (memory_mode(row) & ~offered & ~FI_MR_ALLOCATED) != 0)
        return "domain_attr->mr_mode: the provider needs a mode that is not offered";
    if ((hints.caps & (FI_RMA | FI_ATOMIC)) == 0 && hints.caps != 0 && row.local_registration &&
        (offered & FI_MR_LOCAL) == 0)
      return "domain_attr->mr_mode: FI_MR_LOCAL";
    if (domain.cq_data_size > immediate_bytes(row)) return "domain_attr->cq_data_size: immediates are narrower";
    if (domain.mr_key_size > row.key_bytes) return "domain_attr->mr_key_size";
    if (domain.data_progress == FI_PROGRESS_AUTO && row.polling)
      return "domain_attr->data_progress: somebody must poll";
  }
  if (hints.addr_format != FI_FORMAT_UNSPEC && !row.address_formats.empty() &&
      !row.address_formats.contains(hints.addr_format))
    return "addr_format: not one of the row's address_formats";
  if (!row.connected && row.address_format != 0 && hints.addr_format != FI_FORMAT_UNSPEC &&
      hints.addr_format != row.address_format)
    return "addr_format";
  if (hints.fabric_attr != nullptr && hints.fabric_attr->name != nullptr &&
      hints.fabric_attr->name != row.fabric_name && hints.fabric_attr->name != row.fabric)
    return "fabric_attr->name";
  return nullptr;
}

void describe_operations(const profile& row, fi_info& info, bool atomics) {
  info.tx_attr->caps = info.caps;
  info.tx_attr->mode = info.mode;
  info.tx_attr->msg_order = order(row, atomics);
  info.tx_attr->inject_size = row.inject_bytes;
  info.tx_attr->size = row.queue_depth;
  info.tx_attr->iov_limit = row.gather_limit;
  info.tx_attr->rma_iov_limit = row.rma_gather_limit;
  info.rx_attr->caps = info.caps;
  info.rx_attr->mode = info.mode;
  info.rx_attr->msg_order = order(row, atomics);
  info.rx_attr->size = row.queue_depth;
  info.rx_attr->iov_limit = row.gather_limit;
}

void describe_domain(const profile& row, fi_info& info, const fi_info* hints) {
  fi_domain_attr& domain = *info.domain_attr;
  domain.name = strdup((row.fabric + "-emulated").c_str());
  domain.threading =
      hints != nullptr && hints->domain_attr != nullptr && hints->domain_attr->threading != FI_THREAD_UNSPEC
          ? hints->domain_attr->threading
          : FI_THREAD_SAFE;
  domain.control_progress = FI_PROGRESS_AUTO;
  domain.data_progress = row.polling ? FI_PROGRESS_MANUAL : FI_PROGRESS_AUTO;
  if (row.polling) domain.control_progress = FI_PROGRESS_MANUAL;
  domain.resource_mgmt = FI_RM_ENABLED;
  domain.av_type = hints != nullptr && hints->domain_attr != nullptr && hints->domain_attr->av_type != FI_AV_UNSPEC
                       ? hints->domain_attr->av_type
                       : FI_AV_TABLE;
  domain.mr_mode = memory_mode(row);
  domain.mr_key_size = row.key_bytes;
  domain.cq_data_size = immediate_bytes(row);
  domain.cq_cnt = domain.ep_cnt = domain.mr_cnt = 65536;
  domain.tx_ctx_cnt = domain.rx_ctx_cnt = 65536;
  domain.max_ep_tx_ctx = domain.max_ep_rx_ctx = row.contexts;
  domain.max_ep_stx_ctx = row.shared_transmit ? 1 : 0;
  domain.cntr_cnt = row.remote_counter_counts_writes || !row.counted.empty() ? 1024 : 0;
  domain.mr_iov_limit = 1;
  domain.caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
}

}  // namespace

/// The format of an addressed endpoint's address. The source is any: each endpoint gets its own.
void describe_format(const profile& row, fi_info& info) {
  info.addr_format = row.address_format;
  if (row.address_format == FI_FORMAT_UNSPEC) return;
  info.src_addr = std::calloc(1, row.address_bytes);
  info.src_addrlen = info.src_addr == nullptr ? 0 : row.address_bytes;
}

/// The address of a connected endpoint: the requested one, else any of this host.
void describe_address(fi_info& info, const char* node, const char* service, std::uint64_t flags, const fi_info* hints) {
  const bool wide =
      node != nullptr ? std::strchr(node, ':') != nullptr : hints != nullptr && hints->addr_format == FI_SOCKADDR_IN6;
  const std::size_t length = wide ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  info.addr_format = wide ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
  const auto given = [&](const void* from, std::size_t size) {
    auto* made = static_cast<socket_address*>(std::calloc(1, sizeof(socket_address)));
    if (from != nullptr && size >= length) std::memcpy(made, from, length);
    made->sin6_family = wide ? AF_INET6 : AF_INET;
    return made;
  };
  socket_address named{};
  void* host = wide ? static_cast<void*>(&named.sin6_addr) : &reinterpret_cast<sockaddr_in*>(&named)->sin_addr;
  if (node != nullptr) inet_pton(wide ? AF_INET6 : AF_INET, node, host);
  if (service != nullptr) named.sin6_port = htons(static_cast<std::uint16_t>(std::atoi(service)));
  const bool source = (flags & FI_SOURCE) != 0 || (node == nullptr && service == nullptr);
  const bool asked = node != nullptr || service != nullptr;
  info.src_addr = source && asked
                      ? given(&named, length)
                      : given(hints != nullptr ? hints->src_addr : nullptr, hints != nullptr ? hints->src_addrlen : 0);
  info.src_addrlen = length;
  if (!source) {
    info.dest_addr = given(&named, length);
    info.dest_addrlen = length;
  }
}

int offer(std::uint32_t version, const char* node, const char* service, std::uint64_t flags, const fi_info* hints,
          fi_info** found) {
  if (emulated() == nullptr) return -FI_ENODATA;
  const profile seen = seen_with(*emulated(), hints);
  const profile* row = &seen;
  if (hints != nullptr && falsified().empty()) {
    if (const char* why = obstacle(*row, *hints)) {
      if (::secure_getenv("WEFT_EMULATOR_EXPLAIN") != nullptr)
        std::fprintf(stderr, "weft emulator: fabric %s offers nothing: %s\n", row->fabric.c_str(), why);
      return -FI_ENODATA;
    }
  }
  fi_info* info = fi_allocinfo();
  if (info == nullptr) return -FI_ENOMEM;
  const bool atomics = hints != nullptr && (hints->caps & FI_ATOMIC) != 0;
  info->caps = hints != nullptr && hints->caps != 0 ? hints->caps : all_caps(*row);
  if (without_messages(*emulated(), hints)) info->caps &= ~of_messages;
  if ((info->caps & FI_RMA) != 0 && (info->caps & (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)) == 0)
    info->caps |= remote_caps;
  if ((info->caps & (FI_MSG | FI_TAGGED)) != 0 && (info->caps & (FI_SEND | FI_RECV)) == 0)
    info->caps |= FI_SEND | FI_RECV;
  info->mode = operation_mode(*row);
  describe_operations(*row, *info, atomics);
  if (hints != nullptr && hints->tx_attr != nullptr) info->tx_attr->op_flags = hints->tx_attr->op_flags;
  if (hints != nullptr && hints->rx_attr != nullptr) info->rx_attr->op_flags = hints->rx_attr->op_flags;
  info->ep_attr->type = row->connected ? FI_EP_MSG : FI_EP_RDM;
  if (row->connected) describe_address(*info, node, service, flags, hints);
  else describe_format(*row, *info);
  info->ep_attr->mem_tag_format = tag_format(*row);
  info->ep_attr->protocol_version = 1;
  info->ep_attr->max_msg_size = largest_transfer(*row, info->caps);
  info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = 1;
  describe_domain(*row, *info, hints);
  info->fabric_attr->name = strdup(row->fabric_name.empty() ? row->fabric.c_str() : row->fabric_name.c_str());
  info->fabric_attr->prov_version = FI_VERSION(999, 0);
  info->fabric_attr->api_version = version;
  falsify(*info);
  *found = info;
  return 0;
}

}  // namespace weft::emulator
