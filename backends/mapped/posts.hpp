// SPDX-License-Identifier: Apache-2.0
//
// The common part of a port's posts: the check for room before a transfer, and the completion after it.
// The next poll reports completions, as on every fabric. A post without a waiting operation reports a refusal by its
// status.
// Hot path: all except the functions marked cold. Threads: the owner's.
#pragma once

#include "../../core/port.hpp"
#include "completion_queue.hpp"
#include "connections.hpp"
#include "transfers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::backends::mapped {

class posts {
 public:
  posts(connections& links, std::uint32_t ends) : links_(links), ends_(ends) {
    lent_.reserve(most_lent);
    links.set_posts(*this);
  }

  connections& links() noexcept { return links_; }
  completion_queue& ends() noexcept { return ends_; }
  const completion_queue& ends() const noexcept { return ends_; }
  // ---- lent messages
  /// Messages that receivers may copy from this side's arena at a time. Others go through the ring.
  static constexpr std::size_t most_lent = 64;
  /// Whether the receiver may copy these bytes itself.
  bool can_lend(const_bytes message) const noexcept { return lent_.size() < most_lent && links_.own().holds(message); }
  /// Requires: can_lend(message), and room in the ring. Without a context no end is reported.
  void lend(connection& to, const_bytes message, std::uint64_t immediate, void* context) noexcept {
    const auto offset = static_cast<std::uint64_t>(message.data() - links_.own().start());
    lent_.push_back({&to, to.out.lend(offset, message.size(), immediate), message, context});
    ends_.await(true);
  }
  /// Moves the ends of copied messages into the queue.
  [[gnu::noinline]] void note_copied() noexcept {
    std::erase_if(lent_, [this](const lent_message& m) {
      if (!was_copied(m) || (m.context != nullptr && ends_.full())) return false;
      if (m.context != nullptr) ends_.push(m.context, errc::ok);
      return true;
    });
    ends_.await(!lent_.empty());
  }
  /// Whether this receiver has not copied all that was lent to it.
  bool lends_to(const connection& c) const noexcept {
    return std::any_of(lent_.begin(), lent_.end(),
                       [&c](const lent_message& m) { return m.to == &c && !was_copied(m); });
  }
  /// The link ended: its operations end with it, and their sources are free.
  void forget(connection& gone) noexcept {
    if (lends_to(gone)) gone.out.revoke();
    std::erase_if(lent_, [&gone](const lent_message& m) { return m.to == &gone; });
    ends_.await(!lent_.empty());
  }
  /// Whether an end can be reported now.
  bool has_ends() const noexcept {
    return !ends_.empty() || std::any_of(lent_.begin(), lent_.end(), [](const auto& m) { return was_copied(m); });
  }
  /// Whether a receiver may still read some of these bytes.
  bool are_lent(const_bytes some) const noexcept {
    return std::any_of(lent_.begin(), lent_.end(), [some](const lent_message& m) {
      return !was_copied(m) && m.bytes.data() >= some.data() && m.bytes.data() < some.data() + some.size();
    });
  }

  /// Whether a post found no room since the last call. No event reports new room.
  bool starved() noexcept { return std::exchange(starved_, false); }

  /// Reports a transfer that did not happen: by status, or by an entry.
  template <post_mode M>
  [[gnu::cold, gnu::noinline]] status not_moved(transfer_result why, void* context, const char* operation) noexcept {
    if (why.code == errc::again || why.at_once) return refused(why, operation);
    if (ends_.full()) return again(waits_for::queue, operation);
    ends_.push(context, why.code);
    return M == post_mode::at_return ? reported_later(operation) : status{};
  }
  [[gnu::cold, gnu::noinline]] status refused(transfer_result why, const char* operation) noexcept {
    return why.code == errc::again ? to_be_grown(operation) : error(why.code, operation);
  }
  [[gnu::cold, gnu::noinline]] status not_ready(const connection& c, std::size_t size, const char* operation) noexcept {
    if (size > c.out.largest()) return error(errc::out_of_range, operation);
    starved_ = true;
    return again(waits_for::queue, operation);
  }

 private:
  /// The peer uses more memory than is mapped here. The next poll maps more, outside of a post.
  status to_be_grown(const char* operation) noexcept {
    links_.want_growth();
    return again(waits_for::connection, operation);
  }

  struct lent_message {
    connection* to = nullptr;
    std::uint64_t number = 0;
    const_bytes bytes;
    void* context = nullptr;
  };
  static bool was_copied(const lent_message& m) noexcept { return m.to->out.copied() >= m.number; }

  connections& links_;
  completion_queue ends_;
  std::vector<lent_message> lent_;  ///< In the order of their posts.
  bool starved_ = false;
};

// The functions below use the link alone; a fast path touches the port only when an entry reports the end.
template <post_mode M>
[[gnu::always_inline]] inline bool has_room_for_end(const connection& c) noexcept {
  if constexpr (is_reported(M)) return !c.through->ends().full();
  else return true;
}
/// Room for an entry of the ring, and for the completion where one is reported.
template <post_mode M>
[[gnu::always_inline]] inline bool is_ready(connection& c) noexcept {
  return c.out.has_room() && has_room_for_end<M>(c);
}
/// The same, without asking the receiver what it took. A fast path that calls nothing but functions that end it needs
/// no registers that survive calls, so a caller of several fabrics saves none for it.
template <post_mode M>
[[gnu::always_inline]] inline bool is_ready_now(connection& c) noexcept {
  return c.out.has_room_now() && has_room_for_end<M>(c);
}
template <post_mode M>
[[gnu::always_inline]] inline status ended(connection& c, void* context) noexcept {
  if constexpr (is_reported(M)) c.through->ends().push(context, errc::ok);
  return {};
}
template <post_mode M>
[[gnu::always_inline]] inline status sent(connection& c, void* context) noexcept {
  c.sent();
  return ended<M>(c, context);
}

}  // namespace weft::backends::mapped
