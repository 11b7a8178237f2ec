// SPDX-License-Identifier: Apache-2.0
//
// What a port requests from libfabric: exactly what its answers rely on.
// The same hint selects other providers and modes in other releases. So each request is a constant here, and attest.hpp
// compares it with the reply.
// An offered mode is a promise of weft: FI_ASYNC_IOV only where no post has more than one piece, FI_RX_CQ_DATA only
// where a receive reserve stays posted (fi_getinfo(3), mode; fi_mr(3), mr_mode).
// Hot path: no. Threads: values.
#pragma once

#include "../../core/port.hpp"
#include "owned.hpp"
#include "version.hpp"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace weft::backends::libfabric {

/// The requests of a shape's answers, in libfabric's constants.
template <class Shape>
struct request {
  static constexpr const fabric_facts& facts = Shape::facts;
  static constexpr bool connected = facts.endpoint_type == endpoint_type::connected;
  static constexpr bool socket_addresses = facts.address_resolution == address_resolution::socket;

  static constexpr bool posts_vectors = Shape::framed || facts.gather_limit > 1 || facts.rma_gather_limit > 1;

  static constexpr fi_ep_type endpoint = connected ? FI_EP_MSG : FI_EP_RDM;
  static constexpr std::uint64_t caps = FI_MSG | FI_RMA | (Shape::native_atomics ? FI_ATOMIC : 0) |
                                        (Shape::remote_counter ? FI_RMA_EVENT : 0) |
                                        (Shape::multi_receive ? FI_MULTI_RECV : 0);
  /// weft always offers FI_MR_ALLOCATED: regions are allocated memory. The other bits decide how regions are used.
  static constexpr int mr_mode =
      FI_MR_ALLOCATED | (Shape::virtual_address ? FI_MR_VIRT_ADDR : 0) | (Shape::provider_key ? FI_MR_PROV_KEY : 0) |
      (Shape::local_descriptor ? FI_MR_LOCAL : 0) | (Shape::bind_regions ? FI_MR_ENDPOINT : 0) |
      (Shape::bind_regions && Shape::remote_counter ? FI_MR_RMA_EVENT : 0);
  static constexpr std::uint64_t mode =
      (facts.context_bytes > 0 ? FI_CONTEXT : 0) | (facts.context_bytes >= 64 ? FI_CONTEXT2 : 0) |
      (Shape::receive_reserve ? FI_RX_CQ_DATA : 0) | (posts_vectors ? 0 : FI_ASYNC_IOV);
  static constexpr std::uint64_t order = (Shape::ordered_send_after_write ? FI_ORDER_SAW : 0) |
                                         (Shape::ordered_write_after_write ? FI_ORDER_WAW : 0) |
                                         (facts.order_send_after_send ? FI_ORDER_SAS : 0);
  static constexpr std::size_t immediate_bytes = std::max<std::size_t>(
      Shape::write_immediate ? facts.write_immediate_bytes : 0, Shape::framed ? 0 : facts.send_immediate_bytes);
  static constexpr fi_threading threading = Shape::threads == thread_level::any                   ? FI_THREAD_SAFE
                                            : Shape::threads == thread_level::one_owner_per_queue ? FI_THREAD_COMPLETION
                                                                                                  : FI_THREAD_DOMAIN;
  static constexpr fi_progress progress =
      facts.data_progress == data_progress::polling ? FI_PROGRESS_MANUAL : FI_PROGRESS_AUTO;
};

/// Sets the row's environment variables; a user's own value wins. Requires: before the first fi_getinfo. It runs once
/// per process: another thread may open the same fabric now, and the library reads the environment at any time.
template <class Shape>
void set_environment() {
  if constexpr (requires { Shape::environment; })
    if constexpr (Shape::environment.size() > 0) {
      [[maybe_unused]] static const bool set = [] {
        for (const environment_setting& each : Shape::environment) setenv(each.name, each.value, 0);
        return true;
      }();
    }
}

/// For messages: variables with another value than the row wants; "" where there is none.
template <class Shape>
std::string other_environment() {
  std::string text;
  if constexpr (requires { Shape::environment; })
    for (const environment_setting& each : Shape::environment)
      if (const char* has = ::secure_getenv(each.name); has != nullptr && std::strcmp(has, each.value) != 0)
        text += std::string("; ") + each.name + " is " + has + " in the environment, and the row wants " + each.value;
  return text;
}

/// The matrix's name of an endpoint type.
constexpr std::string_view endpoint_name(fi_ep_type type) noexcept {
  return type == FI_EP_MSG ? "connected" : type == FI_EP_RDM ? "addressed" : "datagrams";
}

/// The address format to request for a host. Some providers find an IPv6 address only under its own format.
inline std::uint32_t address_format(std::string_view node) noexcept {
  return node.find(':') == std::string_view::npos ? std::uint32_t{FI_FORMAT_UNSPEC} : std::uint32_t{FI_SOCKADDR_IN6};
}

/// The hints of a port. Null only when memory is exhausted.
template <class Shape>
owned_info make_hints(const port_options& options) {
  using ask = request<Shape>;
  owned_info hints(fi_allocinfo());
  if (!hints) return hints;
  hints->caps = ask::caps | (options.device_memory ? FI_HMEM : 0);
  if (ask::socket_addresses) hints->addr_format = address_format(options.node);
  hints->mode = ask::mode;
  hints->ep_attr->type = ask::endpoint;
  if constexpr (Shape::shared_receives) hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
  hints->tx_attr->msg_order = ask::order;
  hints->rx_attr->msg_order = ask::order;
  hints->domain_attr->mr_mode = ask::mr_mode | (options.device_memory ? FI_MR_HMEM : 0);
  hints->domain_attr->threading = ask::threading;
  hints->domain_attr->data_progress = ask::progress;
  hints->domain_attr->cq_data_size = ask::immediate_bytes;
  hints->fabric_attr->prov_name = strdup(std::string(ask::facts.provider).c_str());
  if (!ask::facts.fabric_name.empty()) hints->fabric_attr->name = strdup(std::string(ask::facts.fabric_name).c_str());
  // Requested only beyond the row's promise: a request above the library's depth finds nothing.
  if (options.receives > ask::facts.queue_depth) hints->rx_attr->size = options.receives;
  return hints;
}

}  // namespace weft::backends::libfabric
