// SPDX-License-Identifier: Apache-2.0
//
// How a port's owner sleeps.
// With a descriptor: fi_trywait arms the queues and polls again (fi_poll(3)), then poll(2) sleeps until an event or the
// deadline. No event is lost in between.
// Without a descriptor (rows like shm): the thread yields for some rounds, then sleeps in steps of at most a
// millisecond. The caller polls after each step, because this side must poll to make progress.
// Hot path: no. Threads: the port's owner.
#pragma once

#include "../../core/sleep_descriptors.hpp"
#include "../../core/time.hpp"
#include "completion_queue.hpp"

#include <poll.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <sched.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <string>
#include <type_traits>
#include <utility>

namespace weft::backends::libfabric {

/// One descriptor that is readable when either of two is, for programs with their own poll loop (Shape::two_queues).
class joined_descriptors {
 public:
  joined_descriptors() = default;
  joined_descriptors(joined_descriptors&& other) noexcept : held_(std::exchange(other.held_, -1)) {}
  joined_descriptors& operator=(joined_descriptors&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~joined_descriptors() {
    if (held_ >= 0) ::close(held_);
  }

  /// Returns 0, or errno.
  int open(int one, int other) noexcept {
    held_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (held_ < 0) return errno;
    for (const int each : {one, other}) {
      epoll_event readable{};
      readable.events = EPOLLIN;
      if (::epoll_ctl(held_, EPOLL_CTL_ADD, each, &readable) != 0) return errno;
    }
    return 0;
  }
  int get() const noexcept { return held_; }

 private:
  int held_ = -1;
};
struct no_joined_descriptors {};

template <class Shape>
class waiting {
 public:
  static constexpr bool on_descriptor = completion_queue<Shape>::sleeps_on_descriptor;
  /// Where the caller moves the data, the library's timers run only during its polls. So no sleep is longer than this.
  static constexpr duration longest_sleep =
      Shape::facts.data_progress == data_progress::polling ? duration(std::chrono::milliseconds(20)) : duration::max();

  waiting() = default;

  /// `events` may be null. Without options.sleeps nothing is armed, and wait() yields.
  static result<waiting> open(fid_fabric* fabric, typename completion_queue<Shape>::handles queues, fid_eq* events,
                              const port_options& options) {
    waiting made;
    if (!on_descriptor || !options.sleeps) return made;
    made.fabric_ = fabric;
    fid* const transmit = Shape::two_queues ? &queues.transmit_cq->fid : nullptr;
    for (fid* each : {&queues.receive_cq->fid, transmit, events == nullptr ? nullptr : &events->fid}) {
      if (each == nullptr) continue;
      int descriptor = -1;
      if (const int r = fi_control(each, FI_GETWAIT, &descriptor); r != 0)
        return refused(r, "fi_control(FI_GETWAIT)",
                       "fabric " + std::string(Shape::name) + ": the row promises a descriptor to sleep on");
      made.objects_[made.count_] = each;
      made.polled_[made.count_++] = pollfd{descriptor, POLLIN, 0};
    }
    if constexpr (Shape::two_queues)
      if (const int number = made.both_.open(made.polled_[0].fd, made.polled_[1].fd); number != 0)
        return failure{{errc::native, origin::system, number, "epoll_create1"},
                       "fabric " + std::string(Shape::name) + ": one descriptor for two queues"};
    return made;
  }

  int descriptor() const noexcept {
    if constexpr (Shape::two_queues) return both_.get();
    else return count_ == 0 ? -1 : polled_[0].fd;
  }

  /// Something arrived: yielding starts over.
  void came() noexcept { rounds_ = 0; }

  status wait(instant until) noexcept {
    const instant now = std::chrono::steady_clock::now();
    if (now >= until) return error(errc::deadline, "wait");
    return count_ == 0 ? step(until - now) : sleep(until - now);
  }

  bool arm(sleep_descriptors& on) noexcept {
    if (count_ == 0 || fi_trywait(fabric_, objects_.data(), static_cast<int>(count_)) != 0) return false;
    for (unsigned i = 0; i < count_; ++i) on.add(polled_[i].fd);
    return true;
  }

 private:
  status sleep(duration left) noexcept {
    const int ready = fi_trywait(fabric_, objects_.data(), static_cast<int>(count_));
    if (ready == -FI_EAGAIN) return {};
    if (ready != 0) return failed(ready, "fi_trywait");
    const duration longest = std::min(left, longest_sleep);
    const std::timespec limit = as_timespec(longest);
    const int came = ppoll(polled_.data(), count_, &limit, nullptr);
    if (came < 0 && errno != EINTR) return {errc::native, origin::system, errno, "ppoll"};
    return came == 0 && longest == left ? error(errc::deadline, "wait") : status{};
  }

  status step(duration left) noexcept {
    if (++rounds_ <= yields) {
      sched_yield();
      return {};
    }
    const int doubled = std::min((rounds_ - yields) / 4, 4);
    const duration most =
        std::min<duration>(std::chrono::microseconds(62) * (1 << doubled), std::chrono::milliseconds(1));
    const std::timespec limit = as_timespec(std::min(left, most));
    nanosleep(&limit, nullptr);  // A signal may cut the sleep short: the caller polls again anyway.
    return {};
  }

  static std::timespec as_timespec(duration d) noexcept {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(d);
    return {static_cast<std::time_t>(seconds.count()), static_cast<long>((d - seconds).count())};
  }

  static constexpr int yields = 64;
  fid_fabric* fabric_ = nullptr;
  std::array<fid*, 2 + Shape::two_queues> objects_{};
  std::array<pollfd, 2 + Shape::two_queues> polled_{};
  unsigned count_ = 0;
  [[no_unique_address]] std::conditional_t<Shape::two_queues, joined_descriptors, no_joined_descriptors> both_;
  int rounds_ = 0;
};

}  // namespace weft::backends::libfabric
