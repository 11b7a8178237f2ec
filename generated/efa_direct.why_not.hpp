// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row efa_direct, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What efa_direct cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "efa_direct.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::endpoint::connected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric efa_direct cannot answer connected: it needs endpoint_type to be connected, and efa_direct.endpoint_type is "
      "addressed (claimed: libfabric 2.6 prov/efa: FI_EP_RDM and FI_EP_DGRAM, never FI_EP_MSG); the nearest legal answer is "
      "endpoint::addressed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::bootstrap::socket_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric efa_direct cannot answer socket_address: it needs address_resolution to be socket, and "
      "efa_direct.address_resolution is opaque (claimed: libfabric 2.6 prov/efa, FI_ADDR_EFA of 32 bytes); the nearest legal answer is "
      "bootstrap::exchange [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::region_address::offset, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric efa_direct cannot answer offset: it needs virtual_addressing to be false, and "
      "efa_direct.virtual_addressing is true (claimed: libfabric 2.6 prov/efa: the provider requires FI_MR_VIRT_ADDR); the nearest legal "
      "answer is region_address::virtual_address [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::region_key::application, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric efa_direct cannot answer application: it needs key_owner to be application, and efa_direct.key_owner is "
      "provider (claimed: libfabric 2.6 prov/efa: all releases require FI_MR_PROV_KEY); the nearest legal answer is region_key::provider "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::local_descriptor::not_needed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric efa_direct cannot answer not_needed: it needs local_registration to be false, and "
      "efa_direct.local_registration is true (claimed: libfabric 2.6 prov/efa, fabric efa-direct: the provider requires FI_MR_LOCAL); the "
      "nearest legal answer is local_descriptor::required [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric efa_direct cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "efa_direct.region_endpoint_binding is false (claimed: libfabric 2.6 prov/efa); the nearest legal answer is region_binding::domain "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric efa_direct cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, "
      "and efa_direct.write_immediate_consumes_receive is false (claimed: libfabric 2.6 prov/efa, fabric efa-direct: not by default, only "
      "if the application sets FI_RX_CQ_DATA (2.4 and later)); the nearest legal answer is notify::immediate [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric efa_direct cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and "
      "efa_direct.remote_counter_counts_writes is false (claimed: libfabric 2.6 man fi_efa: no FI_RMA_EVENT); the nearest legal answer is "
      "notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::notify::message_after_ordered_write, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric efa_direct cannot answer message_after_ordered_write: it needs order_send_after_write to be true, and "
      "efa_direct.order_send_after_write is false (claimed: libfabric 2.6 prov/efa, fabric efa-direct: msg_order is empty); the nearest "
      "legal answer is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric efa_direct cannot answer watched_word: it needs bytes_visible_in_order to be true, and "
      "efa_direct.bytes_visible_in_order is false (copied: conservative: no card promises the order of a write's bytes in memory; not "
      "established); the nearest legal answer is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::write_fault::reported, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric efa_direct cannot answer reported: it needs refused_write to be reported, and efa_direct.refused_write "
      "is silent (copied: conservative; not established); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric efa_direct cannot answer undetected: it needs refused_write to be hidden, and efa_direct.refused_write "
      "is silent (copied: conservative; not established); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::atomics::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: atomics: fabric efa_direct cannot answer provider: it needs atomics to be provider, and efa_direct.atomics is none (claimed: "
      "libfabric 2.6 prov/efa, fabric efa-direct: no FI_ATOMIC); the nearest legal answer is atomics::target [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric efa_direct cannot answer thread: it needs data_progress to be thread, and efa_direct.data_progress is "
      "hardware (claimed: libfabric 2.6 prov/efa, fabric efa-direct: FI_PROGRESS_AUTO by the card); the nearest legal answer is "
      "progress::hardware [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::progress::polling, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric efa_direct cannot answer polling: it needs data_progress to be polling, and efa_direct.data_progress is "
      "hardware (claimed: libfabric 2.6 prov/efa, fabric efa-direct: FI_PROGRESS_AUTO by the card); the nearest legal answer is "
      "progress::hardware [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::wait::descriptor, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric efa_direct cannot answer descriptor: it needs completion_wait to be descriptor, and efa_direct.completion_wait "
      "is none (copied: conservative; not established before 2.6); the nearest legal answer is wait::spin [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric efa_direct cannot answer yield: it needs completion_wait to be yield, and efa_direct.completion_wait is none "
      "(copied: conservative; not established before 2.6); the nearest legal answer is wait::spin [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric efa_direct cannot answer every_operation: it needs selective_completion to be false, and "
      "efa_direct.selective_completion is true (claimed: libfabric 2.6 prov/efa, fabric efa-direct); the nearest legal answer is "
      "completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric efa_direct cannot answer provider: it needs reports_killed_peer to be true, and "
      "efa_direct.reports_killed_peer is false (copied: conservative; not established); the nearest legal answer is liveness::heartbeat "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric efa_direct cannot answer process: it needs same_host to be true, and efa_direct.same_host is false "
      "(claimed: a network protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::receive_buffers::multi_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_buffers: fabric efa_direct cannot answer multi_receive: it needs multi_receive to be true, and "
      "efa_direct.multi_receive is false (claimed: libfabric 2.1 man fi_efa: efa-direct has no FI_MULTI_RECV); the nearest legal answer "
      "is receive_buffers::slots [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::receive_pool::per_link, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric efa_direct cannot answer per_link: it needs endpoint_type to be connected, and efa_direct.endpoint_type "
      "is addressed (claimed: libfabric 2.6 prov/efa: FI_EP_RDM and FI_EP_DGRAM, never FI_EP_MSG); the nearest legal answer is "
      "receive_pool::shared [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::flush::message_behind_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric efa_direct cannot answer message_behind_writes: it needs order_send_after_write to be true, and "
      "efa_direct.order_send_after_write is false (claimed: libfabric 2.6 prov/efa, fabric efa-direct: msg_order is empty); the nearest "
      "legal answer is flush::tracked_writes [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_1*, answers::inject::as_the_row_permits, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: inject: fabric efa_direct cannot answer as_the_row_permits: it needs inject_bytes to be at least 1, and "
      "efa_direct.inject_bytes is 0 (copied: conservative: the device's inline size; not established); the nearest legal answer is "
      "inject::never [WEFT-C001]");
  return {};
}
template <class Asked, std::uint32_t... Values>
constexpr refused why_not(const efa_direct_since_2_1*, answers::inject::up_to<Values...>, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: inject: fabric efa_direct cannot answer up_to: it needs inject_bytes to be at least 1, and efa_direct.inject_bytes is 0 "
      "(copied: conservative: the device's inline size; not established); the nearest legal answer is inject::never [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_6*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric efa_direct cannot answer yield: it needs completion_wait to be yield, and efa_direct.completion_wait is "
      "descriptor (claimed: libfabric 2.6 prov/efa: FI_WAIT_FD on fabric efa-direct); the nearest legal answer is wait::descriptor "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_direct_since_2_6*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric efa_direct cannot answer spin: it needs completion_wait to be none, and efa_direct.completion_wait is "
      "descriptor (claimed: libfabric 2.6 prov/efa: FI_WAIT_FD on fabric efa-direct); the nearest legal answer is wait::descriptor "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr permitted why_not(const efa_direct_since_2_6*, answers::wait::descriptor, Asked) { return {}; }
// clang-format on
}  // namespace weft::fabrics
