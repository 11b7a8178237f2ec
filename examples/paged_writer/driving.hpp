// SPDX-License-Identifier: Apache-2.0
//
// Threads of the rails: one for each rail, or one for all. Threads share nothing but the plan; each has its own clock
// and its own sentence at the end. A rail without events yields its processor, then sleeps shortly: there may be fewer
// processors than rails. Hot path: the loops. Threads: started here.
#pragma once

#include "rail.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <thread>

namespace weft::paged {

/// Effects: the calling thread stays on the n-th of the processors that the process may use (counted around). Returns
/// false when refused.
inline bool stay_on(std::uint32_t n) {
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return false;
  std::uint32_t left = n % static_cast<std::uint32_t>(CPU_COUNT(&mine));
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &mine) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    return pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
  }
  return false;
}

/// Steps some rails in turn until each is over.
template <class Rail>
void drive(const std::vector<Rail*>& rails) {
  std::uint32_t idle = 0;
  for (std::size_t left = rails.size(); left > 0;) {
    bool moved = false;
    left = 0;
    for (Rail* each : rails) {
      if (each->over()) continue;
      moved = each->step() || moved;
      left += std::size_t{!each->over()};
    }
    idle = moved ? 0 : idle + 1;
    if (idle > 2000) ::usleep(50);
    else if (idle > 16) std::this_thread::yield();
  }
}

/// The threads of one side.
template <class Rail>
class crew {
 public:
  /// Pinning comes after opening: threads that a library made then stay free.
  crew(const plan& p, std::vector<Rail*> rails) : wrong_(p.one_thread ? 1 : rails.size()) {
    std::vector<std::vector<Rail*>> shares(wrong_.size());
    for (std::size_t i = 0; i < rails.size(); ++i) shares[i % shares.size()].push_back(rails[i]);
    for (std::size_t i = 0; i < shares.size(); ++i)
      threads_.emplace_back([this, i, &p, share = std::move(shares[i])] { work(p, i, share); });
  }
  bool working() const noexcept { return ended_.load() < threads_.size(); }
  /// Effects: waits for all threads. Throws: the first error.
  void finish() {
    for (std::jthread& each : threads_) each.join();
    for (const std::string& each : wrong_)
      if (!each.empty()) throw broken_off(each);
  }

 private:
  void work(const plan& p, std::size_t i, const std::vector<Rail*>& share) {
    if (p.pinned && !stay_on(p.first_processor + static_cast<std::uint32_t>(i)))
      wrong_[i] = "the thread could not be pinned";
    try {
      if (wrong_[i].empty()) drive(share);
    } catch (const std::bad_alloc&) {
      wrong_[i] = "memory ran out";
    } catch (const std::exception& e) {
      wrong_[i] = e.what();
    }
    ++ended_;
  }

  std::vector<std::string> wrong_;  ///< Each thread its own.
  std::atomic<std::size_t> ended_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace weft::paged
