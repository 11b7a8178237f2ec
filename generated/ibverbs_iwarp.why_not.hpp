// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row ibverbs_iwarp, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What ibverbs_iwarp cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "ibverbs_iwarp.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::endpoint::addressed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric ibverbs_iwarp cannot answer addressed: it needs endpoint_type to be addressed, and "
      "ibverbs_iwarp.endpoint_type is connected (claimed: rdma-core 44 librdmacm: reliable connections; observed: 2026-11-20 rdma-core "
      "44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: endpoint_type connected, met yes); the nearest legal answer "
      "is endpoint::connected [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::bootstrap::exchange, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric ibverbs_iwarp cannot answer exchange: it needs address_resolution to be opaque, and "
      "ibverbs_iwarp.address_resolution is socket (claimed: rdma-core 44 man rdma_getaddrinfo; observed: 2026-11-20 rdma-core 44.0 (API "
      "44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: found_by_host_and_service yes); the nearest legal answer is "
      "bootstrap::socket_address [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::framing::immediate, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: framing: fabric ibverbs_iwarp cannot answer immediate: it needs send_immediate_bytes to be at least 4, and "
      "ibverbs_iwarp.send_immediate_bytes is 0 (claimed: rdma-core providers/siw: IBV_WR_SEND_WITH_IMM is unsupported; observed: "
      "2026-11-20 libfabric 1.17.0 on soft-iWARP in a virtual machine, fi_info -v, cq_data_size 0); the nearest legal answer is "
      "framing::header [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::region_address::offset, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric ibverbs_iwarp cannot answer offset: it needs virtual_addressing to be false, and "
      "ibverbs_iwarp.virtual_addressing is true (claimed: rdma-core 44 man ibv_post_send: wr.rdma.remote_addr is an address of the "
      "target; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: returned_pointers "
      "yes, returned_form_landed yes, other_form_landed no); the nearest legal answer is region_address::virtual_address [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::region_key::application, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric ibverbs_iwarp cannot answer application: it needs key_owner to be application, and "
      "ibverbs_iwarp.key_owner is provider (claimed: rdma-core 44 man ibv_reg_mr: the device makes rkey; observed: 2026-11-20 rdma-core "
      "44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: requested_key_used no); the nearest legal answer is "
      "region_key::provider [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::local_descriptor::not_needed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric ibverbs_iwarp cannot answer not_needed: it needs local_registration to be false, and "
      "ibverbs_iwarp.local_registration is true (claimed: rdma-core 44 man ibv_post_send: each sge needs an lkey); the nearest legal "
      "answer is local_descriptor::required [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric ibverbs_iwarp cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "ibverbs_iwarp.region_endpoint_binding is false (claimed: rdma-core 44 man ibv_reg_mr: regions belong to a protection domain; "
      "observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: an unbound region was written "
      "to); the nearest legal answer is region_binding::domain [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::notify::immediate, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric ibverbs_iwarp cannot answer immediate: it needs write_immediate_bytes to be at least 4, and "
      "ibverbs_iwarp.write_immediate_bytes is 0 (claimed: rdma-core providers/siw: IBV_WR_RDMA_WRITE_WITH_IMM is unsupported; observed: "
      "2026-11-20 libfabric 1.17.0 on soft-iWARP in a virtual machine, fi_info -v, cq_data_size 0); the nearest legal answer is "
      "notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric ibverbs_iwarp cannot answer immediate_consumes_receive: it needs write_immediate_bytes to be at least 4, and "
      "ibverbs_iwarp.write_immediate_bytes is 0 (claimed: rdma-core providers/siw: IBV_WR_RDMA_WRITE_WITH_IMM is unsupported; observed: "
      "2026-11-20 libfabric 1.17.0 on soft-iWARP in a virtual machine, fi_info -v, cq_data_size 0); the nearest legal answer is "
      "notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric ibverbs_iwarp cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and "
      "ibverbs_iwarp.remote_counter_counts_writes is false (claimed: rdma-core 44: a target has no counters; observed: 2026-11-20 "
      "rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: counter refused: a counter of remote writes: verbs "
      "have none at the initiator: EOPNOTSUPP); the nearest legal answer is notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric ibverbs_iwarp cannot answer watched_word: it needs bytes_visible_in_order to be true, and "
      "ibverbs_iwarp.bytes_visible_in_order is false (copied: conservative: no card promises the order of a write's bytes in memory; not "
      "established); the nearest legal answer is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::write_fault::reported, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric ibverbs_iwarp cannot answer reported: it needs refused_write to be reported, and "
      "ibverbs_iwarp.refused_write is silent (claimed: RFC 5040: a write ends when its source may be reused; the target's terminate "
      "message comes later and ends the connection; observed: 2026-11-20 rdma-core 44 on soft-iWARP in a virtual machine, a write with a "
      "wrong key ended with success, then the connection ended); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric ibverbs_iwarp cannot answer undetected: it needs refused_write to be hidden, and "
      "ibverbs_iwarp.refused_write is silent (claimed: RFC 5040: a write ends when its source may be reused; the target's terminate "
      "message comes later and ends the connection; observed: 2026-11-20 rdma-core 44 on soft-iWARP in a virtual machine, a write with a "
      "wrong key ended with success, then the connection ended); the nearest legal answer is write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::atomics::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: atomics: fabric ibverbs_iwarp cannot answer provider: it needs atomics to be provider, and ibverbs_iwarp.atomics is none "
      "(claimed: rdma-core providers/siw: atomic operations are unsupported; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux "
      "6.1.0-56-amd64 device siw0 (iWARP), weft probe: a request for them finds nothing); the nearest legal answer is atomics::target "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric ibverbs_iwarp cannot answer thread: it needs data_progress to be thread, and ibverbs_iwarp.data_progress is "
      "hardware (claimed: rdma-core 44: the card moves the data; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 "
      "device siw0 (iWARP), weft probe: asked for manual: bytes arrived while the target slept, writes ended before that; asked for "
      "automatic: bytes arrived while the target slept, writes ended before that); the nearest legal answer is progress::hardware "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::progress::polling, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric ibverbs_iwarp cannot answer polling: it needs data_progress to be polling, and ibverbs_iwarp.data_progress "
      "is hardware (claimed: rdma-core 44: the card moves the data; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 "
      "device siw0 (iWARP), weft probe: asked for manual: bytes arrived while the target slept, writes ended before that; asked for "
      "automatic: bytes arrived while the target slept, writes ended before that); the nearest legal answer is progress::hardware "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric ibverbs_iwarp cannot answer yield: it needs completion_wait to be yield, and ibverbs_iwarp.completion_wait is "
      "descriptor (claimed: rdma-core 44 man ibv_create_comp_channel; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 "
      "device siw0 (iWARP), weft probe: descriptor yes, messages 40, lost_wake_ups 0); the nearest legal answer is wait::descriptor "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric ibverbs_iwarp cannot answer spin: it needs completion_wait to be none, and ibverbs_iwarp.completion_wait is "
      "descriptor (claimed: rdma-core 44 man ibv_create_comp_channel; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 "
      "device siw0 (iWARP), weft probe: descriptor yes, messages 40, lost_wake_ups 0); the nearest legal answer is wait::descriptor "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::threading::one_owner_per_queue, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: threading: fabric ibverbs_iwarp cannot answer one_owner_per_queue: it needs thread_levels to be true, and "
      "ibverbs_iwarp.thread_levels is false (claimed: weft's own: the backend requests no level from rdma-core); the nearest legal answer "
      "is threading::one_owner [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::threading::library_locks, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: threading: fabric ibverbs_iwarp cannot answer library_locks: it needs thread_levels to be true, and "
      "ibverbs_iwarp.thread_levels is false (claimed: weft's own: the backend requests no level from rdma-core); the nearest legal answer "
      "is threading::one_owner [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric ibverbs_iwarp cannot answer every_operation: it needs selective_completion to be false, and "
      "ibverbs_iwarp.selective_completion is true (claimed: rdma-core 44 man ibv_create_qp: sq_sig_all 0; observed: 2026-11-20 rdma-core "
      "44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: unsignalled_told 0, signalled_told 1); the nearest legal "
      "answer is completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric ibverbs_iwarp cannot answer provider: it needs reports_killed_peer to be true, and "
      "ibverbs_iwarp.reports_killed_peer is false (copied: conservative: on soft devices the connection manager reported a killed process "
      "at once (weft probe), but a stopped machine sends nothing); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric ibverbs_iwarp cannot answer process: it needs same_host to be true, and ibverbs_iwarp.same_host is false "
      "(claimed: a network protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::receive_buffers::multi_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_buffers: fabric ibverbs_iwarp cannot answer multi_receive: it needs multi_receive to be true, and "
      "ibverbs_iwarp.multi_receive is false (claimed: rdma-core 44 man ibv_post_recv: one message per request); the nearest legal answer "
      "is receive_buffers::slots [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::receive_pool::shared, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric ibverbs_iwarp cannot answer shared: it needs endpoint_type to be addressed, and "
      "ibverbs_iwarp.endpoint_type is connected (claimed: rdma-core 44 librdmacm: reliable connections; observed: 2026-11-20 rdma-core "
      "44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: endpoint_type connected, met yes); or shared_receives to be "
      "true, and ibverbs_iwarp.shared_receives is false (claimed: Linux 6.1 drivers/infiniband/sw/siw has the queue; iWARP ends a "
      "connection that finds the queue empty, and InfiniBand repeats); the nearest legal answer is receive_pool::per_link [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::queues::two, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: queues: fabric ibverbs_iwarp cannot answer two: it needs split_queues to be true, and ibverbs_iwarp.split_queues is false "
      "(claimed: weft's own: the backend reads one queue for both; ibv_create_qp takes two); the nearest legal answer is queues::one "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_iwarp*, answers::inject::as_the_row_permits, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: inject: fabric ibverbs_iwarp cannot answer as_the_row_permits: it needs inject_bytes to be at least 1, and "
      "ibverbs_iwarp.inject_bytes is 0 (observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft "
      "probe: bytes 64, buffer_free_at_once yes, one_byte_more taken; copied: conservative: the queue pair returns its max_inline_data; "
      "not established on cards); the nearest legal answer is inject::never [WEFT-C001]");
  return {};
}
template <class Asked, std::uint32_t... Values>
constexpr refused why_not(const ibverbs_iwarp*, answers::inject::up_to<Values...>, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: inject: fabric ibverbs_iwarp cannot answer up_to: it needs inject_bytes to be at least 1, and ibverbs_iwarp.inject_bytes is "
      "0 (observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: bytes 64, "
      "buffer_free_at_once yes, one_byte_more taken; copied: conservative: the queue pair returns its max_inline_data; not established on "
      "cards); the nearest legal answer is inject::never [WEFT-C001]");
  return {};
}
// clang-format on
}  // namespace weft::fabrics
