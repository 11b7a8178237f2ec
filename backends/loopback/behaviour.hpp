// SPDX-License-Identifier: Apache-2.0
//
// How one simulated fabric behaves: the row's facts and the port's requests, as plain values.
// The simulated library reads them as a real library reads its tables. The port knows the same at compile time from its
// Shape.
// Hot path: values. Threads: immutable.
#pragma once

#include "../../core/port.hpp"

namespace weft::backends::loopback {

/// The freedoms and limits of a fabric, as the simulated library applies them.
struct behaviour {
  bool connected = false;
  bool pooled = false;       ///< Connected, and all links share one pool of receives.
  bool many_in_one = false;  ///< A posted buffer takes many messages.
  bool lazy = false;
  bool resolves = true;
  bool virtual_address = false;
  bool provider_key = false;
  bool needs_descriptor = false;
  bool regions_enabled = true;  ///< False: the row wants regions bound, and the port did not request it.
  std::uint8_t key_bytes = 8;
  std::uint8_t write_immediate_bytes = 0;
  std::uint8_t send_immediate_bytes = 0;
  bool consumes = false;
  bool counts_writes = false;
  bool send_after_write = false;
  bool write_after_write = false;
  bool bytes_in_order = false;  ///< The last bytes of a write become visible last.
  bool send_after_send = false;
  bool delivers = false;
  bool reports_refusal = false;
  bool hides_refusal = false;  ///< A refused write succeeds, also where its completion means delivery.
  bool polls = false;          ///< Data moves at this side only while its owner polls.
  bool hardware = false;       ///< Bytes arrive even while the process is stopped.
  bool naps = false;           ///< Without a descriptor to sleep on: wait() sleeps in steps.
  bool reports_death = false;
  bool atomics = false;
  std::uint8_t context_bytes = 0;
  std::uint32_t inject_bytes = 0;
  std::uint64_t largest_message = 0;
  std::uint64_t largest_write = 0;
};

/// The behaviour of a row under this shape. An order of the row holds only where the shape requested it.
template <port_shape S>
constexpr behaviour behaviour_of() noexcept {
  constexpr const fabric_facts& f = S::facts;
  behaviour c;
  c.connected = f.endpoint_type == endpoint_type::connected;
  c.pooled = f.shared_receives && S::shared_receives;
  c.many_in_one = f.multi_receive && S::multi_receive;
  c.lazy = f.connects_lazily;
  c.resolves = f.address_resolution == address_resolution::socket;
  c.virtual_address = f.virtual_addressing;
  c.provider_key = f.key_owner == key_owner::provider;
  c.needs_descriptor = f.local_registration;
  c.regions_enabled = !f.region_endpoint_binding || S::bind_regions;
  c.key_bytes = f.key_bytes;
  c.write_immediate_bytes = f.write_immediate_bytes;
  c.send_immediate_bytes = S::framed ? std::uint8_t{0} : f.send_immediate_bytes;
  c.consumes = f.write_immediate_consumes_receive;
  c.counts_writes = f.remote_counter_counts_writes;
  c.send_after_write =
      f.order_send_after_write && S::ordered_send_after_write && !(f.atomics_cost_order && S::native_atomics);
  c.write_after_write = f.order_write_after_write && S::ordered_write_after_write;
  c.bytes_in_order = f.bytes_visible_in_order;
  c.send_after_send = f.order_send_after_send;
  c.delivers = f.delivery_complete && S::delivery_complete;
  c.reports_refusal = f.refused_write == refusal::reported;
  c.hides_refusal = f.refused_write == refusal::hidden;
  c.polls = f.data_progress == data_progress::polling;
  c.hardware = f.data_progress == data_progress::hardware;
  c.naps = f.completion_wait != completion_wait::descriptor;
  c.reports_death = f.reports_killed_peer;
  c.atomics = f.atomics == atomic_execution::provider && S::native_atomics;
  c.context_bytes = f.context_bytes;
  c.inject_bytes = f.inject_bytes;
  c.largest_message = f.largest_message;
  c.largest_write = f.largest_write;
  return c;
}

/// An immediate after a fabric that carries `width` bytes of it.
constexpr std::uint64_t narrowed(std::uint64_t immediate, std::uint8_t width) noexcept {
  return width >= 8 ? immediate : immediate & ((std::uint64_t{1} << (8 * width)) - 1);
}

}  // namespace weft::backends::loopback
