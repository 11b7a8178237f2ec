// SPDX-License-Identifier: Apache-2.0
//
// The demands of a port on the library, one by one, with the names of the matrix. Each can be dropped alone, so an
// empty reply can be explained.
// fi_getinfo says -61 and no more; people lose days over the missing bit (mercury 395, aws-ofi-nccl 241).
// A mode bit that weft does not offer is a demand too: without FI_MR_ENDPOINT, providers that bind regions are excluded
// (fi_getinfo(3), fi_mr(3)).
// Hot path: no. Threads: values.
#pragma once

#include "hints.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace weft::backends::libfabric {

/// One question to fi_getinfo.
struct question {
  owned_info hints;
  const char* node = nullptr;
  const char* service = nullptr;

  /// The library's replies, or null.
  owned_info ask() const {
    fi_info* found = nullptr;
    const std::uint64_t source = node != nullptr || service != nullptr ? FI_SOURCE : 0;
    if (hints == nullptr || fi_getinfo(asked_version, node, service, source, hints.get(), &found) != 0) return nullptr;
    return owned_info(found);
  }
};

/// One demand.
struct demand {
  std::string said;                         ///< The cell and the requested value: "atomics: provider".
  void (*give_up)(question&);               ///< Removes the demand from a question.
  std::string (*returned)(const fi_info&);  ///< The value that a reply has there.
};

namespace demands {

inline std::string word(bool on) { return on ? "true" : "false"; }

/// A region mode that weft does not offer.
template <int Bit>
demand without_mode(std::string said) {
  return {std::move(said), [](question& q) { q.hints->domain_attr->mr_mode |= Bit; },
          [](const fi_info& i) { return word((i.domain_attr->mr_mode & Bit) != 0); }};
}
/// An operation mode that weft does not offer.
template <std::uint64_t Bit>
demand without_operation_mode(std::string said) {
  return {std::move(said), [](question& q) { q.hints->mode |= Bit; },
          [](const fi_info& i) { return word((i.mode & Bit) != 0); }};
}
template <std::uint64_t Bit>
demand capability(std::string said) {
  return {std::move(said), [](question& q) { q.hints->caps &= ~Bit; },
          [](const fi_info& i) { return word((i.caps & Bit) != 0); }};
}
template <std::uint64_t Bit>
demand order(std::string said) {
  return {std::move(said),
          [](question& q) {
            q.hints->tx_attr->msg_order &= ~Bit;
            q.hints->rx_attr->msg_order &= ~Bit;
          },
          [](const fi_info& i) { return word((i.tx_attr->msg_order & i.rx_attr->msg_order & Bit) != 0); }};
}

inline demand endpoint(fi_ep_type type) {
  return {"endpoint_type: " + std::string(endpoint_name(type)),
          [](question& q) { q.hints->ep_attr->type = FI_EP_UNSPEC; },
          [](const fi_info& i) { return std::string(endpoint_name(i.ep_attr->type)); }};
}
inline demand fabric_name(std::string_view name) {
  return {"fabric_name: \"" + std::string(name) + "\"",
          [](question& q) { std::free(std::exchange(q.hints->fabric_attr->name, nullptr)); },
          [](const fi_info& i) {
            return i.fabric_attr->name == nullptr ? std::string("none") : std::string(i.fabric_attr->name);
          }};
}
inline demand immediate(std::string said) {
  return {std::move(said), [](question& q) { q.hints->domain_attr->cq_data_size = 0; },
          [](const fi_info& i) { return std::to_string(i.domain_attr->cq_data_size); }};
}
inline demand progress(bool polling) {
  return {std::string("data_progress: ") + (polling ? "polling" : "without polling"),
          [](question& q) { q.hints->domain_attr->data_progress = FI_PROGRESS_UNSPEC; },
          [](const fi_info& i) -> std::string {
            return i.domain_attr->data_progress == FI_PROGRESS_MANUAL ? "polling" : "without polling";
          }};
}
inline demand threading(thread_level asked) {
  return {asked == thread_level::one_owner ? "one owner per port"
          : asked == thread_level::any     ? "locks of the library"
                                           : "one owner per queue",
          [](question& q) { q.hints->domain_attr->threading = FI_THREAD_UNSPEC; },
          [](const fi_info&) -> std::string { return "another threading model"; }};
}
inline demand receives(std::uint32_t count) {
  return {"receives: " + std::to_string(count), [](question& q) { q.hints->rx_attr->size = 0; },
          [](const fi_info& i) { return std::to_string(i.rx_attr->size); }};
}
inline demand shared_receives() {
  return {"shared_receives: true", [](question& q) { q.hints->ep_attr->rx_ctx_cnt = 0; },
          [](const fi_info& i) { return word(i.ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT); }};
}
inline demand node(const std::string& name) {
  return {"node: \"" + name + "\"", [](question& q) { q.node = nullptr; },
          [](const fi_info&) -> std::string { return "an address of its choice"; }};
}
inline demand service(const std::string& name) {
  return {"service: \"" + name + "\"", [](question& q) { q.service = nullptr; },
          [](const fi_info&) -> std::string { return "any free one"; }};
}

}  // namespace demands

/// The whole question of a port.
template <class Shape>
question question_of(const port_options& options) {
  const auto text = [](const std::string& of) {
    return request<Shape>::socket_addresses && !of.empty() ? of.c_str() : nullptr;
  };
  return {make_hints<Shape>(options), text(options.node), text(options.service)};
}

/// Capabilities of operations, and their order.
template <class Shape>
void demand_capabilities(std::vector<demand>& all, const port_options& options) {
  if (Shape::native_atomics) all.push_back(demands::capability<FI_ATOMIC>("atomics: provider"));
  if (Shape::remote_counter) all.push_back(demands::capability<FI_RMA_EVENT>("remote_counter_counts_writes: true"));
  if (Shape::multi_receive) all.push_back(demands::capability<FI_MULTI_RECV>("multi_receive: true"));
  if (options.device_memory) all.push_back(demands::capability<FI_HMEM>("device_memory: true"));
  if (Shape::shared_receives) all.push_back(demands::shared_receives());
  if (Shape::ordered_send_after_write) all.push_back(demands::order<FI_ORDER_SAW>("order_send_after_write: true"));
  if (Shape::ordered_write_after_write) all.push_back(demands::order<FI_ORDER_WAW>("order_write_after_write: true"));
  if (Shape::facts.order_send_after_send) all.push_back(demands::order<FI_ORDER_SAS>("order_send_after_send: true"));
}

/// Every demand that can be dropped. The provider cannot.
template <class Shape>
std::vector<demand> demands_of(const port_options& options) {
  using ask = request<Shape>;
  constexpr const fabric_facts& facts = Shape::facts;
  std::vector<demand> all{demands::endpoint(ask::endpoint), demands::progress(ask::progress == FI_PROGRESS_MANUAL),
                          demands::threading(Shape::threads)};
  if (!facts.fabric_name.empty()) all.push_back(demands::fabric_name(facts.fabric_name));
  if (!Shape::virtual_address) all.push_back(demands::without_mode<FI_MR_VIRT_ADDR>("virtual_addressing: false"));
  if (!Shape::provider_key) all.push_back(demands::without_mode<FI_MR_PROV_KEY>("key_owner: application"));
  if (!Shape::local_descriptor) all.push_back(demands::without_mode<FI_MR_LOCAL>("local_registration: false"));
  if (!Shape::bind_regions) all.push_back(demands::without_mode<FI_MR_ENDPOINT>("region_endpoint_binding: false"));
  all.push_back(demands::without_mode<FI_MR_RAW>("key_bytes: " + std::to_string(facts.key_bytes)));
  demand_capabilities<Shape>(all, options);
  if (ask::immediate_bytes > 0) {
    const char* cell = Shape::write_immediate && facts.write_immediate_bytes == ask::immediate_bytes
                           ? "write_immediate_bytes: "
                           : "send_immediate_bytes: ";
    all.push_back(demands::immediate(cell + std::to_string(ask::immediate_bytes)));
  }
  if (!Shape::receive_reserve)
    all.push_back(demands::without_operation_mode<FI_RX_CQ_DATA>("write_immediate_consumes_receive: false"));
  if (facts.context_bytes == 0)
    all.push_back(demands::without_operation_mode<FI_CONTEXT | FI_CONTEXT2>("context_bytes: 0"));
  else if (facts.context_bytes < 64)
    all.push_back(
        demands::without_operation_mode<FI_CONTEXT2>("context_bytes: " + std::to_string(facts.context_bytes)));
  if (request<Shape>::posts_vectors)
    all.push_back(demands::without_operation_mode<FI_ASYNC_IOV>("gather lists that are free when the call returns"));
  if (options.receives > facts.queue_depth) all.push_back(demands::receives(options.receives));
  if (ask::socket_addresses && !options.node.empty()) all.push_back(demands::node(options.node));
  if (ask::socket_addresses && !options.service.empty()) all.push_back(demands::service(options.service));
  return all;
}

}  // namespace weft::backends::libfabric
