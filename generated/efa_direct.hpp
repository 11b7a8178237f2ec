// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row efa_direct, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_30ae16b7 {
/// Elastic Fabric Adapter without the reliable layer: the card's own operations. libfabric 2.1 to before 2.6.
struct efa_direct_since_2_1 {
  static constexpr std::string_view name = "efa_direct", library = "libfabric", made_from = "rules 3ae7adf7, row dbaad876";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=exchange framing=immediate region_address=virtual_address region_key=provider notify=immediate "
      "atomics=target liveness=heartbeat key_bytes=4 write_immediate_bytes=4 send_immediate_bytes=4";
  static constexpr std::uint64_t fingerprint = 0xc4906e43e8877f83;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "efa", .fabric_name = "efa-direct", .since = {2, 1}, .until = {2, 6},
      .endpoint_type = endpoint_type::addressed, .address_resolution = address_resolution::opaque, .connects_lazily = false,
      .forgets_peers = true, .address_formats = "efa", .own_node_path = own_node_path::fabric,
      .virtual_addressing = true, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::provider, .key_bytes = 4, .local_registration = true, .region_endpoint_binding = false,
      .write_immediate_bytes = 4, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 4, .remote_counter_counts_writes = false,
      .order_send_after_write = false, .order_write_after_write = false, .bytes_visible_in_order = false,
      .order_send_after_send = false, .delivery_complete = true, .refused_write = refusal::silent, .selective_completion = true,
      .atomics = atomic_execution::none, .atomic_operations = "none", .atomics_cost_order = false,
      .data_progress = data_progress::hardware, .completion_wait = completion_wait::none, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 64, .inject_bytes = 0, .gather_limit = 2, .rma_gather_limit = 1, .queue_depth = 256,
      .largest_message = 8192, .largest_write = 1073741824, .fused_bytes = 0,
      .multi_receive = false, .shared_receives = false,
      .extended_posting = false, .split_queues = true, .thread_levels = true, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::loses,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"tttttt tttt-- tttttt tttt-- tttt-- tttt-- tttttt tttttt tttttt"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: addressed: efa_direct.endpoint_type is addressed (claimed: libfabric 2.6 prov/efa: FI_EP_RDM and FI_EP_DGRAM, never FI_EP_MSG)
      answers::endpoint::addressed,
      // bootstrap: exchange: efa_direct.address_resolution is opaque (claimed: libfabric 2.6 prov/efa, FI_ADDR_EFA of 32 bytes)
      answers::bootstrap::exchange,
      // framing: immediate: efa_direct.send_immediate_bytes is 4 (claimed: libfabric 2.6 prov/efa, fabric efa-direct, cq_data_size 4)
      answers::framing::immediate,
      // region_address: virtual_address: efa_direct.virtual_addressing is true (claimed: libfabric 2.6 prov/efa: the provider requires
      //   FI_MR_VIRT_ADDR)
      answers::region_address::virtual_address,
      // region_key: provider: efa_direct.key_owner is provider (claimed: libfabric 2.6 prov/efa: all releases require FI_MR_PROV_KEY)
      answers::region_key::provider,
      // local_descriptor: required: efa_direct.local_registration is true (claimed: libfabric 2.6 prov/efa, fabric efa-direct: the provider requires
      //   FI_MR_LOCAL)
      answers::local_descriptor::required,
      // region_binding: domain: efa_direct.region_endpoint_binding is false (claimed: libfabric 2.6 prov/efa)
      answers::region_binding::domain,
      // notify: immediate: efa_direct.write_immediate_bytes is 4 (claimed: libfabric 2.6 prov/efa, fabric efa-direct, cq_data_size 4);
      //   efa_direct.write_immediate_consumes_receive is false (claimed: libfabric 2.6 prov/efa, fabric efa-direct: not by default, only if the
      //   application sets FI_RX_CQ_DATA (2.4 and later))
      answers::notify::immediate,
      // write_fault: delivery_confirmed: efa_direct.refused_write is silent (copied: conservative; not established); efa_direct.delivery_complete is
      //   true (claimed: libfabric 2.6 prov/efa, FI_DELIVERY_COMPLETE)
      answers::write_fault::delivery_confirmed,
      // atomics: target: efa_direct.atomics is none (claimed: libfabric 2.6 prov/efa, fabric efa-direct: no FI_ATOMIC); the target's progress can
      //   execute them on any fabric
      answers::atomics::target,
      // progress: hardware: efa_direct.data_progress is hardware (claimed: libfabric 2.6 prov/efa, fabric efa-direct: FI_PROGRESS_AUTO by the card)
      answers::progress::hardware,
      // wait: spin: efa_direct.completion_wait is none (copied: conservative; not established before 2.6)
      answers::wait::spin,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: efa_direct.selective_completion is true (claimed: libfabric 2.6 prov/efa, fabric efa-direct)
      answers::completion::selective,
      // liveness: heartbeat: efa_direct.reports_killed_peer is false (copied: conservative; not established); efa_direct.same_host is false (claimed:
      //   a network protocol); weft's own messages work on any fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: shared: efa_direct.endpoint_type is addressed (claimed: libfabric 2.6 prov/efa: FI_EP_RDM and FI_EP_DGRAM, never FI_EP_MSG)
      answers::receive_pool::shared,
      // flush: tracked_writes: efa_direct.delivery_complete is true (claimed: libfabric 2.6 prov/efa, FI_DELIVERY_COMPLETE); efa_direct.refused_write
      //   is silent (copied: conservative; not established)
      answers::flush::tracked_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: never: efa_direct.inject_bytes is 0 (copied: conservative: the device's inline size; not established); the library can read unchanged
      //   memory later on any fabric
      answers::inject::never,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<efa_direct_since_2_1>);
}  // namespace rules_30ae16b7
inline namespace rules_9e7af165 {
/// libfabric 2.6 and later.
struct efa_direct_since_2_6 : efa_direct_since_2_1 {
  static constexpr std::string_view made_from = "rules 3ae7adf7, row 633c0488";
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=exchange framing=immediate region_address=virtual_address region_key=provider notify=immediate "
      "atomics=target liveness=heartbeat key_bytes=4 write_immediate_bytes=4 send_immediate_bytes=4";
  static constexpr std::uint64_t fingerprint = 0xc4906e43e8877f83;
  static constexpr fabric_facts facts = [] {
    fabric_facts changed = efa_direct_since_2_1::facts;
    changed.since = {2, 6};
    changed.until = any_later_version;
    // efa_direct.completion_wait (claimed: libfabric 2.6 prov/efa: FI_WAIT_FD on fabric efa-direct)
    changed.completion_wait = completion_wait::descriptor;
    return changed;
  }();
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"tttttt tttt-- tttttt tttt-- tttt-- tttt-- tttttt tttttt tttttt"};
  using policies = policy_set<
      answers::endpoint::addressed, answers::bootstrap::exchange, answers::framing::immediate,
      answers::region_address::virtual_address, answers::region_key::provider, answers::local_descriptor::required,
      answers::region_binding::domain, answers::notify::immediate, answers::write_fault::delivery_confirmed,
      answers::atomics::target, answers::progress::hardware,
      // wait: descriptor: efa_direct.completion_wait is descriptor (claimed: libfabric 2.6 prov/efa: FI_WAIT_FD on fabric efa-direct)
      answers::wait::descriptor,
      answers::threading::one_owner, answers::completion::selective, answers::liveness::heartbeat,
      answers::receive_buffers::slots, answers::receive_pool::shared, answers::flush::tracked_writes, answers::coalesce::none,
      answers::queues::one, answers::inject::never, answers::checks::verified, answers::authentication::none,
      answers::tagged::none
  >;
};
static_assert(complete_fabric<efa_direct_since_2_6>);
}  // namespace rules_9e7af165

using efa_direct = by_library<backends::libfabric::built_with, efa_direct_since_2_1, efa_direct_since_2_6>;
// clang-format on
}  // namespace weft::fabrics

#include "efa_direct.why_not.hpp"
