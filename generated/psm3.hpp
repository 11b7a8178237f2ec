// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row psm3, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_0665737b {
/// Intel Ethernet cards and others through PSM3. libfabric 1.15 and later.
struct psm3 {
  static constexpr std::string_view name = "psm3", library = "libfabric", made_from = "rules 3ae7adf7, row 843b3c10";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=exchange framing=immediate region_address=offset region_key=application notify=immediate "
      "atomics=provider liveness=heartbeat key_bytes=8 write_immediate_bytes=4 send_immediate_bytes=4";
  static constexpr std::uint64_t fingerprint = 0x2d82ea69746b26a8;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "psm3", .fabric_name = "", .since = {1, 15}, .until = any_later_version,
      .endpoint_type = endpoint_type::addressed, .address_resolution = address_resolution::opaque, .connects_lazily = true,
      .forgets_peers = true, .address_formats = "psmx3 str", .own_node_path = own_node_path::shared_memory,
      .virtual_addressing = false, .virtual_addressing_optional = true, .virtual_addressing_costs_order = true,
      .key_owner = key_owner::application, .key_bytes = 8, .local_registration = false, .region_endpoint_binding = false,
      .write_immediate_bytes = 4, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 4, .remote_counter_counts_writes = true,
      .order_send_after_write = false, .order_write_after_write = false, .bytes_visible_in_order = false,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::silent, .selective_completion = true,
      .atomics = atomic_execution::provider,
      .atomic_operations = "add compare_swap swap and or xor min max read: int32 uint32 int64 uint64; add swap min max read: float double",
      .atomics_cost_order = false,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::none, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 32, .inject_bytes = 64, .gather_limit = 1, .rma_gather_limit = 1, .queue_depth = 256,
      .largest_message = 4294963200u, .largest_write = 4294963200u, .fused_bytes = 0,
      .multi_receive = true, .shared_receives = false,
      .extended_posting = false, .split_queues = true, .thread_levels = true, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::keeps,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: addressed: psm3.endpoint_type is addressed (claimed: libfabric 2.6 prov/psm3: FI_EP_RDM and FI_EP_DGRAM)
      answers::endpoint::addressed,
      // bootstrap: exchange: psm3.address_resolution is opaque (claimed: libfabric 2.6 prov/psm3, FI_ADDR_PSMX3)
      answers::bootstrap::exchange,
      // framing: immediate: psm3.send_immediate_bytes is 4 (claimed: libfabric 2.6 prov/psm3: cq_data_size 4 if the hints request an immediate)
      answers::framing::immediate,
      // region_address: offset: psm3.virtual_addressing is false (claimed: libfabric 2.6 prov/psm3: regions have either style; without
      //   FI_MR_VIRT_ADDR in the hints they have offsets)
      answers::region_address::offset,
      // region_key: application: psm3.key_owner is application (claimed: libfabric 2.6 prov/psm3: without FI_MR_PROV_KEY in the hints the application
      //   owns keys)
      answers::region_key::application,
      // local_descriptor: not_needed: psm3.local_registration is false (claimed: libfabric 2.6 prov/psm3)
      answers::local_descriptor::not_needed,
      // region_binding: domain: psm3.region_endpoint_binding is false (claimed: libfabric 2.6 prov/psm3)
      answers::region_binding::domain,
      // notify: immediate: psm3.write_immediate_bytes is 4 (claimed: libfabric 2.6 prov/psm3: cq_data_size 4 if the hints request an immediate; the
      //   first answer may have 0); psm3.write_immediate_consumes_receive is false (claimed: libfabric 2.6 prov/psm3: no FI_RX_CQ_DATA)
      answers::notify::immediate,
      // write_fault: delivery_confirmed: psm3.refused_write is silent (copied: conservative; not established); psm3.delivery_complete is true
      //   (claimed: libfabric 2.6 prov/psm3, FI_DELIVERY_COMPLETE)
      answers::write_fault::delivery_confirmed,
      // atomics: provider: psm3.atomics is provider (claimed: libfabric 2.6 prov/psm3: the target's processor executes active messages);
      //   psm3.atomics_cost_order is false (claimed: libfabric 2.6 prov/psm3: the provider has no send-after-write order to lose)
      answers::atomics::provider,
      // progress: polling: psm3.data_progress is polling (claimed: libfabric 2.6 prov/psm3: FI_PROGRESS_MANUAL unless the hints request another)
      answers::progress::polling,
      // wait: spin: psm3.completion_wait is none (copied: conservative; not established)
      answers::wait::spin,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: psm3.selective_completion is true (claimed: libfabric 2.6 prov/psm3)
      answers::completion::selective,
      // liveness: heartbeat: psm3.reports_killed_peer is false (copied: conservative; not established); psm3.same_host is false (claimed: a network
      //   protocol); weft's own messages work on any fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: shared: psm3.endpoint_type is addressed (claimed: libfabric 2.6 prov/psm3: FI_EP_RDM and FI_EP_DGRAM)
      answers::receive_pool::shared,
      // flush: tracked_writes: psm3.delivery_complete is true (claimed: libfabric 2.6 prov/psm3, FI_DELIVERY_COMPLETE); psm3.refused_write is silent
      //   (copied: conservative; not established)
      answers::flush::tracked_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: psm3.inject_bytes is 64 (claimed: libfabric 2.6 prov/psm3, inject_size 64)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<psm3>);
}  // namespace rules_0665737b
// clang-format on
}  // namespace weft::fabrics

#include "psm3.why_not.hpp"
