// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row verbs_rxm, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What verbs_rxm cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "verbs_rxm.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::endpoint::connected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric verbs_rxm cannot answer connected: it needs endpoint_type to be connected, and verbs_rxm.endpoint_type is "
      "addressed (claimed: libfabric 2.6 prov/rxm over prov/verbs: FI_EP_RDM; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a "
      "virtual machine, fi_info -v, FI_EP_RDM); the nearest legal answer is endpoint::addressed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::bootstrap::exchange, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric verbs_rxm cannot answer exchange: it needs address_resolution to be opaque, and "
      "verbs_rxm.address_resolution is socket (claimed: libfabric 2.6 prov/verbs: librdmacm addresses, FI_SOCKADDR_IN, IN6 and IB; "
      "observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, addr_format FI_SOCKADDR_IN); the nearest "
      "legal answer is bootstrap::socket_address [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::region_address::offset, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric verbs_rxm cannot answer offset: it needs virtual_addressing to be false, and "
      "verbs_rxm.virtual_addressing is true (claimed: libfabric 2.6 prov/verbs: the provider requires FI_MR_VIRT_ADDR; observed: "
      "2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, mr_mode has FI_MR_VIRT_ADDR); the nearest legal answer "
      "is region_address::virtual_address [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::region_key::application, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric verbs_rxm cannot answer application: it needs key_owner to be application, and verbs_rxm.key_owner is "
      "provider (claimed: libfabric 2.6 prov/verbs: the provider requires FI_MR_PROV_KEY; observed: 2026-11-20 libfabric 1.17.0 on "
      "soft-RoCE in a virtual machine, fi_info -v, mr_mode has FI_MR_PROV_KEY); the nearest legal answer is region_key::provider "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::local_descriptor::not_needed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric verbs_rxm cannot answer not_needed: it needs local_registration to be false, and "
      "verbs_rxm.local_registration is true (claimed: libfabric 2.6 prov/rxm over prov/verbs: rxm registers local buffers if the hints do "
      "not offer FI_MR_LOCAL; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, mr_mode has "
      "FI_MR_LOCAL where it is offered); the nearest legal answer is local_descriptor::required [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric verbs_rxm cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "verbs_rxm.region_endpoint_binding is false (claimed: libfabric 2.6 prov/verbs; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE "
      "in a virtual machine, fi_info -v, mr_mode has no FI_MR_ENDPOINT); the nearest legal answer is region_binding::domain [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric verbs_rxm cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, and "
      "verbs_rxm.write_immediate_consumes_receive is false (claimed: libfabric 2.6 prov/rxm over prov/verbs: rxm posts its own receives; "
      "observed: 2026-11-20 libfabric 1.17.0, Linux 6.1.0-56 with soft-RoCE in a virtual machine, all immediates of the notify suite "
      "arrived at a target without reserved receives); the nearest legal answer is notify::immediate [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric verbs_rxm cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and "
      "verbs_rxm.remote_counter_counts_writes is false (claimed: libfabric 2.6 prov/rxm over prov/verbs: the provider does not advertise "
      "FI_RMA_EVENT); the nearest legal answer is notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric verbs_rxm cannot answer watched_word: it needs bytes_visible_in_order to be true, and "
      "verbs_rxm.bytes_visible_in_order is false (copied: conservative: the card writes the bytes; not established); the nearest legal "
      "answer is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::write_fault::delivery_confirmed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric verbs_rxm cannot answer delivery_confirmed: it needs refused_write to be silent, and "
      "verbs_rxm.refused_write is reported (claimed: InfiniBand reliable connection: the responder answers with a remote access error; "
      "observed: 2026-11-20 libfabric 1.17.0, Linux 6.1.0-56 with soft-RoCE in a virtual machine, with FI_MR_CACHE_MAX_COUNT=0 a write "
      "into a closed region failed at the initiator and changed no byte); the nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric verbs_rxm cannot answer undetected: it needs refused_write to be hidden, and verbs_rxm.refused_write is "
      "reported (claimed: InfiniBand reliable connection: the responder answers with a remote access error; observed: 2026-11-20 "
      "libfabric 1.17.0, Linux 6.1.0-56 with soft-RoCE in a virtual machine, with FI_MR_CACHE_MAX_COUNT=0 a write into a closed region "
      "failed at the initiator and changed no byte); the nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric verbs_rxm cannot answer hardware: it needs data_progress to be hardware, and verbs_rxm.data_progress is "
      "polling (claimed: libfabric 2.6 prov/rxm over prov/verbs: FI_PROGRESS_MANUAL; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE "
      "in a virtual machine, fi_info -v, data_progress FI_PROGRESS_MANUAL); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric verbs_rxm cannot answer thread: it needs data_progress to be thread, and verbs_rxm.data_progress is polling "
      "(claimed: libfabric 2.6 prov/rxm over prov/verbs: FI_PROGRESS_MANUAL; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a "
      "virtual machine, fi_info -v, data_progress FI_PROGRESS_MANUAL); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric verbs_rxm cannot answer yield: it needs completion_wait to be yield, and verbs_rxm.completion_wait is "
      "descriptor (claimed: libfabric 2.6 prov/rxm over prov/verbs: FI_WAIT_FD; observed: 2026-11-20 libfabric 1.17.0, Linux 6.1.0-56 "
      "with soft-RoCE in a virtual machine, a sleeping thread woke for each of 2,000 messages at random times); the nearest legal answer "
      "is wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric verbs_rxm cannot answer spin: it needs completion_wait to be none, and verbs_rxm.completion_wait is descriptor "
      "(claimed: libfabric 2.6 prov/rxm over prov/verbs: FI_WAIT_FD; observed: 2026-11-20 libfabric 1.17.0, Linux 6.1.0-56 with soft-RoCE "
      "in a virtual machine, a sleeping thread woke for each of 2,000 messages at random times); the nearest legal answer is "
      "wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric verbs_rxm cannot answer every_operation: it needs selective_completion to be false, and "
      "verbs_rxm.selective_completion is true (claimed: libfabric 2.6 prov/rxm over prov/verbs); the nearest legal answer is "
      "completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric verbs_rxm cannot answer provider: it needs reports_killed_peer to be true, and "
      "verbs_rxm.reports_killed_peer is false (claimed: libfabric 1.17 prov/rxm: a posted receive is not bound to a peer); the nearest "
      "legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric verbs_rxm cannot answer process: it needs same_host to be true, and verbs_rxm.same_host is false (claimed: "
      "a network protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::receive_pool::per_link, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric verbs_rxm cannot answer per_link: it needs endpoint_type to be connected, and verbs_rxm.endpoint_type "
      "is addressed (claimed: libfabric 2.6 prov/rxm over prov/verbs: FI_EP_RDM; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a "
      "virtual machine, fi_info -v, FI_EP_RDM); the nearest legal answer is receive_pool::shared [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::flush::message_behind_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric verbs_rxm cannot answer message_behind_writes: it needs atomics_cost_order to be false, and "
      "verbs_rxm.atomics_cost_order is true (claimed: libfabric 1.17 man fi_rxm, limitations of FI_ATOMIC); or atomics to be another than "
      "provider; or virtual_addressing_costs_order to be true, and verbs_rxm.virtual_addressing_costs_order is false (claimed: the "
      "provider requires pointers, weft does not request them); the nearest legal answer is flush::refused [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::flush::tracked_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric verbs_rxm cannot answer tracked_writes: it needs refused_write to be silent, and verbs_rxm.refused_write is "
      "reported (claimed: InfiniBand reliable connection: the responder answers with a remote access error; observed: 2026-11-20 "
      "libfabric 1.17.0, Linux 6.1.0-56 with soft-RoCE in a virtual machine, with FI_MR_CACHE_MAX_COUNT=0 a write into a closed region "
      "failed at the initiator and changed no byte); the nearest legal answer is flush::refused [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_rxm*, answers::inject::as_the_row_permits, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: inject: fabric verbs_rxm cannot answer as_the_row_permits: it needs inject_bytes to be at least 1, and "
      "verbs_rxm.inject_bytes is 0 (observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, inject_size 192; "
      "copied: conservative: the card's inline size less 64; not established on cards); the nearest legal answer is inject::never "
      "[WEFT-C001]");
  return {};
}
template <class Asked, std::uint32_t... Values>
constexpr refused why_not(const verbs_rxm*, answers::inject::up_to<Values...>, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: inject: fabric verbs_rxm cannot answer up_to: it needs inject_bytes to be at least 1, and verbs_rxm.inject_bytes is 0 "
      "(observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, inject_size 192; copied: conservative: the "
      "card's inline size less 64; not established on cards); the nearest legal answer is inject::never [WEFT-C001]");
  return {};
}
constexpr policy_set<answers::atomics::target, answers::flush::message_behind_writes>
follows(const verbs_rxm*, answers::notify::message_after_ordered_write) noexcept { return {}; }
constexpr policy_set<answers::flush::message_behind_writes> follows(const verbs_rxm*, answers::atomics::target) noexcept { return {}; }
// clang-format on
}  // namespace weft::fabrics
