// SPDX-License-Identifier: Apache-2.0
//
// The manager's side of a warm start: it keeps a warm parent, has it make copies, and keeps a pool of copies that wait
// for an order. Each copy is the manager's own child (serving.hpp). Where there is no warm parent (it is starting, was
// killed, or does not answer), take() returns nothing, and the manager executes the program instead.
// Hot path: no. Threads: the manager's, which must stay the same: copies die with the thread that is their parent.
#pragma once

#include "channel.hpp"

#include <sys/types.h>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace weft::invocation::warm {

/// A copy without an order. A dropped one is killed and reaped.
class waiting_executor {
 public:
  waiting_executor(pid_t process, descriptor orders) noexcept : process_(process), orders_(std::move(orders)) {}
  waiting_executor(waiting_executor&& other) noexcept
      : process_(std::exchange(other.process_, 0)), orders_(std::move(other.orders_)) {}
  waiting_executor& operator=(waiting_executor&& other) noexcept {
    std::swap(process_, other.process_);
    std::swap(orders_, other.orders_);
    return *this;
  }
  ~waiting_executor();

  /// Whether it still waits. One that was killed is reaped here.
  bool lives() noexcept;
  bool prepare() noexcept;
  /// Gives the order: arguments as packed(), and the journal. Returns the process, which is the caller's from now on;
  /// 0: it is gone.
  pid_t order(std::string_view words, int journal) noexcept;

 private:
  pid_t process_ = 0;
  descriptor orders_;
};

class parent {
 public:
  using clock = std::chrono::steady_clock;
  struct settings {
    std::vector<std::string> command;  ///< The program and its arguments, without those of this class.
    std::size_t pool = 0;              ///< Executors that are started ahead.
    /// A warm parent that is not ready so long after its start is killed: it was stopped, or its libraries hang.
    std::chrono::milliseconds start_limit{10000};
  };

  explicit parent(settings s) : s_(std::move(s)) {}
  parent(parent&& other) noexcept;
  parent& operator=(parent&&) = delete;
  ~parent() { end(); }

  /// Starts the warm parent where there is none, and fills the pool by one. Call it every few milliseconds. It waits
  /// only for a copy, about a millisecond, and at most `copy_limit`.
  void tend(clock::time_point now = clock::now());
  /// A copy: one of the pool, else a new one. Nothing: there is no warm parent at present.
  std::optional<waiting_executor> take(clock::time_point now = clock::now());

  /// The process; 0: there is none.
  pid_t process() const noexcept { return process_; }
  bool ready() const noexcept { return ready_; }
  std::size_t waiting() const noexcept { return pool_.size(); }
  /// Whether the last copy that take() returned was one of the pool.
  bool came_from_pool() const noexcept { return from_pool_; }

  /// A warm parent that does not answer for so long is killed, and so are the processes that were to become the copy.
  static constexpr std::chrono::milliseconds copy_limit{1000};
  /// From the start of a warm parent until the next one, and from the death of an executor of the pool until another.
  static constexpr std::chrono::milliseconds restart_after{1000};
  /// The pool is filled after this time without a request: a copy takes processor time from the executor that starts.
  static constexpr std::chrono::milliseconds refill_after{20};

 private:
  void start(clock::time_point now);
  void end() noexcept;
  /// Whether it is there and answers. Never waits.
  bool look(clock::time_point now) noexcept;
  std::optional<waiting_executor> copy();

  settings s_;
  pid_t process_ = 0;
  descriptor channel_;
  bool ready_ = false;
  bool from_pool_ = false;
  std::deque<waiting_executor> pool_;
  clock::time_point start_at_{};
  clock::time_point ready_by_{};
  clock::time_point refill_at_{};
};

/// Starts a program with `file` as its descriptor 3, and no other but the standard ones. Its signals are not blocked.
/// Returns 0 or an error number (posix_spawn(3)).
int launch(const std::vector<std::string>& words, int file, pid_t& process);

}  // namespace weft::invocation::warm
