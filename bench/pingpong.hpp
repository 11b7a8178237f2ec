// SPDX-License-Identifier: Apache-2.0
//
// A ping-pong between two ends. The same loop drives weft's end and the hand-written one, so that only post() and
// poll() differ. Payloads are compared in separate rounds before anything is timed. An end has: post<ending>(size,
// immediate) -> bool, poll() -> arrivals, ended(), immediate(), outgoing(), incoming(). Hot path: all of it. Threads:
// one per end.
#pragma once

#include "timing.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace weft::bench {

/// The completion that a post requests: none, one, or one that says "the target has the bytes".
enum class ending { unsignalled, signalled, delivered };

/// How both ends of a run behave.
struct round_plan {
  std::size_t size;
  std::size_t rounds;
  patience waiting;
};

/// This side calls `Meanwhile` now and then while it waits. Reason: where data moves only in polls, the other
/// contender's last post leaves only when its end is polled again.
template <ending M, class End, class Meanwhile>
class pingpong {
 public:
  pingpong(End& end, round_plan plan, Meanwhile meanwhile) noexcept
      : end_(end), plan_(plan), spin_(plan.waiting), meanwhile_(meanwhile) {}

  /// The initiating side: one sample per full round trip.
  void ask(samples& into) {
    std::uint64_t before = now_ns();
    for (std::size_t i = 0; i < plan_.rounds; ++i) {
      post(static_cast<std::uint32_t>(i));
      wait();
      const std::uint64_t now = now_ns();
      into.add(now - before);
      before = now;
    }
    drain();
  }
  /// The answering side. It awaits its posts before its last answer. After that answer the other side may begin another
  /// turn, and a poll for a completion would take, and lose, that turn's first transfer.
  void answer() {
    for (std::size_t i = 0; i < plan_.rounds; ++i) {
      wait();
      if (i + 1 == plan_.rounds) drain();
      post(static_cast<std::uint32_t>(i));
    }
  }

  /// Rounds with a pattern that the other side changes. Throws, with a sentence, at the first wrong byte.
  void ask_checked(std::size_t rounds) {
    for (std::size_t i = 0; i < rounds; ++i) {
      fill(i);
      post(static_cast<std::uint32_t>(i));
      wait();
      expect(i, 0xff);
    }
    drain();
  }
  void answer_checked(std::size_t rounds) {
    for (std::size_t i = 0; i < rounds; ++i) {
      wait();
      expect(i, 0);
      for (std::size_t b = 0; b < plan_.size; ++b) end_.outgoing()[b] = end_.incoming()[b] ^ std::byte{0xff};
      if (i + 1 == rounds) drain();
      post(static_cast<std::uint32_t>(i));
    }
  }

 private:
  void post(std::uint32_t immediate) {
    while (!end_.template post<M>(plan_.size, immediate)) poll_once();
    posted_ += M != ending::unsignalled;
  }
  void poll_once() {
    const int came = end_.poll();
    arrived_ += came;
    spin_.polled(came > 0);
    idle_ = came > 0 ? 0 : idle_ + 1;
    if (idle_ % 4096 == 4095) watch();
  }
  /// Ends a run that a lost message or a dead process would leave spinning.
  void watch() {
    const std::uint64_t now = now_ns();
    if (idle_ < 2 * 4096) silent_since_ = now;
    if (now - silent_since_ > 20'000'000'000U) throw std::runtime_error("nothing came for 20 s");
  }
  void wait() {
    while (arrived_ == 0) {
      poll_once();
      if (idle_ % 64 == 63) meanwhile_();
    }
    --arrived_;
  }
  void drain() {
    while (end_.ended() - base_ < posted_) poll_once();
  }
  static std::byte pattern(std::size_t round, std::size_t at) noexcept {
    return static_cast<std::byte>(round * 31 + at * 7 + (at >> 8));
  }
  void fill(std::size_t round) noexcept {
    for (std::size_t b = 0; b < plan_.size; ++b) end_.outgoing()[b] = pattern(round, b);
  }
  void expect(std::size_t round, unsigned mask) const {
    for (std::size_t b = 0; b < plan_.size; ++b)
      if (end_.incoming()[b] != (pattern(round, b) ^ static_cast<std::byte>(mask)))
        throw std::runtime_error("round " + std::to_string(round) + ": byte " + std::to_string(b) +
                                 " is not the one that was sent");
    if (End::tells_immediate && end_.immediate() != static_cast<std::uint32_t>(round))
      throw std::runtime_error("round " + std::to_string(round) + ": the immediate is not the one that was sent");
  }

  End& end_;
  round_plan plan_;
  spinner spin_;
  Meanwhile meanwhile_;
  int arrived_ = 0;
  std::uint64_t idle_ = 0;
  std::uint64_t silent_since_ = now_ns();
  std::uint64_t posted_ = 0;
  std::uint64_t base_ = end_.ended();
};

}  // namespace weft::bench
