// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row mapped, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/mapped/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_cd791ca3 {
/// Two processes of one host and one user: both map the same memory, without a provider. linux 5.3 and later.
struct mapped {
  static constexpr std::string_view name = "mapped", library = "linux", made_from = "rules 3ae7adf7, row 37c6a88d";
  static constexpr library_version built_with = backends::mapped::built_with;
  static constexpr std::string_view shared =
      "endpoint=connected bootstrap=exchange framing=immediate region_address=offset region_key=provider notify=immediate "
      "atomics=provider liveness=provider key_bytes=8 write_immediate_bytes=8 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0x2ec6e6a02738693e;
  // half round trip, measured: 2026-11-26 linux 6.18.44: put, watched by the target of 8 bytes, in slices
  static constexpr std::uint32_t half_round_trip_ns = 140;
  template <class Shape>
  using port = backends::mapped::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "", .fabric_name = "", .since = {5, 3}, .until = any_later_version,
      .endpoint_type = endpoint_type::connected, .address_resolution = address_resolution::opaque, .connects_lazily = false,
      .forgets_peers = true, .address_formats = "in in6", .own_node_path = own_node_path::shared_memory,
      .virtual_addressing = false, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::provider, .key_bytes = 8, .local_registration = false, .region_endpoint_binding = false,
      .write_immediate_bytes = 8, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 8, .remote_counter_counts_writes = false,
      .order_send_after_write = true, .order_write_after_write = true, .bytes_visible_in_order = false,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::reported, .selective_completion = true,
      .atomics = atomic_execution::provider,
      .atomic_operations = "add compare_swap swap and or xor min max read: int32 uint32 int64 uint64; add swap min max read: float double",
      .atomics_cost_order = false,
      .data_progress = data_progress::hardware, .completion_wait = completion_wait::descriptor, .reports_killed_peer = true,
      .same_host = true,
      .context_bytes = 0, .inject_bytes = 512, .gather_limit = 8, .rma_gather_limit = 8, .queue_depth = 256,
      .largest_message = 268435456, .largest_write = unlimited, .fused_bytes = 0,
      .multi_receive = false, .shared_receives = false,
      .extended_posting = false, .split_queues = false, .thread_levels = false, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::refuses,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: connected: mapped.endpoint_type is connected (claimed: weft's own: a Unix socket per link; observed: 2026-11-20 linux 6.18.44
      //   conformance suites between two processes, links connected, closed and were lost as connections are)
      answers::endpoint::connected,
      // bootstrap: exchange: mapped.address_resolution is opaque (claimed: weft's own: unix(7), a random name outside of the file system)
      answers::bootstrap::exchange,
      // framing: immediate: mapped.send_immediate_bytes is 8 (claimed: weft's own: an entry of the target's ring)
      answers::framing::immediate,
      // region_address: offset: mapped.virtual_addressing is false (claimed: weft's own: the two sides map the memory at different addresses;
      //   observed: 2026-11-20 linux 6.18.44 conformance suites between two processes, writes to offsets arrived although the sides map the memory at
      //   different addresses)
      answers::region_address::offset,
      // region_key: provider: mapped.key_owner is provider (claimed: weft's own: a key names a row of the owner's table)
      answers::region_key::provider,
      // local_descriptor: not_needed: mapped.local_registration is false (claimed: weft's own: the initiator's processor copies from any address)
      answers::local_descriptor::not_needed,
      // region_binding: domain: mapped.region_endpoint_binding is false (claimed: weft's own: all links share one arena)
      answers::region_binding::domain,
      // notify: immediate: mapped.write_immediate_bytes is 8 (claimed: weft's own: an entry of the target's ring; observed: 2026-11-20 linux 6.18.44
      //   conformance suites between two processes, the notices of all writes arrived with their 32 bits and the connection of the writer);
      //   mapped.write_immediate_consumes_receive is false (claimed: weft's own: the entry is the notice)
      answers::notify::immediate,
      // write_fault: reported: mapped.refused_write is reported (claimed: weft's own: the initiator finds the key in the target's table; observed:
      //   2026-11-20 linux 6.18.44 conformance suites between two processes, writes with a wrong key or to a released region ended with an error, and
      //   changed no byte)
      answers::write_fault::reported,
      // atomics: provider: mapped.atomics is provider (claimed: weft's own: processor instructions, atomic also with respect to the owner's;
      //   observed: 2026-11-20 linux 6.18.44 conformance suites between two processes, eight initiators made 80,000 additions: the sum was right, and
      //   no value came twice); mapped.atomics_cost_order is false (claimed: weft's own: atomics release earlier writes)
      answers::atomics::provider,
      // progress: hardware: mapped.data_progress is hardware (claimed: weft's own: stores need no polling; observed: 2026-11-20 linux 6.18.44
      //   bench-flag, the target polled its word and made no progress)
      answers::progress::hardware,
      // wait: descriptor: mapped.completion_wait is descriptor (claimed: weft's own: one epoll waits on all sockets; a sender wakes a peer that
      //   announced its sleep; observed: 2026-11-20 linux 6.18.44 conformance suites between two processes, two thousand messages at random times
      //   woke a sleeping thread)
      answers::wait::descriptor,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: mapped.selective_completion is true (claimed: weft's own: the backend reports signalled operations only; observed:
      //   2026-11-20 linux 6.18.44 conformance suites between two processes, unsignalled writes gave no completion)
      answers::completion::selective,
      // liveness: provider: mapped.reports_killed_peer is true (claimed: unix(7): the kernel closes the sockets of a process that ends; observed:
      //   2026-11-20 linux 6.18.44 conformance suites between two processes, a waiting peer got the event of a killed peer, both polling and asleep)
      answers::liveness::provider,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: per_link: mapped.endpoint_type is connected (claimed: weft's own: a Unix socket per link; observed: 2026-11-20 linux 6.18.44
      //   conformance suites between two processes, links connected, closed and were lost as connections are)
      answers::receive_pool::per_link,
      // flush: message_behind_writes: mapped.order_send_after_write is true (claimed: weft's own: a release store after the bytes publishes an entry;
      //   observed: 2026-11-20 linux 6.18.44 conformance suites between two processes, messages and notices never arrived before the bytes of earlier
      //   writes); mapped.atomics_cost_order is false (claimed: weft's own: atomics release earlier writes); mapped.virtual_addressing_costs_order is
      //   false (claimed: the provider offers no pointers)
      answers::flush::message_behind_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: mapped.inject_bytes is 512 (claimed: weft's own: posts up to this size read their source before they return)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<mapped>);
}  // namespace rules_cd791ca3
// clang-format on
}  // namespace weft::fabrics

#include "mapped.why_not.hpp"
