// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row cxi, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What cxi cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "cxi.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::endpoint::connected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric cxi cannot answer connected: it needs endpoint_type to be connected, and cxi.endpoint_type is addressed "
      "(claimed: libfabric 2.6 prov/cxi: FI_EP_RDM); the nearest legal answer is endpoint::addressed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::bootstrap::socket_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric cxi cannot answer socket_address: it needs address_resolution to be socket, and cxi.address_resolution is "
      "opaque (claimed: libfabric 2.6 prov/cxi, FI_ADDR_CXI); the nearest legal answer is bootstrap::exchange [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::framing::header, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: framing: fabric cxi cannot answer header: it needs gather_limit to be at least 2, and cxi.gather_limit is 1 (claimed: "
      "libfabric 2.6 prov/cxi, iov_limit 1); the nearest legal answer is framing::immediate [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::region_address::virtual_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric cxi cannot answer virtual_address: it needs virtual_addressing to be true, and cxi.virtual_addressing "
      "is false (claimed: libfabric 2.6 prov/cxi: no FI_MR_VIRT_ADDR); or virtual_addressing_optional to be true, and "
      "cxi.virtual_addressing_optional is false (copied: as virtual_addressing: libfabric 2.6 prov/cxi: no FI_MR_VIRT_ADDR); the nearest "
      "legal answer is region_address::offset [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::region_key::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric cxi cannot answer provider: it needs key_owner to be provider, and cxi.key_owner is application (claimed: "
      "libfabric 2.6 prov/cxi: either side may own keys; without FI_MR_PROV_KEY in the hints the application owns them); the nearest "
      "legal answer is region_key::application [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric cxi cannot answer required: it needs local_registration to be true, and cxi.local_registration is "
      "false (claimed: libfabric 2.6 prov/cxi); the nearest legal answer is local_descriptor::not_needed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::region_binding::domain, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric cxi cannot answer domain: it needs region_endpoint_binding to be false, and "
      "cxi.region_endpoint_binding is true (claimed: libfabric 2.6 prov/cxi: FI_MR_ENDPOINT: the application binds and enables each "
      "region); the nearest legal answer is region_binding::endpoint [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::notify::immediate, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric cxi cannot answer immediate: it needs write_immediate_bytes to be at least 4, and cxi.write_immediate_bytes "
      "is 0 (claimed: libfabric 2.4 prov/cxi and before: ENOSYS; 2.5 and later: off unless FI_CXI_ENABLE_WRITEDATA=1 with provider keys); "
      "the nearest legal answer is notify::remote_counter [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric cxi cannot answer immediate_consumes_receive: it needs write_immediate_bytes to be at least 4, and "
      "cxi.write_immediate_bytes is 0 (claimed: libfabric 2.4 prov/cxi and before: ENOSYS; 2.5 and later: off unless "
      "FI_CXI_ENABLE_WRITEDATA=1 with provider keys); the nearest legal answer is notify::remote_counter [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::notify::message_after_ordered_write, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric cxi cannot answer message_after_ordered_write: it needs order_send_after_write to be true, and "
      "cxi.order_send_after_write is false (claimed: libfabric 2.6 prov/cxi: FI_ORDER_SAS and write orders only); the nearest legal "
      "answer is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric cxi cannot answer watched_word: it needs bytes_visible_in_order to be true, and cxi.bytes_visible_in_order is "
      "false (copied: conservative: no card promises the order of a write's bytes in memory; not established); the nearest legal answer "
      "is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::write_fault::reported, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric cxi cannot answer reported: it needs refused_write to be reported, and cxi.refused_write is silent "
      "(copied: conservative; not established); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric cxi cannot answer undetected: it needs refused_write to be hidden, and cxi.refused_write is silent "
      "(copied: conservative; not established); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric cxi cannot answer hardware: it needs data_progress to be hardware, and cxi.data_progress is polling "
      "(claimed: libfabric 2.6 prov/cxi: FI_PROGRESS_MANUAL; the card executes writes, and the library executes part of messages and "
      "counters); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric cxi cannot answer thread: it needs data_progress to be thread, and cxi.data_progress is polling (claimed: "
      "libfabric 2.6 prov/cxi: FI_PROGRESS_MANUAL; the card executes writes, and the library executes part of messages and counters); the "
      "nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric cxi cannot answer yield: it needs completion_wait to be yield, and cxi.completion_wait is descriptor (claimed: "
      "libfabric 2.6 prov/cxi: FI_WAIT_FD); the nearest legal answer is wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric cxi cannot answer spin: it needs completion_wait to be none, and cxi.completion_wait is descriptor (claimed: "
      "libfabric 2.6 prov/cxi: FI_WAIT_FD); the nearest legal answer is wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric cxi cannot answer every_operation: it needs selective_completion to be false, and "
      "cxi.selective_completion is true (claimed: libfabric 2.6 prov/cxi); the nearest legal answer is completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric cxi cannot answer provider: it needs reports_killed_peer to be true, and cxi.reports_killed_peer is false "
      "(copied: conservative; not established); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric cxi cannot answer process: it needs same_host to be true, and cxi.same_host is false (claimed: a network "
      "protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::receive_pool::per_link, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric cxi cannot answer per_link: it needs endpoint_type to be connected, and cxi.endpoint_type is addressed "
      "(claimed: libfabric 2.6 prov/cxi: FI_EP_RDM); the nearest legal answer is receive_pool::shared [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const cxi_since_1_21*, answers::flush::message_behind_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric cxi cannot answer message_behind_writes: it needs order_send_after_write to be true, and "
      "cxi.order_send_after_write is false (claimed: libfabric 2.6 prov/cxi: FI_ORDER_SAS and write orders only); the nearest legal "
      "answer is flush::tracked_writes [WEFT-C001]");
  return {};
}
// clang-format on
}  // namespace weft::fabrics
