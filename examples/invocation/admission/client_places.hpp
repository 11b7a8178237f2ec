// SPDX-License-Identifier: Apache-2.0
//
// The clients of a manager. A client shows no credentials, so strangers can take every place. A client that asks for
// nothing therefore gives its place to the next one, and loses it after a time. Workers have places of their own, which
// no client gets. Each call looks at a few clients, however many there are. Hot path: no. Threads: the manager's.
#pragma once

#include <weft/compose/events.hpp>
#include <weft/core/time.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

namespace weft::invocation {

class client_places {
 public:
  explicit client_places(std::size_t most) : most_(most) {}

  std::size_t most() const noexcept { return most_; }
  std::size_t taken() const noexcept { return places_.size(); }
  bool full() const noexcept { return places_.size() >= most_; }

  void enter(peer who, instant now) {
    place& p = places_[who];
    p = {now, ++numbers_, standing::silent};
    enter_list(who, p);
  }
  void leave(peer who) noexcept {
    const auto found = places_.find(who);
    if (found == places_.end()) return;
    leave_list(found->second);
    places_.erase(found);
  }
  template <class On>
  void each(On&& on) const {
    for (const auto& [who, its] : places_) on(who);
  }
  /// The client sent a request that can be read.
  void asked(peer who, instant now) {
    change(who, [now](place& p) {
      p.since = now;
      if (p.is == standing::silent) p.is = standing::asking;
    });
  }
  /// The client has an allocation, or has none any more. One that has keeps its place.
  void serves(peer who, bool has) {
    change(who, [has](place& p) { p.is = has ? standing::serving : standing::asking; });
  }

  /// The client that gives its place to a new one: the oldest that never asked, else the one whose request is oldest.
  /// Null: nobody leaves.
  peer first_to_leave(instant now) const {
    for (const ages* list : {&silent_, &asking_})
      if (!list->empty() && now - list->begin()->first.first >= grace) return list->begin()->second;
    return {};
  }
  /// A client that has not asked for anything within the limit. Null: there is none.
  peer first_late(instant now, duration limit) const {
    return !silent_.empty() && now - silent_.begin()->first.first >= limit ? silent_.begin()->second : peer();
  }

 private:
  /// A younger client keeps its place: its request may be on the way.
  static constexpr duration grace = std::chrono::milliseconds(100);
  /// Clients by their age. Of one instant, the one that came first.
  using ages = std::map<std::pair<instant, std::uint64_t>, peer>;
  enum class standing : std::uint8_t { silent, asking, serving };  ///< asking: it has asked, and has no allocation.
  struct place {
    instant since{};  ///< Of the connection, or of the last request.
    std::uint64_t number = 0;
    standing is = standing::silent;
  };

  ages* list_of(const place& p) noexcept {
    if (p.is == standing::serving) return nullptr;
    return p.is == standing::asking ? &asking_ : &silent_;
  }
  void enter_list(peer who, const place& p) {
    if (ages* const list = list_of(p); list != nullptr) list->emplace(std::pair(p.since, p.number), who);
  }
  void leave_list(const place& p) noexcept {
    if (ages* const list = list_of(p); list != nullptr) list->erase({p.since, p.number});
  }
  template <class How>
  void change(peer who, How&& how) {
    const auto found = places_.find(who);
    if (found == places_.end()) return;
    leave_list(found->second);
    how(found->second);
    enter_list(who, found->second);
  }

  std::size_t most_;
  std::unordered_map<peer, place> places_;
  ages silent_, asking_;  ///< Of those that may leave.
  std::uint64_t numbers_ = 0;
};

}  // namespace weft::invocation
