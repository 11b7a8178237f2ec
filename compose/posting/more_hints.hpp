// SPDX-License-Identifier: Apache-2.0
//
// How many posts in a row carry the hint that more follows (FI_MORE, fi_msg(3)), and how many members a batch posted.
// A library may hold such posts back until one without the hint. A queue full of held posts never has room again, and
// neither has a pool of operations, so a post without the hint comes well before that. All batches of a transport share
// its queue: one of them hints at a time. Hot path: one count down per member. Threads: the owner's.
#pragma once

#include "../events.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace weft::detail {

template <class Engine>
class more_hints {
 public:
  more_hints() noexcept = default;
  more_hints(more_hints&& other) noexcept { *this = std::move(other); }
  more_hints& operator=(more_hints&& other) noexcept {
    posted_ = other.posted_;
    unready_ = other.unready_;
    ready_[0] = std::exchange(other.ready_[0], none);
    ready_[1] = std::exchange(other.ready_[1], none);
    owns_ = std::exchange(other.owns_, false);
    return *this;
  }
  ~more_hints() = default;

  /// Members that the library took.
  std::uint32_t posted() const noexcept { return posted_ - left(); }

  /// Whether the next post may carry the hint.
  bool allowed(Engine& e) noexcept {
    if (!owns_) {
      if (e.batch_hints) return false;
      e.batch_hints = owns_ = true;
      restart(e);
    }
    return left() != 0;
  }
  /// A post with the hint was taken, of a member that was not ready.
  void spend() noexcept { --unready_; }
  /// A post without the hint was taken: the library holds nothing back.
  void posted_alone(const Engine& e) noexcept {
    ++posted_;
    if (owns_) restart(e);
  }
  /// The next post goes without the hint, also if it repeats one that had no room.
  void end() noexcept {
    posted_ -= left();
    unready_ = 0;
    ready_[0] = ready_[1] = none;
  }
  /// The batch is closed.
  void release(Engine& e) noexcept {
    unready();
    if (std::exchange(owns_, false)) e.batch_hints = false;
  }

  // ---- a member that is ready: a write in the library's words, which one call with the hint posts
  /// The first member of a batch. False: another batch hints, or this member is not the first.
  [[gnu::always_inline]] bool begin_ready(Engine& e, operation what) noexcept {
    if (e.batch_hints) return false;
    e.batch_hints = owns_ = true;
    posted_ += longest(e);
    ready_[place(what)] = none + longest(e);
    return true;
  }
  void ready(operation what) noexcept { ready_[place(what)] = none + std::exchange(unready_, 0); }
  void unready() noexcept {
    unready_ = left();
    ready_[0] = ready_[1] = none;
  }
  /// One such member is kept, and a hint is left for it.
  [[gnu::always_inline]] bool is_ready(operation what) const noexcept { return ready_[place(what)] != none; }
  [[gnu::always_inline]] bool any_ready() const noexcept {
    return is_ready(operation::put) || is_ready(operation::put_notify);
  }
  [[gnu::always_inline]] void spend_ready(operation what) noexcept { --ready_[place(what)]; }
  /// As posted_alone and release, behind a ready member that is the last.
  [[gnu::always_inline]] void close(Engine& e, bool taken) noexcept {
    posted_ += std::uint32_t{taken};
    unready();
    e.batch_hints = false;
  }

 private:
  static_assert(static_cast<unsigned>(operation::put_notify) == static_cast<unsigned>(operation::put) + 1);
  static constexpr unsigned place(operation what) noexcept {
    return static_cast<unsigned>(what) - static_cast<unsigned>(operation::put);
  }
  static constexpr std::uint32_t longest([[maybe_unused]] const Engine& e) noexcept {
    std::uint32_t room = Engine::fabric::facts.queue_depth;
    if constexpr (!Engine::markers || Engine::tracks_writes) room = std::min(room, e.options.operations);
    return std::clamp(room / 4, 1U, 64U);
  }
  std::uint32_t left() const noexcept { return unready_ + (ready_[0] - none) + (ready_[1] - none); }
  void restart(const Engine& e) noexcept {
    posted_ += longest(e) - left();
    unready_ = longest(e);
    ready_[0] = ready_[1] = none;
  }

  std::uint32_t posted_ = 0;  ///< Members taken plus hints left: one count per member serves both.
  // Hints left, at one place of three: which kind of member is ready, put or put_notify, or none. Ready ones are
  // counted down to 1, since g++ compares memory with 0 in one instruction more.
  static constexpr std::uint32_t none = 1;
  std::uint32_t unready_ = 0;
  std::uint32_t ready_[2]{none, none};
  bool owns_ = false;  ///< The transport's hints are this batch's.
};

/// Ports whose posts carry no hint.
template <class Engine>
class no_hints {
 public:
  std::uint32_t posted() const noexcept { return posted_; }
  static constexpr bool allowed(Engine& /*e*/) noexcept { return true; }
  void spend() noexcept { ++posted_; }
  void posted_alone(const Engine& /*e*/) noexcept { ++posted_; }
  static constexpr void end() noexcept {}
  static constexpr void release(Engine& /*e*/) noexcept {}

 private:
  std::uint32_t posted_ = 0;
};

}  // namespace weft::detail
