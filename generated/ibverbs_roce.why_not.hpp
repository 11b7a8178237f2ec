// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row ibverbs_roce, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What ibverbs_roce cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "ibverbs_roce.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::endpoint::addressed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric ibverbs_roce cannot answer addressed: it needs endpoint_type to be addressed, and "
      "ibverbs_roce.endpoint_type is connected (claimed: rdma-core 44 librdmacm: reliable connections; observed: 2026-11-20 rdma-core 44 "
      "on soft-RoCE in a virtual machine, rping and a reliable connection worked); the nearest legal answer is endpoint::connected "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::bootstrap::exchange, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric ibverbs_roce cannot answer exchange: it needs address_resolution to be opaque, and "
      "ibverbs_roce.address_resolution is socket (claimed: rdma-core 44 man rdma_getaddrinfo; observed: 2026-11-20 rdma-core 44.0 (API "
      "44.0) Linux 6.1.0-56-amd64 device rxe0 (InfiniBand's verbs), weft probe: found_by_host_and_service yes); the nearest legal answer "
      "is bootstrap::socket_address [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::region_address::offset, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric ibverbs_roce cannot answer offset: it needs virtual_addressing to be false, and "
      "ibverbs_roce.virtual_addressing is true (claimed: rdma-core 44 man ibv_post_send: wr.rdma.remote_addr is an address of the target; "
      "observed: 2026-11-20 rdma-core 44 on soft-RoCE in a virtual machine, writes to addresses of the target arrived); the nearest legal "
      "answer is region_address::virtual_address [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::region_key::application, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric ibverbs_roce cannot answer application: it needs key_owner to be application, and ibverbs_roce.key_owner "
      "is provider (claimed: rdma-core 44 man ibv_reg_mr: the device makes rkey; observed: 2026-11-20 rdma-core 44 on soft-RoCE in a "
      "virtual machine, the rkey of ibv_reg_mr was the used key); the nearest legal answer is region_key::provider [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::local_descriptor::not_needed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric ibverbs_roce cannot answer not_needed: it needs local_registration to be false, and "
      "ibverbs_roce.local_registration is true (claimed: rdma-core 44 man ibv_post_send: each sge needs an lkey); the nearest legal "
      "answer is local_descriptor::required [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric ibverbs_roce cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "ibverbs_roce.region_endpoint_binding is false (claimed: rdma-core 44 man ibv_reg_mr: regions belong to a protection domain; "
      "observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device rxe0 (InfiniBand's verbs), weft probe: an unbound "
      "region was written to); the nearest legal answer is region_binding::domain [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::notify::immediate, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric ibverbs_roce cannot answer immediate: it needs write_immediate_consumes_receive to be false, and "
      "ibverbs_roce.write_immediate_consumes_receive is true (claimed: rdma-core 44 man ibv_poll_cq: IBV_WC_RECV_RDMA_WITH_IMM ends a "
      "posted receive; observed: 2026-11-20 rdma-core 44 on soft-RoCE in a virtual machine, each write with an immediate used up a posted "
      "receive); the nearest legal answer is notify::immediate_consumes_receive [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric ibverbs_roce cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and "
      "ibverbs_roce.remote_counter_counts_writes is false (claimed: rdma-core 44: a target has no counters; observed: 2026-11-20 "
      "rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device rxe0 (InfiniBand's verbs), weft probe: counter refused: a counter of remote "
      "writes: verbs have none at the initiator: EOPNOTSUPP); the nearest legal answer is notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::notify::message_after_delivery, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric ibverbs_roce cannot answer message_after_delivery: it needs delivery_complete to be true, and "
      "ibverbs_roce.delivery_complete is false (claimed: InfiniBand reliable connection: an acknowledgement may come before the bytes are "
      "visible); the nearest legal answer is notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric ibverbs_roce cannot answer watched_word: it needs bytes_visible_in_order to be true, and "
      "ibverbs_roce.bytes_visible_in_order is false (copied: conservative: no card promises the order of a write's bytes in memory; not "
      "established); the nearest legal answer is notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::write_fault::delivery_confirmed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric ibverbs_roce cannot answer delivery_confirmed: it needs refused_write to be silent, and "
      "ibverbs_roce.refused_write is reported (claimed: InfiniBand reliable connection: the responder answers with a remote access error; "
      "observed: 2026-11-20 rdma-core 44 on soft-RoCE in a virtual machine, a write with a wrong key ended in IBV_WC_REM_ACCESS_ERR); the "
      "nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric ibverbs_roce cannot answer undetected: it needs refused_write to be hidden, and "
      "ibverbs_roce.refused_write is reported (claimed: InfiniBand reliable connection: the responder answers with a remote access error; "
      "observed: 2026-11-20 rdma-core 44 on soft-RoCE in a virtual machine, a write with a wrong key ended in IBV_WC_REM_ACCESS_ERR); the "
      "nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric ibverbs_roce cannot answer thread: it needs data_progress to be thread, and ibverbs_roce.data_progress is "
      "hardware (claimed: rdma-core 44: the card moves the data; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 "
      "device rxe0 (InfiniBand's verbs), weft probe: asked for manual: bytes arrived while the target slept, writes ended before that; "
      "asked for automatic: bytes arrived while the target slept, writes ended before that); the nearest legal answer is "
      "progress::hardware [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::progress::polling, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric ibverbs_roce cannot answer polling: it needs data_progress to be polling, and ibverbs_roce.data_progress is "
      "hardware (claimed: rdma-core 44: the card moves the data; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 "
      "device rxe0 (InfiniBand's verbs), weft probe: asked for manual: bytes arrived while the target slept, writes ended before that; "
      "asked for automatic: bytes arrived while the target slept, writes ended before that); the nearest legal answer is "
      "progress::hardware [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric ibverbs_roce cannot answer yield: it needs completion_wait to be yield, and ibverbs_roce.completion_wait is "
      "descriptor (claimed: rdma-core 44 man ibv_create_comp_channel; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 "
      "device rxe0 (InfiniBand's verbs), weft probe: descriptor yes, messages 40, lost_wake_ups 0); the nearest legal answer is "
      "wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric ibverbs_roce cannot answer spin: it needs completion_wait to be none, and ibverbs_roce.completion_wait is "
      "descriptor (claimed: rdma-core 44 man ibv_create_comp_channel; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 "
      "device rxe0 (InfiniBand's verbs), weft probe: descriptor yes, messages 40, lost_wake_ups 0); the nearest legal answer is "
      "wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::threading::one_owner_per_queue, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: threading: fabric ibverbs_roce cannot answer one_owner_per_queue: it needs thread_levels to be true, and "
      "ibverbs_roce.thread_levels is false (claimed: weft's own: the backend requests no level from rdma-core); the nearest legal answer "
      "is threading::one_owner [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::threading::library_locks, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: threading: fabric ibverbs_roce cannot answer library_locks: it needs thread_levels to be true, and "
      "ibverbs_roce.thread_levels is false (claimed: weft's own: the backend requests no level from rdma-core); the nearest legal answer "
      "is threading::one_owner [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric ibverbs_roce cannot answer every_operation: it needs selective_completion to be false, and "
      "ibverbs_roce.selective_completion is true (claimed: rdma-core 44 man ibv_create_qp: sq_sig_all 0; observed: 2026-11-20 rdma-core "
      "44.0 (API 44.0) Linux 6.1.0-56-amd64 device rxe0 (InfiniBand's verbs), weft probe: unsignalled_told 0, signalled_told 1); the "
      "nearest legal answer is completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric ibverbs_roce cannot answer provider: it needs reports_killed_peer to be true, and "
      "ibverbs_roce.reports_killed_peer is false (copied: conservative: on soft devices the connection manager reported a killed process "
      "at once (weft probe), but a stopped machine sends nothing); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric ibverbs_roce cannot answer process: it needs same_host to be true, and ibverbs_roce.same_host is false "
      "(claimed: a network protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::receive_buffers::multi_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_buffers: fabric ibverbs_roce cannot answer multi_receive: it needs multi_receive to be true, and "
      "ibverbs_roce.multi_receive is false (claimed: rdma-core 44 man ibv_post_recv: one message per request); the nearest legal answer "
      "is receive_buffers::slots [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::flush::tracked_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric ibverbs_roce cannot answer tracked_writes: it needs delivery_complete to be true, and "
      "ibverbs_roce.delivery_complete is false (claimed: InfiniBand reliable connection: an acknowledgement may come before the bytes are "
      "visible); the nearest legal answer is flush::refused [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::queues::two, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: queues: fabric ibverbs_roce cannot answer two: it needs split_queues to be true, and ibverbs_roce.split_queues is false "
      "(claimed: weft's own: the backend reads one queue for both; ibv_create_qp takes two); the nearest legal answer is queues::one "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ibverbs_roce*, answers::inject::as_the_row_permits, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: inject: fabric ibverbs_roce cannot answer as_the_row_permits: it needs inject_bytes to be at least 1, and "
      "ibverbs_roce.inject_bytes is 0 (observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device rxe0 (InfiniBand's "
      "verbs), weft probe: bytes 512, buffer_free_at_once yes, one_byte_more EINVAL; copied: conservative: the queue pair returns its "
      "max_inline_data; not established on cards); the nearest legal answer is inject::never [WEFT-C001]");
  return {};
}
template <class Asked, std::uint32_t... Values>
constexpr refused why_not(const ibverbs_roce*, answers::inject::up_to<Values...>, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: inject: fabric ibverbs_roce cannot answer up_to: it needs inject_bytes to be at least 1, and ibverbs_roce.inject_bytes is 0 "
      "(observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device rxe0 (InfiniBand's verbs), weft probe: bytes 512, "
      "buffer_free_at_once yes, one_byte_more EINVAL; copied: conservative: the queue pair returns its max_inline_data; not established "
      "on cards); the nearest legal answer is inject::never [WEFT-C001]");
  return {};
}
// clang-format on
}  // namespace weft::fabrics
