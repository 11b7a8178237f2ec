// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row mapped, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What mapped cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "mapped.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const mapped*, answers::endpoint::addressed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric mapped cannot answer addressed: it needs endpoint_type to be addressed, and mapped.endpoint_type is "
      "connected (claimed: weft's own: a Unix socket per link; observed: 2026-11-20 linux 6.18.44 conformance suites between two "
      "processes, links connected, closed and were lost as connections are); the nearest legal answer is endpoint::connected [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::bootstrap::socket_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric mapped cannot answer socket_address: it needs address_resolution to be socket, and "
      "mapped.address_resolution is opaque (claimed: weft's own: unix(7), a random name outside of the file system); the nearest legal "
      "answer is bootstrap::exchange [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::region_address::virtual_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric mapped cannot answer virtual_address: it needs virtual_addressing to be true, and "
      "mapped.virtual_addressing is false (claimed: weft's own: the two sides map the memory at different addresses; observed: 2026-11-20 "
      "linux 6.18.44 conformance suites between two processes, writes to offsets arrived although the sides map the memory at different "
      "addresses); or virtual_addressing_optional to be true, and mapped.virtual_addressing_optional is false (claimed: weft's own: "
      "offsets only); the nearest legal answer is region_address::offset [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::region_key::application, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric mapped cannot answer application: it needs key_owner to be application, and mapped.key_owner is provider "
      "(claimed: weft's own: a key names a row of the owner's table); the nearest legal answer is region_key::provider [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric mapped cannot answer required: it needs local_registration to be true, and "
      "mapped.local_registration is false (claimed: weft's own: the initiator's processor copies from any address); the nearest legal "
      "answer is local_descriptor::not_needed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric mapped cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "mapped.region_endpoint_binding is false (claimed: weft's own: all links share one arena); the nearest legal answer is "
      "region_binding::domain [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric mapped cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, and "
      "mapped.write_immediate_consumes_receive is false (claimed: weft's own: the entry is the notice); the nearest legal answer is "
      "notify::immediate [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric mapped cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and "
      "mapped.remote_counter_counts_writes is false (claimed: weft's own: no counter counts stores); the nearest legal answer is "
      "notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric mapped cannot answer watched_word: it needs bytes_visible_in_order to be true, and "
      "mapped.bytes_visible_in_order is false (claimed: weft's own: the initiator's processor copies, and the bytes of a copy have no "
      "order); the nearest legal answer is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::write_fault::delivery_confirmed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric mapped cannot answer delivery_confirmed: it needs refused_write to be silent, and mapped.refused_write "
      "is reported (claimed: weft's own: the initiator finds the key in the target's table; observed: 2026-11-20 linux 6.18.44 "
      "conformance suites between two processes, writes with a wrong key or to a released region ended with an error, and changed no "
      "byte); the nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric mapped cannot answer undetected: it needs refused_write to be hidden, and mapped.refused_write is "
      "reported (claimed: weft's own: the initiator finds the key in the target's table; observed: 2026-11-20 linux 6.18.44 conformance "
      "suites between two processes, writes with a wrong key or to a released region ended with an error, and changed no byte); the "
      "nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric mapped cannot answer thread: it needs data_progress to be thread, and mapped.data_progress is hardware "
      "(claimed: weft's own: stores need no polling; observed: 2026-11-20 linux 6.18.44 bench-flag, the target polled its word and made "
      "no progress); the nearest legal answer is progress::hardware [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::progress::polling, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric mapped cannot answer polling: it needs data_progress to be polling, and mapped.data_progress is hardware "
      "(claimed: weft's own: stores need no polling; observed: 2026-11-20 linux 6.18.44 bench-flag, the target polled its word and made "
      "no progress); the nearest legal answer is progress::hardware [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric mapped cannot answer yield: it needs completion_wait to be yield, and mapped.completion_wait is descriptor "
      "(claimed: weft's own: one epoll waits on all sockets; a sender wakes a peer that announced its sleep; observed: 2026-11-20 linux "
      "6.18.44 conformance suites between two processes, two thousand messages at random times woke a sleeping thread); the nearest legal "
      "answer is wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric mapped cannot answer spin: it needs completion_wait to be none, and mapped.completion_wait is descriptor "
      "(claimed: weft's own: one epoll waits on all sockets; a sender wakes a peer that announced its sleep; observed: 2026-11-20 linux "
      "6.18.44 conformance suites between two processes, two thousand messages at random times woke a sleeping thread); the nearest legal "
      "answer is wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::threading::one_owner_per_queue, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: threading: fabric mapped cannot answer one_owner_per_queue: it needs thread_levels to be true, and mapped.thread_levels is "
      "false (claimed: weft's own: the backend calls no library that locks); the nearest legal answer is threading::one_owner [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::threading::library_locks, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: threading: fabric mapped cannot answer library_locks: it needs thread_levels to be true, and mapped.thread_levels is false "
      "(claimed: weft's own: the backend calls no library that locks); the nearest legal answer is threading::one_owner [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric mapped cannot answer every_operation: it needs selective_completion to be false, and "
      "mapped.selective_completion is true (claimed: weft's own: the backend reports signalled operations only; observed: 2026-11-20 "
      "linux 6.18.44 conformance suites between two processes, unsignalled writes gave no completion); the nearest legal answer is "
      "completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::receive_buffers::multi_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_buffers: fabric mapped cannot answer multi_receive: it needs multi_receive to be true, and mapped.multi_receive is "
      "false (claimed: weft's own: a receive takes one message); the nearest legal answer is receive_buffers::slots [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::receive_pool::shared, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric mapped cannot answer shared: it needs endpoint_type to be addressed, and mapped.endpoint_type is "
      "connected (claimed: weft's own: a Unix socket per link; observed: 2026-11-20 linux 6.18.44 conformance suites between two "
      "processes, links connected, closed and were lost as connections are); or shared_receives to be true, and mapped.shared_receives is "
      "false (claimed: weft's own: a receive belongs to a link); the nearest legal answer is receive_pool::per_link [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::flush::tracked_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric mapped cannot answer tracked_writes: it needs refused_write to be silent, and mapped.refused_write is reported "
      "(claimed: weft's own: the initiator finds the key in the target's table; observed: 2026-11-20 linux 6.18.44 conformance suites "
      "between two processes, writes with a wrong key or to a released region ended with an error, and changed no byte); the nearest "
      "legal answer is flush::refused [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const mapped*, answers::queues::two, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: queues: fabric mapped cannot answer two: it needs split_queues to be true, and mapped.split_queues is false (claimed: weft's "
      "own: one queue holds completions and received messages); the nearest legal answer is queues::one [WEFT-C001]");
  return {};
}
// clang-format on
}  // namespace weft::fabrics
