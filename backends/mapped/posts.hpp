// SPDX-License-Identifier: Apache-2.0
//
// What posts of a port share: room before anything is moved, and the end behind it. Ends are told by the next look, as on every fabric; what was refused at once
// and has nobody who waits says so in the status.
// Hot path: all but what is marked cold. Threads: the owner's.
#pragma once

#include "../../core/port.hpp"
#include "connections.hpp"
#include "endings.hpp"

#include <utility>

namespace weft::backends::mapped {

class posts {
 public:
  posts(connections& links, std::uint32_t ends) : links_(links), ends_(ends) {}

  endings& ends() noexcept { return ends_; }
  const endings& ends() const noexcept { return ends_; }
  /// A post found no room since this was asked: nobody tells when there is some.
  bool starved() noexcept { return std::exchange(starved_, false); }

  [[gnu::always_inline]] bool has_room_for_end() const noexcept { return !ends_.full(); }
  /// Room for a message of that size, and for its end where it is told.
  template <post_mode M>
  [[gnu::always_inline]] status ready(connection& c, std::size_t size, const char* operation) noexcept {
    if (c.out.has_room(size) && (M == post_mode::unsignalled || has_room_for_end())) [[likely]]
      return {};
    return not_ready(c, size, operation);
  }
  template <post_mode M>
  [[gnu::always_inline]] status sent(connection& c, void* context) noexcept {
    c.sent();
    return ended<M>(context);
  }
  template <post_mode M>
  [[gnu::always_inline]] status ended(void* context) noexcept {
    if constexpr (M != post_mode::unsignalled) ends_.push(context, errc::ok);
    return {};
  }
  template <post_mode M>
  [[gnu::always_inline]] status moved(errc how, void* context, const char* operation) noexcept {
    if (how != errc::ok) [[unlikely]]
      return not_moved(how, context, operation);
    return ended<M>(context);
  }
  [[gnu::cold, gnu::noinline]] status not_moved(errc why, void* context, const char* operation) noexcept {
    if (why == errc::again) return to_be_grown(operation);
    if (ends_.full()) return again(waits_for::queue, operation);
    ends_.push(context, why);
    return {};
  }
  [[gnu::cold, gnu::noinline]] status refused(errc why, const char* operation) noexcept {
    return why == errc::again ? to_be_grown(operation) : error(why, operation);
  }

 private:
  [[gnu::cold, gnu::noinline]] status not_ready(const connection& c, std::size_t size, const char* operation) noexcept {
    if (size > c.out.largest()) return error(errc::out_of_range, operation);
    starved_ = true;
    return again(waits_for::queue, operation);
  }
  /// The peer uses more than is mapped here: more is mapped at the next look, outside of a post.
  status to_be_grown(const char* operation) noexcept {
    links_.want_growth();
    return again(waits_for::connection, operation);
  }

  connections& links_;
  endings ends_;
  bool starved_ = false;
};

}  // namespace weft::backends::mapped
