// SPDX-License-Identifier: Apache-2.0
//
// What a backend knows at compile time about its fabric: the row's facts, and the fabric's answers as flags.
// compose/fabric.hpp derives the shape from the answers. A backend never compares a provider's name, and never queries
// a capability at run time: the shape selects each call.
// Hot path: compile time only. Threads: none.
#pragma once

#include "facts.hpp"

#include <concepts>
#include <cstdint>
#include <string_view>

namespace weft {

/// The threading level that weft requests from the library. A port has one owner at every level.
enum class thread_level : std::uint8_t {
  one_owner,            ///< One thread at a time calls any function of the port.
  one_owner_per_queue,  ///< One thread at a time calls functions that share a completion queue.
  any,                  ///< Any thread calls any function: the library locks.
};

/// The static constexpr members of a shape.
template <class S>
concept port_shape = requires {
  // The fabric's name, for messages only.
  { S::name } -> std::convertible_to<std::string_view>;
  { S::facts } -> std::convertible_to<const fabric_facts&>;
  // region_address::virtual_address
  { S::virtual_address } -> std::convertible_to<bool>;
  // region_key::provider
  { S::provider_key } -> std::convertible_to<bool>;
  // local_descriptor::required
  { S::local_descriptor } -> std::convertible_to<bool>;
  // region_binding::endpoint
  { S::bind_regions } -> std::convertible_to<bool>;
  // atomics::provider
  { S::native_atomics } -> std::convertible_to<bool>;
  // notify::immediate*
  { S::write_immediate } -> std::convertible_to<bool>;
  // notify::immediate_consumes_receive
  { S::receive_reserve } -> std::convertible_to<bool>;
  // notify::remote_counter
  { S::remote_counter } -> std::convertible_to<bool>;
  // An answer relies on the order: request it and attest it.
  { S::ordered_send_after_write } -> std::convertible_to<bool>;
  { S::ordered_write_after_write } -> std::convertible_to<bool>;
  // Some posts have mode `delivered`: an answer or a caller wants that.
  { S::delivery_complete } -> std::convertible_to<bool>;
  // completion::selective
  { S::selective_completion } -> std::convertible_to<bool>;
  // framing::header: sends carry no immediate.
  { S::framed } -> std::convertible_to<bool>;
  // receive_buffers::multi_receive: each posted buffer takes many messages.
  { S::multi_receive } -> std::convertible_to<bool>;
  // receive_pool::shared on a connected fabric: one pool for all links.
  { S::shared_receives } -> std::convertible_to<bool>;
  // queues::two: transmits and receives complete in separate queues.
  { S::two_queues } -> std::convertible_to<bool>;
  // threading: the level to request.
  { S::threads } -> std::convertible_to<thread_level>;
  // checks::trusted: the port leaves out checks of the caller's arguments (core/caller_duty.hpp).
  { S::trusts_caller } -> std::convertible_to<bool>;
};

}  // namespace weft
