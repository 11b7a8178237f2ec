// SPDX-License-Identifier: Apache-2.0
//
// What is in a send queue, in the order of posting. The card frees places of unsignalled work only with the next
// signalled completion (ibv_post_send(3)), so one of N is signalled whether anybody asked or not; N is half of the
// queue at most, so that a full queue always holds a signalled one and empties itself. Each place remembers whose it is
// and whether its end is to be told. A signalled place is free when its own completion came, not before: soft iWARP
// completes sends while a read before them is still under way. Hot path: all but open(). Threads: one owner.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::backends::verbs {

/// One place of a send queue; its address is the work request's id, lowest bit set.
template <class Owner>
struct send_place {
  void* context = nullptr;
  Owner* owner = nullptr;
  send_place* after = nullptr;  ///< Around the ring.
  bool told = false;            ///< Its success is somebody's business.
  bool ended = false;           ///< Its own completion has come,
  bool signalled = false;       ///< and was to come.
  bool none = false;            ///< Makes four bytes of the flags: written with one store.
};

template <class Owner>
class send_queue {
 public:
  using place = send_place<Owner>;

  /// `usable` places for callers, `reserve` more for the backend's own work. Nothing is usable until admit().
  void open(Owner* owner, std::uint32_t usable, std::uint32_t reserve, std::uint32_t signal_one_of) {
    places_.assign(std::bit_ceil(usable + reserve), place{nullptr, owner});
    mask_ = static_cast<std::uint32_t>(places_.size() - 1);
    for (std::size_t i = 0; i < places_.size(); ++i) places_[i].after = &places_[(i + 1) & mask_];
    next_ = places_.data();
    size_ = usable;
    reserve_ = reserve;
    signal_one_of_ = std::clamp(signal_one_of, 1U, std::max(1U, usable / 2));
  }

  /// From now on there is room, or there is none: a queue that is shut is full, so that the hot path asks one question.
  void admit() noexcept { limit_ = size_; }
  void shut() noexcept { limit_ = 0; }

  bool full() const noexcept { return posted_ - retired_ >= limit_; }
  bool has_room_for(std::uint32_t count) const noexcept { return posted_ - retired_ + count <= limit_; }
  bool reserve_full() const noexcept { return limit_ == 0 || posted_ - retired_ >= limit_ + reserve_; }
  std::uint32_t in_flight() const noexcept { return posted_ - retired_; }
  std::uint32_t room() const noexcept { return full() ? 0 : limit_ - (posted_ - retired_); }

  /// Takes the next place; `signalled` says whether the work must be: because its end is to be told, or because it is
  /// the N-th that nobody asked for. Requires: not full, or not reserve_full for the backend's own.
  [[gnu::always_inline]] place& take(void* context, bool told) noexcept {
    place& taken = places_[posted_++ & mask_];
    taken.context = context;
    taken.told = told;
    taken.ended = false;
    taken.signalled = told || ++silent_ >= signal_one_of_;
    if (taken.signalled) silent_ = 0;
    return taken;
  }
  /// The same inside a list, where it is signalled only if its end is to be told. Requires: room for the whole list
  /// when it was begun.
  [[gnu::always_inline]] place& take_listed(void* context, bool told) noexcept {
    place& taken = places_[posted_++ & mask_];
    taken.context = context;
    taken.told = told;
    taken.ended = false;
    taken.signalled = told;
    taken.none = false;
    return taken;
  }
  /// A list of `count` ends: whether its last must be signalled. A run that nobody is told of gets one signal, and is N
  /// and a list long at most; what is posted of a full queue still ends in a signalled place.
  bool close_list(std::uint32_t count) noexcept {
    place& last = places_[(posted_ - 1) & mask_];
    silent_ = last.signalled ? 0 : silent_ + count;
    if (silent_ >= signal_one_of_) {
      last.signalled = true;
      silent_ = 0;
    }
    return last.signalled;
  }
  /// The last one's end is to be told after all.
  void tell_last(void* context) noexcept {
    place& last = places_[(posted_ - 1) & mask_];
    last.context = context;
    last.told = last.signalled = true;
  }
  /// The last `count` were not posted after all. One of them may have been signalled: the next one is.
  void take_back(std::uint32_t count) noexcept {
    posted_ -= count;
    silent_ = signal_one_of_;
    if (static_cast<std::int32_t>(seen_ - posted_) > 0) seen_ = posted_;
  }

  /// A completion names a place: it is free, and so are the unsignalled ones before it.
  void retire(place& done) noexcept {
    if (!retire_next(done)) retire_apart(done);
  }
  /// Most signalled places end right behind the last one that did. False: this one does not, and retire_apart() comes
  /// next.
  [[gnu::always_inline]] bool retire_next(place& done) noexcept {
    if (&done != next_) [[unlikely]]
      return false;
    done.ended = true;
    next_ = done.after;
    ++retired_;
    return true;
  }
  /// Unsignalled ones are before it, or it overtook others, or was overtaken, or whoever waits for room asked to be
  /// seen to.
  void retire_apart(place& done) noexcept {
    done.ended = true;
    if (static_cast<std::int32_t>(retired_ - seen_) > 0) seen_ = retired_;
    const std::uint32_t after =
        retired_ + ((static_cast<std::uint32_t>(&done - places_.data()) - retired_) & mask_) + 1;
    if (static_cast<std::int32_t>(after - seen_) > 0) seen_ = after;
    while (retired_ != seen_ && (places_[retired_ & mask_].ended || !places_[retired_ & mask_].signalled)) ++retired_;
    next_ =
        retired_ == seen_ ? &places_[retired_ & mask_] : nullptr;  // while some have overtaken others, all end apart
  }
  /// The next to end does so apart, whichever it is.
  void end_apart() noexcept { next_ = nullptr; }

  /// Whether some work in flight has an end to be told. Looks at each: cold.
  bool has_unreported_end() const noexcept {
    for (std::uint32_t i = retired_; i != posted_; ++i)
      if (places_[i & mask_].told && !places_[i & mask_].ended) return true;
    return false;
  }

 private:
  std::vector<place> places_;
  place* next_ = nullptr;  ///< The place that is retired at once when it ends.
  std::uint32_t mask_ = 0;
  std::uint32_t posted_ = 0;
  std::uint32_t retired_ = 0;
  std::uint32_t seen_ = 0;  ///< Behind the last completion, of those that were retired apart.
  std::uint32_t limit_ = 0;
  std::uint32_t silent_ = 0;
  std::uint32_t signal_one_of_ = 1;
  std::uint32_t size_ = 0;
  std::uint32_t reserve_ = 0;
};

}  // namespace weft::backends::verbs
