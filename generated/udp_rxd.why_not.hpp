// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row udp_rxd, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What udp_rxd cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "udp_rxd.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::endpoint::connected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric udp_rxd cannot answer connected: it needs endpoint_type to be connected, and udp_rxd.endpoint_type is "
      "addressed (claimed: libfabric 1.17 prov/rxd: FI_EP_RDM; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, FI_EP_RDM); the nearest "
      "legal answer is endpoint::addressed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::bootstrap::exchange, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric udp_rxd cannot answer exchange: it needs address_resolution to be opaque, and udp_rxd.address_resolution "
      "is socket (claimed: libfabric 1.17 prov/rxd over prov/udp, FI_SOCKADDR_IN and FI_SOCKADDR_IN6; observed: 2026-11-20 libfabric "
      "1.17.0, fi_info -v, addr_format FI_SOCKADDR_IN and FI_SOCKADDR_IN6); the nearest legal answer is bootstrap::socket_address "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::region_address::virtual_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric udp_rxd cannot answer virtual_address: it needs virtual_addressing to be true, and "
      "udp_rxd.virtual_addressing is false (claimed: libfabric 1.17 prov/rxd; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, mr_mode "
      "empty); or virtual_addressing_optional to be true, and udp_rxd.virtual_addressing_optional is false (claimed: libfabric 1.17 "
      "prov/rxd); the nearest legal answer is region_address::offset [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::region_key::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric udp_rxd cannot answer provider: it needs key_owner to be provider, and udp_rxd.key_owner is application "
      "(claimed: libfabric 1.17 prov/rxd; observed: 2026-11-20 libfabric 1.17.0 loopback, the provider used the requested key); the "
      "nearest legal answer is region_key::application [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric udp_rxd cannot answer required: it needs local_registration to be true, and "
      "udp_rxd.local_registration is false (claimed: libfabric 1.17 prov/rxd; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, mr_mode "
      "empty); the nearest legal answer is local_descriptor::not_needed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric udp_rxd cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "udp_rxd.region_endpoint_binding is false (claimed: libfabric 1.17 prov/rxd; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, "
      "mr_mode empty); the nearest legal answer is region_binding::domain [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric udp_rxd cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, and "
      "udp_rxd.write_immediate_consumes_receive is false (claimed: libfabric 1.17 prov/rxd: mode has no FI_RX_CQ_DATA; observed: "
      "2026-11-20 libfabric 1.17.0 loopback, 240 writes with an immediate used up no posted receive); the nearest legal answer is "
      "notify::remote_counter [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric udp_rxd cannot answer watched_word: it needs bytes_visible_in_order to be true, and "
      "udp_rxd.bytes_visible_in_order is false (copied: conservative: packets arrive in any order; not established); the nearest legal "
      "answer is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::write_fault::reported, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric udp_rxd cannot answer reported: it needs refused_write to be reported, and udp_rxd.refused_write is "
      "silent (claimed: libfabric 1.17 prov/rxd: the target drops the packet and the initiator resends it; observed: 2026-11-20 libfabric "
      "1.17.0 loopback, the target refused a wrong key, and the write never ended, with or without FI_DELIVERY_COMPLETE, nor did later "
      "writes to that peer); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric udp_rxd cannot answer undetected: it needs refused_write to be hidden, and udp_rxd.refused_write is "
      "silent (claimed: libfabric 1.17 prov/rxd: the target drops the packet and the initiator resends it; observed: 2026-11-20 libfabric "
      "1.17.0 loopback, the target refused a wrong key, and the write never ended, with or without FI_DELIVERY_COMPLETE, nor did later "
      "writes to that peer); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::atomics::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: atomics: fabric udp_rxd cannot answer provider: it needs atomics to be provider, and udp_rxd.atomics is none (claimed: "
      "libfabric 1.17 prov/rxd offers FI_ATOMIC; not established as usable in any release; observed: 2026-11-20 libfabric 1.17.0 "
      "loopback, the first fetch-add ended in SIGSEGV in the library's progress); the nearest legal answer is atomics::target [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric udp_rxd cannot answer hardware: it needs data_progress to be hardware, and udp_rxd.data_progress is polling "
      "(claimed: libfabric 1.17 prov/rxd: FI_PROGRESS_MANUAL, AUTO refused; observed: 2026-11-20 libfabric 1.17.0 loopback, bytes arrived "
      "only when the target polled); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric udp_rxd cannot answer thread: it needs data_progress to be thread, and udp_rxd.data_progress is polling "
      "(claimed: libfabric 1.17 prov/rxd: FI_PROGRESS_MANUAL, AUTO refused; observed: 2026-11-20 libfabric 1.17.0 loopback, bytes arrived "
      "only when the target polled); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::wait::descriptor, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric udp_rxd cannot answer descriptor: it needs completion_wait to be descriptor, and udp_rxd.completion_wait is "
      "yield (claimed: libfabric 1.17 prov/rxd offers FI_WAIT_FD, but resends only in its progress calls, and a sleeping thread makes "
      "none; observed: 2026-11-20 libfabric 1.17.0 (API 1.17) Linux 6.18.44-fc-v657 device lo, weft probe: descriptor no, said "
      "FI_ENOSYS); the nearest legal answer is wait::yield [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric udp_rxd cannot answer spin: it needs completion_wait to be none, and udp_rxd.completion_wait is yield (claimed: "
      "libfabric 1.17 prov/rxd offers FI_WAIT_FD, but resends only in its progress calls, and a sleeping thread makes none; observed: "
      "2026-11-20 libfabric 1.17.0 (API 1.17) Linux 6.18.44-fc-v657 device lo, weft probe: descriptor no, said FI_ENOSYS); the nearest "
      "legal answer is wait::yield [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric udp_rxd cannot answer every_operation: it needs selective_completion to be false, and "
      "udp_rxd.selective_completion is true (claimed: libfabric 1.17 prov/rxd; observed: 2026-11-20 libfabric 1.17.0 loopback, "
      "unsignalled writes gave no completion); the nearest legal answer is completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric udp_rxd cannot answer provider: it needs reports_killed_peer to be true, and udp_rxd.reports_killed_peer is "
      "false (claimed: libfabric 1.17 prov/rxd; observed: 2026-11-20 libfabric 1.17.0 loopback, 15 s after a kill -9 no operation had "
      "failed); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric udp_rxd cannot answer process: it needs same_host to be true, and udp_rxd.same_host is false (claimed: a "
      "network protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const udp_rxd_since_1_15*, answers::receive_pool::per_link, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric udp_rxd cannot answer per_link: it needs endpoint_type to be connected, and udp_rxd.endpoint_type is "
      "addressed (claimed: libfabric 1.17 prov/rxd: FI_EP_RDM; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, FI_EP_RDM); the nearest "
      "legal answer is receive_pool::shared [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr permitted why_not(const udp_rxd_since_2_5*, answers::atomics::provider, Asked) { return {}; }
// clang-format on
}  // namespace weft::fabrics
