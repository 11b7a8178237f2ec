// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row efa, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_9aa24018 {
/// Elastic Fabric Adapter through libfabric's reliable layer: reliable, unordered between writes and messages. libfabric 1.15 to before 1.18.
struct efa_since_1_15 {
  static constexpr std::string_view name = "efa", library = "libfabric", made_from = "rules 3ae7adf7, row 95e4a2ba";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=exchange framing=immediate region_address=virtual_address region_key=provider notify=immediate "
      "atomics=provider liveness=heartbeat key_bytes=4 write_immediate_bytes=8 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0x65d31a4c253c0a23;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "efa", .fabric_name = "efa", .since = {1, 15}, .until = {1, 18},
      .endpoint_type = endpoint_type::addressed, .address_resolution = address_resolution::opaque, .connects_lazily = true,
      .forgets_peers = true, .address_formats = "efa", .own_node_path = own_node_path::shared_memory,
      .virtual_addressing = true, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::provider, .key_bytes = 4, .local_registration = false, .region_endpoint_binding = false,
      .write_immediate_bytes = 8, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 8, .remote_counter_counts_writes = false,
      .order_send_after_write = false, .order_write_after_write = false, .bytes_visible_in_order = false,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::silent, .selective_completion = true,
      .atomics = atomic_execution::provider,
      .atomic_operations = "add compare_swap swap and or xor min max read: int32 uint32 int64 uint64; add swap min max read: float double",
      .atomics_cost_order = false,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::none, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 0, .inject_bytes = 0, .gather_limit = 2, .rma_gather_limit = 1, .queue_depth = 256,
      .largest_message = unlimited, .largest_write = unlimited, .fused_bytes = 0,
      .multi_receive = true, .shared_receives = false,
      .extended_posting = false, .split_queues = true, .thread_levels = true, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::keeps,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: addressed: efa.endpoint_type is addressed (claimed: libfabric 2.6 prov/efa: FI_EP_RDM and FI_EP_DGRAM, never FI_EP_MSG)
      answers::endpoint::addressed,
      // bootstrap: exchange: efa.address_resolution is opaque (claimed: libfabric 2.6 prov/efa, FI_ADDR_EFA of 32 bytes)
      answers::bootstrap::exchange,
      // framing: immediate: efa.send_immediate_bytes is 8 (claimed: libfabric 1.17 man fi_efa, cq_data_size 8)
      answers::framing::immediate,
      // region_address: virtual_address: efa.virtual_addressing is true (claimed: libfabric 2.6 prov/efa: the provider requires FI_MR_VIRT_ADDR)
      answers::region_address::virtual_address,
      // region_key: provider: efa.key_owner is provider (claimed: libfabric 2.6 prov/efa: all releases require FI_MR_PROV_KEY)
      answers::region_key::provider,
      // local_descriptor: not_needed: efa.local_registration is false (claimed: libfabric 2.6 prov/efa: FI_MR_LOCAL is optional on fabric efa)
      answers::local_descriptor::not_needed,
      // region_binding: domain: efa.region_endpoint_binding is false (claimed: libfabric 2.6 prov/efa)
      answers::region_binding::domain,
      // notify: immediate: efa.write_immediate_bytes is 8 (claimed: libfabric 1.17 man fi_efa, cq_data_size 8); efa.write_immediate_consumes_receive
      //   is false (claimed: libfabric 2.6 prov/efa: the provider uses an internal buffer or an unsolicited receive, never the application's receive)
      answers::notify::immediate,
      // write_fault: delivery_confirmed: efa.refused_write is silent (copied: conservative; not established); efa.delivery_complete is true (claimed:
      //   libfabric 2.6 prov/efa, FI_DELIVERY_COMPLETE)
      answers::write_fault::delivery_confirmed,
      // atomics: provider: efa.atomics is provider (claimed: libfabric 1.10 and later prov/efa: the target's processor executes packets);
      //   efa.atomics_cost_order is false (claimed: libfabric 2.6 prov/efa: the provider has no send-after-write order to lose)
      answers::atomics::provider,
      // progress: polling: efa.data_progress is polling (claimed: libfabric 2.6 prov/efa: FI_PROGRESS_MANUAL; 2.0 and earlier claimed AUTO,
      //   documented as an error)
      answers::progress::polling,
      // wait: spin: efa.completion_wait is none (claimed: libfabric 1.17 prov/efa has none; FI_WAIT_FD on 2.x only with shared memory off)
      answers::wait::spin,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: efa.selective_completion is true (claimed: libfabric 2.6 prov/efa; the man page of 1.17 denies it)
      answers::completion::selective,
      // liveness: heartbeat: efa.reports_killed_peer is false (copied: conservative; not established); efa.same_host is false (claimed: a network
      //   protocol); weft's own messages work on any fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: shared: efa.endpoint_type is addressed (claimed: libfabric 2.6 prov/efa: FI_EP_RDM and FI_EP_DGRAM, never FI_EP_MSG)
      answers::receive_pool::shared,
      // flush: tracked_writes: efa.delivery_complete is true (claimed: libfabric 2.6 prov/efa, FI_DELIVERY_COMPLETE); efa.refused_write is silent
      //   (copied: conservative; not established)
      answers::flush::tracked_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: never: efa.inject_bytes is 0 (claimed: libfabric 1.17 man fi_efa: inject unsupported; about one MTU on 2.6); the library can read
      //   unchanged memory later on any fabric
      answers::inject::never,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<efa_since_1_15>);
}  // namespace rules_9aa24018
inline namespace rules_189bc63d {
/// libfabric 1.18 and later.
struct efa_since_1_18 : efa_since_1_15 {
  static constexpr std::string_view made_from = "rules 3ae7adf7, row af7e26b6";
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=exchange framing=immediate region_address=virtual_address region_key=provider notify=immediate "
      "atomics=provider liveness=heartbeat key_bytes=4 write_immediate_bytes=4 send_immediate_bytes=4";
  static constexpr std::uint64_t fingerprint = 0x161cba3e41a6688c;
  static constexpr fabric_facts facts = [] {
    fabric_facts changed = efa_since_1_15::facts;
    changed.since = {1, 18};
    changed.until = any_later_version;
    // efa.write_immediate_bytes (claimed: libfabric 1.18 prov/efa, cq_data_size 4)
    changed.write_immediate_bytes = 4;
    // efa.send_immediate_bytes (claimed: libfabric 1.18 prov/efa, cq_data_size 4)
    changed.send_immediate_bytes = 4;
    return changed;
  }();
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  using policies = policy_set<
      answers::endpoint::addressed, answers::bootstrap::exchange,
      // framing: immediate: efa.send_immediate_bytes is 4 (claimed: libfabric 1.18 prov/efa, cq_data_size 4)
      answers::framing::immediate,
      answers::region_address::virtual_address, answers::region_key::provider, answers::local_descriptor::not_needed,
      answers::region_binding::domain,
      // notify: immediate: efa.write_immediate_bytes is 4 (claimed: libfabric 1.18 prov/efa, cq_data_size 4); efa.write_immediate_consumes_receive is
      //   false (claimed: libfabric 2.6 prov/efa: the provider uses an internal buffer or an unsolicited receive, never the application's receive)
      answers::notify::immediate,
      answers::write_fault::delivery_confirmed, answers::atomics::provider, answers::progress::polling, answers::wait::spin,
      answers::threading::one_owner, answers::completion::selective, answers::liveness::heartbeat,
      answers::receive_buffers::slots, answers::receive_pool::shared, answers::flush::tracked_writes, answers::coalesce::none,
      answers::queues::one, answers::inject::never, answers::checks::verified, answers::authentication::none,
      answers::tagged::none
  >;
};
static_assert(complete_fabric<efa_since_1_18>);
}  // namespace rules_189bc63d

using efa = by_library<backends::libfabric::built_with, efa_since_1_15, efa_since_1_18>;
// clang-format on
}  // namespace weft::fabrics

#include "efa.why_not.hpp"
