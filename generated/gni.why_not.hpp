// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row gni, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What gni cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "gni.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const gni*, answers::endpoint::connected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric gni cannot answer connected: it needs endpoint_type to be connected, and gni.endpoint_type is addressed "
      "(claimed: libfabric 1.17 prov/gni: FI_EP_RDM, of three types); the nearest legal answer is endpoint::addressed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::bootstrap::socket_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric gni cannot answer socket_address: it needs address_resolution to be socket, and gni.address_resolution is "
      "opaque (claimed: libfabric 1.17 prov/gni, FI_ADDR_GNI); the nearest legal answer is bootstrap::exchange [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::region_address::offset, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric gni cannot answer offset: it needs virtual_addressing to be false, and gni.virtual_addressing is true "
      "(claimed: libfabric 1.17 man fi_gni: basic registration; scalable needs FI_MR_MMU_NOTIFY); the nearest legal answer is "
      "region_address::virtual_address [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::region_key::application, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric gni cannot answer application: it needs key_owner to be application, and gni.key_owner is provider "
      "(claimed: libfabric 1.17 man fi_gni: basic registration); the nearest legal answer is region_key::provider [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric gni cannot answer required: it needs local_registration to be true, and gni.local_registration is "
      "false (claimed: libfabric 1.17 prov/gni: FI_MR_LOCAL is not required); the nearest legal answer is local_descriptor::not_needed "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric gni cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "gni.region_endpoint_binding is false (claimed: libfabric 1.17 prov/gni); the nearest legal answer is region_binding::domain "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric gni cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, and "
      "gni.write_immediate_consumes_receive is false (claimed: libfabric 1.17 man fi_gni: no FI_RX_CQ_DATA); the nearest legal answer is "
      "notify::immediate [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric gni cannot answer remote_counter: it needs order_write_after_write to be true, and "
      "gni.order_write_after_write is false (claimed: libfabric 1.17 prov/gni: FI_ORDER_SAS only); the nearest legal answer is "
      "notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::notify::message_after_ordered_write, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric gni cannot answer message_after_ordered_write: it needs order_send_after_write to be true, and "
      "gni.order_send_after_write is false (claimed: libfabric 1.17 prov/gni: FI_ORDER_SAS only); the nearest legal answer is "
      "notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric gni cannot answer watched_word: it needs bytes_visible_in_order to be true, and gni.bytes_visible_in_order is "
      "false (copied: conservative: no card promises the order of a write's bytes in memory; not established); the nearest legal answer "
      "is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::write_fault::reported, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric gni cannot answer reported: it needs refused_write to be reported, and gni.refused_write is silent "
      "(copied: conservative; not established); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric gni cannot answer undetected: it needs refused_write to be hidden, and gni.refused_write is silent "
      "(copied: conservative; not established); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric gni cannot answer hardware: it needs data_progress to be hardware, and gni.data_progress is polling "
      "(claimed: libfabric 1.17 man fi_gni: FI_PROGRESS_AUTO helps large transfers only); the nearest legal answer is progress::polling "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric gni cannot answer thread: it needs data_progress to be thread, and gni.data_progress is polling (claimed: "
      "libfabric 1.17 man fi_gni: FI_PROGRESS_AUTO helps large transfers only); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::wait::descriptor, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric gni cannot answer descriptor: it needs completion_wait to be descriptor, and gni.completion_wait is none "
      "(claimed: libfabric 1.17 man fi_gni: no FI_WAIT_FD and no FI_WAIT_YIELD); the nearest legal answer is wait::spin [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric gni cannot answer yield: it needs completion_wait to be yield, and gni.completion_wait is none (claimed: "
      "libfabric 1.17 man fi_gni: no FI_WAIT_FD and no FI_WAIT_YIELD); the nearest legal answer is wait::spin [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric gni cannot answer every_operation: it needs selective_completion to be false, and "
      "gni.selective_completion is true (claimed: libfabric 1.17 prov/gni); the nearest legal answer is completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric gni cannot answer provider: it needs reports_killed_peer to be true, and gni.reports_killed_peer is false "
      "(copied: conservative; not established); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric gni cannot answer process: it needs same_host to be true, and gni.same_host is false (claimed: a network "
      "protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::receive_pool::per_link, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric gni cannot answer per_link: it needs endpoint_type to be connected, and gni.endpoint_type is addressed "
      "(claimed: libfabric 1.17 prov/gni: FI_EP_RDM, of three types); the nearest legal answer is receive_pool::shared [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const gni*, answers::flush::message_behind_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric gni cannot answer message_behind_writes: it needs order_send_after_write to be true, and "
      "gni.order_send_after_write is false (claimed: libfabric 1.17 prov/gni: FI_ORDER_SAS only); the nearest legal answer is "
      "flush::tracked_writes [WEFT-C001]");
  return {};
}
// clang-format on
}  // namespace weft::fabrics
