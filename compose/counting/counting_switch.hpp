// SPDX-License-Identifier: Apache-2.0
//
// Where a transport keeps its counters. Those of counting::on_request begin while the program runs, for libraries whose
// users decide by an option or by the environment: the calls of counting_engine, each behind one test. Off, a post and
// an event cost that test; on, they cost one call more than with counting::at_open. Fabric fact: none. Hot path: all of
// it. Threads: the owner's.
#pragma once

#include "counting_engine.hpp"

#include <memory>
#include <string_view>
#include <utility>

namespace weft::detail {

/// Counters from the begin on: counting::at_open.
template <class Counting>
class counting_always {
 public:
  using counting = Counting;
  Counting* on() const noexcept { return on_.get(); }
  void begin(std::unique_ptr<Counting> made) noexcept { on_ = std::move(made); }
  [[gnu::always_inline]] Counting& here() noexcept { return *on_; }

 private:
  std::unique_ptr<Counting> on_;
};

template <class Counting>
class counting_switch {
 public:
  using counting = counting_switch;
  [[gnu::always_inline]] counting_switch& here() noexcept { return *this; }
  /// Null: nothing is counted.
  Counting* on() const noexcept { return on_.get(); }
  void begin(std::unique_ptr<Counting> made) noexcept { on_ = std::move(made); }

  [[gnu::always_inline]] status posted(peer to, traffic kind, std::uint64_t bytes, status s,
                                       const void* context = nullptr) noexcept {
    if (on_) [[unlikely]]
      count_post(to, kind, bytes, s, context);
    return s;
  }
  [[gnu::always_inline]] void ended(const completed& e) noexcept {
    if (on_) [[unlikely]]
      count_end(e);
  }
  void ended(const failed& e) noexcept {
    if (on_) on_->ended(e);
  }
  [[gnu::always_inline]] void message(peer from, std::uint64_t bytes) noexcept {
    if (on_) [[unlikely]]
      count_message(from, bytes);
  }
  [[gnu::always_inline]] void notice(const notified& e) noexcept {
    if (on_) [[unlikely]]
      count_notice(e);
  }
  [[gnu::always_inline]] void polled(int found) noexcept {
    if (on_) [[unlikely]]
      on_->polled(found);
  }
  void dials(peer p, std::string_view where) noexcept {
    if (on_) on_->dials(p, where);
  }
  void met(peer p, std::string_view where = {}) noexcept {
    if (on_) on_->met(p, where);
  }
  void lost(const weft::lost& e) noexcept {
    if (on_) on_->lost(e);
  }
  void gone(peer p) noexcept {
    if (on_) on_->gone(p);
  }
  void take_engine_counts() noexcept {
    if (on_) on_->take_engine_counts();
  }

 private:
  [[gnu::noinline]] void count_post(peer to, traffic kind, std::uint64_t bytes, status s,
                                    const void* context) noexcept {
    (void)on_->posted(to, kind, bytes, s, context);
  }
  [[gnu::noinline]] void count_end(const completed& e) noexcept { on_->ended(e); }
  [[gnu::noinline]] void count_message(peer from, std::uint64_t bytes) noexcept { on_->message(from, bytes); }
  [[gnu::noinline]] void count_notice(const notified& e) noexcept { on_->notice(e); }

  std::unique_ptr<Counting> on_;
};

}  // namespace weft::detail
