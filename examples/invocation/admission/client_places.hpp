// SPDX-License-Identifier: Apache-2.0
//
// The clients of a manager. A client shows no credentials, so strangers can take every place. A client that asks for
// nothing therefore gives its place to the next one, and loses it after a time. Workers have places of their own, which
// no client gets. Hot path: no. Threads: the manager's.
#pragma once

#include <weft/compose/events.hpp>
#include <weft/core/time.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft::invocation {

class client_places {
 public:
  explicit client_places(std::size_t most) : most_(most) {}

  std::size_t most() const noexcept { return most_; }
  std::size_t taken() const noexcept { return places_.size(); }
  bool full() const noexcept { return places_.size() >= most_; }

  void enter(peer who, instant now) { places_.push_back({who, now, false}); }
  void leave(peer who) noexcept {
    std::erase_if(places_, [&](const place& p) { return p.who == who; });
  }
  template <class On>
  void each(On&& on) const {
    for (const place& p : places_) on(p.who);
  }
  /// The client sent a request that can be read.
  void asked(peer who, instant now) noexcept {
    for (place& p : places_)
      if (p.who == who) p.asked = true, p.since = now;
  }

  /// The client that gives its place to a new one: the oldest that never asked, else the one whose request is oldest.
  /// `serves(peer)`: it has an allocation, and stays. Null: nobody leaves.
  template <class Serves>
  peer first_to_leave(instant now, Serves&& serves) const {
    const place* first = nullptr;
    for (const place& p : places_) {
      if (now - p.since < grace || serves(p.who)) continue;
      if (first == nullptr || p.asked < first->asked || (p.asked == first->asked && p.since < first->since)) first = &p;
    }
    return first == nullptr ? peer() : first->who;
  }
  /// A client that has not asked for anything within the limit. Null: there is none.
  peer first_late(instant now, duration limit) const {
    for (const place& p : places_)
      if (!p.asked && now - p.since >= limit) return p.who;
    return {};
  }

 private:
  /// A younger client keeps its place: its request may be on the way.
  static constexpr duration grace = std::chrono::milliseconds(100);
  struct place {
    peer who;
    instant since{};  ///< Of the connection, or of the last request.
    bool asked = false;
  };
  std::size_t most_;
  std::vector<place> places_;
};

}  // namespace weft::invocation
