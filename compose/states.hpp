// SPDX-License-Identifier: Apache-2.0
//
// The four states of a write, as types: a caller names the one that it needs, `net.put(peer, from, at,
// weft::until<weft::visible>(context))`, and the fabric's row says at compile time which library call gives it. What no
// single call gives is emulated: a message behind the write and the peer's answer (policies/flush.hpp); what cannot be
// had at all does not compile. Hot path: compile time only. Threads: values.
#pragma once

#include "fabric.hpp"

namespace weft {

struct posted {};  ///< The library has it. Nothing more is told: a failure only, with a null context.
struct source_reusable {
};  ///< Its source may be written again. On rows whose library hides refused writes, a refusal stays hidden.
struct delivered {};  ///< The target's card or process has accepted it: a refused write ends in an error.
struct visible {};    ///< The target's processor sees its bytes.

template <class State>
concept write_state = std::same_as<State, posted> || std::same_as<State, source_reusable> ||
    std::same_as<State, delivered> || std::same_as<State, visible>;

/// The state whose reaching ends an operation, and the context that its end is told with: until<delivered>(&request).
/// until<posted>() has none.
template <write_state State>
struct until {
  explicit constexpr until(void* c) noexcept requires(!std::same_as<State, posted>) : context(c) {}
  constexpr until() noexcept requires(std::same_as<State, posted>) = default;
  void* context = nullptr;
};

/// How fabric F gives a state.
template <complete_fabric F, write_state State>
struct reached_by {
  static constexpr const fabric_facts& facts = F::facts;
  /// The completion of the write itself says it.
  static constexpr bool native = std::same_as<State, posted> || std::same_as<State, source_reusable> ||
                                 facts.delivery_complete ||
                                 (std::same_as<State, delivered> && facts.refused_write == refusal::reported);
  static constexpr bool emulated = !native && answer<F, flush_family>::by_message;
  static constexpr post_mode mode =
      std::same_as<State, posted> ? post_mode::unsignalled
      : (std::same_as<State, source_reusable> && !answer<F, flush_family>::tracks) || !facts.delivery_complete
          ? post_mode::signalled
          : post_mode::delivered;
};

}  // namespace weft
