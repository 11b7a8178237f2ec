// SPDX-License-Identifier: Apache-2.0
//
// The contents of a send queue, in the order of posting.
// The card frees entries of unsignalled work only with the next signalled completion (ibv_post_send(3)). So one of N is
// signalled always. N is at most half of the queue: a full queue holds a signalled entry and empties itself.
// Each entry stores its link and whether its end is reported. A signalled entry is free only after its own completion:
// soft iWARP completes sends while an earlier read is still under way.
// Hot path: all but open(). Threads: one owner.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::backends::verbs {

/// One entry of a send queue; its address with the lowest bit set is the work request's id.
template <class Owner>
struct send_place {
  void* context = nullptr;
  Owner* owner = nullptr;
  send_place* after = nullptr;  ///< The next entry of the ring.
  bool reported = false;        ///< Its success is reported.
  bool ended = false;           ///< Its own completion has arrived.
  bool signalled = false;       ///< It was posted with a signal.
  bool none = false;            ///< Padding: the four flags are written with one store.
};

template <class Owner>
class send_queue {
 public:
  using place = send_place<Owner>;

  /// `usable` entries for callers, and `reserve` more for the backend's own work. Nothing is usable before admit().
  void open(Owner* owner, std::uint32_t usable, std::uint32_t reserve, std::uint32_t signal_one_of) {
    places_.assign(std::bit_ceil(usable + reserve), place{nullptr, owner});
    mask_ = static_cast<std::uint32_t>(places_.size() - 1);
    for (std::size_t i = 0; i < places_.size(); ++i) places_[i].after = &places_[(i + 1) & mask_];
    next_ = places_.data();
    size_ = usable;
    reserve_ = reserve;
    signal_one_of_ = std::clamp(signal_one_of, 1U, std::max(1U, usable / 2));
  }

  /// admit() gives room, shut() takes it: a shut queue counts as full, so the hot path tests one condition.
  void admit() noexcept { limit_ = size_; }
  void shut() noexcept { limit_ = 0; }

  bool full() const noexcept { return posted_ - retired_ >= limit_; }
  bool has_room_for(std::uint32_t count) const noexcept { return posted_ - retired_ + count <= limit_; }
  bool reserve_full() const noexcept { return limit_ == 0 || posted_ - retired_ >= limit_ + reserve_; }
  std::uint32_t in_flight() const noexcept { return posted_ - retired_; }
  std::uint32_t room() const noexcept { return full() ? 0 : limit_ - (posted_ - retired_); }

  /// Takes the next entry. It is signalled if its end is reported, or if it is the N-th unsignalled one. Requires: not
  /// full(), or not reserve_full() for the backend's own work.
  [[gnu::always_inline]] place& take(void* context, bool reported) noexcept {
    place& taken = places_[posted_++ & mask_];
    taken.context = context;
    taken.reported = reported;
    taken.ended = false;
    taken.signalled = reported || ++silent_ >= signal_one_of_;
    if (taken.signalled) silent_ = 0;
    return taken;
  }
  /// The same inside a list: signalled only if its end is reported. Requires: room for the whole list when it was
  /// opened.
  [[gnu::always_inline]] place& take_listed(void* context, bool reported) noexcept {
    place& taken = places_[posted_++ & mask_];
    taken.context = context;
    taken.reported = reported;
    taken.ended = false;
    taken.signalled = reported;
    taken.none = false;
    return taken;
  }
  /// Closes a list of `count` members. Returns whether its last must be signalled. A run of unsignalled entries has at
  /// most N and a list's length; a full queue still ends in a signalled entry.
  bool close_list(std::uint32_t count) noexcept {
    place& last = places_[(posted_ - 1) & mask_];
    silent_ = last.signalled ? 0 : silent_ + count;
    if (silent_ >= signal_one_of_) {
      last.signalled = true;
      silent_ = 0;
    }
    return last.signalled;
  }
  /// Makes the last entry's end reported.
  void signal_last(void* context) noexcept {
    place& last = places_[(posted_ - 1) & mask_];
    last.context = context;
    last.reported = last.signalled = true;
  }
  /// The last `count` were not posted. One of them may have been signalled, so the next one is.
  void take_back(std::uint32_t count) noexcept {
    posted_ -= count;
    silent_ = signal_one_of_;
    if (static_cast<std::int32_t>(seen_ - posted_) > 0) seen_ = posted_;
  }

  /// A completion names an entry: it is free, and so are the unsignalled ones before it.
  void retire(place& done) noexcept {
    if (!retire_next(done)) retire_rare(done);
  }
  /// The usual case: the entry directly after the last one ended. False: another entry; call retire_rare().
  [[gnu::always_inline]] bool retire_next(place& done) noexcept {
    if (&done != next_) [[unlikely]]
      return false;
    done.ended = true;
    next_ = done.after;
    ++retired_;
    return true;
  }
  /// The other cases: unsignalled entries are before it, it overtook others, it was overtaken, or end_next_rare() was
  /// called.
  void retire_rare(place& done) noexcept {
    done.ended = true;
    if (static_cast<std::int32_t>(retired_ - seen_) > 0) seen_ = retired_;
    const std::uint32_t after =
        retired_ + ((static_cast<std::uint32_t>(&done - places_.data()) - retired_) & mask_) + 1;
    if (static_cast<std::int32_t>(after - seen_) > 0) seen_ = after;
    while (retired_ != seen_ && (places_[retired_ & mask_].ended || !places_[retired_ & mask_].signalled)) ++retired_;
    // While some have overtaken others, all take the rare path.
    next_ = retired_ == seen_ ? &places_[retired_ & mask_] : nullptr;
  }
  /// The next completion takes the rare path.
  void end_next_rare() noexcept { next_ = nullptr; }

  /// Whether some work in flight has a reported end. Visits each entry: cold.
  bool has_unreported_end() const noexcept {
    for (std::uint32_t i = retired_; i != posted_; ++i)
      if (places_[i & mask_].reported && !places_[i & mask_].ended) return true;
    return false;
  }

 private:
  std::vector<place> places_;
  place* next_ = nullptr;  ///< The entry that retire_next() accepts.
  std::uint32_t mask_ = 0;
  std::uint32_t posted_ = 0;
  std::uint32_t retired_ = 0;
  std::uint32_t seen_ = 0;  ///< Position after the last completion of those that took the rare path.
  std::uint32_t limit_ = 0;
  std::uint32_t silent_ = 0;
  std::uint32_t signal_one_of_ = 1;
  std::uint32_t size_ = 0;
  std::uint32_t reserve_ = 0;
};

}  // namespace weft::backends::verbs
