// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row tcp_rdm, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What tcp_rdm cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "tcp_rdm.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::endpoint::connected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric tcp_rdm cannot answer connected: it needs endpoint_type to be connected, and tcp_rdm.endpoint_type is "
      "addressed (claimed: libfabric 1.18 NEWS: the tcp provider has its own FI_EP_RDM; before, a hint tcp with FI_EP_RDM gave "
      "tcp;ofi_rxm); the nearest legal answer is endpoint::addressed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::bootstrap::exchange, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric tcp_rdm cannot answer exchange: it needs address_resolution to be opaque, and tcp_rdm.address_resolution "
      "is socket (claimed: libfabric 2.6 prov/tcp, FI_SOCKADDR_IN and FI_SOCKADDR_IN6); the nearest legal answer is "
      "bootstrap::socket_address [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::region_address::virtual_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric tcp_rdm cannot answer virtual_address: it needs virtual_addressing to be true, and "
      "tcp_rdm.virtual_addressing is false (claimed: libfabric 1.11 to 2.6 prov/tcp: fi_getinfo clears FI_MR_VIRT_ADDR); or "
      "virtual_addressing_optional to be true, and tcp_rdm.virtual_addressing_optional is false (claimed: libfabric 1.11 to 2.6 prov/tcp: "
      "fi_getinfo clears FI_MR_VIRT_ADDR); the nearest legal answer is region_address::offset [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::region_key::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric tcp_rdm cannot answer provider: it needs key_owner to be provider, and tcp_rdm.key_owner is application "
      "(claimed: libfabric 1.11 to 2.6 prov/tcp: fi_getinfo clears FI_MR_PROV_KEY); the nearest legal answer is region_key::application "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric tcp_rdm cannot answer required: it needs local_registration to be true, and "
      "tcp_rdm.local_registration is false (claimed: libfabric 2.6 prov/tcp: fi_getinfo clears FI_MR_LOCAL); the nearest legal answer is "
      "local_descriptor::not_needed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric tcp_rdm cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "tcp_rdm.region_endpoint_binding is false (claimed: libfabric 2.6 prov/tcp: the provider does not request FI_MR_ENDPOINT); the "
      "nearest legal answer is region_binding::domain [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric tcp_rdm cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, and "
      "tcp_rdm.write_immediate_consumes_receive is false (claimed: libfabric 2.6 prov/tcp: mode has no FI_RX_CQ_DATA); the nearest legal "
      "answer is notify::immediate [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric tcp_rdm cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and "
      "tcp_rdm.remote_counter_counts_writes is false (claimed: libfabric 2.6 prov/tcp: the counter counts only writes with an immediate; "
      "observed: 2026-11-20 libfabric 2.6.0 loopback, the target's counter stayed 0 after plain writes); the nearest legal answer is "
      "notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric tcp_rdm cannot answer watched_word: it needs bytes_visible_in_order to be true, and "
      "tcp_rdm.bytes_visible_in_order is false (copied: conservative: prov/tcp promises this order for connected endpoints; not "
      "established here); the nearest legal answer is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::write_fault::reported, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric tcp_rdm cannot answer reported: it needs refused_write to be reported, and tcp_rdm.refused_write is "
      "silent (copied: conservative: as provider tcp with connected endpoints; not established); the nearest legal answer is "
      "write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric tcp_rdm cannot answer undetected: it needs refused_write to be hidden, and tcp_rdm.refused_write is "
      "silent (copied: conservative: as provider tcp with connected endpoints; not established); the nearest legal answer is "
      "write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::atomics::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: atomics: fabric tcp_rdm cannot answer provider: it needs atomics to be provider, and tcp_rdm.atomics is none (claimed: "
      "libfabric 1.18 NEWS: the false claim of FI_ATOMIC by provider net is gone); the nearest legal answer is atomics::target "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric tcp_rdm cannot answer hardware: it needs data_progress to be hardware, and tcp_rdm.data_progress is polling "
      "(claimed: libfabric man fi_domain: the provider claims FI_PROGRESS_AUTO, but does not progress by itself; observed: 2026-11-20 "
      "libfabric 2.6.0 loopback, bytes arrived only when the target polled); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric tcp_rdm cannot answer thread: it needs data_progress to be thread, and tcp_rdm.data_progress is polling "
      "(claimed: libfabric man fi_domain: the provider claims FI_PROGRESS_AUTO, but does not progress by itself; observed: 2026-11-20 "
      "libfabric 2.6.0 loopback, bytes arrived only when the target polled); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric tcp_rdm cannot answer yield: it needs completion_wait to be yield, and tcp_rdm.completion_wait is descriptor "
      "(claimed: libfabric 2.6 prov/tcp: FI_WAIT_FD); the nearest legal answer is wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric tcp_rdm cannot answer spin: it needs completion_wait to be none, and tcp_rdm.completion_wait is descriptor "
      "(claimed: libfabric 2.6 prov/tcp: FI_WAIT_FD); the nearest legal answer is wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric tcp_rdm cannot answer every_operation: it needs selective_completion to be false, and "
      "tcp_rdm.selective_completion is true (claimed: libfabric 2.6 prov/tcp); the nearest legal answer is completion::selective "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric tcp_rdm cannot answer provider: it needs reports_killed_peer to be true, and tcp_rdm.reports_killed_peer is "
      "false (copied: conservative; not established); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric tcp_rdm cannot answer process: it needs same_host to be true, and tcp_rdm.same_host is false (claimed: a "
      "network protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rdm*, answers::receive_pool::per_link, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric tcp_rdm cannot answer per_link: it needs endpoint_type to be connected, and tcp_rdm.endpoint_type is "
      "addressed (claimed: libfabric 1.18 NEWS: the tcp provider has its own FI_EP_RDM; before, a hint tcp with FI_EP_RDM gave "
      "tcp;ofi_rxm); the nearest legal answer is receive_pool::shared [WEFT-C001]");
  return {};
}
// clang-format on
}  // namespace weft::fabrics
