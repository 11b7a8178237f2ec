// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row opx, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_b1f0d462 {
/// Cornelis Omni-Path cards. libfabric 1.15 to before 2.1.
struct opx_since_1_15 {
  static constexpr std::string_view name = "opx", library = "libfabric", made_from = "rules 3ae7adf7, row 2f74017b";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=exchange framing=immediate region_address=offset region_key=application notify=message_after_delivery "
      "atomics=provider liveness=heartbeat key_bytes=2 write_immediate_bytes=0 send_immediate_bytes=4";
  static constexpr std::uint64_t fingerprint = 0xbf9a9103f8be20d3;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "opx", .fabric_name = "", .since = {1, 15}, .until = {2, 1},
      .endpoint_type = endpoint_type::addressed, .address_resolution = address_resolution::opaque, .connects_lazily = false,
      .forgets_peers = true, .address_formats = "opx", .own_node_path = own_node_path::shared_memory,
      .virtual_addressing = false, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::application, .key_bytes = 2, .local_registration = false, .region_endpoint_binding = false,
      .write_immediate_bytes = 0, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 4, .remote_counter_counts_writes = false,
      .order_send_after_write = false, .order_write_after_write = false, .bytes_visible_in_order = false,
      .order_send_after_send = false, .delivery_complete = true, .refused_write = refusal::silent, .selective_completion = true,
      .atomics = atomic_execution::provider,
      .atomic_operations = "add compare_swap swap and or min max read: int32 uint32 int64 uint64; add swap min max read: float double",
      .atomics_cost_order = false,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::none, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 64, .inject_bytes = 16, .gather_limit = 1, .rma_gather_limit = 1, .queue_depth = 256,
      .largest_message = 1048576, .largest_write = 1048576, .fused_bytes = 512,
      .multi_receive = true, .shared_receives = false,
      .extended_posting = false, .split_queues = true, .thread_levels = true, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::keeps,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- llll-- nnnnnn nnnnnn nnnnnn"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: addressed: opx.endpoint_type is addressed (claimed: libfabric 2.6 prov/opx: FI_EP_RDM)
      answers::endpoint::addressed,
      // bootstrap: exchange: opx.address_resolution is opaque (claimed: libfabric 2.6 prov/opx, FI_ADDR_OPX)
      answers::bootstrap::exchange,
      // framing: immediate: opx.send_immediate_bytes is 4 (claimed: libfabric 2.6 prov/opx, cq_data_size 4)
      answers::framing::immediate,
      // region_address: offset: opx.virtual_addressing is false (claimed: libfabric 2.6 prov/opx: scalable regions in the default build)
      answers::region_address::offset,
      // region_key: application: opx.key_owner is application (claimed: libfabric 2.6 prov/opx: scalable regions in the default build)
      answers::region_key::application,
      // local_descriptor: not_needed: opx.local_registration is false (claimed: libfabric 2.6 prov/opx)
      answers::local_descriptor::not_needed,
      // region_binding: domain: opx.region_endpoint_binding is false (claimed: libfabric 2.6 prov/opx)
      answers::region_binding::domain,
      // notify: message_after_delivery: opx.delivery_complete is true (claimed: libfabric 2.6 prov/opx, FI_DELIVERY_COMPLETE)
      answers::notify::message_after_delivery,
      // write_fault: delivery_confirmed: opx.refused_write is silent (copied: conservative; not established); opx.delivery_complete is true (claimed:
      //   libfabric 2.6 prov/opx, FI_DELIVERY_COMPLETE)
      answers::write_fault::delivery_confirmed,
      // atomics: provider: opx.atomics is provider (claimed: libfabric 2.6 prov/opx: the target's processor executes packets); opx.atomics_cost_order
      //   is false (claimed: libfabric 2.6 prov/opx: the provider has no send-after-write order to lose)
      answers::atomics::provider,
      // progress: polling: opx.data_progress is polling (claimed: libfabric 2.6 prov/opx: FI_PROGRESS_MANUAL in the first answer)
      answers::progress::polling,
      // wait: spin: opx.completion_wait is none (copied: conservative; not established)
      answers::wait::spin,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: opx.selective_completion is true (claimed: libfabric 2.6 prov/opx)
      answers::completion::selective,
      // liveness: heartbeat: opx.reports_killed_peer is false (copied: conservative; not established); opx.same_host is false (claimed: a network
      //   protocol); weft's own messages work on any fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: shared: opx.endpoint_type is addressed (claimed: libfabric 2.6 prov/opx: FI_EP_RDM)
      answers::receive_pool::shared,
      // flush: tracked_writes: opx.delivery_complete is true (claimed: libfabric 2.6 prov/opx, FI_DELIVERY_COMPLETE); opx.refused_write is silent
      //   (copied: conservative; not established)
      answers::flush::tracked_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: opx.inject_bytes is 16 (claimed: libfabric 2.6 prov/opx, inject_size 16)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<opx_since_1_15>);
}  // namespace rules_b1f0d462
inline namespace rules_f090c54e {
/// libfabric 2.1 and later.
struct opx_since_2_1 : opx_since_1_15 {
  static constexpr std::string_view made_from = "rules 3ae7adf7, row 0818325a";
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=exchange framing=immediate region_address=offset region_key=application notify=immediate "
      "atomics=provider liveness=heartbeat key_bytes=2 write_immediate_bytes=4 send_immediate_bytes=4";
  static constexpr std::uint64_t fingerprint = 0xaf8420e4a02fe8ac;
  static constexpr fabric_facts facts = [] {
    fabric_facts changed = opx_since_1_15::facts;
    changed.since = {2, 1};
    changed.until = any_later_version;
    // opx.write_immediate_bytes (claimed: libfabric 2.1 prov/opx/src/fi_opx_rma.c: fi_writedata goes by a request to send)
    changed.write_immediate_bytes = 4;
    return changed;
  }();
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- llll-- nnnnnn nnnnnn nnnnnn"};
  using policies = policy_set<
      answers::endpoint::addressed, answers::bootstrap::exchange, answers::framing::immediate, answers::region_address::offset,
      answers::region_key::application, answers::local_descriptor::not_needed, answers::region_binding::domain,
      // notify: immediate: opx.write_immediate_bytes is 4 (claimed: libfabric 2.1 prov/opx/src/fi_opx_rma.c: fi_writedata goes by a request to send);
      //   opx.write_immediate_consumes_receive is false (claimed: libfabric 2.6 prov/opx: no FI_RX_CQ_DATA)
      answers::notify::immediate,
      answers::write_fault::delivery_confirmed, answers::atomics::provider, answers::progress::polling, answers::wait::spin,
      answers::threading::one_owner, answers::completion::selective, answers::liveness::heartbeat,
      answers::receive_buffers::slots, answers::receive_pool::shared, answers::flush::tracked_writes, answers::coalesce::none,
      answers::queues::one, answers::inject::as_the_row_permits, answers::checks::verified, answers::authentication::none,
      answers::tagged::none
  >;
};
static_assert(complete_fabric<opx_since_2_1>);
}  // namespace rules_f090c54e

using opx = by_library<backends::libfabric::built_with, opx_since_1_15, opx_since_2_1>;
// clang-format on
}  // namespace weft::fabrics

#include "opx.why_not.hpp"
