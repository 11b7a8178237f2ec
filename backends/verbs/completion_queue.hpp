// SPDX-License-Identifier: Apache-2.0
//
// The completion queue of a port, and how its owner sleeps: arm the channel, poll once more, then sleep in poll(2). The
// entries of that poll are stored and reported first.
// While no posted operation has an unreported end, only solicited arrivals wake the owner.
// The queue has room for everything that all links can have in flight, so it cannot overrun.
// Hot path: poll. Threads: one owner.
#pragma once

#include "../../core/time.hpp"
#include "device.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <utility>

namespace weft::backends::verbs {

class completion_queue {
 public:
  static result<completion_queue> open(const device& on, bool sleeps, const std::string& who) {
    completion_queue made;
    if (sleeps) {
      made.channel_.reset(ibv_create_comp_channel(on.context));
      if (!made.channel_) return refused(errno, "ibv_create_comp_channel", who);
      const int flags = ::fcntl(made.channel_->fd, F_GETFL);
      if (flags < 0 || ::fcntl(made.channel_->fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return refused(errno, "fcntl", who);
    }
    made.queue_.reset(ibv_create_cq(on.context, static_cast<int>(on.queue_size), nullptr, made.channel_.get(), 0));
    if (!made.queue_)
      return refused(errno, "ibv_create_cq",
                     who + ": a completion queue of " + std::to_string(on.queue_size) +
                         " entries (all links' sends and receives; ask for fewer)");
    return made;
  }

  ibv_cq* get() const noexcept { return queue_.get(); }
  int descriptor() const noexcept { return channel_ ? channel_->fd : -1; }
  /// Number of polls that found the queue empty: everything before the last one is reported.
  std::uint64_t times_empty() const noexcept { return times_empty_; }

  using entries = std::array<ibv_wc, 16>;
  /// Reads the queue and nothing else.
  struct reader {
    ibv_cq* queue = nullptr;
    /// A result above 0 is a number of entries.
    [[gnu::always_inline]] int read(entries& all) const noexcept {
      return ibv_poll_cq(queue, static_cast<int>(all.size()), all.data());
    }
    /// Whether the queue itself failed.
    static constexpr bool failed(int read) noexcept { return read < 0; }
    static void found() noexcept {}
  };
  reader own_reader() const noexcept { return {queue_.get()}; }

  /// Visits at most 16 completions, those that wait() stored first. Returns their number; below 0: the queue itself
  /// failed.
  template <class Each>
  [[gnu::always_inline]] int poll(Each&& each) {
    entries found;
    int count = 0;
    if (kept_count_ > 0) [[unlikely]] {
      count = std::exchange(kept_count_, 0);
      found = kept_;
    } else {
      count = own_reader().read(found);
    }
    if (count == 0) ++times_empty_;
    for (int i = 0; i < count; ++i) each(found[static_cast<std::size_t>(i)]);
    return count;
  }

  /// Sleeps until a completion, an event at `other`, or the deadline. May return early.
  status wait(instant until, int other, bool solicited_only, duration longest) noexcept {
    const instant now = std::chrono::steady_clock::now();
    if (now >= until) return error(errc::deadline, "wait");
    if (!channel_) {
      sched_yield();
      return {};
    }
    if (const status s = arm(solicited_only); !s) return s;
    if (kept_count_ == 0)
      kept_count_ = std::max(0, ibv_poll_cq(queue_.get(), static_cast<int>(kept_.size()), kept_.data()));
    if (kept_count_ > 0) return {};
    const duration left = std::min(until - now, longest);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const std::timespec limit{static_cast<std::time_t>(seconds.count()), static_cast<long>((left - seconds).count())};
    std::array<pollfd, 2> watched{{{channel_->fd, POLLIN, 0}, {other, POLLIN, 0}}};
    const int came = ::ppoll(watched.data(), watched.size(), &limit, nullptr);
    if (came < 0 && errno != EINTR) return {errc::native, origin::system, errno, "ppoll"};
    if (came > 0 && watched[0].revents != 0) take_event();
    return came == 0 && left < longest ? error(errc::deadline, "wait") : status{};
  }

 private:
  enum class arming : std::uint8_t { none, solicited, any };

  status arm(bool solicited_only) noexcept {
    const arming wanted = solicited_only ? arming::solicited : arming::any;
    if (armed_ >= wanted) return {};
    if (const int r = ibv_req_notify_cq(queue_.get(), solicited_only ? 1 : 0); r != 0)
      return failed(r, "ibv_req_notify_cq");
    armed_ = wanted;
    return {};
  }

  void take_event() noexcept {
    ibv_cq* which = nullptr;
    void* context = nullptr;
    if (ibv_get_cq_event(channel_.get(), &which, &context) != 0) return;
    ibv_ack_cq_events(which, 1);  // At once: a queue with an unacknowledged event could not be closed.
    armed_ = arming::none;
  }

  owned<ibv_comp_channel> channel_;
  owned<ibv_cq> queue_;  // After the channel: closed before it.
  entries kept_{};
  int kept_count_ = 0;
  std::uint64_t times_empty_ = 0;
  arming armed_ = arming::none;
};

}  // namespace weft::backends::verbs
