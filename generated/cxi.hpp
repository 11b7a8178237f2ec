// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row cxi, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_46b8b401 {
/// Slingshot cards: counters in hardware, writes in order, no immediate on a write by default. libfabric 1.21 to before 2.5.
struct cxi_since_1_21 {
  static constexpr std::string_view name = "cxi", library = "libfabric", made_from = "rules 3ae7adf7, row e759d154";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=exchange framing=immediate region_address=offset region_key=application notify=remote_counter "
      "atomics=provider liveness=heartbeat key_bytes=4 write_immediate_bytes=0 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0xdf74edb5c06c582b;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "cxi", .fabric_name = "", .since = {1, 21}, .until = {2, 5},
      .endpoint_type = endpoint_type::addressed, .address_resolution = address_resolution::opaque, .connects_lazily = false,
      .forgets_peers = true, .address_formats = "cxi", .own_node_path = own_node_path::fabric,
      .virtual_addressing = false, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::application, .key_bytes = 4, .local_registration = false, .region_endpoint_binding = true,
      .write_immediate_bytes = 0, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 8, .remote_counter_counts_writes = true,
      .order_send_after_write = false, .order_write_after_write = true, .bytes_visible_in_order = false,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::silent, .selective_completion = true,
      .atomics = atomic_execution::provider,
      .atomic_operations = "add compare_swap swap and or xor min max read: int32 uint32 int64 uint64; add swap min max read: float double",
      .atomics_cost_order = false,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::descriptor, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 0, .inject_bytes = 64, .gather_limit = 1, .rma_gather_limit = 1, .queue_depth = 256,
      .largest_message = 4294967295u, .largest_write = 4294967295u, .fused_bytes = 0,
      .multi_receive = true, .shared_receives = false,
      .extended_posting = false, .split_queues = true, .thread_levels = true, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::refuses,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: addressed: cxi.endpoint_type is addressed (claimed: libfabric 2.6 prov/cxi: FI_EP_RDM)
      answers::endpoint::addressed,
      // bootstrap: exchange: cxi.address_resolution is opaque (claimed: libfabric 2.6 prov/cxi, FI_ADDR_CXI)
      answers::bootstrap::exchange,
      // framing: immediate: cxi.send_immediate_bytes is 8 (claimed: libfabric 2.6 prov/cxi, cq_data_size 8)
      answers::framing::immediate,
      // region_address: offset: cxi.virtual_addressing is false (claimed: libfabric 2.6 prov/cxi: no FI_MR_VIRT_ADDR)
      answers::region_address::offset,
      // region_key: application: cxi.key_owner is application (claimed: libfabric 2.6 prov/cxi: either side may own keys; without FI_MR_PROV_KEY in
      //   the hints the application owns them)
      answers::region_key::application,
      // local_descriptor: not_needed: cxi.local_registration is false (claimed: libfabric 2.6 prov/cxi)
      answers::local_descriptor::not_needed,
      // region_binding: endpoint: cxi.region_endpoint_binding is true (claimed: libfabric 2.6 prov/cxi: FI_MR_ENDPOINT: the application binds and
      //   enables each region)
      answers::region_binding::endpoint,
      // notify: remote_counter: cxi.remote_counter_counts_writes is true (claimed: libfabric 2.6 prov/cxi: FI_RMA_EVENT, and the card counts);
      //   cxi.order_write_after_write is true (claimed: libfabric 2.6 prov/cxi: FI_ORDER_WAW, of any size); cxi.virtual_addressing_costs_order is
      //   false (claimed: the provider offers no pointers)
      answers::notify::remote_counter,
      // write_fault: delivery_confirmed: cxi.refused_write is silent (copied: conservative; not established); cxi.delivery_complete is true (claimed:
      //   libfabric 2.6 prov/cxi, FI_DELIVERY_COMPLETE by a flushing read)
      answers::write_fault::delivery_confirmed,
      // atomics: provider: cxi.atomics is provider (claimed: libfabric 2.6 prov/cxi: the card executes atomics, with 64-bit sum and compare-swap
      //   among them); cxi.atomics_cost_order is false (claimed: libfabric 2.6 prov/cxi: msg_order is the same with FI_ATOMIC)
      answers::atomics::provider,
      // progress: polling: cxi.data_progress is polling (claimed: libfabric 2.6 prov/cxi: FI_PROGRESS_MANUAL; the card executes writes, and the
      //   library executes part of messages and counters)
      answers::progress::polling,
      // wait: descriptor: cxi.completion_wait is descriptor (claimed: libfabric 2.6 prov/cxi: FI_WAIT_FD)
      answers::wait::descriptor,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: cxi.selective_completion is true (claimed: libfabric 2.6 prov/cxi)
      answers::completion::selective,
      // liveness: heartbeat: cxi.reports_killed_peer is false (copied: conservative; not established); cxi.same_host is false (claimed: a network
      //   protocol); weft's own messages work on any fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: shared: cxi.endpoint_type is addressed (claimed: libfabric 2.6 prov/cxi: FI_EP_RDM)
      answers::receive_pool::shared,
      // flush: tracked_writes: cxi.delivery_complete is true (claimed: libfabric 2.6 prov/cxi, FI_DELIVERY_COMPLETE by a flushing read);
      //   cxi.refused_write is silent (copied: conservative; not established)
      answers::flush::tracked_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: cxi.inject_bytes is 64 (copied: conservative lower bound; not established)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<cxi_since_1_21>);
}  // namespace rules_46b8b401
inline namespace rules_8880f661 {
/// libfabric 2.5 and later.
struct cxi_since_2_5 : cxi_since_1_21 {
  static constexpr std::string_view made_from = "rules 3ae7adf7, row 1f2f9733";
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=exchange framing=immediate region_address=offset region_key=application notify=remote_counter "
      "atomics=provider liveness=heartbeat key_bytes=4 write_immediate_bytes=0 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0xdf74edb5c06c582b;
  static constexpr fabric_facts facts = [] {
    fabric_facts changed = cxi_since_1_21::facts;
    changed.since = {2, 5};
    changed.until = any_later_version;
    // cxi.write_immediate_setting (claimed: libfabric 2.6 man fi_cxi: off by default; only keys of the provider, and cq_data_size as the hints ask
    //   for it)
    changed.write_immediate_setting = "FI_CXI_ENABLE_WRITEDATA=1";
    return changed;
  }();
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  using policies = policy_set<
      answers::endpoint::addressed, answers::bootstrap::exchange, answers::framing::immediate, answers::region_address::offset,
      answers::region_key::application, answers::local_descriptor::not_needed, answers::region_binding::endpoint,
      answers::notify::remote_counter, answers::write_fault::delivery_confirmed, answers::atomics::provider,
      answers::progress::polling, answers::wait::descriptor, answers::threading::one_owner, answers::completion::selective,
      answers::liveness::heartbeat, answers::receive_buffers::slots, answers::receive_pool::shared,
      answers::flush::tracked_writes, answers::coalesce::none, answers::queues::one, answers::inject::as_the_row_permits,
      answers::checks::verified, answers::authentication::none, answers::tagged::none
  >;
};
static_assert(complete_fabric<cxi_since_2_5>);
}  // namespace rules_8880f661

using cxi = by_library<backends::libfabric::built_with, cxi_since_1_21, cxi_since_2_5>;
// clang-format on
}  // namespace weft::fabrics

#include "cxi.why_not.hpp"
