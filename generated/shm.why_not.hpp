// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row shm, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What shm cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "shm.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::endpoint::connected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric shm cannot answer connected: it needs endpoint_type to be connected, and shm.endpoint_type is addressed "
      "(claimed: libfabric 1.17 prov/shm: FI_EP_RDM; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, FI_EP_RDM); the nearest legal "
      "answer is endpoint::addressed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::bootstrap::socket_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric shm cannot answer socket_address: it needs address_resolution to be socket, and shm.address_resolution is "
      "opaque (claimed: libfabric 1.17 prov/shm, FI_ADDR_STR; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, addr_format "
      "FI_ADDR_STR); the nearest legal answer is bootstrap::exchange [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::region_key::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric shm cannot answer provider: it needs key_owner to be provider, and shm.key_owner is application (claimed: "
      "libfabric 1.17 and 2.6 prov/shm; observed: 2026-11-20 libfabric 1.17.0 loopback, the provider used the requested key); the nearest "
      "legal answer is region_key::application [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric shm cannot answer required: it needs local_registration to be true, and shm.local_registration is "
      "false (claimed: libfabric 1.17 prov/shm; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, mr_mode has no FI_MR_LOCAL); the "
      "nearest legal answer is local_descriptor::not_needed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric shm cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "shm.region_endpoint_binding is false (claimed: libfabric 1.17 prov/shm; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, mr_mode "
      "has no FI_MR_ENDPOINT); the nearest legal answer is region_binding::domain [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric shm cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, and "
      "shm.write_immediate_consumes_receive is false (claimed: libfabric 1.17 prov/shm: mode has no FI_RX_CQ_DATA; observed: 2026-11-20 "
      "libfabric 1.17.0 loopback, 240 writes with an immediate used up no posted receive); the nearest legal answer is "
      "notify::remote_counter [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::write_fault::reported, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric shm cannot answer reported: it needs refused_write to be reported, and shm.refused_write is silent "
      "(claimed: libfabric 1.17 prov/shm: the target drops the command; observed: 2026-11-20 libfabric 1.17.0 loopback, the target "
      "refused a wrong key, and a write of 512 bytes got success; a write with FI_DELIVERY_COMPLETE or of 8 KiB never ended, nor did "
      "later writes to that peer); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric shm cannot answer undetected: it needs refused_write to be hidden, and shm.refused_write is silent "
      "(claimed: libfabric 1.17 prov/shm: the target drops the command; observed: 2026-11-20 libfabric 1.17.0 loopback, the target "
      "refused a wrong key, and a write of 512 bytes got success; a write with FI_DELIVERY_COMPLETE or of 8 KiB never ended, nor did "
      "later writes to that peer); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric shm cannot answer hardware: it needs data_progress to be hardware, and shm.data_progress is polling "
      "(claimed: libfabric 1.17 prov/shm: FI_PROGRESS_MANUAL, AUTO refused; observed: 2026-11-20 libfabric 1.17.0 loopback, memory did "
      "not change until the target polled (2.6.0 too)); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric shm cannot answer thread: it needs data_progress to be thread, and shm.data_progress is polling (claimed: "
      "libfabric 1.17 prov/shm: FI_PROGRESS_MANUAL, AUTO refused; observed: 2026-11-20 libfabric 1.17.0 loopback, memory did not change "
      "until the target polled (2.6.0 too)); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::wait::descriptor, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric shm cannot answer descriptor: it needs completion_wait to be descriptor, and shm.completion_wait is yield "
      "(claimed: libfabric 1.17 prov/shm: FI_WAIT_NONE, FI_WAIT_UNSPEC and FI_WAIT_YIELD only; observed: 2026-11-20 libfabric 1.17.0 "
      "loopback, fi_cq_open with FI_WAIT_FD gave ENOSYS); the nearest legal answer is wait::yield [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric shm cannot answer spin: it needs completion_wait to be none, and shm.completion_wait is yield (claimed: "
      "libfabric 1.17 prov/shm: FI_WAIT_NONE, FI_WAIT_UNSPEC and FI_WAIT_YIELD only; observed: 2026-11-20 libfabric 1.17.0 loopback, "
      "fi_cq_open with FI_WAIT_FD gave ENOSYS); the nearest legal answer is wait::yield [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric shm cannot answer every_operation: it needs selective_completion to be false, and "
      "shm.selective_completion is true (claimed: libfabric 1.17 prov/shm; observed: 2026-11-20 libfabric 1.17.0 loopback, unsignalled "
      "writes gave no completion); the nearest legal answer is completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric shm cannot answer provider: it needs reports_killed_peer to be true, and shm.reports_killed_peer is false "
      "(claimed: libfabric 1.17 prov/shm; observed: 2026-11-20 libfabric 1.17.0 loopback, after a kill -9 fi_send returned FI_EAGAIN "
      "without end); the nearest legal answer is liveness::process [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_1_15*, answers::receive_pool::per_link, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric shm cannot answer per_link: it needs endpoint_type to be connected, and shm.endpoint_type is addressed "
      "(claimed: libfabric 1.17 prov/shm: FI_EP_RDM; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, FI_EP_RDM); the nearest legal "
      "answer is receive_pool::shared [WEFT-C001]");
  return {};
}
constexpr policy_set<answers::flush::tracked_writes> follows(const shm_since_1_15*, answers::region_address::virtual_address) noexcept { return {}; }
template <class Asked>
constexpr refused why_not(const shm_since_2_5*, answers::write_fault::reported, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric shm cannot answer reported: it needs refused_write to be reported, and shm.refused_write is hidden "
      "(claimed: libfabric 2.5 prov/shm, smr_progress_cmd_rma: a command whose key or range is wrong returns without SMR_OP_ERROR, so "
      "that its initiator gets a success (commit 488dc58b5); observed: 2026-11-26 libfabric 2.6.0 loopback, scripts/releases: a wrong key "
      "and a write out of range got success, also with FI_DELIVERY_COMPLETE); the nearest legal answer is write_fault::undetected "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_2_5*, answers::write_fault::delivery_confirmed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric shm cannot answer delivery_confirmed: it needs refused_write to be silent, and shm.refused_write is "
      "hidden (claimed: libfabric 2.5 prov/shm, smr_progress_cmd_rma: a command whose key or range is wrong returns without SMR_OP_ERROR, "
      "so that its initiator gets a success (commit 488dc58b5); observed: 2026-11-26 libfabric 2.6.0 loopback, scripts/releases: a wrong "
      "key and a write out of range got success, also with FI_DELIVERY_COMPLETE); the nearest legal answer is write_fault::undetected "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const shm_since_2_5*, answers::flush::tracked_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric shm cannot answer tracked_writes: it needs refused_write to be silent, and shm.refused_write is hidden "
      "(claimed: libfabric 2.5 prov/shm, smr_progress_cmd_rma: a command whose key or range is wrong returns without SMR_OP_ERROR, so "
      "that its initiator gets a success (commit 488dc58b5); observed: 2026-11-26 libfabric 2.6.0 loopback, scripts/releases: a wrong key "
      "and a write out of range got success, also with FI_DELIVERY_COMPLETE); the nearest legal answer is flush::refused [WEFT-C001]");
  return {};
}
constexpr policy_set<answers::flush::refused> follows(const shm_since_2_5*, answers::region_address::virtual_address) noexcept { return {}; }
template <class Asked>
constexpr permitted why_not(const shm_since_2_5*, answers::write_fault::undetected, Asked) { return {}; }
// clang-format on
}  // namespace weft::fabrics
