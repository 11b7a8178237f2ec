// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row sockets, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_d64b9e41 {
/// Addressed endpoints over sockets, polled by weft; deprecated, and the reference for semantics. libfabric 1.15 and later.
struct sockets {
  static constexpr std::string_view name = "sockets", library = "libfabric", made_from = "rules 3ae7adf7, row 2211ece1";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=socket_address framing=immediate region_address=offset region_key=application notify=immediate "
      "atomics=provider liveness=heartbeat key_bytes=8 write_immediate_bytes=8 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0x2d3b77b550b7d50e;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "sockets", .fabric_name = "", .since = {1, 15}, .until = any_later_version,
      .endpoint_type = endpoint_type::addressed, .address_resolution = address_resolution::socket, .connects_lazily = false,
      .forgets_peers = true, .address_formats = "in in6", .own_node_path = own_node_path::fabric,
      .virtual_addressing = false, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::application, .key_bytes = 8, .local_registration = false, .region_endpoint_binding = false,
      .write_immediate_bytes = 8, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 8, .remote_counter_counts_writes = true,
      .order_send_after_write = true, .order_write_after_write = true, .bytes_visible_in_order = false,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::reported, .selective_completion = true,
      .atomics = atomic_execution::provider,
      .atomic_operations = "add compare_swap swap and or xor min max read: int32 uint32 int64 uint64; add swap min max read: float double",
      .atomics_cost_order = false,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::yield, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 0, .inject_bytes = 255, .gather_limit = 8, .rma_gather_limit = 8, .queue_depth = 256,
      .largest_message = 18446744073709547519u, .largest_write = 18446744073709547519u, .fused_bytes = 0,
      .multi_receive = true, .shared_receives = false,
      .extended_posting = false, .split_queues = true, .thread_levels = true, .full_queue = full_queue::overruns,
      .full_completion_queue = full_completion_queue::keeps,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: addressed: sockets.endpoint_type is addressed (claimed: libfabric 1.17 prov/sockets: FI_EP_RDM, of three types; observed:
      //   2026-11-20 libfabric 1.17.0, fi_info -v, FI_EP_RDM)
      answers::endpoint::addressed,
      // bootstrap: socket_address: sockets.address_resolution is socket (claimed: libfabric 1.17 prov/sockets, FI_SOCKADDR_IN and FI_SOCKADDR_IN6;
      //   observed: 2026-11-20 libfabric 1.17.0, fi_info -v, addr_format FI_SOCKADDR_IN and FI_SOCKADDR_IN6)
      answers::bootstrap::socket_address,
      // framing: immediate: sockets.send_immediate_bytes is 8 (claimed: libfabric 1.17 prov/sockets, cq_data_size 8; observed: 2026-11-20 libfabric
      //   1.17.0, fi_info -v, cq_data_size 8)
      answers::framing::immediate,
      // region_address: offset: sockets.virtual_addressing is false (claimed: libfabric 1.11 to 2.6 prov/sockets: fi_getinfo clears FI_MR_VIRT_ADDR;
      //   observed: 2026-11-20 libfabric 1.17.0 loopback, the target refused a write to a pointer, and a write to an offset arrived)
      answers::region_address::offset,
      // region_key: application: sockets.key_owner is application (claimed: libfabric 1.11 to 2.6 prov/sockets: fi_getinfo clears FI_MR_PROV_KEY;
      //   observed: 2026-11-20 libfabric 1.17.0 loopback, the provider used the requested key)
      answers::region_key::application,
      // local_descriptor: not_needed: sockets.local_registration is false (claimed: libfabric 1.17 prov/sockets: fi_getinfo clears FI_MR_LOCAL;
      //   observed: 2026-11-20 libfabric 1.17.0, fi_info -v, mr_mode empty)
      answers::local_descriptor::not_needed,
      // region_binding: domain: sockets.region_endpoint_binding is false (claimed: libfabric 1.17 prov/sockets; observed: 2026-11-20 libfabric
      //   1.17.0, fi_info -v, mr_mode empty)
      answers::region_binding::domain,
      // notify: immediate: sockets.write_immediate_bytes is 8 (claimed: libfabric 1.17 prov/sockets, cq_data_size 8; observed: 2026-11-20 libfabric
      //   1.17.0 loopback, 240 writes with an immediate gave 240 target entries with the right value); sockets.write_immediate_consumes_receive is
      //   false (claimed: libfabric 1.17 prov/sockets: mode has no FI_RX_CQ_DATA; observed: 2026-11-20 libfabric 1.17.0 loopback, 240 writes with an
      //   immediate used up no posted receive)
      answers::notify::immediate,
      // write_fault: reported: sockets.refused_write is reported (claimed: libfabric 1.17 prov/sockets; observed: 2026-11-20 libfabric 1.17.0
      //   loopback, a wrong key and an address out of range gave the initiator a completion with EACCES (1.11.1 too))
      answers::write_fault::reported,
      // atomics: provider: sockets.atomics is provider (claimed: libfabric 1.17 prov/sockets: the target's progress thread executes atomics;
      //   observed: 2026-11-20 libfabric 1.17.0 loopback, 64-bit fetch-add and compare-swap returned the right values); sockets.atomics_cost_order is
      //   false (claimed: libfabric 1.17 prov/sockets: every order, with FI_ATOMIC too; observed: 2026-11-20 libfabric 1.17.0 loopback, hints with
      //   FI_ATOMIC and FI_ORDER_SAW were granted)
      answers::atomics::provider,
      // progress: polling: sockets.data_progress is polling (claimed: libfabric 1.17 prov/sockets: the library honours FI_PROGRESS_MANUAL;
      //   FI_PROGRESS_AUTO would start a thread of the library; observed: 2026-11-20 libfabric 1.17.0 loopback, two processors: with MANUAL a round
      //   trip took 16 us, and no message was lost; with AUTO a round trip took 154 us to 48 ms; up to 25 of 100 messages to 32 receives were lost
      //   after a completion with success)
      answers::progress::polling,
      // wait: yield: sockets.completion_wait is yield (claimed: libfabric 1.17 prov/sockets: the library grants FI_WAIT_FD under AUTO progress only;
      //   observed: 2026-11-20 libfabric 1.17.0 loopback, FI_GETWAIT returned FI_ENOSYS under MANUAL progress)
      answers::wait::yield,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: sockets.selective_completion is true (claimed: libfabric 1.17 prov/sockets; observed: 2026-11-20 libfabric 1.17.0
      //   loopback, unsignalled writes gave no completion)
      answers::completion::selective,
      // liveness: heartbeat: sockets.reports_killed_peer is false (claimed: libfabric 1.17 prov/sockets: a posted receive is not bound to a peer;
      //   observed: 2026-11-20 libfabric 1.17.0 loopback, a waiting peer got no event within 10.8 s after a kill -9); sockets.same_host is false
      //   (claimed: a network protocol); weft's own messages work on any fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: shared: sockets.endpoint_type is addressed (claimed: libfabric 1.17 prov/sockets: FI_EP_RDM, of three types; observed:
      //   2026-11-20 libfabric 1.17.0, fi_info -v, FI_EP_RDM)
      answers::receive_pool::shared,
      // flush: message_behind_writes: sockets.order_send_after_write is true (claimed: libfabric 1.17 prov/sockets: every order, WAR and SAR
      //   included; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, msg_order lists FI_ORDER_SAW); sockets.atomics_cost_order is false (claimed:
      //   libfabric 1.17 prov/sockets: every order, with FI_ATOMIC too; observed: 2026-11-20 libfabric 1.17.0 loopback, hints with FI_ATOMIC and
      //   FI_ORDER_SAW were granted); sockets.virtual_addressing_costs_order is false (claimed: the provider offers no pointers)
      answers::flush::message_behind_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: sockets.inject_bytes is 255 (claimed: libfabric 1.17 prov/sockets, inject_size 255; observed: 2026-11-20
      //   libfabric 1.17.0, fi_info -v, inject_size 255)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<sockets>);
}  // namespace rules_d64b9e41
// clang-format on
}  // namespace weft::fabrics

#include "sockets.why_not.hpp"
