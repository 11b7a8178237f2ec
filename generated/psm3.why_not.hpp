// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row psm3, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What psm3 cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "psm3.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const psm3*, answers::endpoint::connected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric psm3 cannot answer connected: it needs endpoint_type to be connected, and psm3.endpoint_type is addressed "
      "(claimed: libfabric 2.6 prov/psm3: FI_EP_RDM and FI_EP_DGRAM); the nearest legal answer is endpoint::addressed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::bootstrap::socket_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric psm3 cannot answer socket_address: it needs address_resolution to be socket, and psm3.address_resolution "
      "is opaque (claimed: libfabric 2.6 prov/psm3, FI_ADDR_PSMX3); the nearest legal answer is bootstrap::exchange [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::framing::header, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: framing: fabric psm3 cannot answer header: it needs gather_limit to be at least 2, and psm3.gather_limit is 1 (claimed: "
      "libfabric 2.6 prov/psm3: iov_limit 13 to transmit, 1 to receive); the nearest legal answer is framing::immediate [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::region_key::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric psm3 cannot answer provider: it needs key_owner to be provider, and psm3.key_owner is application "
      "(claimed: libfabric 2.6 prov/psm3: without FI_MR_PROV_KEY in the hints the application owns keys); the nearest legal answer is "
      "region_key::application [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric psm3 cannot answer required: it needs local_registration to be true, and psm3.local_registration is "
      "false (claimed: libfabric 2.6 prov/psm3); the nearest legal answer is local_descriptor::not_needed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric psm3 cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "psm3.region_endpoint_binding is false (claimed: libfabric 2.6 prov/psm3); the nearest legal answer is region_binding::domain "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric psm3 cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, and "
      "psm3.write_immediate_consumes_receive is false (claimed: libfabric 2.6 prov/psm3: no FI_RX_CQ_DATA); the nearest legal answer is "
      "notify::immediate [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric psm3 cannot answer remote_counter: it needs order_write_after_write to be true, and "
      "psm3.order_write_after_write is false (claimed: libfabric 2.6 prov/psm3: FI_ORDER_WAW up to 4 KiB only); the nearest legal answer "
      "is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::notify::message_after_ordered_write, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric psm3 cannot answer message_after_ordered_write: it needs order_send_after_write to be true, and "
      "psm3.order_send_after_write is false (claimed: libfabric 2.6 prov/psm3: no FI_ORDER_SAW); the nearest legal answer is "
      "notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric psm3 cannot answer watched_word: it needs bytes_visible_in_order to be true, and psm3.bytes_visible_in_order "
      "is false (copied: conservative: no card promises the order of a write's bytes in memory; not established); the nearest legal "
      "answer is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::write_fault::reported, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric psm3 cannot answer reported: it needs refused_write to be reported, and psm3.refused_write is silent "
      "(copied: conservative; not established); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric psm3 cannot answer undetected: it needs refused_write to be hidden, and psm3.refused_write is silent "
      "(copied: conservative; not established); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric psm3 cannot answer hardware: it needs data_progress to be hardware, and psm3.data_progress is polling "
      "(claimed: libfabric 2.6 prov/psm3: FI_PROGRESS_MANUAL unless the hints request another); the nearest legal answer is "
      "progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric psm3 cannot answer thread: it needs data_progress to be thread, and psm3.data_progress is polling (claimed: "
      "libfabric 2.6 prov/psm3: FI_PROGRESS_MANUAL unless the hints request another); the nearest legal answer is progress::polling "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::wait::descriptor, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric psm3 cannot answer descriptor: it needs completion_wait to be descriptor, and psm3.completion_wait is none "
      "(copied: conservative; not established); the nearest legal answer is wait::spin [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric psm3 cannot answer yield: it needs completion_wait to be yield, and psm3.completion_wait is none (copied: "
      "conservative; not established); the nearest legal answer is wait::spin [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric psm3 cannot answer every_operation: it needs selective_completion to be false, and "
      "psm3.selective_completion is true (claimed: libfabric 2.6 prov/psm3); the nearest legal answer is completion::selective "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric psm3 cannot answer provider: it needs reports_killed_peer to be true, and psm3.reports_killed_peer is false "
      "(copied: conservative; not established); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric psm3 cannot answer process: it needs same_host to be true, and psm3.same_host is false (claimed: a network "
      "protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::receive_pool::per_link, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric psm3 cannot answer per_link: it needs endpoint_type to be connected, and psm3.endpoint_type is "
      "addressed (claimed: libfabric 2.6 prov/psm3: FI_EP_RDM and FI_EP_DGRAM); the nearest legal answer is receive_pool::shared "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const psm3*, answers::flush::message_behind_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric psm3 cannot answer message_behind_writes: it needs order_send_after_write to be true, and "
      "psm3.order_send_after_write is false (claimed: libfabric 2.6 prov/psm3: no FI_ORDER_SAW); the nearest legal answer is "
      "flush::tracked_writes [WEFT-C001]");
  return {};
}
// clang-format on
}  // namespace weft::fabrics
