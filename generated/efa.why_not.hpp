// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row efa, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What efa cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "efa.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::endpoint::connected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric efa cannot answer connected: it needs endpoint_type to be connected, and efa.endpoint_type is addressed "
      "(claimed: libfabric 2.6 prov/efa: FI_EP_RDM and FI_EP_DGRAM, never FI_EP_MSG); the nearest legal answer is endpoint::addressed "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::bootstrap::socket_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric efa cannot answer socket_address: it needs address_resolution to be socket, and efa.address_resolution is "
      "opaque (claimed: libfabric 2.6 prov/efa, FI_ADDR_EFA of 32 bytes); the nearest legal answer is bootstrap::exchange [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::region_address::offset, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric efa cannot answer offset: it needs virtual_addressing to be false, and efa.virtual_addressing is true "
      "(claimed: libfabric 2.6 prov/efa: the provider requires FI_MR_VIRT_ADDR); the nearest legal answer is "
      "region_address::virtual_address [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::region_key::application, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric efa cannot answer application: it needs key_owner to be application, and efa.key_owner is provider "
      "(claimed: libfabric 2.6 prov/efa: all releases require FI_MR_PROV_KEY); the nearest legal answer is region_key::provider "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric efa cannot answer required: it needs local_registration to be true, and efa.local_registration is "
      "false (claimed: libfabric 2.6 prov/efa: FI_MR_LOCAL is optional on fabric efa); the nearest legal answer is "
      "local_descriptor::not_needed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric efa cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "efa.region_endpoint_binding is false (claimed: libfabric 2.6 prov/efa); the nearest legal answer is region_binding::domain "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric efa cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, and "
      "efa.write_immediate_consumes_receive is false (claimed: libfabric 2.6 prov/efa: the provider uses an internal buffer or an "
      "unsolicited receive, never the application's receive); the nearest legal answer is notify::immediate [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric efa cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and "
      "efa.remote_counter_counts_writes is false (claimed: libfabric 2.6 man fi_efa: no FI_RMA_EVENT); the nearest legal answer is "
      "notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::notify::message_after_ordered_write, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric efa cannot answer message_after_ordered_write: it needs order_send_after_write to be true, and "
      "efa.order_send_after_write is false (claimed: libfabric 2.6 prov/efa: FI_ORDER_SAS and atomic orders only); the nearest legal "
      "answer is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric efa cannot answer watched_word: it needs bytes_visible_in_order to be true, and efa.bytes_visible_in_order is "
      "false (copied: conservative: no card promises the order of a write's bytes in memory; not established); the nearest legal answer "
      "is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::write_fault::reported, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric efa cannot answer reported: it needs refused_write to be reported, and efa.refused_write is silent "
      "(copied: conservative; not established); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric efa cannot answer undetected: it needs refused_write to be hidden, and efa.refused_write is silent "
      "(copied: conservative; not established); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric efa cannot answer hardware: it needs data_progress to be hardware, and efa.data_progress is polling "
      "(claimed: libfabric 2.6 prov/efa: FI_PROGRESS_MANUAL; 2.0 and earlier claimed AUTO, documented as an error); the nearest legal "
      "answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric efa cannot answer thread: it needs data_progress to be thread, and efa.data_progress is polling (claimed: "
      "libfabric 2.6 prov/efa: FI_PROGRESS_MANUAL; 2.0 and earlier claimed AUTO, documented as an error); the nearest legal answer is "
      "progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::wait::descriptor, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric efa cannot answer descriptor: it needs completion_wait to be descriptor, and efa.completion_wait is none "
      "(claimed: libfabric 1.17 prov/efa has none; FI_WAIT_FD on 2.x only with shared memory off); the nearest legal answer is wait::spin "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric efa cannot answer yield: it needs completion_wait to be yield, and efa.completion_wait is none (claimed: "
      "libfabric 1.17 prov/efa has none; FI_WAIT_FD on 2.x only with shared memory off); the nearest legal answer is wait::spin "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric efa cannot answer every_operation: it needs selective_completion to be false, and "
      "efa.selective_completion is true (claimed: libfabric 2.6 prov/efa; the man page of 1.17 denies it); the nearest legal answer is "
      "completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric efa cannot answer provider: it needs reports_killed_peer to be true, and efa.reports_killed_peer is false "
      "(copied: conservative; not established); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric efa cannot answer process: it needs same_host to be true, and efa.same_host is false (claimed: a network "
      "protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::receive_pool::per_link, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric efa cannot answer per_link: it needs endpoint_type to be connected, and efa.endpoint_type is addressed "
      "(claimed: libfabric 2.6 prov/efa: FI_EP_RDM and FI_EP_DGRAM, never FI_EP_MSG); the nearest legal answer is receive_pool::shared "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::flush::message_behind_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric efa cannot answer message_behind_writes: it needs order_send_after_write to be true, and "
      "efa.order_send_after_write is false (claimed: libfabric 2.6 prov/efa: FI_ORDER_SAS and atomic orders only); the nearest legal "
      "answer is flush::tracked_writes [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const efa_since_1_15*, answers::inject::as_the_row_permits, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: inject: fabric efa cannot answer as_the_row_permits: it needs inject_bytes to be at least 1, and efa.inject_bytes is 0 "
      "(claimed: libfabric 1.17 man fi_efa: inject unsupported; about one MTU on 2.6); the nearest legal answer is inject::never "
      "[WEFT-C001]");
  return {};
}
template <class Asked, std::uint32_t... Values>
constexpr refused why_not(const efa_since_1_15*, answers::inject::up_to<Values...>, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: inject: fabric efa cannot answer up_to: it needs inject_bytes to be at least 1, and efa.inject_bytes is 0 (claimed: "
      "libfabric 1.17 man fi_efa: inject unsupported; about one MTU on 2.6); the nearest legal answer is inject::never [WEFT-C001]");
  return {};
}
// clang-format on
}  // namespace weft::fabrics
