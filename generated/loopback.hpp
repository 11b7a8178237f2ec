// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row loopback, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/loopback/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_5db00f8d {
/// One process in virtual time, from one seed; for simulation and tests. weft 1.0 and later.
struct loopback {
  static constexpr std::string_view name = "loopback", library = "weft", made_from = "rules 3ae7adf7, row dbd1f0c3";
  static constexpr library_version built_with = backends::loopback::built_with;
  static constexpr std::string_view shared =
      "endpoint=connected bootstrap=socket_address framing=immediate region_address=offset region_key=application notify=immediate "
      "atomics=provider liveness=provider key_bytes=8 write_immediate_bytes=4 send_immediate_bytes=4";
  static constexpr std::uint64_t fingerprint = 0xcc88c1fb47a7b77b;
  template <class Shape>
  using port = backends::loopback::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "", .fabric_name = "", .since = {1, 0}, .until = any_later_version,
      .endpoint_type = endpoint_type::connected, .address_resolution = address_resolution::socket, .connects_lazily = false,
      .forgets_peers = true, .address_formats = "str", .own_node_path = own_node_path::fabric,
      .virtual_addressing = false, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::application, .key_bytes = 8, .local_registration = false, .region_endpoint_binding = false,
      .write_immediate_bytes = 4, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 4, .remote_counter_counts_writes = false,
      .order_send_after_write = true, .order_write_after_write = true, .bytes_visible_in_order = true,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::reported, .selective_completion = true,
      .atomics = atomic_execution::provider,
      .atomic_operations = "add compare_swap swap and or xor min max read: int32 uint32 int64 uint64; add swap min max read: float double",
      .atomics_cost_order = false,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::yield, .reports_killed_peer = true,
      .same_host = true,
      .context_bytes = 0, .inject_bytes = 64, .gather_limit = 4, .rma_gather_limit = 4, .queue_depth = 256,
      .largest_message = unlimited, .largest_write = unlimited, .fused_bytes = 0,
      .multi_receive = true, .shared_receives = true,
      .extended_posting = false, .split_queues = true, .thread_levels = false, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::keeps,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: connected: loopback.endpoint_type is connected (claimed: weft's loopback, by design)
      answers::endpoint::connected,
      // bootstrap: socket_address: loopback.address_resolution is socket (claimed: weft's loopback: names of services in one process)
      answers::bootstrap::socket_address,
      // framing: immediate: loopback.send_immediate_bytes is 4 (claimed: weft's loopback: the portable width)
      answers::framing::immediate,
      // region_address: offset: loopback.virtual_addressing is false (claimed: weft's loopback)
      answers::region_address::offset,
      // region_key: application: loopback.key_owner is application (claimed: weft's loopback)
      answers::region_key::application,
      // local_descriptor: not_needed: loopback.local_registration is false (claimed: weft's loopback)
      answers::local_descriptor::not_needed,
      // region_binding: domain: loopback.region_endpoint_binding is false (claimed: weft's loopback)
      answers::region_binding::domain,
      // notify: immediate: loopback.write_immediate_bytes is 4 (claimed: weft's loopback: the portable width);
      //   loopback.write_immediate_consumes_receive is false (claimed: weft's loopback)
      answers::notify::immediate,
      // write_fault: reported: loopback.refused_write is reported (claimed: weft's loopback)
      answers::write_fault::reported,
      // atomics: provider: loopback.atomics is provider (claimed: weft's loopback); loopback.atomics_cost_order is false (claimed: weft's loopback)
      answers::atomics::provider,
      // progress: polling: loopback.data_progress is polling (claimed: weft's loopback: one thread runs the whole system)
      answers::progress::polling,
      // wait: yield: loopback.completion_wait is yield (claimed: weft's loopback: virtual time has no descriptor)
      answers::wait::yield,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: loopback.selective_completion is true (claimed: weft's loopback)
      answers::completion::selective,
      // liveness: provider: loopback.reports_killed_peer is true (claimed: weft's loopback)
      answers::liveness::provider,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: per_link: loopback.endpoint_type is connected (claimed: weft's loopback, by design)
      answers::receive_pool::per_link,
      // flush: message_behind_writes: loopback.order_send_after_write is true (claimed: weft's loopback); loopback.atomics_cost_order is false
      //   (claimed: weft's loopback); loopback.virtual_addressing_costs_order is false (claimed: the provider offers no pointers)
      answers::flush::message_behind_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: loopback.inject_bytes is 64 (claimed: weft's loopback)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<loopback>);
}  // namespace rules_5db00f8d
// clang-format on
}  // namespace weft::fabrics

#include "loopback.why_not.hpp"
