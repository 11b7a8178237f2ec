// SPDX-License-Identifier: Apache-2.0
//
// A progress owner that weft runs: a thread that owns a transport and polls it until stop(). Choose it for a target
// that peers only write to, on rows whose bytes land only while the target polls. The handler runs on that thread. Hot
// path: no. Threads: the transport belongs to the thread between construction and stop().
#pragma once

#include "progress_owner.hpp"
#include "transport.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

namespace weft {

/// `progress_thread loop(std::move(net), handler);`. Export regions before, with `owner_polls`. The thread sleeps
/// between events where the transport was opened with `sleeps`.
template <complete_fabric F, event_handler Handler>
class progress_thread {
 public:
  progress_thread(transport<F> net, Handler on)
      : state_(std::make_unique<state>(std::move(net), std::move(on))),
        thread_([s = state_.get()](std::stop_token stop) { s->run(stop); }) {}
  progress_thread(progress_thread&&) noexcept = default;
  /// The thread that was here ends before its transport.
  progress_thread& operator=(progress_thread&& other) noexcept {
    progress_thread taken(std::move(other));
    std::swap(state_, taken.state_);
    std::swap(thread_, taken.thread_);
    return *this;
  }
  ~progress_thread() = default;

  /// Ends the thread and returns the transport. Takes at most one sleep of the transport's timers (200 ms).
  transport<F> stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    return std::move(state_->net);
  }

 private:
  struct state {
    transport<F> net;
    Handler on;
    state(transport<F> n, Handler h) : net(std::move(n)), on(std::move(h)) {}
    void run(const std::stop_token& stop) {
      for (std::uint32_t idle = 0; !stop.stop_requested();) {
        idle = net.progress(on) > 0 ? 0 : idle + 1;
        if (idle > 1000) (void)net.wait(20ms);
        if (idle > 1000) std::this_thread::yield();
      }
    }
  };

  std::unique_ptr<state> state_;
  std::jthread thread_;
};

}  // namespace weft
