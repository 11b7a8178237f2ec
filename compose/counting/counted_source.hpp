// SPDX-License-Identifier: Apache-2.0
//
// What counters know of the transport that they count: which place a peer has, the clock, and the counts that the
// transport keeps itself. One for a fabric, and one for a set, whose members have their places one behind the other.
// Hot path: index_of(). Threads: the owner's.
#pragma once

#include "../engine/engine.hpp"
#include "../sets/set_state.hpp"

#include <cstdint>

namespace weft::detail {

/// Counts that a transport keeps itself.
struct engine_counts {
  std::uint64_t stale = 0, garbled = 0, turned_away = 0;
  sleep_counts sleeps;
};

/// A transport of one fabric.
template <class Engine>
class engine_source {
 public:
  explicit engine_source(Engine& e) noexcept : e_(e) {}
  const void* id() const noexcept { return &e_; }  ///< What probes call the transport.
  std::uint32_t places() const noexcept { return e_.peers.capacity(); }
  /// no_index for nobody.
  [[gnu::always_inline]] std::uint32_t index_of(peer p) const noexcept {
    const auto* const r = static_cast<const typename Engine::record*>(peer_access::record(p));
    return r == nullptr ? no_index : e_.peers.index_of(*r);
  }
  instant now() const noexcept { return e_.port->now(); }
  engine_counts counts() const noexcept { return {e_.stale, e_.garbled, e_.turned_away, e_.sleeps}; }

 private:
  Engine& e_;
};

/// A transport of several fabrics.
template <class... F>
class set_source {
  using state = set_state<F...>;

 public:
  explicit set_source(state& s) noexcept : s_(s) {}
  const void* id() const noexcept { return &s_; }
  std::uint32_t places() const noexcept { return each() * static_cast<std::uint32_t>(sizeof...(F)); }
  [[gnu::always_inline]] std::uint32_t index_of(peer p) const noexcept {
    const peer_header* const header = peer_access::record(p);
    std::uint32_t index = no_index;
    if (header == nullptr) return index;
    s_.engines.each_open([&]<std::size_t I>(auto& engine) {
      using record = typename std::remove_reference_t<decltype(engine)>::record;
      if (header->member == I)
        index = static_cast<std::uint32_t>(I) * each() + engine.peers.index_of(static_cast<const record&>(*header));
    });
    return index;
  }
  instant now() const noexcept { return s_.rough_now(); }
  engine_counts counts() const noexcept {
    engine_counts all{0, 0, 0, s_.sleeps};
    all.sleeps.missed_wakes = 0;
    s_.engines.each_open([&]<std::size_t I>(auto& engine) {
      all.stale += engine.stale, all.garbled += engine.garbled, all.turned_away += engine.turned_away;
      all.sleeps.missed_wakes += engine.sleeps.missed_wakes;
    });
    return all;
  }

 private:
  std::uint32_t each() const noexcept { return s_.options.peers; }
  state& s_;
};

/// The source of a transport, by its fabric.
template <class F>
struct source_of_counts {
  using type = engine_source<engine<F>>;
  static type of(transport<F>& net) noexcept { return type(transport_parts::engine_of(net)); }
};
template <class... F>
struct source_of_counts<fabric_set<F...>> {
  using type = set_source<F...>;
  static type of(transport<fabric_set<F...>>& net) noexcept { return type(transport_parts::state_of(net)); }
};

}  // namespace weft::detail
