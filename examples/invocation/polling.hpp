// SPDX-License-Identifier: Apache-2.0
//
// How a thread waits for work: hot (spins), warm (sleeps until an event), or hot until a time without work, then warm.
// A spinning thread yields now and then: with more spinning threads than processors, the one with work would wait a
// time slice. Hot path: yes. Threads: the owner's.
#pragma once

#include <weft/compose/fabric.hpp>
#include <weft/core/facts.hpp>
#include <weft/core/time.hpp>

#include <sched.h>
#include <unistd.h>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace weft::invocation {

using namespace std::chrono_literals;

enum class polling_mode : std::uint8_t { hot, warm, hot_then_warm };

struct polling {
  polling_mode mode = polling_mode::hot;
  duration hot_for = 0ms;  ///< hot_then_warm: so long without work before it sleeps.

  constexpr bool sleeps() const noexcept { return mode != polling_mode::hot; }
};

/// Decides after each empty poll: spin on, yield, or sleep.
class idler {
 public:
  /// Cost of a poll: a part of a microsecond for a library; some tens of nanoseconds for memory of one host, because
  /// polls keep a distance; a few nanoseconds for memory that a device writes. A set may poll memory alone.
  template <class Transport>
  static constexpr std::uint32_t polls_per_yield =
      is_fabric_set<typename Transport::fabric>                           ? 96
      : Transport::fabric::facts.data_progress != data_progress::hardware ? 32
      : Transport::fabric::facts.same_host                                ? 96
                                                                          : 512;
  static constexpr std::uint32_t polls_per_clock = 4096;
  static constexpr duration longest_sleep = 100ms;

  explicit idler(const polling& p) noexcept : how_(p) {}

  /// There was work. A hot-then-warm thread spins again.
  void worked() noexcept {
    empty_ = 0;
    warm_ = false;
  }
  bool warm() const noexcept { return how_.mode == polling_mode::warm || warm_; }
  /// True once in a number of calls: then the owner reads the clock and passes the time to look().
  bool time_to_poll() const noexcept { return empty_ % polls_per_clock == polls_per_clock - 1; }
  /// `idle` is the time without work. Returns true when the thread sleeps from now on.
  bool look(duration idle) noexcept {
    if (how_.mode != polling_mode::hot_then_warm || warm_ || idle < how_.hot_for) return false;
    return warm_ = true;
  }
  /// The fabric's library moves data in a thread of its own, which needs a processor too.
  template <class Transport>
  static constexpr bool moved_by_thread = Transport::fabric::facts.data_progress == data_progress::thread;

  /// Yielding lets equal threads run, but a thread that just woke may wait for a time slice (milliseconds). Where the
  /// library's threads move the data and processors are few, only a short sleep lets them run. Measured with sockets on
  /// two processors: 15 ms against 0.1 ms.
  template <bool MovedByThread>
  static void give_way() noexcept {
    if constexpr (MovedByThread) {
      static const bool crowded = ::sysconf(_SC_NPROCESSORS_ONLN) < 5;
      if (crowded) {
        constexpr timespec moment{0, 1000};
        ::nanosleep(&moment, nullptr);
        return;
      }
    }
    ::sched_yield();
  }

  /// An empty poll. Requires: the transport was opened with `sleeps` where the mode says so.
  template <class Transport>
  void rest(Transport& net, duration at_most = longest_sleep) noexcept {
    ++empty_;
    if (warm()) (void)net.wait(at_most);
    else if (empty_ % polls_per_yield<Transport> == 0) give_way<moved_by_thread<Transport>>();
  }

 private:
  polling how_;
  std::uint32_t empty_ = 0;
  bool warm_ = false;
};

}  // namespace weft::invocation
