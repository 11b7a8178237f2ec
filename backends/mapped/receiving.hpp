// SPDX-License-Identifier: Apache-2.0
//
// Reports the entries of a link's ring one by one. A message is copied into a posted receive; a notice needs none.
// A message without a receive waits, and the entries after it wait too.
// Hot path: all of it. Threads: the owner's.
#pragma once

#include "../../core/port.hpp"
#include "connections.hpp"
#include "posts.hpp"

namespace weft::backends::mapped {

/// Takes the front entry, a message that is long or may exceed its receive.
[[gnu::noinline]] inline completion_entry take_long(connections& all, connection& c) noexcept {
  const ring_entry& e = c.in.front();
  const std::uint32_t said = e.size.load(std::memory_order_relaxed);
  const bool lent = (said & ring_entry::lent) != 0;
  const std::uint32_t size = said & ~ring_entry::lent;
  const posted_receives::receive into = c.receives.take();
  completion_entry came{completion_kind::received, into.context, e.immediate, size};
  const auto message = lent ? c.lent_message(e, size) : c.in.message(e, size);
  bool whole = message.has_value();
  if (whole && size > into.size) [[unlikely]] {
    came.outcome = error(errc::truncated, "poll");
  } else if (whole && size != 0) {
    copy_long(into.data, message->data(), size);
    whole = !lent || !c.in.is_revoked();
  }
  c.pop();
  if (!whole) [[unlikely]] {
    came.outcome = error(errc::broken, "poll");
    c.in.stop();  // nothing is reported across a gap
    all.fail(c);
  }
  if (lent) {
    c.in.was_copied();
    c.sent();  // the sender may sleep until then
  }
  return came;
}
template <class On>
[[gnu::noinline]] void report_long(connection& c, On on) {
  on(take_long(c.through->links(), c), c.owner);
}

/// Reports at most `most` entries and returns their number. The handler may hang up the link. Requires: the ring has a
/// front.
template <class On>
[[gnu::always_inline]] inline int report_from(connection& c, int most, const On& on) {
  int left = most;
  const ring_entry* e = &c.in.front();
  do {
    const std::uint32_t size = e->size.load(std::memory_order_relaxed);
    if ((size & ring_entry::notice) != 0) [[likely]] {
      const completion_entry came{completion_kind::write_with_immediate, nullptr, e->immediate};
      c.fetch_ahead(written_bytes::of(*e));
      c.pop();
      on(came, c.owner);
    } else {
      if (c.receives.empty()) [[unlikely]]
        break;
      if (c.receives.take_whole_entry(size)) [[likely]] {
        const posted_receives::receive& into = c.receives.take();
        const completion_entry came{completion_kind::received, into.context, e->immediate, size};
        std::memcpy(into.data, e->inside.data(), ring_entry::room);
        c.out.fetch_next();
        c.pop();
        on(came, c.owner);
      } else {
        report_long(c, on);
      }
    }
    e = &c.in.front();
  } while (--left > 0 && c.phase != link_phase::gone && c.in.is_there(*e));
  return most - left;
}

inline constexpr int most_reported = 16;
/// A caller that posts without pause always has completions: arrivals get half of each poll.
inline constexpr int most_completions = 8;

/// Reports completions, then the entries of all links; many links take turns. `next`: the link to begin with.
template <class On>
[[gnu::noinline]] int report_all(posts& own, std::size_t& next, On on) {
  completion_queue& ends = own.ends();
  if (ends.awaits()) own.note_copied();
  int reported = 0;
  for (; reported < most_completions && !ends.empty(); ++reported) {
    const pending_completion e = ends.pop();
    on(completion_entry{completion_kind::ended, e.context, 0, 0, {e.how, origin::weft, 0, "mapped memory"}});
  }
  const auto& all = own.links().all();
  for (std::size_t polls = std::min(all.size(), connections::most_near);
       polls > 0 && reported < most_reported && !all.empty(); --polls) {
    if (next >= all.size()) next = 0;
    connection& c = *all[next++];
    if (c.in.has_front()) reported += report_from(c, most_reported - reported, on);
    else c.arriving.fetch();
  }
  return reported;
}
/// Reports the entries of the links after `found`; the links before it had none.
template <class On>
[[gnu::noinline]] int report_others(connections& links, connection& found, int reported, On on) {
  const auto& all = links.all();
  for (std::size_t i = links.place_of(found) + 1; i < all.size() && reported < most_reported; ++i) {
    connection& c = *all[i];
    if (c.in.has_front()) reported += report_from(c, most_reported - reported, on);
  }
  if (reported >= most_reported) links.last_poll_at(found);
  return reported;
}

}  // namespace weft::backends::mapped
