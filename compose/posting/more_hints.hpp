// SPDX-License-Identifier: Apache-2.0
//
// How many posts in a row carry the hint that more follows (FI_MORE, fi_msg(3)), and how many members a batch posted.
// A library may hold such posts back until one without the hint. A queue full of held posts never has room again, and
// the pool of operations stays empty too. So a post without the hint comes well before that. All batches of a transport
// share its queue: one of them hints at a time. After `again`, polls release the held posts. Hot path: one count down
// per member. Threads: the owner's.
#pragma once

#include "../../wire/message_tag.hpp"
#include "../engine/engine.hpp"
#include "initiator.hpp"

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
    plain_ = other.plain_;
    prepared_[0] = std::exchange(other.prepared_[0], none);
    prepared_[1] = std::exchange(other.prepared_[1], none);
    owns_ = std::exchange(other.owns_, false);
    return *this;
  }
  ~more_hints() = default;

  /// Members that the library took.
  std::uint32_t posted() const noexcept { return posted_ - left(); }

  /// Whether the next post may carry the hint.
  bool allowed(Engine& e) noexcept {
    if (!owns_) {
      if (e.batch_hints != batch_hints::none) return false;
      take_hints(e);
      restart(e);
    }
    return left() != 0;
  }
  /// A post with the hint was taken, of a member that was not prepared.
  void spend() noexcept { --plain_; }
  /// A post without the hint was taken: the library holds nothing back.
  void posted_alone(Engine& e) noexcept {
    ++posted_;
    if (!owns_) return;
    e.batch_hints = batch_hints::in_use;
    restart(e);
  }
  /// The batch answers `again`. The library may hold its earlier members, and the caller may only poll from now on.
  void stall(Engine& e, peer to) noexcept {
    if (!owns_) return;
    e.batch_hints = batch_hints::stalled;
    e.stalled_batch = to;
    e.put_off();
  }
  /// A poll came. The second poll without a post of the batch sends a heartbeat, which carries no hint: the library
  /// then sends what it holds.
  static void polled(Engine& e) noexcept {
    if (e.batch_hints == batch_hints::stalled) {
      e.batch_hints = batch_hints::polled;
      return;
    }
    typename Engine::record* r = initiator<Engine>::living(e.stalled_batch);
    if (r != nullptr && e.tell(*r, wire::message_kind::heartbeat, {}).is_again()) return;
    e.batch_hints = batch_hints::in_use;
  }
  /// The next post goes without the hint, also if it repeats one that had no room.
  void end() noexcept {
    posted_ -= left();
    plain_ = 0;
    prepared_[0] = prepared_[1] = none;
  }
  /// The batch is closed.
  void release(Engine& e) noexcept {
    unprepare();
    if (std::exchange(owns_, false)) e.batch_hints = batch_hints::none;
  }

  // ---- a prepared member: a write in the library's structures, which one call with the hint posts
  /// The first member of a batch. False: another batch hints, or this member is not the first.
  [[gnu::always_inline]] bool begin_prepared(Engine& e, operation what) noexcept {
    if (e.batch_hints != batch_hints::none) return false;
    take_hints(e);
    posted_ += longest(e);
    prepared_[place(what)] = none + longest(e);
    return true;
  }
  void prepare(operation what) noexcept { prepared_[place(what)] = none + std::exchange(plain_, 0); }
  void unprepare() noexcept {
    plain_ = left();
    prepared_[0] = prepared_[1] = none;
  }
  /// One such member is kept, and a hint is left for it.
  [[gnu::always_inline]] bool is_prepared(operation what) const noexcept { return prepared_[place(what)] != none; }
  [[gnu::always_inline]] bool any_prepared() const noexcept {
    return is_prepared(operation::put) || is_prepared(operation::put_notify);
  }
  [[gnu::always_inline]] void spend_prepared(operation what) noexcept { --prepared_[place(what)]; }
  /// As posted_alone and release, when the last member is prepared.
  [[gnu::always_inline]] void close(Engine& e, bool taken) noexcept {
    posted_ += std::uint32_t{taken};
    unprepare();
    e.batch_hints = batch_hints::none;
  }

 private:
  void take_hints(Engine& e) noexcept {
    e.batch_hints = batch_hints::in_use;
    owns_ = true;
  }
  static_assert(static_cast<unsigned>(operation::put_notify) == static_cast<unsigned>(operation::put) + 1);
  static constexpr unsigned place(operation what) noexcept {
    return static_cast<unsigned>(what) - static_cast<unsigned>(operation::put);
  }
  static constexpr std::uint32_t longest([[maybe_unused]] const Engine& e) noexcept {
    std::uint32_t room = Engine::fabric::facts.queue_depth;
    if constexpr (!Engine::markers || Engine::tracks_writes || Engine::slot_per_message)
      room = std::min(room, e.options.operations);
    return std::max(1U, std::min(room / 4, 64U));
  }
  std::uint32_t left() const noexcept { return plain_ + (prepared_[0] - none) + (prepared_[1] - none); }
  void restart(const Engine& e) noexcept {
    posted_ += longest(e) - left();
    plain_ = longest(e);
    prepared_[0] = prepared_[1] = none;
  }

  std::uint32_t posted_ = 0;  ///< Members taken plus hints left: one count per member serves both.
  // Hints left, at one place of three: which kind of member is prepared: put, put_notify or none. Prepared ones are
  // counted down to 1, since g++ compares memory with 0 in one instruction more.
  static constexpr std::uint32_t none = 1;
  std::uint32_t plain_ = 0;
  std::uint32_t prepared_[2]{none, none};
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
  static constexpr void stall(Engine& /*e*/, peer /*to*/) noexcept {}
  static constexpr void release(Engine& /*e*/) noexcept {}

 private:
  std::uint32_t posted_ = 0;
};

}  // namespace weft::detail
