// SPDX-License-Identifier: Apache-2.0
//
// What lies in a link's ring, told one by one: a message is copied into the receive that was posted first, a notice is told as it is. A message waits for a
// receive, and what came behind it waits too.
// Hot path: all of it. Threads: the owner's.
#pragma once

#include "../../core/port.hpp"
#include "connections.hpp"

namespace weft::backends::mapped {

/// Short messages are copied whole entries at a time where the receive has the room: no branch asks for their length.
[[gnu::always_inline]] inline void copy_message(const posted_receives::receive& into, const ring_entry& e, const_bytes message) noexcept {
  if (message.size() <= ring_entry::room && into.into.size >= ring_entry::room) [[likely]]
    std::memcpy(into.into.data, e.inside.data(), ring_entry::room);
  else if (!message.empty()) std::memcpy(into.into.data, message.data(), message.size());
}

[[gnu::always_inline]] inline completion_entry take_message(connections& all, connection& c, const ring_entry& e, std::uint32_t size) noexcept {
  const posted_receives::receive into = c.receives.take();
  completion_entry came{completion_kind::received, into.context, e.immediate, size};
  const auto message = c.in.message(e, size);
  if (!message) [[unlikely]] {
    came.outcome = error(errc::broken, "poll");
    all.broke(c);
  } else if (size > into.into.size) [[unlikely]] {
    came.outcome = error(errc::truncated, "poll");
  } else {
    copy_message(into, e, *message);
  }
  return came;
}

/// Tells at most so many; returns how many. `first` is the ring's front. The handler may hang the link up.
template <class On>
[[gnu::always_inline]] inline int take_from(connections& all, connection& c, const ring_entry* first, int most, On& on) {
  int told = 0;
  for (const ring_entry* e = first; e != nullptr && told < most && c.phase != link_phase::gone; e = c.in.front(), ++told) {
    const std::uint32_t size = e->size;
    if ((size & ring_entry::notice) != 0) {
      const completion_entry came{completion_kind::landed, nullptr, e->immediate};
      c.fetch_ahead(landed_bytes::of(*e, size), all.own().start());
      c.in.pop();
      on(came);
    } else {
      if (c.receives.empty()) [[unlikely]]
        break;
      const completion_entry came = take_message(all, c, *e, size);
      c.in.pop();
      on(came);
    }
  }
  return told;
}

}  // namespace weft::backends::mapped
