// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row udp_rxd, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_354c08f6 {
/// Addressed endpoints over UDP, made reliable by the rxd layer; experimental. libfabric 1.15 to before 2.5.
struct udp_rxd_since_1_15 {
  static constexpr std::string_view name = "udp_rxd", library = "libfabric", made_from = "rules 3ae7adf7, row 3d6ff512";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=socket_address framing=immediate region_address=offset region_key=application notify=immediate "
      "atomics=target liveness=heartbeat key_bytes=8 write_immediate_bytes=8 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0xfd8fa3518f659254;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "udp;ofi_rxd", .fabric_name = "", .since = {1, 15}, .until = {2, 5},
      .endpoint_type = endpoint_type::addressed, .address_resolution = address_resolution::socket, .connects_lazily = false,
      .forgets_peers = true, .address_formats = "in in6", .own_node_path = own_node_path::fabric,
      .virtual_addressing = false, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::application, .key_bytes = 8, .local_registration = false, .region_endpoint_binding = false,
      .write_immediate_bytes = 8, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 8, .remote_counter_counts_writes = true,
      .order_send_after_write = true, .order_write_after_write = true, .bytes_visible_in_order = false,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::silent, .selective_completion = true,
      .atomics = atomic_execution::none, .atomic_operations = "none", .atomics_cost_order = false,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::yield, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 0, .inject_bytes = 1256, .gather_limit = 4, .rma_gather_limit = 4, .queue_depth = 1024,
      .largest_message = unlimited, .largest_write = unlimited, .fused_bytes = 740,
      .multi_receive = true, .shared_receives = false,
      .extended_posting = false, .split_queues = true, .thread_levels = true, .full_queue = full_queue::loses,
      .full_completion_queue = full_completion_queue::keeps,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"tttttt tttt-- tttttt tttt-- tttt-- tttt-- tttttt tttttt tttttt"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: addressed: udp_rxd.endpoint_type is addressed (claimed: libfabric 1.17 prov/rxd: FI_EP_RDM; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, FI_EP_RDM)
      answers::endpoint::addressed,
      // bootstrap: socket_address: udp_rxd.address_resolution is socket (claimed: libfabric 1.17 prov/rxd over prov/udp, FI_SOCKADDR_IN and
      //   FI_SOCKADDR_IN6; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, addr_format FI_SOCKADDR_IN and FI_SOCKADDR_IN6)
      answers::bootstrap::socket_address,
      // framing: immediate: udp_rxd.send_immediate_bytes is 8 (claimed: libfabric 1.17 prov/rxd, cq_data_size 8; observed: 2026-11-20 libfabric
      //   1.17.0, fi_info -v, cq_data_size 8)
      answers::framing::immediate,
      // region_address: offset: udp_rxd.virtual_addressing is false (claimed: libfabric 1.17 prov/rxd; observed: 2026-11-20 libfabric 1.17.0, fi_info
      //   -v, mr_mode empty)
      answers::region_address::offset,
      // region_key: application: udp_rxd.key_owner is application (claimed: libfabric 1.17 prov/rxd; observed: 2026-11-20 libfabric 1.17.0 loopback,
      //   the provider used the requested key)
      answers::region_key::application,
      // local_descriptor: not_needed: udp_rxd.local_registration is false (claimed: libfabric 1.17 prov/rxd; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, mr_mode empty)
      answers::local_descriptor::not_needed,
      // region_binding: domain: udp_rxd.region_endpoint_binding is false (claimed: libfabric 1.17 prov/rxd; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, mr_mode empty)
      answers::region_binding::domain,
      // notify: immediate: udp_rxd.write_immediate_bytes is 8 (claimed: libfabric 1.17 prov/rxd, cq_data_size 8; observed: 2026-11-20 libfabric
      //   1.17.0 loopback, 240 writes with an immediate gave 240 target entries with the right value); udp_rxd.write_immediate_consumes_receive is
      //   false (claimed: libfabric 1.17 prov/rxd: mode has no FI_RX_CQ_DATA; observed: 2026-11-20 libfabric 1.17.0 loopback, 240 writes with an
      //   immediate used up no posted receive)
      answers::notify::immediate,
      // write_fault: delivery_confirmed: udp_rxd.refused_write is silent (claimed: libfabric 1.17 prov/rxd: the target drops the packet and the
      //   initiator resends it; observed: 2026-11-20 libfabric 1.17.0 loopback, the target refused a wrong key, and the write never ended, with or
      //   without FI_DELIVERY_COMPLETE, nor did later writes to that peer); udp_rxd.delivery_complete is true (claimed: libfabric 1.17 prov/rxd,
      //   FI_DELIVERY_COMPLETE in the transmit flags; observed: 2026-11-20 libfabric 1.17.0 loopback, writes with FI_DELIVERY_COMPLETE completed when
      //   the target polled)
      answers::write_fault::delivery_confirmed,
      // atomics: target: udp_rxd.atomics is none (claimed: libfabric 1.17 prov/rxd offers FI_ATOMIC; not established as usable in any release;
      //   observed: 2026-11-20 libfabric 1.17.0 loopback, the first fetch-add ended in SIGSEGV in the library's progress); the target's progress can
      //   execute them on any fabric
      answers::atomics::target,
      // progress: polling: udp_rxd.data_progress is polling (claimed: libfabric 1.17 prov/rxd: FI_PROGRESS_MANUAL, AUTO refused; observed: 2026-11-20
      //   libfabric 1.17.0 loopback, bytes arrived only when the target polled)
      answers::progress::polling,
      // wait: yield: udp_rxd.completion_wait is yield (claimed: libfabric 1.17 prov/rxd offers FI_WAIT_FD, but resends only in its progress calls,
      //   and a sleeping thread makes none; observed: 2026-11-20 libfabric 1.17.0 (API 1.17) Linux 6.18.44-fc-v657 device lo, weft probe: descriptor
      //   no, said FI_ENOSYS)
      answers::wait::yield,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: udp_rxd.selective_completion is true (claimed: libfabric 1.17 prov/rxd; observed: 2026-11-20 libfabric 1.17.0
      //   loopback, unsignalled writes gave no completion)
      answers::completion::selective,
      // liveness: heartbeat: udp_rxd.reports_killed_peer is false (claimed: libfabric 1.17 prov/rxd; observed: 2026-11-20 libfabric 1.17.0 loopback,
      //   15 s after a kill -9 no operation had failed); udp_rxd.same_host is false (claimed: a network protocol); weft's own messages work on any
      //   fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: shared: udp_rxd.endpoint_type is addressed (claimed: libfabric 1.17 prov/rxd: FI_EP_RDM; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, FI_EP_RDM)
      answers::receive_pool::shared,
      // flush: message_behind_writes: udp_rxd.order_send_after_write is true (claimed: libfabric 1.17 prov/rxd, FI_ORDER_SAW; observed: 2026-11-20
      //   libfabric 1.17.0, fi_info -v, msg_order lists FI_ORDER_SAW); udp_rxd.atomics_cost_order is false (claimed: the provider offers no atomics);
      //   udp_rxd.virtual_addressing_costs_order is false (claimed: the provider offers no pointers)
      answers::flush::message_behind_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: udp_rxd.inject_bytes is 1256 (claimed: libfabric 1.17 prov/rxd, inject_size 1256; observed: 2026-11-20 libfabric
      //   1.17.0, fi_info -v, inject_size 1256)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<udp_rxd_since_1_15>);
}  // namespace rules_354c08f6
inline namespace rules_50971bdc {
/// libfabric 2.5 and later.
struct udp_rxd_since_2_5 : udp_rxd_since_1_15 {
  static constexpr std::string_view made_from = "rules 3ae7adf7, row 68d802c6";
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=socket_address framing=immediate region_address=offset region_key=application notify=immediate "
      "atomics=provider liveness=heartbeat key_bytes=8 write_immediate_bytes=8 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0x01fa9b453ba6bccd;
  static constexpr fabric_facts facts = [] {
    fabric_facts changed = udp_rxd_since_1_15::facts;
    changed.since = {2, 5};
    changed.until = any_later_version;
    // udp_rxd.atomics (claimed: libfabric 2.5 prov/rxd: its commit 1ab44bfad mends the fetch and compare path; observed: 2026-11-26 libfabric 2.6.0
    //   loopback, scripts/releases: each fetch-add and compare-swap was right by value)
    changed.atomics = atomic_execution::provider;
    // udp_rxd.atomic_operations (claimed: libfabric 2.5 prov/rxd: fi_query_atomic grants the kinds of prov/util; observed: 2026-11-26 libfabric 2.6.0
    //   loopback, scripts/releases: each result was right)
    changed.atomic_operations = "add compare_swap swap and or xor min max read: int32 uint32 int64 uint64; add swap min max read: float double";
    return changed;
  }();
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  using policies = policy_set<
      answers::endpoint::addressed, answers::bootstrap::socket_address, answers::framing::immediate,
      answers::region_address::offset, answers::region_key::application, answers::local_descriptor::not_needed,
      answers::region_binding::domain, answers::notify::immediate, answers::write_fault::delivery_confirmed,
      // atomics: provider: udp_rxd.atomics is provider (claimed: libfabric 2.5 prov/rxd: its commit 1ab44bfad mends the fetch and compare path;
      //   observed: 2026-11-26 libfabric 2.6.0 loopback, scripts/releases: each fetch-add and compare-swap was right by value);
      //   udp_rxd.atomics_cost_order is false (claimed: the provider offers no atomics)
      answers::atomics::provider,
      answers::progress::polling, answers::wait::yield, answers::threading::one_owner, answers::completion::selective,
      answers::liveness::heartbeat, answers::receive_buffers::slots, answers::receive_pool::shared,
      answers::flush::message_behind_writes, answers::coalesce::none, answers::queues::one, answers::inject::as_the_row_permits,
      answers::checks::verified, answers::authentication::none, answers::tagged::none
  >;
};
static_assert(complete_fabric<udp_rxd_since_2_5>);
}  // namespace rules_50971bdc

using udp_rxd = by_library<backends::libfabric::built_with, udp_rxd_since_1_15, udp_rxd_since_2_5>;
// clang-format on
}  // namespace weft::fabrics

#include "udp_rxd.why_not.hpp"
