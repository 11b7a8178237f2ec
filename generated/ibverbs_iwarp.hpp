// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row ibverbs_iwarp, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/verbs/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_2f24ad4b {
/// Reliable connections on iWARP cards by rdma-core itself: no immediates and no atomics. rdma-core 44.0 and later.
struct ibverbs_iwarp {
  static constexpr std::string_view name = "ibverbs_iwarp", library = "rdma-core", made_from = "rules 3ae7adf7, row a3e79d8c";
  static constexpr library_version built_with = backends::verbs::built_with;
  static constexpr std::string_view shared =
      "endpoint=connected bootstrap=socket_address framing=header region_address=virtual_address region_key=provider "
      "notify=message_after_ordered_write atomics=target liveness=heartbeat key_bytes=4 write_immediate_bytes=0 send_immediate_bytes=0";
  static constexpr std::uint64_t fingerprint = 0xcbbb2704d0cd6a37;
  template <class Shape>
  using port = backends::verbs::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "", .fabric_name = "", .since = {44, 0}, .until = any_later_version,
      .endpoint_type = endpoint_type::connected, .address_resolution = address_resolution::socket, .connects_lazily = false,
      .forgets_peers = true, .address_formats = "in in6", .own_node_path = own_node_path::fabric,
      .virtual_addressing = true, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::provider, .key_bytes = 4, .local_registration = true, .region_endpoint_binding = false,
      .write_immediate_bytes = 0, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 0, .remote_counter_counts_writes = false,
      .order_send_after_write = true, .order_write_after_write = false, .bytes_visible_in_order = false,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::silent, .selective_completion = true,
      .atomics = atomic_execution::none, .atomic_operations = "none", .atomics_cost_order = false,
      .data_progress = data_progress::hardware, .completion_wait = completion_wait::descriptor, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 0, .inject_bytes = 0, .gather_limit = 4, .rma_gather_limit = 1, .queue_depth = 256,
      .largest_message = 8388608, .largest_write = 8388608, .fused_bytes = 512,
      .multi_receive = false, .shared_receives = false,
      .extended_posting = false, .split_queues = false, .thread_levels = false, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::loses,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"tttttt tttt-- tttttt tttt-- tttt-- tttt-- tttttt tttttt tttttt"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: connected: ibverbs_iwarp.endpoint_type is connected (claimed: rdma-core 44 librdmacm: reliable connections; observed: 2026-11-20
      //   rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: endpoint_type connected, met yes)
      answers::endpoint::connected,
      // bootstrap: socket_address: ibverbs_iwarp.address_resolution is socket (claimed: rdma-core 44 man rdma_getaddrinfo; observed: 2026-11-20
      //   rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: found_by_host_and_service yes)
      answers::bootstrap::socket_address,
      // framing: header: ibverbs_iwarp.gather_limit is 4 (observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP),
      //   weft probe: message_pieces 6; copied: conservative lower bound; not established)
      answers::framing::header,
      // region_address: virtual_address: ibverbs_iwarp.virtual_addressing is true (claimed: rdma-core 44 man ibv_post_send: wr.rdma.remote_addr is an
      //   address of the target; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe:
      //   returned_pointers yes, returned_form_landed yes, other_form_landed no)
      answers::region_address::virtual_address,
      // region_key: provider: ibverbs_iwarp.key_owner is provider (claimed: rdma-core 44 man ibv_reg_mr: the device makes rkey; observed: 2026-11-20
      //   rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: requested_key_used no)
      answers::region_key::provider,
      // local_descriptor: required: ibverbs_iwarp.local_registration is true (claimed: rdma-core 44 man ibv_post_send: each sge needs an lkey)
      answers::local_descriptor::required,
      // region_binding: domain: ibverbs_iwarp.region_endpoint_binding is false (claimed: rdma-core 44 man ibv_reg_mr: regions belong to a protection
      //   domain; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: an unbound region was written
      //   to)
      answers::region_binding::domain,
      // notify: message_after_ordered_write: ibverbs_iwarp.order_send_after_write is true (claimed: RFC 5040: messages are delivered after the writes
      //   before them; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: overtaken 0, pairs 160);
      //   ibverbs_iwarp.virtual_addressing_costs_order is false (claimed: the provider requires pointers, weft does not request them)
      answers::notify::message_after_ordered_write,
      // write_fault: delivery_confirmed: ibverbs_iwarp.refused_write is silent (claimed: RFC 5040: a write ends when its source may be reused; the
      //   target's terminate message comes later and ends the connection; observed: 2026-11-20 rdma-core 44 on soft-iWARP in a virtual machine, a
      //   write with a wrong key ended with success, then the connection ended); ibverbs_iwarp.delivery_complete is true (claimed: RFC 5040: a read
      //   after a write completes after the target processed the write; the backend posts such a read; observed: 2026-11-20 rdma-core 44 on
      //   soft-iWARP in a virtual machine, the bytes were in place, and after a refused write no read completed)
      answers::write_fault::delivery_confirmed,
      // atomics: target: ibverbs_iwarp.atomics is none (claimed: rdma-core providers/siw: atomic operations are unsupported; observed: 2026-11-20
      //   rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: a request for them finds nothing); the target's progress
      //   can execute them on any fabric
      answers::atomics::target,
      // progress: hardware: ibverbs_iwarp.data_progress is hardware (claimed: rdma-core 44: the card moves the data; observed: 2026-11-20 rdma-core
      //   44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: asked for manual: bytes arrived while the target slept, writes ended
      //   before that; asked for automatic: bytes arrived while the target slept, writes ended before that)
      answers::progress::hardware,
      // wait: descriptor: ibverbs_iwarp.completion_wait is descriptor (claimed: rdma-core 44 man ibv_create_comp_channel; observed: 2026-11-20
      //   rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: descriptor yes, messages 40, lost_wake_ups 0)
      answers::wait::descriptor,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: ibverbs_iwarp.selective_completion is true (claimed: rdma-core 44 man ibv_create_qp: sq_sig_all 0; observed:
      //   2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: unsignalled_told 0, signalled_told 1)
      answers::completion::selective,
      // liveness: heartbeat: ibverbs_iwarp.reports_killed_peer is false (copied: conservative: on soft devices the connection manager reported a
      //   killed process at once (weft probe), but a stopped machine sends nothing); ibverbs_iwarp.same_host is false (claimed: a network protocol);
      //   weft's own messages work on any fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: per_link: ibverbs_iwarp.endpoint_type is connected (claimed: rdma-core 44 librdmacm: reliable connections; observed: 2026-11-20
      //   rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: endpoint_type connected, met yes)
      answers::receive_pool::per_link,
      // flush: message_behind_writes: ibverbs_iwarp.order_send_after_write is true (claimed: RFC 5040: messages are delivered after the writes before
      //   them; observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft probe: overtaken 0, pairs 160);
      //   ibverbs_iwarp.atomics_cost_order is false (claimed: the provider offers no atomics); ibverbs_iwarp.virtual_addressing_costs_order is false
      //   (claimed: the provider requires pointers, weft does not request them)
      answers::flush::message_behind_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: never: ibverbs_iwarp.inject_bytes is 0 (observed: 2026-11-20 rdma-core 44.0 (API 44.0) Linux 6.1.0-56-amd64 device siw0 (iWARP), weft
      //   probe: bytes 64, buffer_free_at_once yes, one_byte_more taken; copied: conservative: the queue pair returns its max_inline_data; not
      //   established on cards); the library can read unchanged memory later on any fabric
      answers::inject::never,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<ibverbs_iwarp>);
}  // namespace rules_2f24ad4b
// clang-format on
}  // namespace weft::fabrics

#include "ibverbs_iwarp.why_not.hpp"
