// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row kernel_tcp, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/streams/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_8ccbbb84 {
/// TCP sockets of the kernel, between any two hosts, without a library. linux 5.3 and later.
struct kernel_tcp {
  static constexpr std::string_view name = "kernel_tcp", library = "linux", made_from = "rules 3ae7adf7, row 2d1fc6da";
  static constexpr library_version built_with = backends::streams::built_with;
  static constexpr std::string_view shared =
      "endpoint=connected bootstrap=socket_address framing=immediate region_address=offset region_key=application notify=immediate "
      "atomics=target liveness=provider key_bytes=8 write_immediate_bytes=8 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0x4ff43a82542df713;
  template <class Shape>
  using port = backends::streams::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "", .fabric_name = "", .since = {5, 3}, .until = any_later_version,
      .endpoint_type = endpoint_type::connected, .address_resolution = address_resolution::socket, .connects_lazily = false,
      .forgets_peers = true, .address_formats = "in in6", .own_node_path = own_node_path::fabric,
      .virtual_addressing = false, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::application, .key_bytes = 8, .local_registration = false, .region_endpoint_binding = false,
      .write_immediate_bytes = 8, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 8, .remote_counter_counts_writes = false,
      .order_send_after_write = true, .order_write_after_write = true, .bytes_visible_in_order = true,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::reported, .selective_completion = true,
      .atomics = atomic_execution::none, .atomic_operations = "none", .atomics_cost_order = false,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::descriptor, .reports_killed_peer = true,
      .same_host = false,
      .context_bytes = 0, .inject_bytes = 4096, .gather_limit = 4, .rma_gather_limit = 4, .queue_depth = 256,
      .largest_message = unlimited, .largest_write = unlimited, .fused_bytes = 0,
      .multi_receive = false, .shared_receives = false,
      .extended_posting = false, .split_queues = false, .thread_levels = false, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::refuses,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"tttttt tttt-- tttttt tttt-- tttt-- tttt-- tttttt tttttt tttttt"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: connected: kernel_tcp.endpoint_type is connected (claimed: tcp(7): a stream between two sockets; observed: 2026-11-26 linux 6.18.44
      //   conformance suites over 127.0.0.1, links connected, closed and were lost as connections are)
      answers::endpoint::connected,
      // bootstrap: socket_address: kernel_tcp.address_resolution is socket (claimed: getaddrinfo(3): host and service give a socket address)
      answers::bootstrap::socket_address,
      // framing: immediate: kernel_tcp.send_immediate_bytes is 8 (claimed: weft's own: a frame has an immediate of 64 bits)
      answers::framing::immediate,
      // region_address: offset: kernel_tcp.virtual_addressing is false (claimed: weft's own: a frame has an offset; observed: 2026-11-26 linux
      //   6.18.44 conformance suites over 127.0.0.1, writes to offsets arrived, and the sides know no addresses of each other)
      answers::region_address::offset,
      // region_key: application: kernel_tcp.key_owner is application (claimed: weft's own: the port finds a region by the key that it was given)
      answers::region_key::application,
      // local_descriptor: not_needed: kernel_tcp.local_registration is false (claimed: sendmsg(2): the kernel copies from any memory of the process)
      answers::local_descriptor::not_needed,
      // region_binding: domain: kernel_tcp.region_endpoint_binding is false (claimed: weft's own: all links of a port share its regions)
      answers::region_binding::domain,
      // notify: immediate: kernel_tcp.write_immediate_bytes is 8 (claimed: weft's own: a frame has an immediate of 64 bits; observed: 2026-11-26
      //   linux 6.18.44 conformance suites over 127.0.0.1, the notices of all writes arrived with their 32 bits and the connection of the writer);
      //   kernel_tcp.write_immediate_consumes_receive is false (claimed: weft's own: the frame is the notice; observed: 2026-11-26 linux 6.18.44
      //   conformance suites over 127.0.0.1, notices arrived while no receive was posted for them)
      answers::notify::immediate,
      // write_fault: reported: kernel_tcp.refused_write is reported (claimed: weft's own: the target checks the place, and its refusal ends the
      //   write; observed: 2026-11-26 linux 6.18.44 conformance suites over 127.0.0.1, writes with a wrong key or to a released region ended with an
      //   error, and changed no byte)
      answers::write_fault::reported,
      // atomics: target: kernel_tcp.atomics is none (claimed: weft's own: the target of a stream is its processor; weft's messages ask it); the
      //   target's progress can execute them on any fabric
      answers::atomics::target,
      // progress: polling: kernel_tcp.data_progress is polling (claimed: weft's own: the target's poll moves bytes from the socket into the region)
      answers::progress::polling,
      // wait: descriptor: kernel_tcp.completion_wait is descriptor (claimed: epoll(7): one set waits on all sockets, and is a descriptor itself;
      //   observed: 2026-11-26 linux 6.18.44 conformance suites over 127.0.0.1, messages at random times woke a sleeping thread)
      answers::wait::descriptor,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: kernel_tcp.selective_completion is true (claimed: weft's own: the backend reports signalled operations only; observed:
      //   2026-11-26 linux 6.18.44 conformance suites over 127.0.0.1, unsignalled writes gave no completion)
      answers::completion::selective,
      // liveness: provider: kernel_tcp.reports_killed_peer is true (claimed: tcp(7): the kernel ends the connections of a process that ends;
      //   observed: 2026-11-26 linux 6.18.44 conformance suites over 127.0.0.1, a waiting peer got the event of a killed peer, both polling and
      //   asleep)
      answers::liveness::provider,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: per_link: kernel_tcp.endpoint_type is connected (claimed: tcp(7): a stream between two sockets; observed: 2026-11-26 linux
      //   6.18.44 conformance suites over 127.0.0.1, links connected, closed and were lost as connections are)
      answers::receive_pool::per_link,
      // flush: message_behind_writes: kernel_tcp.order_send_after_write is true (claimed: tcp(7): bytes arrive in order; the target takes frame after
      //   frame; observed: 2026-11-26 linux 6.18.44 conformance suites over 127.0.0.1, messages and notices never arrived before the bytes of earlier
      //   writes); kernel_tcp.atomics_cost_order is false (claimed: the provider offers no atomics); kernel_tcp.virtual_addressing_costs_order is
      //   false (claimed: the provider offers no pointers)
      answers::flush::message_behind_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: kernel_tcp.inject_bytes is 4096 (claimed: weft's own: a link copies what the kernel does not take of an inject)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<kernel_tcp>);
}  // namespace rules_8ccbbb84
// clang-format on
}  // namespace weft::fabrics

#include "kernel_tcp.why_not.hpp"
