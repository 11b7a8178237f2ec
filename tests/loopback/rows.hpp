// SPDX-License-Identifier: Apache-2.0
//
// Made-up rows of several kinds for the loopback's own tests, and the answers of each row.
// Hot path: no. Threads: constants.
#pragma once

#include "../../core/port.hpp"

namespace weft::test {

/// A row that promises everything; the others remove promises.
constexpr fabric_facts generous() {
  fabric_facts f{};
  f.key_bytes = 8;
  f.write_immediate_bytes = 4;
  f.send_immediate_bytes = 4;
  f.order_send_after_write = f.order_write_after_write = f.order_send_after_send = true;
  f.delivery_complete = true;
  f.selective_completion = true;
  f.atomics = atomic_execution::provider;
  f.data_progress = data_progress::polling;
  f.completion_wait = completion_wait::descriptor;
  f.reports_killed_peer = true;
  f.inject_bytes = 64;
  f.queue_depth = 16;
  f.largest_message = 1 << 20;
  f.largest_write = 1 << 30;
  return f;
}

/// The answers that the rules would give, in the port's terms.
template <class Row>
struct shape_of {
  static constexpr std::string_view name = Row::name;
  static constexpr fabric_facts facts = Row::make();
  static constexpr bool virtual_address = facts.virtual_addressing;
  static constexpr bool provider_key = facts.key_owner == key_owner::provider;
  static constexpr bool local_descriptor = facts.local_registration;
  static constexpr bool bind_regions = facts.region_endpoint_binding;
  static constexpr bool native_atomics = facts.atomics == atomic_execution::provider;
  static constexpr bool write_immediate = facts.write_immediate_bytes >= 4;
  static constexpr bool receive_reserve = write_immediate && facts.write_immediate_consumes_receive;
  static constexpr bool remote_counter = facts.remote_counter_counts_writes;
  static constexpr bool ordered_send_after_write = facts.order_send_after_write;
  static constexpr bool ordered_write_after_write = facts.order_write_after_write;
  static constexpr bool delivery_complete = facts.delivery_complete;
  static constexpr bool selective_completion = facts.selective_completion;
  static constexpr bool framed = facts.send_immediate_bytes < 4;
  static constexpr bool multi_receive = false;
  static constexpr bool shared_receives = false;
  static constexpr bool two_queues = false;
  static constexpr thread_level threads = thread_level::one_owner;
  static constexpr bool trusts_caller = false;
};

/// Connected, offsets, immediates; refused writes report success: like tcp.
struct silent_refusal {
  static constexpr std::string_view name = "silent_refusal";
  static constexpr fabric_facts make() {
    fabric_facts f = generous();
    f.refused_write = refusal::silent;
    f.atomics = atomic_execution::none;
    f.context_bytes = 32;
    return f;
  }
};
/// Connected, virtual addresses, keys of the provider, immediates consume receives, no delivery_complete: like an RDMA
/// device.
struct consuming {
  static constexpr std::string_view name = "consuming";
  static constexpr fabric_facts make() {
    fabric_facts f = generous();
    f.virtual_addressing = true;
    f.key_owner = key_owner::provider;
    f.key_bytes = 4;
    f.local_registration = true;
    f.write_immediate_consumes_receive = true;
    f.delivery_complete = false;
    f.data_progress = data_progress::hardware;
    f.context_bytes = 64;
    return f;
  }
};
/// Addressed, opaque, virtual addresses, no order at all, lazy connections.
struct unordered {
  static constexpr std::string_view name = "unordered";
  static constexpr fabric_facts make() {
    fabric_facts f = generous();
    f.endpoint_type = endpoint_type::addressed;
    f.address_resolution = address_resolution::opaque;
    f.connects_lazily = true;
    f.virtual_addressing = true;
    f.key_owner = key_owner::provider;
    f.local_registration = true;
    f.order_send_after_write = f.order_write_after_write = f.order_send_after_send = false;
    f.atomics = atomic_execution::none;
    f.data_progress = data_progress::thread;
    f.completion_wait = completion_wait::yield;
    return f;
  }
};
/// Addressed, no immediates, a counter instead, regions need binding; refused writes succeed.
struct counting {
  static constexpr std::string_view name = "counting";
  static constexpr fabric_facts make() {
    fabric_facts f = generous();
    f.refused_write = refusal::hidden;
    f.endpoint_type = endpoint_type::addressed;
    f.write_immediate_bytes = f.send_immediate_bytes = 0;
    f.remote_counter_counts_writes = true;
    f.region_endpoint_binding = true;
    f.order_send_after_write = false;
    f.data_progress = data_progress::hardware;
    return f;
  }
};
/// Addressed, on one host, and no report of a death.
struct deathless {
  static constexpr std::string_view name = "deathless";
  static constexpr fabric_facts make() {
    fabric_facts f = generous();
    f.endpoint_type = endpoint_type::addressed;
    f.reports_killed_peer = false;
    f.completion_wait = completion_wait::none;
    f.selective_completion = false;
    return f;
  }
};

}  // namespace weft::test
