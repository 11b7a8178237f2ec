// SPDX-License-Identifier: Apache-2.0
//
// The four states of a write, as types: a caller names the state that it needs, `net.put(peer, from, at,
// weft::completes_when<weft::states::visible>(context))`, and the fabric's row says at compile time which library call
// gives it. Where no single call gives a state, weft emulates it: a message after the write, and the peer's answer
// (policies/flush.hpp). A state that the fabric cannot report does not compile. Hot path: compile time only. Threads:
// values.
#pragma once

#include "fabric.hpp"

namespace weft {

namespace states {
/// The library has the write. Nothing more is reported, except a failure with a null context.
struct posted {};
/// The source may be written again. On rows whose library hides refused writes, a refusal stays hidden.
struct source_reusable {};
/// The target's card or process accepted the write: a refused write ends in an error.
struct delivered {};
/// The target's processor sees the bytes.
struct visible {};
}  // namespace states

template <class State>
concept write_state = std::same_as<State, states::posted> || std::same_as<State, states::source_reusable> ||
    std::same_as<State, states::delivered> || std::same_as<State, states::visible>;

/// The state in which an operation completes, and the context of its end: completes_when<states::delivered>(&request).
/// completes_when<states::posted>() takes no context.
template <write_state State>
struct completes_when {
  explicit constexpr completes_when(void* c) noexcept requires(!std::same_as<State, states::posted>) : context(c) {}
  constexpr completes_when() noexcept requires(std::same_as<State, states::posted>) = default;
  void* context = nullptr;
};

/// How fabric F gives a state.
template <complete_fabric F, write_state State>
struct reached_by {
  static constexpr const fabric_facts& facts = F::facts;
  /// The completion of the write itself means the state.
  static constexpr bool native = std::same_as<State, states::posted> || std::same_as<State, states::source_reusable> ||
                                 facts.delivery_complete ||
                                 (std::same_as<State, states::delivered> && facts.refused_write == refusal::reported);
  static constexpr bool emulated = !native && answer<F, flush_family>::by_message;
  static constexpr post_mode mode =
      std::same_as<State, states::posted> ? post_mode::unsignalled
      : (std::same_as<State, states::source_reusable> && !answer<F, flush_family>::tracks) || !facts.delivery_complete
          ? post_mode::signalled
          : post_mode::delivered;
};

}  // namespace weft
