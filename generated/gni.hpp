// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row gni, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_4a6a754f {
/// Cray Aries cards; the provider left libfabric with 1.21. libfabric 1.15 to before 1.21.
struct gni {
  static constexpr std::string_view name = "gni", library = "libfabric", made_from = "rules 3ae7adf7, row b9f38680";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=exchange framing=immediate region_address=virtual_address region_key=provider notify=immediate "
      "atomics=provider liveness=heartbeat key_bytes=8 write_immediate_bytes=8 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0x23447f1106d071f0;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "gni", .fabric_name = "", .since = {1, 15}, .until = {1, 21},
      .endpoint_type = endpoint_type::addressed, .address_resolution = address_resolution::opaque, .connects_lazily = true,
      .forgets_peers = true, .address_formats = "gni str", .own_node_path = own_node_path::fabric,
      .virtual_addressing = true, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::provider, .key_bytes = 8, .local_registration = false, .region_endpoint_binding = false,
      .write_immediate_bytes = 8, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 8, .remote_counter_counts_writes = true,
      .order_send_after_write = false, .order_write_after_write = false, .bytes_visible_in_order = false,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::silent, .selective_completion = true,
      .atomics = atomic_execution::provider,
      .atomic_operations = "add compare_swap swap and or xor min max read: int32 int64; add compare_swap swap and or xor read: uint32 uint64; add swap min max read: float; swap min max read: double",
      .atomics_cost_order = false,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::none, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 0, .inject_bytes = 64, .gather_limit = 8, .rma_gather_limit = 1, .queue_depth = 256,
      .largest_message = 4294967295u, .largest_write = 4294967295u, .fused_bytes = 0,
      .multi_receive = true, .shared_receives = false,
      .extended_posting = false, .split_queues = true, .thread_levels = true, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::keeps,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnl nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nlnlnn nlnlnn nnnnnn"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: addressed: gni.endpoint_type is addressed (claimed: libfabric 1.17 prov/gni: FI_EP_RDM, of three types)
      answers::endpoint::addressed,
      // bootstrap: exchange: gni.address_resolution is opaque (claimed: libfabric 1.17 prov/gni, FI_ADDR_GNI)
      answers::bootstrap::exchange,
      // framing: immediate: gni.send_immediate_bytes is 8 (claimed: libfabric 1.17 prov/gni, cq_data_size 8)
      answers::framing::immediate,
      // region_address: virtual_address: gni.virtual_addressing is true (claimed: libfabric 1.17 man fi_gni: basic registration; scalable needs
      //   FI_MR_MMU_NOTIFY)
      answers::region_address::virtual_address,
      // region_key: provider: gni.key_owner is provider (claimed: libfabric 1.17 man fi_gni: basic registration)
      answers::region_key::provider,
      // local_descriptor: not_needed: gni.local_registration is false (claimed: libfabric 1.17 prov/gni: FI_MR_LOCAL is not required)
      answers::local_descriptor::not_needed,
      // region_binding: domain: gni.region_endpoint_binding is false (claimed: libfabric 1.17 prov/gni)
      answers::region_binding::domain,
      // notify: immediate: gni.write_immediate_bytes is 8 (claimed: libfabric 1.17 man fi_gni, cq_data_size 8); gni.write_immediate_consumes_receive
      //   is false (claimed: libfabric 1.17 man fi_gni: no FI_RX_CQ_DATA)
      answers::notify::immediate,
      // write_fault: delivery_confirmed: gni.refused_write is silent (copied: conservative; not established); gni.delivery_complete is true (claimed:
      //   libfabric 1.17 prov/gni/include/gnix.h: the endpoint's flags include it)
      answers::write_fault::delivery_confirmed,
      // atomics: provider: gni.atomics is provider (claimed: libfabric 1.17 man fi_gni: the card executes a 64-bit fetched sum and compare-swap);
      //   gni.atomics_cost_order is false (claimed: libfabric 1.17 prov/gni: the provider has no send-after-write order to lose)
      answers::atomics::provider,
      // progress: polling: gni.data_progress is polling (claimed: libfabric 1.17 man fi_gni: FI_PROGRESS_AUTO helps large transfers only)
      answers::progress::polling,
      // wait: spin: gni.completion_wait is none (claimed: libfabric 1.17 man fi_gni: no FI_WAIT_FD and no FI_WAIT_YIELD)
      answers::wait::spin,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: gni.selective_completion is true (claimed: libfabric 1.17 prov/gni)
      answers::completion::selective,
      // liveness: heartbeat: gni.reports_killed_peer is false (copied: conservative; not established); gni.same_host is false (claimed: a network
      //   protocol); weft's own messages work on any fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: shared: gni.endpoint_type is addressed (claimed: libfabric 1.17 prov/gni: FI_EP_RDM, of three types)
      answers::receive_pool::shared,
      // flush: tracked_writes: gni.delivery_complete is true (claimed: libfabric 1.17 prov/gni/include/gnix.h: the endpoint's flags include it);
      //   gni.refused_write is silent (copied: conservative; not established)
      answers::flush::tracked_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: gni.inject_bytes is 64 (claimed: libfabric 1.17 prov/gni, inject_size 64)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<gni>);
}  // namespace rules_4a6a754f
// clang-format on
}  // namespace weft::fabrics

#include "gni.why_not.hpp"
