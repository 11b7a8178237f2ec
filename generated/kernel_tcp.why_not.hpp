// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row kernel_tcp, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What kernel_tcp cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "kernel_tcp.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::endpoint::addressed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric kernel_tcp cannot answer addressed: it needs endpoint_type to be addressed, and kernel_tcp.endpoint_type is "
      "connected (claimed: tcp(7): a stream between two sockets; observed: 2026-11-26 linux 6.18.44 conformance suites over 127.0.0.1, "
      "links connected, closed and were lost as connections are); the nearest legal answer is endpoint::connected [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::bootstrap::exchange, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric kernel_tcp cannot answer exchange: it needs address_resolution to be opaque, and "
      "kernel_tcp.address_resolution is socket (claimed: getaddrinfo(3): host and service give a socket address); the nearest legal "
      "answer is bootstrap::socket_address [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::region_address::virtual_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric kernel_tcp cannot answer virtual_address: it needs virtual_addressing to be true, and "
      "kernel_tcp.virtual_addressing is false (claimed: weft's own: a frame has an offset; observed: 2026-11-26 linux 6.18.44 conformance "
      "suites over 127.0.0.1, writes to offsets arrived, and the sides know no addresses of each other); or virtual_addressing_optional "
      "to be true, and kernel_tcp.virtual_addressing_optional is false (claimed: weft's own: offsets only); the nearest legal answer is "
      "region_address::offset [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::region_key::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric kernel_tcp cannot answer provider: it needs key_owner to be provider, and kernel_tcp.key_owner is "
      "application (claimed: weft's own: the port finds a region by the key that it was given); the nearest legal answer is "
      "region_key::application [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric kernel_tcp cannot answer required: it needs local_registration to be true, and "
      "kernel_tcp.local_registration is false (claimed: sendmsg(2): the kernel copies from any memory of the process); the nearest legal "
      "answer is local_descriptor::not_needed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric kernel_tcp cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "kernel_tcp.region_endpoint_binding is false (claimed: weft's own: all links of a port share its regions); the nearest legal answer "
      "is region_binding::domain [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric kernel_tcp cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, "
      "and kernel_tcp.write_immediate_consumes_receive is false (claimed: weft's own: the frame is the notice; observed: 2026-11-26 linux "
      "6.18.44 conformance suites over 127.0.0.1, notices arrived while no receive was posted for them); the nearest legal answer is "
      "notify::immediate [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric kernel_tcp cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and "
      "kernel_tcp.remote_counter_counts_writes is false (claimed: weft's own: the acknowledged count is the initiator's); the nearest "
      "legal answer is notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::write_fault::delivery_confirmed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric kernel_tcp cannot answer delivery_confirmed: it needs refused_write to be silent, and "
      "kernel_tcp.refused_write is reported (claimed: weft's own: the target checks the place, and its refusal ends the write; observed: "
      "2026-11-26 linux 6.18.44 conformance suites over 127.0.0.1, writes with a wrong key or to a released region ended with an error, "
      "and changed no byte); the nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric kernel_tcp cannot answer undetected: it needs refused_write to be hidden, and kernel_tcp.refused_write "
      "is reported (claimed: weft's own: the target checks the place, and its refusal ends the write; observed: 2026-11-26 linux 6.18.44 "
      "conformance suites over 127.0.0.1, writes with a wrong key or to a released region ended with an error, and changed no byte); the "
      "nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::atomics::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: atomics: fabric kernel_tcp cannot answer provider: it needs atomics to be provider, and kernel_tcp.atomics is none (claimed: "
      "weft's own: the target of a stream is its processor; weft's messages ask it); the nearest legal answer is atomics::target "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric kernel_tcp cannot answer hardware: it needs data_progress to be hardware, and kernel_tcp.data_progress is "
      "polling (claimed: weft's own: the target's poll moves bytes from the socket into the region); the nearest legal answer is "
      "progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric kernel_tcp cannot answer thread: it needs data_progress to be thread, and kernel_tcp.data_progress is "
      "polling (claimed: weft's own: the target's poll moves bytes from the socket into the region); the nearest legal answer is "
      "progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric kernel_tcp cannot answer yield: it needs completion_wait to be yield, and kernel_tcp.completion_wait is "
      "descriptor (claimed: epoll(7): one set waits on all sockets, and is a descriptor itself; observed: 2026-11-26 linux 6.18.44 "
      "conformance suites over 127.0.0.1, messages at random times woke a sleeping thread); the nearest legal answer is wait::descriptor "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric kernel_tcp cannot answer spin: it needs completion_wait to be none, and kernel_tcp.completion_wait is "
      "descriptor (claimed: epoll(7): one set waits on all sockets, and is a descriptor itself; observed: 2026-11-26 linux 6.18.44 "
      "conformance suites over 127.0.0.1, messages at random times woke a sleeping thread); the nearest legal answer is wait::descriptor "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::threading::one_owner_per_queue, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: threading: fabric kernel_tcp cannot answer one_owner_per_queue: it needs thread_levels to be true, and "
      "kernel_tcp.thread_levels is false (claimed: weft's own: the backend calls no library that locks); the nearest legal answer is "
      "threading::one_owner [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::threading::library_locks, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: threading: fabric kernel_tcp cannot answer library_locks: it needs thread_levels to be true, and kernel_tcp.thread_levels is "
      "false (claimed: weft's own: the backend calls no library that locks); the nearest legal answer is threading::one_owner [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric kernel_tcp cannot answer every_operation: it needs selective_completion to be false, and "
      "kernel_tcp.selective_completion is true (claimed: weft's own: the backend reports signalled operations only; observed: 2026-11-26 "
      "linux 6.18.44 conformance suites over 127.0.0.1, unsignalled writes gave no completion); the nearest legal answer is "
      "completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric kernel_tcp cannot answer process: it needs same_host to be true, and kernel_tcp.same_host is false "
      "(claimed: a network protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::receive_buffers::multi_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_buffers: fabric kernel_tcp cannot answer multi_receive: it needs multi_receive to be true, and "
      "kernel_tcp.multi_receive is false (claimed: weft's own: a receive takes one message); the nearest legal answer is "
      "receive_buffers::slots [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::receive_pool::shared, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric kernel_tcp cannot answer shared: it needs endpoint_type to be addressed, and kernel_tcp.endpoint_type "
      "is connected (claimed: tcp(7): a stream between two sockets; observed: 2026-11-26 linux 6.18.44 conformance suites over 127.0.0.1, "
      "links connected, closed and were lost as connections are); or shared_receives to be true, and kernel_tcp.shared_receives is false "
      "(claimed: weft's own: a receive belongs to a link); the nearest legal answer is receive_pool::per_link [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::flush::tracked_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric kernel_tcp cannot answer tracked_writes: it needs refused_write to be silent, and kernel_tcp.refused_write is "
      "reported (claimed: weft's own: the target checks the place, and its refusal ends the write; observed: 2026-11-26 linux 6.18.44 "
      "conformance suites over 127.0.0.1, writes with a wrong key or to a released region ended with an error, and changed no byte); the "
      "nearest legal answer is flush::refused [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const kernel_tcp*, answers::queues::two, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: queues: fabric kernel_tcp cannot answer two: it needs split_queues to be true, and kernel_tcp.split_queues is false "
      "(claimed: weft's own: one poll finds completions and received messages); the nearest legal answer is queues::one [WEFT-C001]");
  return {};
}
// clang-format on
}  // namespace weft::fabrics
