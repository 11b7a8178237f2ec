// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row verbs, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What verbs cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "verbs.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::endpoint::addressed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric verbs cannot answer addressed: it needs endpoint_type to be addressed, and verbs.endpoint_type is connected "
      "(claimed: libfabric 2.6 prov/verbs: FI_EP_MSG; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info "
      "-v, FI_EP_MSG); the nearest legal answer is endpoint::connected [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::bootstrap::exchange, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric verbs cannot answer exchange: it needs address_resolution to be opaque, and verbs.address_resolution is "
      "socket (claimed: libfabric 2.6 prov/verbs: librdmacm addresses, FI_SOCKADDR_IN, IN6 and IB; observed: 2026-11-20 libfabric 1.17.0 "
      "on soft-RoCE in a virtual machine, fi_info -v, addr_format FI_SOCKADDR_IN); the nearest legal answer is bootstrap::socket_address "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::region_address::offset, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric verbs cannot answer offset: it needs virtual_addressing to be false, and verbs.virtual_addressing is "
      "true (claimed: libfabric 2.6 prov/verbs: the provider requires FI_MR_VIRT_ADDR; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE "
      "in a virtual machine, fi_info -v, mr_mode has FI_MR_VIRT_ADDR); the nearest legal answer is region_address::virtual_address "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::region_key::application, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric verbs cannot answer application: it needs key_owner to be application, and verbs.key_owner is provider "
      "(claimed: libfabric 2.6 prov/verbs: the provider requires FI_MR_PROV_KEY; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a "
      "virtual machine, fi_info -v, mr_mode has FI_MR_PROV_KEY); the nearest legal answer is region_key::provider [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::local_descriptor::not_needed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric verbs cannot answer not_needed: it needs local_registration to be false, and "
      "verbs.local_registration is true (claimed: libfabric 2.6 prov/verbs: the provider requires FI_MR_LOCAL; observed: 2026-11-20 "
      "libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, mr_mode has FI_MR_LOCAL); the nearest legal answer is "
      "local_descriptor::required [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric verbs cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "verbs.region_endpoint_binding is false (claimed: libfabric 2.6 prov/verbs; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a "
      "virtual machine, fi_info -v, mr_mode has no FI_MR_ENDPOINT); the nearest legal answer is region_binding::domain [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::notify::immediate, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric verbs cannot answer immediate: it needs write_immediate_consumes_receive to be false, and "
      "verbs.write_immediate_consumes_receive is true (claimed: libfabric 2.6 prov/verbs: mode FI_RX_CQ_DATA; observed: 2026-11-20 "
      "libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, mode FI_RX_CQ_DATA); the nearest legal answer is "
      "notify::immediate_consumes_receive [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric verbs cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and "
      "verbs.remote_counter_counts_writes is false (claimed: libfabric 2.6 prov/verbs: no counters, fi_cntr_open gives ENOSYS); the "
      "nearest legal answer is notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::notify::message_after_delivery, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric verbs cannot answer message_after_delivery: it needs delivery_complete to be true, and "
      "verbs.delivery_complete is false (claimed: libfabric 2.6 prov/verbs: FI_DELIVERY_COMPLETE is not among the transmit flags of "
      "FI_EP_MSG); the nearest legal answer is notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric verbs cannot answer watched_word: it needs bytes_visible_in_order to be true, and "
      "verbs.bytes_visible_in_order is false (copied: conservative: no card promises the order of a write's bytes in memory; not "
      "established); the nearest legal answer is notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::write_fault::delivery_confirmed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric verbs cannot answer delivery_confirmed: it needs refused_write to be silent, and verbs.refused_write is "
      "reported (claimed: InfiniBand reliable connection: the responder answers with a remote access error; observed: 2026-11-20 "
      "libfabric 1.17.0, Linux 6.1.0-56 with soft-RoCE in a virtual machine, with FI_MR_CACHE_MAX_COUNT=0 a write into a closed region "
      "failed at the initiator and changed no byte); the nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric verbs cannot answer undetected: it needs refused_write to be hidden, and verbs.refused_write is reported "
      "(claimed: InfiniBand reliable connection: the responder answers with a remote access error; observed: 2026-11-20 libfabric 1.17.0, "
      "Linux 6.1.0-56 with soft-RoCE in a virtual machine, with FI_MR_CACHE_MAX_COUNT=0 a write into a closed region failed at the "
      "initiator and changed no byte); the nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::atomics::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: atomics: fabric verbs cannot answer provider: it needs atomics to be provider, and verbs.atomics is none (claimed: libfabric "
      "1.11 to 2.1 prov/verbs puts the operand's address into the work request instead of its value; fixed in 2.2; observed: 2026-11-20 "
      "libfabric 1.17.0 on soft-RoCE in a virtual machine, fetch-add and compare-swap gave wrong values (2.1 too)); the nearest legal "
      "answer is atomics::target [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric verbs cannot answer thread: it needs data_progress to be thread, and verbs.data_progress is hardware "
      "(claimed: libfabric 2.6 prov/verbs: the card moves the data); the nearest legal answer is progress::hardware [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::progress::polling, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric verbs cannot answer polling: it needs data_progress to be polling, and verbs.data_progress is hardware "
      "(claimed: libfabric 2.6 prov/verbs: the card moves the data); the nearest legal answer is progress::hardware [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric verbs cannot answer yield: it needs completion_wait to be yield, and verbs.completion_wait is descriptor "
      "(claimed: libfabric 2.6 prov/verbs: FI_WAIT_FD; observed: 2026-11-20 libfabric 1.17.0, Linux 6.1.0-56 with soft-RoCE in a virtual "
      "machine, a sleeping thread woke for each of 2,000 messages at random times); the nearest legal answer is wait::descriptor "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric verbs cannot answer spin: it needs completion_wait to be none, and verbs.completion_wait is descriptor "
      "(claimed: libfabric 2.6 prov/verbs: FI_WAIT_FD; observed: 2026-11-20 libfabric 1.17.0, Linux 6.1.0-56 with soft-RoCE in a virtual "
      "machine, a sleeping thread woke for each of 2,000 messages at random times); the nearest legal answer is wait::descriptor "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric verbs cannot answer every_operation: it needs selective_completion to be false, and "
      "verbs.selective_completion is true (claimed: libfabric 2.6 prov/verbs); the nearest legal answer is completion::selective "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric verbs cannot answer provider: it needs reports_killed_peer to be true, and verbs.reports_killed_peer is "
      "false (copied: conservative; not established); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric verbs cannot answer process: it needs same_host to be true, and verbs.same_host is false (claimed: a "
      "network protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::receive_buffers::multi_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_buffers: fabric verbs cannot answer multi_receive: it needs multi_receive to be true, and verbs.multi_receive is "
      "false (claimed: libfabric 1.17 prov/verbs: no FI_MULTI_RECV); the nearest legal answer is receive_buffers::slots [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::receive_pool::shared, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric verbs cannot answer shared: it needs endpoint_type to be addressed, and verbs.endpoint_type is "
      "connected (claimed: libfabric 2.6 prov/verbs: FI_EP_MSG; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, "
      "fi_info -v, FI_EP_MSG); or shared_receives to be true, and verbs.shared_receives is false (claimed: libfabric 1.17 prov/verbs: "
      "fi_srx_context over a shared receive queue; observed: 2026-11-20 libfabric 1.17.0 over soft-RoCE, immediates of writes never "
      "arrived with the pool that rxm makes (2.1.0 too)); the nearest legal answer is receive_pool::per_link [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const verbs_since_1_15*, answers::flush::tracked_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric verbs cannot answer tracked_writes: it needs delivery_complete to be true, and verbs.delivery_complete is "
      "false (claimed: libfabric 2.6 prov/verbs: FI_DELIVERY_COMPLETE is not among the transmit flags of FI_EP_MSG); the nearest legal "
      "answer is flush::refused [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr permitted why_not(const verbs_since_2_2*, answers::atomics::provider, Asked) { return {}; }
// clang-format on
}  // namespace weft::fabrics
