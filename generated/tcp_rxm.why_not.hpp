// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row tcp_rxm, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What tcp_rxm cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "tcp_rxm.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::endpoint::connected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric tcp_rxm cannot answer connected: it needs endpoint_type to be connected, and tcp_rxm.endpoint_type is "
      "addressed (claimed: libfabric 1.17 prov/rxm: FI_EP_RDM; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, FI_EP_RDM); the nearest "
      "legal answer is endpoint::addressed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::bootstrap::exchange, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric tcp_rxm cannot answer exchange: it needs address_resolution to be opaque, and tcp_rxm.address_resolution "
      "is socket (claimed: libfabric 1.17 prov/rxm over prov/tcp, FI_SOCKADDR_IN and FI_SOCKADDR_IN6; observed: 2026-11-20 libfabric "
      "1.17.0, fi_info -v, addr_format FI_SOCKADDR_IN and FI_SOCKADDR_IN6); the nearest legal answer is bootstrap::socket_address "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::region_address::virtual_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric tcp_rxm cannot answer virtual_address: it needs virtual_addressing to be true, and "
      "tcp_rxm.virtual_addressing is false (claimed: libfabric 1.11 to 2.6 prov/tcp: fi_getinfo clears FI_MR_VIRT_ADDR; observed: "
      "2026-11-20 libfabric 1.17.0 loopback, the target refused a write to a pointer, and a write to an offset arrived); or "
      "virtual_addressing_optional to be true, and tcp_rxm.virtual_addressing_optional is false (claimed: libfabric 1.11 to 2.6 prov/tcp: "
      "fi_getinfo clears FI_MR_VIRT_ADDR); the nearest legal answer is region_address::offset [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::region_key::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric tcp_rxm cannot answer provider: it needs key_owner to be provider, and tcp_rxm.key_owner is application "
      "(claimed: libfabric 1.11 to 2.6 prov/tcp: fi_getinfo clears FI_MR_PROV_KEY; observed: 2026-11-20 libfabric 1.17.0 loopback, the "
      "provider used the requested key); the nearest legal answer is region_key::application [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric tcp_rxm cannot answer required: it needs local_registration to be true, and "
      "tcp_rxm.local_registration is false (claimed: libfabric 1.17 prov/rxm over prov/tcp: fi_getinfo clears FI_MR_LOCAL; observed: "
      "2026-11-20 libfabric 1.17.0, fi_info -v, mr_mode empty); the nearest legal answer is local_descriptor::not_needed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric tcp_rxm cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "tcp_rxm.region_endpoint_binding is false (claimed: libfabric 1.17 prov/rxm over prov/tcp: the provider does not request "
      "FI_MR_ENDPOINT; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, mr_mode empty); the nearest legal answer is "
      "region_binding::domain [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric tcp_rxm cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, and "
      "tcp_rxm.write_immediate_consumes_receive is false (claimed: libfabric 1.17 prov/rxm over prov/tcp: mode has no FI_RX_CQ_DATA; "
      "observed: 2026-11-20 libfabric 1.17.0 loopback, 240 writes with an immediate used up no posted receive); the nearest legal answer "
      "is notify::immediate [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric tcp_rxm cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and "
      "tcp_rxm.remote_counter_counts_writes is false (claimed: libfabric 1.17 prov/rxm: the provider does not advertise FI_RMA_EVENT; "
      "observed: 2026-11-20 libfabric 1.17.0 loopback, a counter bound with FI_REMOTE_WRITE stayed 0); the nearest legal answer is "
      "notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::write_fault::reported, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric tcp_rxm cannot answer reported: it needs refused_write to be reported, and tcp_rxm.refused_write is "
      "silent (observed: 2026-11-20 libfabric 1.17.0 loopback, the target refused a wrong key and an address out of range, and the "
      "initiator got success; with FI_DELIVERY_COMPLETE the initiator got ECANCELED; copied: libfabric 1.17 prov/rxm passes writes "
      "through to tcp; 2.x: not established, as 1.17); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric tcp_rxm cannot answer undetected: it needs refused_write to be hidden, and tcp_rxm.refused_write is "
      "silent (observed: 2026-11-20 libfabric 1.17.0 loopback, the target refused a wrong key and an address out of range, and the "
      "initiator got success; with FI_DELIVERY_COMPLETE the initiator got ECANCELED; copied: libfabric 1.17 prov/rxm passes writes "
      "through to tcp; 2.x: not established, as 1.17); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric tcp_rxm cannot answer hardware: it needs data_progress to be hardware, and tcp_rxm.data_progress is polling "
      "(claimed: libfabric 1.17 prov/rxm: FI_PROGRESS_MANUAL; observed: 2026-11-20 libfabric 1.17.0 loopback, bytes arrived only when the "
      "target polled); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric tcp_rxm cannot answer thread: it needs data_progress to be thread, and tcp_rxm.data_progress is polling "
      "(claimed: libfabric 1.17 prov/rxm: FI_PROGRESS_MANUAL; observed: 2026-11-20 libfabric 1.17.0 loopback, bytes arrived only when the "
      "target polled); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric tcp_rxm cannot answer yield: it needs completion_wait to be yield, and tcp_rxm.completion_wait is descriptor "
      "(claimed: libfabric 1.17 prov/rxm: FI_WAIT_FD; observed: 2026-11-20 libfabric 1.17.0 loopback, a completion queue with FI_WAIT_FD "
      "woke the waiting thread); the nearest legal answer is wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric tcp_rxm cannot answer spin: it needs completion_wait to be none, and tcp_rxm.completion_wait is descriptor "
      "(claimed: libfabric 1.17 prov/rxm: FI_WAIT_FD; observed: 2026-11-20 libfabric 1.17.0 loopback, a completion queue with FI_WAIT_FD "
      "woke the waiting thread); the nearest legal answer is wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric tcp_rxm cannot answer every_operation: it needs selective_completion to be false, and "
      "tcp_rxm.selective_completion is true (claimed: libfabric 1.17 prov/rxm; observed: 2026-11-20 libfabric 1.17.0 loopback, "
      "unsignalled writes gave no completion); the nearest legal answer is completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric tcp_rxm cannot answer provider: it needs reports_killed_peer to be true, and tcp_rxm.reports_killed_peer is "
      "false (claimed: libfabric 1.17 prov/rxm: a posted receive is not bound to a peer; observed: 2026-11-20 libfabric 1.17.0 loopback, "
      "a waiting peer got no event within 10.8 s after a kill -9); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric tcp_rxm cannot answer process: it needs same_host to be true, and tcp_rxm.same_host is false (claimed: a "
      "network protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp_rxm*, answers::receive_pool::per_link, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric tcp_rxm cannot answer per_link: it needs endpoint_type to be connected, and tcp_rxm.endpoint_type is "
      "addressed (claimed: libfabric 1.17 prov/rxm: FI_EP_RDM; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, FI_EP_RDM); the nearest "
      "legal answer is receive_pool::shared [WEFT-C001]");
  return {};
}
constexpr policy_set<answers::flush::tracked_writes> follows(const tcp_rxm*, answers::atomics::provider) noexcept { return {}; }
// clang-format on
}  // namespace weft::fabrics
