// SPDX-License-Identifier: Apache-2.0
//
// The cost of a worker's time: nanoseconds of polling for its client, and of executing for it. The manager owns two
// 64-bit words per worker. The worker adds to them by remote fetch-and-add, which the fabric or the manager's progress
// executes, as the row says.
// A worker may be killed between an addition and its completion. So each worker keeps a journal in memory that outlives
// it: the posted amount, written before the post, and the acknowledged amount, written after the completion. A word
// that equals neither is wrong. Hot path: note() is an addition and a store. Threads: the ledger is its worker's; the
// manager reads the journal.
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

/// Totals in nanoseconds since the worker's start, in memory shared with the manager. One pair of cache lines per
/// worker.
struct alignas(128) worker_journal {
  std::array<std::atomic<std::uint64_t>, accounts> earned{};        ///< All that the worker has counted.
  std::array<std::atomic<std::uint64_t>, accounts> posted{};        ///< Posted, or about to be.
  std::array<std::atomic<std::uint64_t>, accounts> acknowledged{};  ///< Confirmed by a completion.
  std::atomic<std::uint64_t> invocations{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The secrets of an allocation, so that no command line shows them, followed by the journals of its workers.
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
  static constexpr std::uint64_t flush_at = 1'000'000'000;  ///< Nanoseconds of one account before it is posted.

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
  /// Nothing is in flight and nothing is left to post.
  bool settled() const noexcept { return !flying_[0] && !flying_[1] && posted_ == earned_; }
  bool failed() const noexcept { return failed_; }

  /// Posts the amounts since the last flush, one add per account at a time. The next flush posts what a full queue
  /// refuses.
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
  /// A fetch-add completed. Returns whether the context belongs to this ledger.
  bool acknowledged(void* context) noexcept {
    for (std::size_t i = 0; i < accounts; ++i)
      if (context == &flying_[i]) {
        flying_[i] = false;
        journal_.acknowledged[i].store(posted_[i], std::memory_order_release);
        return true;
      }
    return false;
  }
  /// A fetch-add failed. Whether it was executed is unknown, so this account adds nothing more.
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

/// The manager's check of a worker that reported its totals: words, report and journal agree to the nanosecond.
inline bool agrees(const amounts& words, const amounts& reported, const worker_journal& j) noexcept {
  const amounts acknowledged{j.acknowledged[0].load(std::memory_order_acquire),
                             j.acknowledged[1].load(std::memory_order_acquire)};
  return words == reported && words == acknowledged;
}
/// The check of a dead worker: each word is its last posted or its last acknowledged amount.
inline bool agrees(const amounts& words, const worker_journal& j) noexcept {
  const auto one = [&](std::uint64_t word, std::size_t i) {
    return word == j.posted[i].load(std::memory_order_acquire) ||
           word == j.acknowledged[i].load(std::memory_order_acquire);
  };
  return one(words.hot, 0) && one(words.execution, 1);
}

}  // namespace weft::invocation
