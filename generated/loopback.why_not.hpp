// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row loopback, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What loopback cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "loopback.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const loopback*, answers::endpoint::addressed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric loopback cannot answer addressed: it needs endpoint_type to be addressed, and loopback.endpoint_type is "
      "connected (claimed: weft's loopback, by design); the nearest legal answer is endpoint::connected [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::bootstrap::exchange, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric loopback cannot answer exchange: it needs address_resolution to be opaque, and loopback.address_resolution "
      "is socket (claimed: weft's loopback: names of services in one process); the nearest legal answer is bootstrap::socket_address "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::region_address::virtual_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric loopback cannot answer virtual_address: it needs virtual_addressing to be true, and "
      "loopback.virtual_addressing is false (claimed: weft's loopback); or virtual_addressing_optional to be true, and "
      "loopback.virtual_addressing_optional is false (claimed: weft's own: offsets only); the nearest legal answer is "
      "region_address::offset [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::region_key::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric loopback cannot answer provider: it needs key_owner to be provider, and loopback.key_owner is application "
      "(claimed: weft's loopback); the nearest legal answer is region_key::application [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric loopback cannot answer required: it needs local_registration to be true, and "
      "loopback.local_registration is false (claimed: weft's loopback); the nearest legal answer is local_descriptor::not_needed "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric loopback cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "loopback.region_endpoint_binding is false (claimed: weft's loopback); the nearest legal answer is region_binding::domain "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric loopback cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, and "
      "loopback.write_immediate_consumes_receive is false (claimed: weft's loopback); the nearest legal answer is notify::immediate "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric loopback cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and "
      "loopback.remote_counter_counts_writes is false (claimed: weft's loopback); the nearest legal answer is "
      "notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::write_fault::delivery_confirmed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric loopback cannot answer delivery_confirmed: it needs refused_write to be silent, and "
      "loopback.refused_write is reported (claimed: weft's loopback); the nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric loopback cannot answer undetected: it needs refused_write to be hidden, and loopback.refused_write is "
      "reported (claimed: weft's loopback); the nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric loopback cannot answer hardware: it needs data_progress to be hardware, and loopback.data_progress is "
      "polling (claimed: weft's loopback: one thread runs the whole system); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric loopback cannot answer thread: it needs data_progress to be thread, and loopback.data_progress is polling "
      "(claimed: weft's loopback: one thread runs the whole system); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::wait::descriptor, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric loopback cannot answer descriptor: it needs completion_wait to be descriptor, and loopback.completion_wait is "
      "yield (claimed: weft's loopback: virtual time has no descriptor); the nearest legal answer is wait::yield [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric loopback cannot answer spin: it needs completion_wait to be none, and loopback.completion_wait is yield "
      "(claimed: weft's loopback: virtual time has no descriptor); the nearest legal answer is wait::yield [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::threading::one_owner_per_queue, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: threading: fabric loopback cannot answer one_owner_per_queue: it needs thread_levels to be true, and loopback.thread_levels "
      "is false (claimed: the simulated library has one thread); the nearest legal answer is threading::one_owner [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::threading::library_locks, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: threading: fabric loopback cannot answer library_locks: it needs thread_levels to be true, and loopback.thread_levels is "
      "false (claimed: the simulated library has one thread); the nearest legal answer is threading::one_owner [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric loopback cannot answer every_operation: it needs selective_completion to be false, and "
      "loopback.selective_completion is true (claimed: weft's loopback); the nearest legal answer is completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const loopback*, answers::flush::tracked_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric loopback cannot answer tracked_writes: it needs refused_write to be silent, and loopback.refused_write is "
      "reported (claimed: weft's loopback); the nearest legal answer is flush::refused [WEFT-C001]");
  return {};
}
// clang-format on
}  // namespace weft::fabrics
