// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row opx, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What opx cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "opx.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::endpoint::connected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric opx cannot answer connected: it needs endpoint_type to be connected, and opx.endpoint_type is addressed "
      "(claimed: libfabric 2.6 prov/opx: FI_EP_RDM); the nearest legal answer is endpoint::addressed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::bootstrap::socket_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric opx cannot answer socket_address: it needs address_resolution to be socket, and opx.address_resolution is "
      "opaque (claimed: libfabric 2.6 prov/opx, FI_ADDR_OPX); the nearest legal answer is bootstrap::exchange [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::framing::header, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: framing: fabric opx cannot answer header: it needs gather_limit to be at least 2, and opx.gather_limit is 1 (copied: "
      "conservative lower bound; not established); the nearest legal answer is framing::immediate [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::region_address::virtual_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric opx cannot answer virtual_address: it needs virtual_addressing to be true, and opx.virtual_addressing "
      "is false (claimed: libfabric 2.6 prov/opx: scalable regions in the default build); or virtual_addressing_optional to be true, and "
      "opx.virtual_addressing_optional is false (copied: as virtual_addressing: libfabric 2.6 prov/opx: scalable regions in the default "
      "build); the nearest legal answer is region_address::offset [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::region_key::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric opx cannot answer provider: it needs key_owner to be provider, and opx.key_owner is application (claimed: "
      "libfabric 2.6 prov/opx: scalable regions in the default build); the nearest legal answer is region_key::application [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric opx cannot answer required: it needs local_registration to be true, and opx.local_registration is "
      "false (claimed: libfabric 2.6 prov/opx); the nearest legal answer is local_descriptor::not_needed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric opx cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "opx.region_endpoint_binding is false (claimed: libfabric 2.6 prov/opx); the nearest legal answer is region_binding::domain "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::notify::immediate, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric opx cannot answer immediate: it needs write_immediate_bytes to be at least 4, and opx.write_immediate_bytes "
      "is 0 (claimed: libfabric 2.0 prov/opx: fi_writedata gives ENOSYS); the nearest legal answer is notify::message_after_delivery "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric opx cannot answer immediate_consumes_receive: it needs write_immediate_bytes to be at least 4, and "
      "opx.write_immediate_bytes is 0 (claimed: libfabric 2.0 prov/opx: fi_writedata gives ENOSYS); the nearest legal answer is "
      "notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric opx cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and "
      "opx.remote_counter_counts_writes is false (claimed: libfabric 2.6 prov/opx: no FI_RMA_EVENT); the nearest legal answer is "
      "notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::notify::message_after_ordered_write, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric opx cannot answer message_after_ordered_write: it needs order_send_after_write to be true, and "
      "opx.order_send_after_write is false (claimed: libfabric 2.6 prov/opx: atomic orders only); the nearest legal answer is "
      "notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric opx cannot answer watched_word: it needs bytes_visible_in_order to be true, and opx.bytes_visible_in_order is "
      "false (copied: conservative: no card promises the order of a write's bytes in memory; not established); the nearest legal answer "
      "is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::write_fault::reported, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric opx cannot answer reported: it needs refused_write to be reported, and opx.refused_write is silent "
      "(copied: conservative; not established); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric opx cannot answer undetected: it needs refused_write to be hidden, and opx.refused_write is silent "
      "(copied: conservative; not established); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric opx cannot answer hardware: it needs data_progress to be hardware, and opx.data_progress is polling "
      "(claimed: libfabric 2.6 prov/opx: FI_PROGRESS_MANUAL in the first answer); the nearest legal answer is progress::polling "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric opx cannot answer thread: it needs data_progress to be thread, and opx.data_progress is polling (claimed: "
      "libfabric 2.6 prov/opx: FI_PROGRESS_MANUAL in the first answer); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::wait::descriptor, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric opx cannot answer descriptor: it needs completion_wait to be descriptor, and opx.completion_wait is none "
      "(copied: conservative; not established); the nearest legal answer is wait::spin [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric opx cannot answer yield: it needs completion_wait to be yield, and opx.completion_wait is none (copied: "
      "conservative; not established); the nearest legal answer is wait::spin [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric opx cannot answer every_operation: it needs selective_completion to be false, and "
      "opx.selective_completion is true (claimed: libfabric 2.6 prov/opx); the nearest legal answer is completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric opx cannot answer provider: it needs reports_killed_peer to be true, and opx.reports_killed_peer is false "
      "(copied: conservative; not established); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric opx cannot answer process: it needs same_host to be true, and opx.same_host is false (claimed: a network "
      "protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::receive_pool::per_link, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric opx cannot answer per_link: it needs endpoint_type to be connected, and opx.endpoint_type is addressed "
      "(claimed: libfabric 2.6 prov/opx: FI_EP_RDM); the nearest legal answer is receive_pool::shared [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_1_15*, answers::flush::message_behind_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric opx cannot answer message_behind_writes: it needs order_send_after_write to be true, and "
      "opx.order_send_after_write is false (claimed: libfabric 2.6 prov/opx: atomic orders only); the nearest legal answer is "
      "flush::tracked_writes [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const opx_since_2_1*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric opx cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, and "
      "opx.write_immediate_consumes_receive is false (claimed: libfabric 2.6 prov/opx: no FI_RX_CQ_DATA); the nearest legal answer is "
      "notify::immediate [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr permitted why_not(const opx_since_2_1*, answers::notify::immediate, Asked) { return {}; }
// clang-format on
}  // namespace weft::fabrics
