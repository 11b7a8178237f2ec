// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row tcp_rdm, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_353561b9 {
/// Addressed endpoints of the tcp provider itself, without the rxm layer. libfabric 1.18 and later.
struct tcp_rdm {
  static constexpr std::string_view name = "tcp_rdm", library = "libfabric", made_from = "rules 3ae7adf7, row 65d76b8f";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=socket_address framing=immediate region_address=offset region_key=application notify=immediate "
      "atomics=target liveness=heartbeat key_bytes=8 write_immediate_bytes=8 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0xae7847d851888a0e;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "tcp", .fabric_name = "", .since = {1, 18}, .until = any_later_version,
      .endpoint_type = endpoint_type::addressed, .address_resolution = address_resolution::socket, .connects_lazily = true,
      .forgets_peers = true, .address_formats = "in in6", .own_node_path = own_node_path::fabric,
      .virtual_addressing = false, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::application, .key_bytes = 8, .local_registration = false, .region_endpoint_binding = false,
      .write_immediate_bytes = 8, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 8, .remote_counter_counts_writes = false,
      .order_send_after_write = true, .order_write_after_write = true, .bytes_visible_in_order = false,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::silent, .selective_completion = true,
      .atomics = atomic_execution::none, .atomic_operations = "none", .atomics_cost_order = false,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::descriptor, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 0, .inject_bytes = 128, .gather_limit = 4, .rma_gather_limit = 4, .queue_depth = 256,
      .largest_message = unlimited, .largest_write = unlimited, .fused_bytes = 0,
      .multi_receive = true, .shared_receives = false,
      .extended_posting = false, .split_queues = true, .thread_levels = true, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::keeps,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"tttttt tttt-- tttttt tttt-- tttt-- tttt-- tttttt tttttt tttttt"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: addressed: tcp_rdm.endpoint_type is addressed (claimed: libfabric 1.18 NEWS: the tcp provider has its own FI_EP_RDM; before, a hint
      //   tcp with FI_EP_RDM gave tcp;ofi_rxm)
      answers::endpoint::addressed,
      // bootstrap: socket_address: tcp_rdm.address_resolution is socket (claimed: libfabric 2.6 prov/tcp, FI_SOCKADDR_IN and FI_SOCKADDR_IN6)
      answers::bootstrap::socket_address,
      // framing: immediate: tcp_rdm.send_immediate_bytes is 8 (claimed: libfabric 2.6 prov/tcp, cq_data_size 8)
      answers::framing::immediate,
      // region_address: offset: tcp_rdm.virtual_addressing is false (claimed: libfabric 1.11 to 2.6 prov/tcp: fi_getinfo clears FI_MR_VIRT_ADDR)
      answers::region_address::offset,
      // region_key: application: tcp_rdm.key_owner is application (claimed: libfabric 1.11 to 2.6 prov/tcp: fi_getinfo clears FI_MR_PROV_KEY)
      answers::region_key::application,
      // local_descriptor: not_needed: tcp_rdm.local_registration is false (claimed: libfabric 2.6 prov/tcp: fi_getinfo clears FI_MR_LOCAL)
      answers::local_descriptor::not_needed,
      // region_binding: domain: tcp_rdm.region_endpoint_binding is false (claimed: libfabric 2.6 prov/tcp: the provider does not request
      //   FI_MR_ENDPOINT)
      answers::region_binding::domain,
      // notify: immediate: tcp_rdm.write_immediate_bytes is 8 (claimed: libfabric 2.6 prov/tcp, cq_data_size 8; observed: 2026-11-20 libfabric 2.6.0
      //   loopback, writes with an immediate gave target entries with the right value); tcp_rdm.write_immediate_consumes_receive is false (claimed:
      //   libfabric 2.6 prov/tcp: mode has no FI_RX_CQ_DATA)
      answers::notify::immediate,
      // write_fault: delivery_confirmed: tcp_rdm.refused_write is silent (copied: conservative: as provider tcp with connected endpoints; not
      //   established); tcp_rdm.delivery_complete is true (claimed: libfabric 2.6 prov/tcp: the completion waits for the target's progress)
      answers::write_fault::delivery_confirmed,
      // atomics: target: tcp_rdm.atomics is none (claimed: libfabric 1.18 NEWS: the false claim of FI_ATOMIC by provider net is gone); the target's
      //   progress can execute them on any fabric
      answers::atomics::target,
      // progress: polling: tcp_rdm.data_progress is polling (claimed: libfabric man fi_domain: the provider claims FI_PROGRESS_AUTO, but does not
      //   progress by itself; observed: 2026-11-20 libfabric 2.6.0 loopback, bytes arrived only when the target polled)
      answers::progress::polling,
      // wait: descriptor: tcp_rdm.completion_wait is descriptor (claimed: libfabric 2.6 prov/tcp: FI_WAIT_FD)
      answers::wait::descriptor,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: tcp_rdm.selective_completion is true (claimed: libfabric 2.6 prov/tcp)
      answers::completion::selective,
      // liveness: heartbeat: tcp_rdm.reports_killed_peer is false (copied: conservative; not established); tcp_rdm.same_host is false (claimed: a
      //   network protocol); weft's own messages work on any fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: shared: tcp_rdm.endpoint_type is addressed (claimed: libfabric 1.18 NEWS: the tcp provider has its own FI_EP_RDM; before, a
      //   hint tcp with FI_EP_RDM gave tcp;ofi_rxm)
      answers::receive_pool::shared,
      // flush: message_behind_writes: tcp_rdm.order_send_after_write is true (claimed: libfabric 2.6 prov/tcp, FI_ORDER_SAW);
      //   tcp_rdm.atomics_cost_order is false (claimed: the provider offers no atomics; a request for atomics gives tcp;ofi_rxm instead);
      //   tcp_rdm.virtual_addressing_costs_order is false (claimed: the provider offers no pointers)
      answers::flush::message_behind_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: tcp_rdm.inject_bytes is 128 (claimed: libfabric 2.1 prov/tcp, inject_size 128)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<tcp_rdm>);
}  // namespace rules_353561b9
// clang-format on
}  // namespace weft::fabrics

#include "tcp_rdm.why_not.hpp"
