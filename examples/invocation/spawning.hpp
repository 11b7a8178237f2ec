// SPDX-License-Identifier: Apache-2.0
//
// How a manager starts an executor and detects its end: a parameter of the manager, so that a simulation can start
// simulated executors. Here: a process of its own, a copy of a warm parent (warm/), else executed (posix_spawn(3)). It
// gets everything as arguments except secrets, which are in the inherited journal. It has no other descriptor of the
// manager, so it never holds a connection of the manager open. Hot path: no. Threads: the manager's.
#pragma once

#include "confinement/confinement.hpp"
#include "journal.hpp"
#include "warm/parent.hpp"
#include "warm/serving.hpp"
#include "worker.hpp"

#include <weft/backends/libfabric/leftovers.hpp>

#include <sys/wait.h>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace weft::invocation {

/// Start parameters of an executor: those that its workers share, and their number.
struct executor_order {
  worker_settings common;
  std::uint16_t workers = 1;
  confinement confined;
};

/// An order as it travels, and back. The secrets, the addresses and the limits of the manager are not among the fields.
inline executor_fields fields_of(const executor_order& order) {
  const worker_settings& c = order.common;
  return {order.workers,
          c.slots,
          c.input_bytes,
          c.output_bytes,
          c.polling.mode,
          static_cast<std::uint32_t>(c.polling.hot_for / 1ms),
          static_cast<std::uint64_t>(c.function_limit.count()),
          c.ships ? function_source::object : function_source::built_in,
          c.object,
          c.object_bytes};
}
inline executor_order order_with(const executor_fields& m) {
  executor_order order;
  order.workers = m.workers;
  worker_settings& c = order.common;
  c.slots = m.slots;
  c.input_bytes = m.input_bytes;
  c.output_bytes = m.output_bytes;
  c.polling = {m.polling, std::chrono::milliseconds(m.hot_ms)};
  c.function_limit = duration(static_cast<std::int64_t>(m.function_limit_ns));
  c.ships = m.source == function_source::object;
  c.object = m.object;
  c.object_bytes = m.object_bytes;
  return order;
}

/// How an executor ended, for people.
struct executor_end {
  bool in_order = false;
  std::string sentence;
  bool journal_lost = false;  ///< With its node: the words are billed, and nothing can prove them.
};

/// The executor's place asks for its end: running calls may finish within the limit.
struct winding_up {
  std::string sentence;
  duration limit{};
};

/// Exit codes of the executor, in addition to 0, 1 and 2.
inline constexpr int exit_function_limit = 4;

/// A spawner makes children: movable, with the journal of their workers, killed and reaped when dropped.
template <class S>
concept spawner = requires(S s, typename S::child c, const executor_order& o) {
  { s.start(o) } -> std::same_as<result<typename S::child>>;
  {s.tend()};                                                  ///< Called every few milliseconds.
  { c.ended() } -> std::same_as<std::optional<executor_end>>;  ///< Never waits.
  {c.kill()};
  { c.journals() } -> std::same_as<std::span<worker_journal>>;
  { c.number() } -> std::same_as<std::uint64_t>;
};

class process_spawner {
 public:
  struct settings {
    std::string executor;                          ///< Path of the program.
    std::string folder;                            ///< Of trusted objects; empty: none are accepted.
    std::vector<std::string> trusted;              ///< SHA-256, hexadecimal.
    confinement confined;                          ///< Limits of each executor.
    bool fresh = true;                             ///< Each executor is executed. Else it is a copy of a warm parent.
    std::uint16_t pool = 0;                        ///< Copies that wait for an order.
    std::string node, fabrics;                     ///< Of the transports of copies that wait.
    std::chrono::milliseconds start_limit{10000};  ///< Of a warm parent.
    bool ignores_signals = false;                  ///< Executors outlive signals that an engine sends to all of a step.
  };
  /// How executors were started.
  struct starts {
    std::uint64_t from_pool = 0, copied = 0, executed = 0;
  };

  class child {
   public:
    child(pid_t process, journal_memory journal) noexcept : process_(process), journal_(std::move(journal)) {}
    child(child&& other) noexcept : process_(std::exchange(other.process_, 0)), journal_(std::move(other.journal_)) {}
    child& operator=(child&& other) noexcept {
      std::swap(process_, other.process_);
      std::swap(journal_, other.journal_);
      return *this;
    }
    ~child() {
      if (process_ == 0) return;
      kill();
      ::waitpid(process_, nullptr, 0);  // it was killed: this ends
      sweep(process_);
    }

    std::optional<executor_end> ended() {
      int how = 0;
      if (process_ == 0 || ::waitpid(process_, &how, WNOHANG) != process_) return std::nullopt;
      sweep(process_);
      const std::string who = "the executor (process " + std::to_string(std::exchange(process_, 0)) + ")";
      if (WIFSIGNALED(how)) return executor_end{false, who + " was killed by signal " + std::to_string(WTERMSIG(how))};
      const int code = WEXITSTATUS(how);
      if (code == exit_function_limit)
        return executor_end{false, who + " ended itself: a function ran longer than its limit"};
      return executor_end{code == 0, who + " ended with exit code " + std::to_string(code)};
    }
    void kill() noexcept {
      if (process_ != 0) ::kill(process_, SIGKILL);
    }
    std::span<worker_journal> journals() noexcept { return journal_.workers(); }
    std::uint64_t number() const noexcept { return static_cast<std::uint64_t>(process_); }

   private:
    /// Removes the shared memory of a killed executor. A peer does the same, but only if it was connected.
    static void sweep(pid_t ended) noexcept { (void)backends::libfabric::sweep_leftovers_of(ended); }

    pid_t process_ = 0;
    journal_memory journal_;
  };

  explicit process_spawner(settings s)
      : s_(std::move(s)), warm_({parent_command(), s_.fresh ? 0U : s_.pool, s_.start_limit}) {}

  result<child> start(const executor_order& order) {
    auto journal = journal_memory::make(order.workers);
    if (!journal) return std::move(journal).error();
    journal->head() = {order.common.allocation, order.common.client_secret};
    const std::vector<std::string> words = arguments(order);
    pid_t process = s_.fresh ? 0 : copied(warm::packed(words), journal->file());
    if (process == 0) {
      const int code = warm::launch(words, journal->file(), process);
      if (code != 0)
        return {{errc::native, origin::system, code, "posix_spawn"},
                "the executor " + s_.executor + " cannot be started: errno " + std::to_string(code)};
      ++started_.executed;
    }
    return child(process, std::move(journal).value());
  }

  void tend() {
    if (!s_.fresh) warm_.tend();
  }
  const warm::parent& warm_parent() const noexcept { return warm_; }
  const starts& started() const noexcept { return started_; }

 private:
  /// The process that has the order; 0: there is no copy.
  pid_t copied(std::string_view words, int journal) {
    while (auto waiting = warm_.take()) {
      const pid_t process = waiting->order(words, journal);
      if (process != 0) {
        ++(warm_.came_from_pool() ? started_.from_pool : started_.copied);
        return process;
      }
      if (!warm_.came_from_pool()) break;  // a new copy cannot take the order
    }
    return 0;
  }

  std::vector<std::string> parent_command() const {
    std::vector<std::string> words{s_.executor};
    const auto also = [&](const char* name, const std::string& value) {
      if (value.empty()) return;
      words.emplace_back(name);
      words.push_back(value);
    };
    also("--user", s_.confined.user), also("--node", s_.node), also("--fabric", s_.fabrics);
    return words;
  }

  std::vector<std::string> arguments(const executor_order& order) const {
    const worker_settings& c = order.common;
    const auto number = [](auto n) { return std::to_string(n); };
    const auto ms = [&](duration d) {
      return number(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
    };
    std::vector<std::string> words{s_.executor,
                                   "--parent",
                                   number(::getpid()),
                                   "--journal",
                                   number(warm::journal_place),
                                   "--manager",
                                   c.manager,
                                   "--client",
                                   c.client,
                                   "--workers",
                                   number(order.workers),
                                   "--slots",
                                   number(c.slots),
                                   "--input-bytes",
                                   number(c.input_bytes),
                                   "--output-bytes",
                                   number(c.output_bytes),
                                   "--polling",
                                   number(static_cast<int>(c.polling.mode)),
                                   "--hot-ms",
                                   ms(c.polling.hot_for),
                                   "--function-limit-ms",
                                   ms(c.function_limit),
                                   "--start-limit-ms",
                                   ms(c.start_limit),
                                   "--silence-ms",
                                   ms(c.silence)};
    const auto also = [&](const char* name, const std::string& value) {
      words.emplace_back(name);
      words.push_back(value);
    };
    if (!c.node.empty()) also("--node", c.node);
    if (!c.fabrics.empty()) also("--fabric", c.fabrics);
    if (c.ships) {
      also("--object", hex(c.object));
      also("--object-bytes", number(c.object_bytes));
    }
    also("--memory-mib", number(s_.confined.memory_mib));
    if (!s_.confined.filter) words.emplace_back("--unconfined");
    if (s_.ignores_signals) words.emplace_back("--ignore-signals");
    if (!s_.confined.user.empty()) also("--user", s_.confined.user);
    if (!s_.folder.empty()) also("--functions", s_.folder);
    for (const std::string& hash : s_.trusted) also("--trust", hash);
    return words;
  }

  settings s_;
  warm::parent warm_;
  starts started_;
};
static_assert(spawner<process_spawner>);

}  // namespace weft::invocation
