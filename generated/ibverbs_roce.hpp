// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row ibverbs_roce, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/verbs/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_63297de2 {
/// Reliable connections on InfiniBand or RoCE cards by rdma-core itself. rdma-core 44.0 and later.
struct ibverbs_roce {
  static constexpr std::string_view name = "ibverbs_roce", library = "rdma-core", made_from = "rules 3ae7adf7, row 58f88417";
  static constexpr library_version built_with = backends::verbs::built_with;
  static constexpr std::string_view shared =
      "endpoint=connected bootstrap=socket_address framing=immediate region_address=virtual_address region_key=provider "
      "notify=immediate_consumes_receive atomics=provider liveness=heartbeat key_bytes=4 write_immediate_bytes=4 send_immediate_bytes=4";
  static constexpr std::uint64_t fingerprint = 0xc5c9a092acfaba5a;
  template <class Shape>
  using port = backends::verbs::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "", .fabric_name = "", .since = {44, 0}, .until = any_later_version,
      .endpoint_type = endpoint_type::connected, .address_resolution = address_resolution::socket, .connects_lazily = false,
      .forgets_peers = true, .address_formats = "in in6 ib", .own_node_path = own_node_path::fabric,
      .virtual_addressing = true, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::provider, .key_bytes = 4, .local_registration = true, .region_endpoint_binding = false,
      .write_immediate_bytes = 4, .write_immediate_consumes_receive = true, .write_immediate_setting = "",
      .send_immediate_bytes = 4, .remote_counter_counts_writes = false,
      .order_send_after_write = true, .order_write_after_write = true, .bytes_visible_in_order = false,
      .order_send_after_send = true, .delivery_complete = false, .refused_write = refusal::reported, .selective_completion = true,
      .atomics = atomic_execution::provider, .atomic_operations = "add compare_swap: int64 uint64", .atomics_cost_order = false,
      .data_progress = data_progress::hardware, .completion_wait = completion_wait::descriptor, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 0, .inject_bytes = 0, .gather_limit = 4, .rma_gather_limit = 4, .queue_depth = 256,
      .largest_message = 8388608, .largest_write = 8388608, .fused_bytes = 0,
      .multi_receive = false, .shared_receives = true,
      .extended_posting = false, .split_queues = false, .thread_levels = false, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::loses,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"wwnnwl wwnn-- wwllwl wwll-- wwll-- wwll-- wwllwl wwllwl wwllwl"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: connected: ibverbs_roce.endpoint_type is connected (claimed: rdma-core 44 librdmacm: reliable connections; observed: 2026-11-20
      //   rdma-core 44 on soft-RoCE in a virtual machine, rping and a reliable connection worked)
      answers::endpoint::connected,
      // bootstrap: socket_address: ibverbs_roce.address_resolution is socket (claimed: rdma-core 44 man rdma_getaddrinfo; observed: 2026-11-20
      //   rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device rxe0 (InfiniBand's verbs), weft probe: found_by_host_and_service yes)
      answers::bootstrap::socket_address,
      // framing: immediate: ibverbs_roce.send_immediate_bytes is 4 (claimed: rdma-core 44 man ibv_post_send: IBV_WR_SEND_WITH_IMM; observed:
      //   2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device rxe0 (InfiniBand's verbs), weft probe: bytes 4)
      answers::framing::immediate,
      // region_address: virtual_address: ibverbs_roce.virtual_addressing is true (claimed: rdma-core 44 man ibv_post_send: wr.rdma.remote_addr is an
      //   address of the target; observed: 2026-11-20 rdma-core 44 on soft-RoCE in a virtual machine, writes to addresses of the target arrived)
      answers::region_address::virtual_address,
      // region_key: provider: ibverbs_roce.key_owner is provider (claimed: rdma-core 44 man ibv_reg_mr: the device makes rkey; observed: 2026-11-20
      //   rdma-core 44 on soft-RoCE in a virtual machine, the rkey of ibv_reg_mr was the used key)
      answers::region_key::provider,
      // local_descriptor: required: ibverbs_roce.local_registration is true (claimed: rdma-core 44 man ibv_post_send: each sge needs an lkey)
      answers::local_descriptor::required,
      // region_binding: domain: ibverbs_roce.region_endpoint_binding is false (claimed: rdma-core 44 man ibv_reg_mr: regions belong to a protection
      //   domain; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device rxe0 (InfiniBand's verbs), weft probe: an unbound region
      //   was written to)
      answers::region_binding::domain,
      // notify: immediate_consumes_receive: ibverbs_roce.write_immediate_bytes is 4 (claimed: rdma-core 44 man ibv_post_send:
      //   IBV_WR_RDMA_WRITE_WITH_IMM; observed: 2026-11-20 rdma-core 44 on soft-RoCE in a virtual machine, 4 KiB and 0-byte writes with an immediate
      //   arrived, the bytes visible); ibverbs_roce.write_immediate_consumes_receive is true (claimed: rdma-core 44 man ibv_poll_cq:
      //   IBV_WC_RECV_RDMA_WITH_IMM ends a posted receive; observed: 2026-11-20 rdma-core 44 on soft-RoCE in a virtual machine, each write with an
      //   immediate used up a posted receive)
      answers::notify::immediate_consumes_receive,
      // write_fault: reported: ibverbs_roce.refused_write is reported (claimed: InfiniBand reliable connection: the responder answers with a remote
      //   access error; observed: 2026-11-20 rdma-core 44 on soft-RoCE in a virtual machine, a write with a wrong key ended in IBV_WC_REM_ACCESS_ERR)
      answers::write_fault::reported,
      // atomics: provider: ibverbs_roce.atomics is provider (claimed: rdma-core 44 man ibv_post_send: IBV_WR_ATOMIC_FETCH_AND_ADD and CMP_AND_SWP;
      //   check atomic_cap; observed: 2026-11-20 rdma-core 44 on soft-RoCE in a virtual machine, 64-bit fetch-add and compare-swap, hit and miss,
      //   gave the right values at both ends); ibverbs_roce.atomics_cost_order is false (claimed: InfiniBand reliable connection: one queue pair
      //   keeps the order)
      answers::atomics::provider,
      // progress: hardware: ibverbs_roce.data_progress is hardware (claimed: rdma-core 44: the card moves the data; observed: 2026-11-20 rdma-core
      //   44.0 (API 44.0) Linux 6.1.0-56-amd64 device rxe0 (InfiniBand's verbs), weft probe: asked for manual: bytes arrived while the target slept,
      //   writes ended before that; asked for automatic: bytes arrived while the target slept, writes ended before that)
      answers::progress::hardware,
      // wait: descriptor: ibverbs_roce.completion_wait is descriptor (claimed: rdma-core 44 man ibv_create_comp_channel; observed: 2026-11-20
      //   rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device rxe0 (InfiniBand's verbs), weft probe: descriptor yes, messages 40, lost_wake_ups 0)
      answers::wait::descriptor,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: ibverbs_roce.selective_completion is true (claimed: rdma-core 44 man ibv_create_qp: sq_sig_all 0; observed: 2026-11-20
      //   rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device rxe0 (InfiniBand's verbs), weft probe: unsignalled_told 0, signalled_told 1)
      answers::completion::selective,
      // liveness: heartbeat: ibverbs_roce.reports_killed_peer is false (copied: conservative: on soft devices the connection manager reported a
      //   killed process at once (weft probe), but a stopped machine sends nothing); ibverbs_roce.same_host is false (claimed: a network protocol);
      //   weft's own messages work on any fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: per_link: ibverbs_roce.endpoint_type is connected (claimed: rdma-core 44 librdmacm: reliable connections; observed: 2026-11-20
      //   rdma-core 44 on soft-RoCE in a virtual machine, rping and a reliable connection worked)
      answers::receive_pool::per_link,
      // flush: message_behind_writes: ibverbs_roce.order_send_after_write is true (claimed: InfiniBand reliable connection: one queue pair keeps the
      //   order; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device rxe0 (InfiniBand's verbs), weft probe: overtaken 0, pairs
      //   160); ibverbs_roce.atomics_cost_order is false (claimed: InfiniBand reliable connection: one queue pair keeps the order);
      //   ibverbs_roce.virtual_addressing_costs_order is false (claimed: the provider requires pointers, weft does not request them)
      answers::flush::message_behind_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: never: ibverbs_roce.inject_bytes is 0 (observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device rxe0 (InfiniBand's
      //   verbs), weft probe: bytes 512, buffer_free_at_once yes, one_byte_more EINVAL; copied: conservative: the queue pair returns its
      //   max_inline_data; not established on cards); the library can read unchanged memory later on any fabric
      answers::inject::never,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<ibverbs_roce>);
}  // namespace rules_63297de2
// clang-format on
}  // namespace weft::fabrics

#include "ibverbs_roce.why_not.hpp"
