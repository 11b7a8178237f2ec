// SPDX-License-Identifier: Apache-2.0
//
// Many threads, one transport. A transport has one owner, because fabrics lock nothing (FI_THREAD_DOMAIN; a queue pair
// of verbs). Other threads put their operations into this queue, and the owner posts them. The queue is
// boost::lockfree::queue: no thread waits for another. With a mutex around the transport, posts would wait for polls.
// Hot path: yes: no lock, no allocation; a system call only where the owner sleeps. Threads: as each call says.
#pragma once

#include "sleeping_owner.hpp"
#include "submission.hpp"

#include <boost/lockfree/queue.hpp>

#include <cstdint>
#include <type_traits>

namespace weft {

/// Operations from any thread for the transport of one owner. Choose it where several threads use one peer, or where
/// threads are more than transports. Where each thread can have a transport, give it one: that costs no queue.
///
/// The operations of one thread are posted in the order of its calls. Their ends come to the owner's handler, with the
/// context of the call. A fabric_set and its transports work alike.
class submission_queue {
 public:
  static constexpr std::uint32_t largest_capacity = 65534;  ///< Of Boost's queue without allocation: 16-bit places.
  static constexpr int burst = 64;                          ///< Most posts of one progress(): polls come in between.

  /// `capacity`: most operations that wait, up to largest_capacity; more are cut to that. Allocates.
  explicit submission_queue(std::uint32_t capacity)
      : waiting_(capacity < 1                  ? 1
                 : capacity > largest_capacity ? largest_capacity
                                               : capacity) {}
  submission_queue(const submission_queue&) = delete;
  submission_queue& operator=(const submission_queue&) = delete;

  // ---- any thread. False: the queue is full; try again later. The memory must stay until the operation has ended.
  bool submit(const submission& s) noexcept {
    if (!waiting_.bounded_push(s)) return false;
    owner_.wake();
    return true;
  }
  bool send(peer to, local_memory from, void* context = nullptr) noexcept {
    return submit({operation::send, 0, to, from, {}, context});
  }
  bool put(peer to, local_memory from, const remote_place& at, void* context = nullptr) noexcept {
    return submit({operation::put, 0, to, from, at, context});
  }
  bool put_notify(peer to, local_memory from, const remote_place& at, std::uint32_t immediate,
                  void* context = nullptr) noexcept {
    return submit({operation::put_notify, immediate, to, from, at, context});
  }
  bool get(peer from, local_memory into, const remote_place& at, void* context) noexcept {
    return submit({operation::get, 0, from, into, at, context});
  }

  // ---- the owner
  /// Posts what waits, at most `burst`, then polls the transport. A post that the transport refuses is reported as
  /// `failed`. One that gets `again` stays the next. Returns how many operations were posted, and events handled.
  template <class Transport, event_handler Handler>
  int progress(Transport& net, Handler&& on) {
    int posted = 0;
    for (; posted < burst && has_next(); ++posted) {
      const status s = next_.post(net);
      if (s.is_again()) break;
      held_ = false;
      if (s) continue;
      const failed refused{next_.what, next_.peer, next_.context, s};
      on(refused);
    }
    return posted + net.progress(on);
  }
  /// Sleeps until an operation or an event comes, at most that long. Call it where progress() found nothing. Requires
  /// options.sleeps; without that, and on rows without a descriptor, it may return after 1 ms.
  template <class Transport>
  void wait(Transport& net, duration at_most) noexcept {
    (void)owner_.sleep(net, at_most, [this] { return held_ || !waiting_.empty(); });
  }

 private:
  bool has_next() noexcept {
    if (!held_) held_ = waiting_.pop(next_);
    return held_;
  }

  boost::lockfree::queue<submission, boost::lockfree::fixed_sized<true>> waiting_;
  sleeping_owner owner_;
  submission next_{};  ///< The oldest, where the transport had no room for it.
  bool held_ = false;
};

}  // namespace weft
