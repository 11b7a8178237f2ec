// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row tcp, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_408adb14 {
/// Connected endpoints over TCP sockets; runs on every machine. libfabric 1.15 and later.
struct tcp {
  static constexpr std::string_view name = "tcp", library = "libfabric", made_from = "rules 3ae7adf7, row 0c6f1168";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=connected bootstrap=socket_address framing=immediate region_address=offset region_key=application notify=immediate "
      "atomics=target liveness=provider key_bytes=8 write_immediate_bytes=8 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0xe8c683ac6267ba3a;
  // half round trip, measured: 2026-11-26 libfabric 1.17.0: put_notify of 8 bytes, in slices
  static constexpr std::uint32_t half_round_trip_ns = 3300;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "tcp", .fabric_name = "", .since = {1, 15}, .until = any_later_version,
      .endpoint_type = endpoint_type::connected, .address_resolution = address_resolution::socket, .connects_lazily = false,
      .forgets_peers = true, .address_formats = "in in6", .own_node_path = own_node_path::fabric,
      .virtual_addressing = false, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::application, .key_bytes = 8, .local_registration = false, .region_endpoint_binding = false,
      .write_immediate_bytes = 8, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 8, .remote_counter_counts_writes = false,
      .order_send_after_write = true, .order_write_after_write = true, .bytes_visible_in_order = true,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::silent, .selective_completion = true,
      .atomics = atomic_execution::none, .atomic_operations = "none", .atomics_cost_order = false,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::descriptor, .reports_killed_peer = true,
      .same_host = false,
      .context_bytes = 0, .inject_bytes = 128, .gather_limit = 4, .rma_gather_limit = 4, .queue_depth = 256,
      .largest_message = unlimited, .largest_write = unlimited, .fused_bytes = 740,
      .multi_receive = false, .shared_receives = true,
      .extended_posting = false, .split_queues = true, .thread_levels = true, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::keeps,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"tttttt tttt-- tttttt tttt-- tttt-- tttt-- tttttt tttttt tttttt"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: connected: tcp.endpoint_type is connected (claimed: libfabric 1.17 prov/tcp: FI_EP_MSG; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, FI_EP_MSG is the only type of provider tcp)
      answers::endpoint::connected,
      // bootstrap: socket_address: tcp.address_resolution is socket (claimed: libfabric 1.17 prov/tcp, FI_SOCKADDR_IN and FI_SOCKADDR_IN6; observed:
      //   2026-11-20 libfabric 1.17.0, fi_info -v, addr_format FI_SOCKADDR_IN and FI_SOCKADDR_IN6)
      answers::bootstrap::socket_address,
      // framing: immediate: tcp.send_immediate_bytes is 8 (claimed: libfabric 1.17 prov/tcp, cq_data_size 8; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, cq_data_size 8)
      answers::framing::immediate,
      // region_address: offset: tcp.virtual_addressing is false (claimed: libfabric 1.11 to 2.6 prov/tcp: fi_getinfo clears FI_MR_VIRT_ADDR;
      //   observed: 2026-11-20 libfabric 1.17.0 loopback, the target refused a write to a pointer, and a write to an offset arrived)
      answers::region_address::offset,
      // region_key: application: tcp.key_owner is application (claimed: libfabric 1.11 to 2.6 prov/tcp: fi_getinfo clears FI_MR_PROV_KEY; observed:
      //   2026-11-20 libfabric 1.17.0 loopback, the provider used the requested key)
      answers::region_key::application,
      // local_descriptor: not_needed: tcp.local_registration is false (claimed: libfabric 1.17 prov/tcp: fi_getinfo clears FI_MR_LOCAL; observed:
      //   2026-11-20 libfabric 1.17.0, fi_info -v, mr_mode empty)
      answers::local_descriptor::not_needed,
      // region_binding: domain: tcp.region_endpoint_binding is false (claimed: libfabric 1.17 prov/tcp: the provider does not request FI_MR_ENDPOINT;
      //   observed: 2026-11-20 libfabric 1.17.0, fi_info -v, mr_mode empty)
      answers::region_binding::domain,
      // notify: immediate: tcp.write_immediate_bytes is 8 (claimed: libfabric 1.17 prov/tcp, cq_data_size 8; observed: 2026-11-20 libfabric 1.17.0
      //   loopback, 240 writes with an immediate gave 240 target entries with the right value); tcp.write_immediate_consumes_receive is false
      //   (claimed: libfabric 1.17 prov/tcp: mode has no FI_RX_CQ_DATA; observed: 2026-11-20 libfabric 1.17.0 loopback, 240 writes with an immediate
      //   used up no posted receive)
      answers::notify::immediate,
      // write_fault: delivery_confirmed: tcp.refused_write is silent (observed: 2026-11-20 libfabric 1.17.0 loopback, the target refused a wrong key,
      //   and the initiator got success; with FI_DELIVERY_COMPLETE the initiator got ECANCELED; copied: libfabric 2.x: not established, as 1.17);
      //   tcp.delivery_complete is true (claimed: libfabric 1.17 prov/tcp: the completion waits for the target's progress; observed: 2026-11-20
      //   libfabric 1.17.0 loopback, writes with FI_DELIVERY_COMPLETE completed when the target polled)
      answers::write_fault::delivery_confirmed,
      // atomics: target: tcp.atomics is none (claimed: libfabric 1.11 to 2.6 prov/tcp: no FI_ATOMIC; observed: 2026-11-20 libfabric 1.17.0, fi_info
      //   -v, caps have no FI_ATOMIC); the target's progress can execute them on any fabric
      answers::atomics::target,
      // progress: polling: tcp.data_progress is polling (claimed: libfabric man fi_domain: the provider claims FI_PROGRESS_AUTO, but does not
      //   progress by itself; observed: 2026-11-20 libfabric 1.17.0 loopback, bytes arrived only when the target polled (1.11.1 and 2.6.0 too))
      answers::progress::polling,
      // wait: descriptor: tcp.completion_wait is descriptor (claimed: libfabric 1.17 prov/tcp: FI_WAIT_FD; observed: 2026-11-20 libfabric 1.17.0
      //   loopback, a completion queue with FI_WAIT_FD woke the waiting thread)
      answers::wait::descriptor,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: tcp.selective_completion is true (claimed: libfabric 1.17 prov/tcp; observed: 2026-11-20 libfabric 1.17.0 loopback,
      //   unsignalled writes gave no completion)
      answers::completion::selective,
      // liveness: provider: tcp.reports_killed_peer is true (claimed: libfabric 1.17 prov/tcp: FI_SHUTDOWN on the event queue; observed: 2026-11-20
      //   libfabric 1.17.0 loopback, a waiting peer got an event 2.6 ms after a kill -9)
      answers::liveness::provider,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: per_link: tcp.endpoint_type is connected (claimed: libfabric 1.17 prov/tcp: FI_EP_MSG; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, FI_EP_MSG is the only type of provider tcp)
      answers::receive_pool::per_link,
      // flush: message_behind_writes: tcp.order_send_after_write is true (claimed: libfabric 1.17 prov/tcp, FI_ORDER_SAW; observed: 2026-11-20
      //   libfabric 1.17.0, fi_info -v, msg_order lists FI_ORDER_SAW); tcp.atomics_cost_order is false (claimed: the provider offers no atomics);
      //   tcp.virtual_addressing_costs_order is false (claimed: the provider offers no pointers)
      answers::flush::message_behind_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: tcp.inject_bytes is 128 (claimed: libfabric 1.14 to 2.6 prov/tcp, inject_size 128; observed: 2026-11-20 libfabric
      //   1.17.0, fi_info -v, inject_size 128)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<tcp>);
}  // namespace rules_408adb14
// clang-format on
}  // namespace weft::fabrics

#include "tcp.why_not.hpp"
