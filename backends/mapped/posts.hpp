// SPDX-License-Identifier: Apache-2.0
//
// What posts of a port share: room before anything is moved, and the end behind it. Ends are told by the next look, as
// on every fabric; what was refused at once and has nobody who waits says so in the status. Hot path: all but what is
// marked cold. Threads: the owner's.
#pragma once

#include "../../core/port.hpp"
#include "connections.hpp"
#include "endings.hpp"
#include "moving.hpp"

#include <utility>

namespace weft::backends::mapped {

/// Whether an end is told by an entry.
constexpr bool is_told(post_mode m) noexcept { return m == post_mode::signalled || m == post_mode::delivered; }

class posts {
 public:
  posts(connections& links, std::uint32_t ends) : links_(links), ends_(ends) { links.are_posted_to_by(*this); }

  connections& links() noexcept { return links_; }
  endings& ends() noexcept { return ends_; }
  const endings& ends() const noexcept { return ends_; }
  /// A post found no room since this was asked: nobody tells when there is some.
  bool starved() noexcept { return std::exchange(starved_, false); }

  /// Nothing was moved, and why: by status, or by an entry.
  template <post_mode M>
  [[gnu::cold, gnu::noinline]] status not_moved(moved why, void* context, const char* operation) noexcept {
    if (why.code == errc::again || why.at_once) return refused(why, operation);
    if (ends_.full()) return again(waits_for::queue, operation);
    ends_.push(context, why.code);
    return M == post_mode::at_return ? told_later(operation) : status{};
  }
  [[gnu::cold, gnu::noinline]] status refused(moved why, const char* operation) noexcept {
    return why.code == errc::again ? to_be_grown(operation) : error(why.code, operation);
  }
  [[gnu::cold, gnu::noinline]] status not_ready(const connection& c, std::size_t size, const char* operation) noexcept {
    if (size > c.out.largest()) return error(errc::out_of_range, operation);
    starved_ = true;
    return again(waits_for::queue, operation);
  }

 private:
  /// The peer uses more than is mapped here: more is mapped at the next look, outside of a post.
  status to_be_grown(const char* operation) noexcept {
    links_.want_growth();
    return again(waits_for::connection, operation);
  }

  connections& links_;
  endings ends_;
  bool starved_ = false;
};

// What follows finds its way by the link: on the straight way nothing but the link is used, unless an entry is to tell
// of the end.
template <post_mode M>
[[gnu::always_inline]] inline bool has_room_for_end(const connection& c) noexcept {
  if constexpr (is_told(M)) return !c.through->ends().full();
  else return true;
}
/// Room for an entry of the ring, and for the end where it is told.
template <post_mode M>
[[gnu::always_inline]] inline bool is_ready(connection& c) noexcept {
  return c.out.has_room() && has_room_for_end<M>(c);
}
template <post_mode M>
[[gnu::always_inline]] inline status ended(connection& c, void* context) noexcept {
  if constexpr (is_told(M)) c.through->ends().push(context, errc::ok);
  return {};
}
template <post_mode M>
[[gnu::always_inline]] inline status sent(connection& c, void* context) noexcept {
  c.sent();
  return ended<M>(c, context);
}

}  // namespace weft::backends::mapped
