// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row ranged, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What ranged cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "ranged.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::endpoint::addressed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric ranged cannot answer addressed: it needs endpoint_type to be addressed, and ranged.endpoint_type is "
      "connected (claimed: c); the nearest legal answer is endpoint::connected [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::bootstrap::exchange, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric ranged cannot answer exchange: it needs address_resolution to be opaque, and ranged.address_resolution is "
      "socket (claimed: c); the nearest legal answer is bootstrap::socket_address [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::region_address::virtual_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric ranged cannot answer virtual_address: it needs virtual_addressing to be true, and "
      "ranged.virtual_addressing is false (claimed: c); or virtual_addressing_optional to be true, and ranged.virtual_addressing_optional "
      "is false (claimed: c); the nearest legal answer is region_address::offset [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::region_key::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric ranged cannot answer provider: it needs key_owner to be provider, and ranged.key_owner is application "
      "(claimed: c); the nearest legal answer is region_key::application [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric ranged cannot answer required: it needs local_registration to be true, and "
      "ranged.local_registration is false (claimed: c); the nearest legal answer is local_descriptor::not_needed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric ranged cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "ranged.region_endpoint_binding is false (claimed: c); the nearest legal answer is region_binding::domain [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric ranged cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, and "
      "ranged.write_immediate_consumes_receive is false (claimed: c); the nearest legal answer is notify::immediate [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric ranged cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and "
      "ranged.remote_counter_counts_writes is false (claimed: c); the nearest legal answer is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::notify::message_after_ordered_write, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric ranged cannot answer message_after_ordered_write: it needs order_send_after_write to be true, and "
      "ranged.order_send_after_write is false (claimed: c); the nearest legal answer is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric ranged cannot answer watched_word: it needs bytes_visible_in_order to be true, and "
      "ranged.bytes_visible_in_order is false (claimed: c); the nearest legal answer is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::write_fault::delivery_confirmed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric ranged cannot answer delivery_confirmed: it needs refused_write to be silent, and ranged.refused_write "
      "is reported (claimed: c); the nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric ranged cannot answer undetected: it needs refused_write to be hidden, and ranged.refused_write is "
      "reported (claimed: c); the nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::atomics::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: atomics: fabric ranged cannot answer provider: it needs atomics to be provider, and ranged.atomics is none (claimed: c); the "
      "nearest legal answer is atomics::target [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric ranged cannot answer hardware: it needs data_progress to be hardware, and ranged.data_progress is polling "
      "(claimed: c); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric ranged cannot answer thread: it needs data_progress to be thread, and ranged.data_progress is polling "
      "(claimed: c); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric ranged cannot answer yield: it needs completion_wait to be yield, and ranged.completion_wait is descriptor "
      "(claimed: c); the nearest legal answer is wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric ranged cannot answer spin: it needs completion_wait to be none, and ranged.completion_wait is descriptor "
      "(claimed: c); the nearest legal answer is wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::threading::one_owner_per_queue, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: threading: fabric ranged cannot answer one_owner_per_queue: it needs thread_levels to be true, and ranged.thread_levels is "
      "false (claimed: c); the nearest legal answer is threading::one_owner [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::threading::library_locks, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: threading: fabric ranged cannot answer library_locks: it needs thread_levels to be true, and ranged.thread_levels is false "
      "(claimed: c); the nearest legal answer is threading::one_owner [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric ranged cannot answer every_operation: it needs selective_completion to be false, and "
      "ranged.selective_completion is true (claimed: c); the nearest legal answer is completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric ranged cannot answer provider: it needs reports_killed_peer to be true, and ranged.reports_killed_peer is "
      "false (claimed: c); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric ranged cannot answer process: it needs same_host to be true, and ranged.same_host is false (claimed: c); "
      "the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::receive_buffers::multi_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_buffers: fabric ranged cannot answer multi_receive: it needs multi_receive to be true, and ranged.multi_receive is "
      "false (claimed: c); the nearest legal answer is receive_buffers::slots [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::receive_pool::shared, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric ranged cannot answer shared: it needs endpoint_type to be addressed, and ranged.endpoint_type is "
      "connected (claimed: c); or shared_receives to be true, and ranged.shared_receives is false (claimed: c); the nearest legal answer "
      "is receive_pool::per_link [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::flush::message_behind_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric ranged cannot answer message_behind_writes: it needs order_send_after_write to be true, and "
      "ranged.order_send_after_write is false (claimed: c); the nearest legal answer is flush::refused [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::flush::tracked_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric ranged cannot answer tracked_writes: it needs refused_write to be silent, and ranged.refused_write is reported "
      "(claimed: c); the nearest legal answer is flush::refused [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_1_15*, answers::queues::two, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: queues: fabric ranged cannot answer two: it needs split_queues to be true, and ranged.split_queues is false (claimed: c); "
      "the nearest legal answer is queues::one [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr permitted why_not(const ranged_since_2_0*, answers::atomics::provider, Asked) { return {}; }
template <class Asked>
constexpr refused why_not(const ranged_since_2_2*, answers::wait::descriptor, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric ranged cannot answer descriptor: it needs completion_wait to be descriptor, and ranged.completion_wait is none "
      "(claimed: the news of 2.2); the nearest legal answer is wait::spin [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const ranged_since_2_2*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric ranged cannot answer yield: it needs completion_wait to be yield, and ranged.completion_wait is none (claimed: "
      "the news of 2.2); the nearest legal answer is wait::spin [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr permitted why_not(const ranged_since_2_2*, answers::wait::spin, Asked) { return {}; }
// clang-format on
}  // namespace weft::fabrics
