// SPDX-License-Identifier: Apache-2.0
//
// The one completion queue of a port, and how its owner sleeps: the channel is armed, the queue looked at once more,
// and only then poll(2) sleeps; what that look found is kept and told first. While nothing of ours is owed an end only
// solicited arrivals wake. The queue holds whatever all links can have in flight: it cannot be overrun. Hot path: poll.
// Threads: one owner.
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
  /// How often the queue was found empty: whatever had happened before is told.
  std::uint64_t times_empty() const noexcept { return times_empty_; }

  using entries = std::array<ibv_wc, 16>;
  /// A look that reads the queue and nothing else.
  struct reader {
    ibv_cq* queue = nullptr;
    /// Above 0: so many entries.
    [[gnu::always_inline]] int read(entries& all) const noexcept {
      return ibv_poll_cq(queue, static_cast<int>(all.size()), all.data());
    }
    /// The queue itself is broken.
    static constexpr bool failed(int read) noexcept { return read < 0; }
    static void found() noexcept {}
  };
  reader own_reader() const noexcept { return {queue_.get()}; }

  /// Hands out at most 16 completions, those that wait() kept first. Returns how many; below 0: the queue itself is
  /// broken.
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

  /// Sleeps until a completion, something at `other`, or the time is over. May return early.
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
    ibv_ack_cq_events(which, 1);  // now: the queue could not be closed with one owed
    armed_ = arming::none;
  }

  owned<ibv_comp_channel> channel_;
  owned<ibv_cq> queue_;  // after the channel: closed before it
  entries kept_{};
  int kept_count_ = 0;
  std::uint64_t times_empty_ = 0;
  arming armed_ = arming::none;
};

}  // namespace weft::backends::verbs
