// SPDX-License-Identifier: Apache-2.0
//
// Pairs of transports in one process, each end in a thread of its own. On the in-process fabric each pair has a thread
// and a simulated world of its own, because a world never leaves its thread. Hot path: no. Threads: started and joined
// here.
#pragma once

#include "../../backends/loopback/port.hpp"
#include "../../compose/fabric.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace weft::test {

/// An address that one end sets and the other awaits.
class announcement {
 public:
  void tell(const std::string& where) {
    const std::lock_guard lock(guard_);
    where_ = where;
    told_.notify_all();
  }
  /// "" when no address came in time.
  std::string hear() {
    std::unique_lock lock(guard_);
    (void)told_.wait_for(lock, std::chrono::seconds(20), [this] { return !where_.empty(); });
    return where_;
  }
  bool told() {
    const std::lock_guard lock(guard_);
    return !where_.empty();
  }

 private:
  std::mutex guard_;
  std::condition_variable told_;
  std::string where_;
};

/// Runs `end(fabric, pair, listens, announcement)` for both ends of each pair, all pairs at the same time.
template <class F, class End>
void in_one_process(int pairs, End&& end) {
  std::vector<announcement> where(static_cast<std::size_t>(pairs));
  std::vector<std::jthread> threads;
  for (int i = 0; i < pairs; ++i) {
    announcement& mine = where[static_cast<std::size_t>(i)];
    if constexpr (std::same_as<typename F::template port<shape_of<F>>, backends::loopback::port<shape_of<F>>>) {
      threads.emplace_back([&end, i, &mine] {
        backends::loopback::world world(static_cast<std::uint64_t>(i) + 1);
        world.spawn("listener", [&] { end(std::type_identity<F>(), i, true, mine); });
        world.spawn("caller", [&] {
          while (!mine.told()) backends::loopback::sleep_for(std::chrono::microseconds(100));
          end(std::type_identity<F>(), i, false, mine);
        });
        (void)world.run(std::chrono::minutes(10));
      });
    } else {
      for (const bool listens : {true, false})
        threads.emplace_back([&end, i, listens, &mine] { end(std::type_identity<F>(), i, listens, mine); });
    }
  }
}

}  // namespace weft::test
