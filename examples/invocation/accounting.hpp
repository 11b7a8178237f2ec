// SPDX-License-Identifier: Apache-2.0
//
// What a worker's time costs: nanoseconds of spinning for its client, and of executing for it. The manager owns two
// 64-bit words per worker; the worker adds to them by remote fetch-and-add, executed by the fabric or by the manager's
// progress, as the fabric's row says. To stay checkable when a worker is killed between adding and learning of it, each
// worker keeps a journal in memory that outlives it: what it posted, written before, and what was acknowledged, written
// after. A word that equals neither is wrong. Hot path: note() is an addition and a store. Threads: the ledger its
// worker's; the journal is read by the manager.
#pragma once

#include "messages.hpp"

#include <weft/compose/transport.hpp>

#include <array>
#include <atomic>
#include <cstdint>

namespace weft::invocation {

enum class account : std::uint8_t { hot, execution };
inline constexpr std::size_t accounts = 2;
inline constexpr std::size_t account_bytes = accounts * sizeof(std::uint64_t);  ///< Of one worker, at the manager.

/// Totals in nanoseconds since the worker's start, in memory shared with the manager. One cache line pair per worker.
struct alignas(128) worker_journal {
  std::array<std::atomic<std::uint64_t>, accounts> earned{};        ///< All that the worker knows of.
  std::array<std::atomic<std::uint64_t>, accounts> posted{};        ///< Given to the fabric, or about to be.
  std::array<std::atomic<std::uint64_t>, accounts> acknowledged{};  ///< Known to be in the manager's words.
  std::atomic<std::uint64_t> invocations{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The secrets of an allocation, so that no command line shows them, and the journals of its workers behind them.
struct journal_head {
  token allocation{};
  token client{};
};

struct amounts {
  std::uint64_t hot = 0;
  std::uint64_t execution = 0;
  friend constexpr bool operator==(const amounts&, const amounts&) = default;
};

/// The worker's side.
class ledger {
 public:
  static constexpr std::uint64_t flush_at = 1'000'000'000;  ///< Unposted nanoseconds in one account.

  explicit ledger(worker_journal& journal) noexcept : journal_(journal) {}

  void note(account a, duration spent) noexcept {
    auto& sum = earned_[index(a)];
    sum += spent.count() > 0 ? static_cast<std::uint64_t>(spent.count()) : 0;
    journal_.earned[index(a)].store(sum, std::memory_order_relaxed);
  }
  void count() noexcept { journal_.invocations.store(++invocations_, std::memory_order_relaxed); }
  amounts earned() const noexcept { return {earned_[0], earned_[1]}; }
  std::uint64_t invocations() const noexcept { return invocations_; }
  bool due() const noexcept { return earned_[0] - posted_[0] >= flush_at || earned_[1] - posted_[1] >= flush_at; }
  /// Nothing is on its way and nothing is left to post.
  bool settled() const noexcept { return !flying_[0] && !flying_[1] && posted_ == earned_; }
  bool failed() const noexcept { return failed_; }

  /// Posts what was earned since the last time, one add per account at a time. What the queue refuses is posted with
  /// the next flush.
  template <class Transport>
  void flush(Transport& net, peer manager, const remote_region& words, std::uint64_t offset) noexcept {
    for (std::size_t i = 0; i < accounts; ++i) {
      if (flying_[i] || failed_ || posted_[i] == earned_[i]) continue;
      const std::uint64_t before = posted_[i];
      journal_.posted[i].store(earned_[i], std::memory_order_release);
      const status s =
          net.fetch_add(manager, words.at(offset + i * sizeof(std::uint64_t)), earned_[i] - before, &flying_[i]);
      if (s) {
        posted_[i] = earned_[i];
        flying_[i] = true;
      } else {
        journal_.posted[i].store(before, std::memory_order_release);
        failed_ = !s.is_again();
      }
    }
  }
  /// A fetch-add ended well. True where the context was one of this ledger's.
  bool acknowledged(void* context) noexcept {
    for (std::size_t i = 0; i < accounts; ++i)
      if (context == &flying_[i]) {
        flying_[i] = false;
        journal_.acknowledged[i].store(posted_[i], std::memory_order_release);
        return true;
      }
    return false;
  }
  /// A fetch-add ended badly: whether it was executed is not known, so nothing more is added on a guess.
  void lost(void* context) noexcept {
    for (bool& flying : flying_)
      if (context == &flying) {
        flying = false;
        failed_ = true;
      }
  }

 private:
  static constexpr std::size_t index(account a) noexcept { return static_cast<std::size_t>(a); }

  worker_journal& journal_;
  std::array<std::uint64_t, accounts> earned_{};
  std::array<std::uint64_t, accounts> posted_{};
  std::array<bool, accounts> flying_{};
  std::uint64_t invocations_ = 0;
  bool failed_ = false;
};

/// The manager's judgement of a worker that reported its own totals: words, report and journal agree to the nanosecond.
inline bool agrees(const amounts& words, const amounts& reported, const worker_journal& j) noexcept {
  const amounts acknowledged{j.acknowledged[0].load(std::memory_order_acquire),
                             j.acknowledged[1].load(std::memory_order_acquire)};
  return words == reported && words == acknowledged;
}
/// Of one that died: each word is what it posted last, or what was acknowledged last.
inline bool agrees(const amounts& words, const worker_journal& j) noexcept {
  const auto one = [&](std::uint64_t word, std::size_t i) {
    return word == j.posted[i].load(std::memory_order_acquire) ||
           word == j.acknowledged[i].load(std::memory_order_acquire);
  };
  return one(words.hot, 0) && one(words.execution, 1);
}

}  // namespace weft::invocation
