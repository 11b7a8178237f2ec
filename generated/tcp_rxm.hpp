// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row tcp_rxm, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_61e9a074 {
/// Addressed endpoints over TCP sockets by the rxm layer. libfabric 1.15 and later.
struct tcp_rxm {
  static constexpr std::string_view name = "tcp_rxm", library = "libfabric", made_from = "rules 3ae7adf7, row 7e67e337";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=socket_address framing=immediate region_address=offset region_key=application notify=immediate "
      "atomics=target liveness=heartbeat key_bytes=8 write_immediate_bytes=8 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0x056e7ae652733b9e;
  // half round trip, measured: 2026-11-26 libfabric 1.17.0: send of 8 bytes, in slices
  static constexpr std::uint32_t half_round_trip_ns = 3470;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "tcp;ofi_rxm", .fabric_name = "", .since = {1, 15}, .until = any_later_version,
      .endpoint_type = endpoint_type::addressed, .address_resolution = address_resolution::socket, .connects_lazily = true,
      .forgets_peers = true, .address_formats = "in in6", .own_node_path = own_node_path::fabric,
      .virtual_addressing = false, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::application, .key_bytes = 8, .local_registration = false, .region_endpoint_binding = false,
      .write_immediate_bytes = 8, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 8, .remote_counter_counts_writes = false,
      .order_send_after_write = true, .order_write_after_write = true, .bytes_visible_in_order = true,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::silent, .selective_completion = true,
      .atomics = atomic_execution::provider,
      .atomic_operations = "add compare_swap swap and or xor min max read: int32 uint32 int64 uint64; add swap min max read: float double",
      .atomics_cost_order = true,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::descriptor, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 0, .inject_bytes = 64, .gather_limit = 4, .rma_gather_limit = 4, .queue_depth = 2048,
      .largest_message = unlimited, .largest_write = unlimited, .fused_bytes = 740,
      .multi_receive = true, .shared_receives = false,
      .extended_posting = false, .split_queues = true, .thread_levels = true, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::keeps,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  static constexpr std::array<environment_setting, 3> environment{ {
      // FI_OFI_RXM_CM_PROGRESS_INTERVAL: the library polls connections each 0.1 ms instead of each 10 ms; connecting to a peer takes some 1 ms
      //   instead of up to 20 ms (bench-endpoint.tcp_rxm, on dedicated processors)
      {"FI_OFI_RXM_CM_PROGRESS_INTERVAL", "100"},
      // FI_OFI_RXM_BUFFER_SIZE: with 64 posted receives one endpoint takes 11 MiB instead of 73 MiB; a message of 8 bytes takes 7 percent less time;
      //   messages above 4 KiB cost one more round trip; peers must have the same value
      {"FI_OFI_RXM_BUFFER_SIZE", "4096"},
      // FI_OFI_RXM_MSG_RX_SIZE: a stream needs few of the 4096 default buffers; a message without a buffer waits in its socket
      {"FI_OFI_RXM_MSG_RX_SIZE", "64"},
  } };
  using policies = policy_set<
      // endpoint: addressed: tcp_rxm.endpoint_type is addressed (claimed: libfabric 1.17 prov/rxm: FI_EP_RDM; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, FI_EP_RDM)
      answers::endpoint::addressed,
      // bootstrap: socket_address: tcp_rxm.address_resolution is socket (claimed: libfabric 1.17 prov/rxm over prov/tcp, FI_SOCKADDR_IN and
      //   FI_SOCKADDR_IN6; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, addr_format FI_SOCKADDR_IN and FI_SOCKADDR_IN6)
      answers::bootstrap::socket_address,
      // framing: immediate: tcp_rxm.send_immediate_bytes is 8 (claimed: libfabric 1.17 prov/rxm over prov/tcp, cq_data_size 8; observed: 2026-11-20
      //   libfabric 1.17.0, fi_info -v, cq_data_size 8)
      answers::framing::immediate,
      // region_address: offset: tcp_rxm.virtual_addressing is false (claimed: libfabric 1.11 to 2.6 prov/tcp: fi_getinfo clears FI_MR_VIRT_ADDR;
      //   observed: 2026-11-20 libfabric 1.17.0 loopback, the target refused a write to a pointer, and a write to an offset arrived)
      answers::region_address::offset,
      // region_key: application: tcp_rxm.key_owner is application (claimed: libfabric 1.11 to 2.6 prov/tcp: fi_getinfo clears FI_MR_PROV_KEY;
      //   observed: 2026-11-20 libfabric 1.17.0 loopback, the provider used the requested key)
      answers::region_key::application,
      // local_descriptor: not_needed: tcp_rxm.local_registration is false (claimed: libfabric 1.17 prov/rxm over prov/tcp: fi_getinfo clears
      //   FI_MR_LOCAL; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, mr_mode empty)
      answers::local_descriptor::not_needed,
      // region_binding: domain: tcp_rxm.region_endpoint_binding is false (claimed: libfabric 1.17 prov/rxm over prov/tcp: the provider does not
      //   request FI_MR_ENDPOINT; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, mr_mode empty)
      answers::region_binding::domain,
      // notify: immediate: tcp_rxm.write_immediate_bytes is 8 (claimed: libfabric 1.17 prov/rxm over prov/tcp, cq_data_size 8; observed: 2026-11-20
      //   libfabric 1.17.0 loopback, 240 writes with an immediate gave 240 target entries with the right value);
      //   tcp_rxm.write_immediate_consumes_receive is false (claimed: libfabric 1.17 prov/rxm over prov/tcp: mode has no FI_RX_CQ_DATA; observed:
      //   2026-11-20 libfabric 1.17.0 loopback, 240 writes with an immediate used up no posted receive)
      answers::notify::immediate,
      // write_fault: delivery_confirmed: tcp_rxm.refused_write is silent (observed: 2026-11-20 libfabric 1.17.0 loopback, the target refused a wrong
      //   key and an address out of range, and the initiator got success; with FI_DELIVERY_COMPLETE the initiator got ECANCELED; copied: libfabric
      //   1.17 prov/rxm passes writes through to tcp; 2.x: not established, as 1.17); tcp_rxm.delivery_complete is true (claimed: libfabric 1.17
      //   prov/rxm: the completion waits for the target's progress; observed: 2026-11-20 libfabric 1.17.0 loopback, writes with FI_DELIVERY_COMPLETE
      //   completed when the target polled)
      answers::write_fault::delivery_confirmed,
      // atomics: target: tcp_rxm.atomics_cost_order is true (claimed: libfabric 1.17 man fi_rxm, limitations of FI_ATOMIC; observed: 2026-11-20
      //   libfabric 1.17.0 loopback, fi_getinfo with FI_ATOMIC and FI_ORDER_SAW gave ENODATA (1.11.1 and 2.6.0 too)); measured: 2026-11-22 libfabric
      //   1.17.0, rdma-core 44.0, Intel(R) Xeon(R) Processor, 2 cores, Linux 6.18.44-fc-v657, ./weft bench --fabric tcp_rxm --vary atomics
      //   --operations fetch_add,put,put_notify,put_notify_rate,put_visible,send,send_rate --sizes 8,64,1024,4096,65536 --turns 16: medium: provider
      //   takes 1.25 times as long as target (1.21 to 1.46, put); the target's progress can execute them on any fabric
      answers::atomics::target,
      // progress: polling: tcp_rxm.data_progress is polling (claimed: libfabric 1.17 prov/rxm: FI_PROGRESS_MANUAL; observed: 2026-11-20 libfabric
      //   1.17.0 loopback, bytes arrived only when the target polled)
      answers::progress::polling,
      // wait: descriptor: tcp_rxm.completion_wait is descriptor (claimed: libfabric 1.17 prov/rxm: FI_WAIT_FD; observed: 2026-11-20 libfabric 1.17.0
      //   loopback, a completion queue with FI_WAIT_FD woke the waiting thread)
      answers::wait::descriptor,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: tcp_rxm.selective_completion is true (claimed: libfabric 1.17 prov/rxm; observed: 2026-11-20 libfabric 1.17.0
      //   loopback, unsignalled writes gave no completion)
      answers::completion::selective,
      // liveness: heartbeat: tcp_rxm.reports_killed_peer is false (claimed: libfabric 1.17 prov/rxm: a posted receive is not bound to a peer;
      //   observed: 2026-11-20 libfabric 1.17.0 loopback, a waiting peer got no event within 10.8 s after a kill -9); tcp_rxm.same_host is false
      //   (claimed: a network protocol); weft's own messages work on any fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: shared: tcp_rxm.endpoint_type is addressed (claimed: libfabric 1.17 prov/rxm: FI_EP_RDM; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, FI_EP_RDM)
      answers::receive_pool::shared,
      // flush: message_behind_writes: tcp_rxm.order_send_after_write is true (claimed: libfabric 1.17 prov/rxm over prov/tcp, FI_ORDER_SAW; observed:
      //   2026-11-20 libfabric 1.17.0, fi_info -v, msg_order lists FI_ORDER_SAW); tcp_rxm.atomics_cost_order is true (claimed: libfabric 1.17 man
      //   fi_rxm, limitations of FI_ATOMIC; observed: 2026-11-20 libfabric 1.17.0 loopback, fi_getinfo with FI_ATOMIC and FI_ORDER_SAW gave ENODATA
      //   (1.11.1 and 2.6.0 too)); tcp_rxm.virtual_addressing_costs_order is false (claimed: the provider offers no pointers); no chosen answer
      //   removes that order
      answers::flush::message_behind_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: tcp_rxm.inject_bytes is 64 (claimed: libfabric 1.17 to 2.6 prov/rxm over prov/tcp, inject_size 64; observed:
      //   2026-11-20 libfabric 1.17.0, fi_info -v, inject_size 64)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<tcp_rxm>);
}  // namespace rules_61e9a074
// clang-format on
}  // namespace weft::fabrics

#include "tcp_rxm.why_not.hpp"
