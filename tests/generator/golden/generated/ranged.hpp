// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row ranged, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_2016e904 {
/// A row for tests. libfabric 1.15 to before 2.0.
struct ranged_since_1_15 {
  static constexpr std::string_view name = "ranged", library = "libfabric", made_from = "rules 3ae7adf7, row 025410e6";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=connected bootstrap=socket_address framing=immediate region_address=offset region_key=application "
      "notify=message_after_delivery atomics=target liveness=heartbeat key_bytes=8 write_immediate_bytes=4 send_immediate_bytes=4";
  static constexpr std::uint64_t fingerprint = 0xf8875b0b9a546c31;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "ranged", .fabric_name = "", .since = {1, 15}, .until = {2, 0},
      .endpoint_type = endpoint_type::connected, .address_resolution = address_resolution::socket, .connects_lazily = false,
      .forgets_peers = true, .address_formats = "in", .own_node_path = own_node_path::fabric,
      .virtual_addressing = false, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::application, .key_bytes = 8, .local_registration = false, .region_endpoint_binding = false,
      .write_immediate_bytes = 4, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 4, .remote_counter_counts_writes = false,
      .order_send_after_write = false, .order_write_after_write = false, .bytes_visible_in_order = false,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::reported, .selective_completion = true,
      .atomics = atomic_execution::none, .atomic_operations = "none", .atomics_cost_order = false,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::descriptor, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 0, .inject_bytes = 64, .gather_limit = 4, .rma_gather_limit = 1, .queue_depth = 256,
      .largest_message = unlimited, .largest_write = unlimited, .fused_bytes = 0,
      .multi_receive = false, .shared_receives = false,
      .extended_posting = false, .split_queues = false, .thread_levels = false, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::keeps,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"tttttt tttt-- tttttt tttt-- tttt-- tttt-- tttttt tttttt tttttt"};
  static constexpr std::array<environment_setting, 2> environment{ {
      // FI_X_INTERVAL: it is quicker
      {"FI_X_INTERVAL", "100"},
      // FI_X_DEPTH: it is enough
      {"FI_X_DEPTH", "16"},
  } };
  using policies = policy_set<
      // endpoint: connected: ranged.endpoint_type is connected (claimed: c)
      answers::endpoint::connected,
      // bootstrap: socket_address: ranged.address_resolution is socket (claimed: c)
      answers::bootstrap::socket_address,
      // framing: immediate: ranged.send_immediate_bytes is 4 (claimed: c)
      answers::framing::immediate,
      // region_address: offset: ranged.virtual_addressing is false (claimed: c)
      answers::region_address::offset,
      // region_key: application: ranged.key_owner is application (claimed: c)
      answers::region_key::application,
      // local_descriptor: not_needed: ranged.local_registration is false (claimed: c)
      answers::local_descriptor::not_needed,
      // region_binding: domain: ranged.region_endpoint_binding is false (claimed: c)
      answers::region_binding::domain,
      // notify: message_after_delivery: ranged.delivery_complete is true (claimed: c); chosen by hand: to show that it can be done
      answers::notify::message_after_delivery,
      // write_fault: reported: ranged.refused_write is reported (claimed: c)
      answers::write_fault::reported,
      // atomics: target: ranged.atomics is none (claimed: c); the target's progress can execute them on any fabric
      answers::atomics::target,
      // progress: polling: ranged.data_progress is polling (claimed: c)
      answers::progress::polling,
      // wait: descriptor: ranged.completion_wait is descriptor (claimed: c)
      answers::wait::descriptor,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: ranged.selective_completion is true (claimed: c)
      answers::completion::selective,
      // liveness: heartbeat: ranged.reports_killed_peer is false (claimed: c); ranged.same_host is false (claimed: c); weft's own messages work on
      //   any fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: per_link: ranged.endpoint_type is connected (claimed: c)
      answers::receive_pool::per_link,
      // flush: refused: ranged.order_send_after_write is false (claimed: c); ranged.refused_write is reported (claimed: c); no message stays after
      //   writes, and no completion of a write means delivered
      answers::flush::refused,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: ranged.inject_bytes is 64 (claimed: c)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<ranged_since_1_15>);
}  // namespace rules_2016e904
inline namespace rules_3c46adb1 {
/// libfabric 2.0 to before 2.2.
struct ranged_since_2_0 : ranged_since_1_15 {
  static constexpr std::string_view made_from = "rules 3ae7adf7, row 1678078a";
  static constexpr std::string_view shared =
      "endpoint=connected bootstrap=socket_address framing=immediate region_address=offset region_key=application "
      "notify=message_after_delivery atomics=provider liveness=heartbeat key_bytes=8 write_immediate_bytes=4 send_immediate_bytes=4";
  static constexpr std::uint64_t fingerprint = 0x19eee34a598f52f9;
  static constexpr fabric_facts facts = [] {
    fabric_facts changed = ranged_since_1_15::facts;
    changed.since = {2, 0};
    changed.until = {2, 2};
    // ranged.atomics (claimed: the news of 2.0; observed: 2026-11-20 libfabric 2.0.0 loopback, fetch-add was right)
    changed.atomics = atomic_execution::provider;
    return changed;
  }();
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"wwlnwl wwln-- wwllwl wwll-- wwll-- wwll-- wwllwl wwllwl wwllwl"};
  using policies = policy_set<
      answers::endpoint::connected, answers::bootstrap::socket_address, answers::framing::immediate,
      answers::region_address::offset, answers::region_key::application, answers::local_descriptor::not_needed,
      answers::region_binding::domain, answers::notify::message_after_delivery, answers::write_fault::reported,
      // atomics: provider: ranged.atomics is provider (claimed: the news of 2.0; observed: 2026-11-20 libfabric 2.0.0 loopback, fetch-add was right);
      //   ranged.atomics_cost_order is false (claimed: c)
      answers::atomics::provider,
      answers::progress::polling, answers::wait::descriptor, answers::threading::one_owner, answers::completion::selective,
      answers::liveness::heartbeat, answers::receive_buffers::slots, answers::receive_pool::per_link, answers::flush::refused,
      answers::coalesce::none, answers::queues::one, answers::inject::as_the_row_permits, answers::checks::verified,
      answers::authentication::none, answers::tagged::none
  >;
};
static_assert(complete_fabric<ranged_since_2_0>);
}  // namespace rules_3c46adb1
inline namespace rules_1e0665c9 {
/// libfabric 2.2 to before 3.0.
struct ranged_since_2_2 : ranged_since_2_0 {
  static constexpr std::string_view made_from = "rules 3ae7adf7, row 7e2c5930";
  static constexpr std::string_view shared =
      "endpoint=connected bootstrap=socket_address framing=immediate region_address=offset region_key=application "
      "notify=message_after_delivery atomics=provider liveness=heartbeat key_bytes=8 write_immediate_bytes=4 send_immediate_bytes=4";
  static constexpr std::uint64_t fingerprint = 0x19eee34a598f52f9;
  static constexpr fabric_facts facts = [] {
    fabric_facts changed = ranged_since_2_0::facts;
    changed.since = {2, 2};
    changed.until = {3, 0};
    // ranged.completion_wait (claimed: the news of 2.2)
    changed.completion_wait = completion_wait::none;
    // ranged.largest_write (claimed: the news of 2.2)
    changed.largest_write = 4294967296u;
    return changed;
  }();
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"wwlnwl wwln-- wwllwl wwll-- wwll-- wwll-- wwllwl wwllwl wwllwl"};
  using policies = policy_set<
      answers::endpoint::connected, answers::bootstrap::socket_address, answers::framing::immediate,
      answers::region_address::offset, answers::region_key::application, answers::local_descriptor::not_needed,
      answers::region_binding::domain, answers::notify::message_after_delivery, answers::write_fault::reported,
      answers::atomics::provider, answers::progress::polling,
      // wait: spin: ranged.completion_wait is none (claimed: the news of 2.2)
      answers::wait::spin,
      answers::threading::one_owner, answers::completion::selective, answers::liveness::heartbeat,
      answers::receive_buffers::slots, answers::receive_pool::per_link, answers::flush::refused, answers::coalesce::none,
      answers::queues::one, answers::inject::as_the_row_permits, answers::checks::verified, answers::authentication::none,
      answers::tagged::none
  >;
};
static_assert(complete_fabric<ranged_since_2_2>);
}  // namespace rules_1e0665c9

using ranged = by_library<backends::libfabric::built_with, ranged_since_1_15, ranged_since_2_0, ranged_since_2_2>;
// clang-format on
}  // namespace weft::fabrics

#include "ranged.why_not.hpp"
