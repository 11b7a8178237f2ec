// SPDX-License-Identifier: Apache-2.0
//
// Checks that the library is what the header was generated for. It compares each cell that an answer relies on (asked,
// returned, baked), and refuses with the list of differences.
// No answer changes at run time. rFaaS' port to libfabric failed that way: a provider cleared FI_MR_VIRT_ADDR in its
// reply, and the program went on sending pointers.
// ./weft probe tests behaviour that no reply shows: who must poll, and what a refused write reports.
// Hot path: no. Threads: none.
#pragma once

#include "../../core/atomic_listing.hpp"
#include "atomic_names.hpp"
#include "differences.hpp"
#include "hints.hpp"

#include <rdma/fi_domain.h>

#include <string>
#include <string_view>

namespace weft::backends::libfabric {

inline std::string_view text_or_none(const char* text) {
  return text == nullptr || *text == 0 ? std::string_view("none") : std::string_view(text);
}

/// Whether a reply is of the provider that was asked for. lnx, asked for by its own name, puts the providers that it
/// links before it: "shm+tcp;ofi_rxm:lnx" (fi_lnx(7)). Source: replies of libfabric 2.1.
constexpr bool is_provider(std::string_view returned, std::string_view asked) noexcept {
  return returned == asked || (returned.size() > asked.size() && returned.ends_with(asked) &&
                               returned[returned.size() - asked.size() - 1] == ':');
}

/// Whether addresses of this format are socket addresses.
constexpr bool is_socket_form(std::uint32_t form) noexcept {
  return form == FI_SOCKADDR || form == FI_SOCKADDR_IN || form == FI_SOCKADDR_IN6 || form == FI_SOCKADDR_IB;
}

/// Provider, fabric, endpoint type, release. Every observed cell rests on them.
template <class Shape>
void compare_identity(const fi_info& info, differences& found) {
  constexpr const fabric_facts& facts = Shape::facts;
  const library_version running = running_with();
  if (running < facts.since || !(running < facts.until))
    found.cell("library version", printed(built_with), printed(running),
               "from " + printed(facts.since) + " to before " + printed(facts.until));
  if (!is_provider(text_or_none(info.fabric_attr->prov_name), facts.provider))
    found.cell("provider", facts.provider, text_or_none(info.fabric_attr->prov_name), facts.provider);
  if (!facts.fabric_name.empty() && text_or_none(info.fabric_attr->name) != facts.fabric_name)
    found.cell("fabric_name", facts.fabric_name, text_or_none(info.fabric_attr->name), facts.fabric_name);
  if (const fi_ep_type asked = request<Shape>::endpoint, returned = info.ep_attr->type; returned != asked)
    found.cell("endpoint_type", endpoint_name(asked), endpoint_name(returned), endpoint_name(asked));
  if (info.addr_format != FI_FORMAT_UNSPEC)
    found.flag("address_resolution socket", request<Shape>::socket_addresses, is_socket_form(info.addr_format));
}

/// How regions are addressed, keyed, described and bound.
template <class Shape>
void compare_memory(const fi_info& info, differences& found) {
  const int mode = info.domain_attr->mr_mode;
  const std::size_t key_bytes = Shape::facts.key_bytes;
  const std::size_t returned = info.domain_attr->mr_key_size;
  found.flag("virtual_addressing", Shape::virtual_address, (mode & FI_MR_VIRT_ADDR) != 0);
  found.flag("key_owner provider", Shape::provider_key, (mode & FI_MR_PROV_KEY) != 0);
  found.flag("local_registration", Shape::local_descriptor, (mode & FI_MR_LOCAL) != 0);
  found.flag("region_endpoint_binding", Shape::bind_regions, (mode & FI_MR_ENDPOINT) != 0);
  constexpr int old_basic = 1 << 0, old_scalable = 1 << 1;  // Their names are deprecated since libfabric 2.
  if (const int unknown = mode & ~(request<Shape>::mr_mode | FI_MR_HMEM | old_basic | old_scalable); unknown != 0)
    found.cell("mr_mode", std::to_string(request<Shape>::mr_mode), std::to_string(mode),
               std::to_string(request<Shape>::mr_mode));
  if ((mode & old_basic) != 0) found.cell("mr_mode", "modern bits", "FI_MR_BASIC", "modern bits");
  // Application keys must fit into the provider's width; provider keys must fit into the width of the wire format.
  if (Shape::provider_key ? returned > key_bytes : returned < key_bytes)
    found.cell("key_bytes", "any", std::to_string(returned), std::to_string(key_bytes));
}

/// What operations can do, and what they need.
template <class Shape>
void compare_operations(const fi_info& info, differences& found) {
  using ask = request<Shape>;
  constexpr const fabric_facts& facts = Shape::facts;
  constexpr std::uint64_t needs = FI_CONTEXT | FI_CONTEXT2;
  if ((info.mode & ~ask::mode) != 0)
    found.cell("mode bits", std::to_string(ask::mode), std::to_string(info.mode), std::to_string(ask::mode));
  if ((info.mode & needs & ~ask::mode) != 0)
    found.cell("context_bytes", std::to_string(facts.context_bytes), (info.mode & FI_CONTEXT2) != 0 ? "64" : "32",
               std::to_string(facts.context_bytes));
  if (Shape::write_immediate)
    found.flag("write_immediate_consumes_receive", Shape::receive_reserve, (info.mode & FI_RX_CQ_DATA) != 0);
  found.at_least("immediate bytes", ask::immediate_bytes, info.domain_attr->cq_data_size);
  if ((info.caps & ask::caps) != ask::caps)
    found.cell("capabilities", std::to_string(ask::caps), std::to_string(info.caps), std::to_string(ask::caps));
  // An endpoint made for a shared pool takes no receives of its own.
  found.flag("shared_receives", Shape::shared_receives, info.ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT);
  const std::uint64_t order = info.tx_attr->msg_order & info.rx_attr->msg_order;
  found.flag("order_send_after_write", Shape::ordered_send_after_write,
             Shape::ordered_send_after_write && (order & FI_ORDER_SAW) != 0);
  found.flag("order_write_after_write", Shape::ordered_write_after_write,
             Shape::ordered_write_after_write && (order & FI_ORDER_WAW) != 0);
  found.flag("order_send_after_send", facts.order_send_after_send,
             facts.order_send_after_send && (order & FI_ORDER_SAS) != 0);
  // Manual instead of automatic is a difference: no thread would poll. The reverse costs only the library's own thread.
  if (facts.data_progress != data_progress::polling && info.domain_attr->data_progress == FI_PROGRESS_MANUAL)
    found.cell("data_progress", "without polling", "polling",
               facts.data_progress == data_progress::thread ? "thread" : "hardware");
}

/// Baked bounds: the device may have more, never less. The row's bound decides injection at compile time.
template <class Shape>
void compare_sizes(const fi_info& info, const port_options& options, differences& found) {
  constexpr const fabric_facts& facts = Shape::facts;
  // Providers differ by a few pages in what they call unlimited: half of the number range counts as unlimited.
  constexpr std::uint64_t message = std::min(facts.largest_message, unlimited / 2),
                          write = std::min(facts.largest_write, unlimited / 2);
  found.at_least("inject_bytes", facts.inject_bytes, info.tx_attr->inject_size);
  found.at_least("queue_depth (transmit)", facts.queue_depth, info.tx_attr->size);
  found.at_least("queue_depth (receive)", facts.queue_depth, info.rx_attr->size);
  found.at_least("receives", options.receives, info.rx_attr->size);
  found.at_least("largest_message", message, info.ep_attr->max_msg_size);
  found.at_least("largest_write", write, info.ep_attr->max_msg_size);
  if (Shape::framed) found.at_least("gather_limit (framing)", 2, info.tx_attr->iov_limit);
  found.at_least("gather_limit", facts.gather_limit, info.tx_attr->iov_limit);
  found.at_least("rma_gather_limit", facts.rma_gather_limit, info.tx_attr->rma_iov_limit);
}

/// Compares every cell that a reply shows. Returns the accepted differences ("" for none). Errors: broken, with the
/// whole list.
template <class Shape>
result<std::string> attest(const fi_info& info, const port_options& options) {
  differences found;
  compare_identity<Shape>(info, found);
  compare_memory<Shape>(info, found);
  compare_operations<Shape>(info, found);
  compare_sizes<Shape>(info, options, found);
  if (found.refuse(options.on_difference)) return failure{error(errc::broken, "open"), found.sentence(Shape::name)};
  return found.text();
}

/// Queries each atomic that the row claims, because providers advertise atomics that they lack. Requires:
/// Shape::native_atomics.
template <class Shape>
result<void> attest_atomics(fid_domain* domain) {
  differences found;
  for (std::size_t i = 1; i <= atomic_operations; ++i)
    for (std::size_t j = 1; j <= number_types; ++j) {
      const auto o = static_cast<atomic_operation>(i);
      const auto t = static_cast<number_type>(j);
      if (!natively(Shape::facts, o, t)) continue;
      fi_atomic_attr offers{};
      const std::uint64_t flags = o == atomic_operation::compare_swap ? FI_COMPARE_ATOMIC : FI_FETCH_ATOMIC;
      const bool works =
          fi_query_atomic(domain, native_type(t), native_operation(o), &offers, flags) == 0 && offers.count > 0;
      // Appended piece by piece: g++ 12 warns wrongly (-Wrestrict) about " " + std::string().
      std::string which(1, ' ');
      which.append(atomic_operation_names[i - 1]).append(" of ").append(number_type_names[j - 1]).append(" (bytes)");
      found.at_least("atomic_operations", size_of(t), works ? offers.size : 0, which);
    }
  if (found.text().empty()) return {};
  return failure{error(errc::broken, "fi_query_atomic"), found.sentence(Shape::name)};
}

}  // namespace weft::backends::libfabric
