// SPDX-License-Identifier: Apache-2.0
//
// The target's counter: notices by id, in any order. On fabrics without order the last write says nothing about earlier
// ones; a count does. Forced by fi_cntr(3): library counters are missing on verbs, udp and old tcp, count all writes
// alike, and some count only writes with an immediate. This one counts notices, on every fabric, early ones included.
// Hot path: note(): a hash and a comparison, no allocation. Threads: the owner's.
#pragma once

#include "../core/time.hpp"
#include "immediate_layout.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

class notification_counter {
 public:
  /// `ids`: most different ids at one time. Allocates once, here.
  explicit notification_counter(std::uint32_t ids) {
    std::uint32_t size = 16;
    while (size < 2 * ids) size *= 2;
    entries_.resize(size);
  }

  /// Counts one notice. Returns false when the table is full of other ids; overflowed() counts these notices.
  bool note(std::uint32_t id) noexcept { return add(id, 1, 0); }
  /// Counts one put that failed at its writer, so that a wait for the id ends, in error. The writer has to report the
  /// failure: a put_notify of no bytes with a field for it works on every fabric.
  bool note_failure(std::uint32_t id) noexcept { return add(id, 0, 1); }

  /// Notices with this id so far.
  std::uint64_t seen(std::uint32_t id) const noexcept {
    const std::uint32_t at = find(id);
    return at == nowhere ? 0 : entries_[at].seen;
  }
  /// Failures with this id so far.
  std::uint64_t errors(std::uint32_t id) const noexcept {
    const std::uint32_t at = find(id);
    return at == nowhere ? 0 : entries_[at].errors;
  }
  /// Notices that were not counted, because the table was full.
  std::uint64_t overflowed() const noexcept { return overflowed_; }
  /// True when at least `count` notices with this id have arrived: `net.until([&] { return counter.reached(7, 64); },
  /// 2s, on)`.
  bool reached(std::uint32_t id, std::uint64_t count) const noexcept { return seen(id) >= count; }

  /// Forgets an id and gives its place back. Returns its count. Notices that come later begin a new count.
  std::uint64_t reset(std::uint32_t id) noexcept {
    std::uint32_t hole = find(id);
    if (hole == nowhere) return 0;
    const std::uint64_t was = entries_[hole].seen;
    for (std::uint32_t at = next(hole); entries_[at].used; at = next(at)) {  // close the gap, so that no chain breaks
      if (((at - (hash(entries_[at].id) & mask())) & mask()) < ((at - hole) & mask())) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole] = {};
    --used_;
    return was;
  }
  /// Starts over, for the next epoch of ids.
  void clear() noexcept {
    entries_.assign(entries_.size(), entry{});
    used_ = 0;
    overflowed_ = 0;
  }

  /// Waits until `count` puts with this id have ended here, by notice or by failure. `on` feeds this counter:
  /// counting() makes such a handler. Errors: deadline; broken, when some of them failed.
  template <class Transport, class Handler>
  status wait(Transport& net, std::uint32_t id, std::uint64_t count, duration timeout, Handler&& on) {
    const status s = net.until([&] { return seen(id) + errors(id) >= count; }, timeout, on);
    return s && errors(id) > 0 ? error(errc::broken, "notification_counter::wait") : s;
  }
  /// The same for puts of one peer. Ends at once with peer_lost when that peer is lost before all have arrived.
  template <class Transport, class Handler>
  status wait(Transport& net, std::uint32_t id, std::uint64_t count, peer from, duration timeout, Handler&& on) {
    const status s = net.until([&] { return seen(id) + errors(id) >= count || !from.alive(); }, timeout, on);
    if (!s) return s;
    if (seen(id) + errors(id) < count) return error(errc::peer_lost, "notification_counter::wait");
    return errors(id) > 0 ? error(errc::broken, "notification_counter::wait") : s;
  }

 private:
  struct entry {
    std::uint64_t seen = 0;
    std::uint64_t errors = 0;
    std::uint32_t id = 0;
    bool used = false;
  };
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  static constexpr std::uint32_t hash(std::uint32_t id) noexcept { return (id * 0x9e3779b9U) >> 7; }
  std::uint32_t mask() const noexcept { return static_cast<std::uint32_t>(entries_.size()) - 1; }
  std::uint32_t next(std::uint32_t at) const noexcept { return (at + 1) & mask(); }

  /// Chains end at a free entry, and one is always free.
  std::uint32_t find(std::uint32_t id) const noexcept {
    for (std::uint32_t at = hash(id) & mask(); entries_[at].used; at = next(at))
      if (entries_[at].id == id) return at;
    return nowhere;
  }
  bool add(std::uint32_t id, std::uint64_t seen, std::uint64_t errors) noexcept {
    std::uint32_t at = hash(id) & mask();
    while (entries_[at].used && entries_[at].id != id) at = next(at);
    if (!entries_[at].used) {
      if (used_ + 1 >= entries_.size()) {
        ++overflowed_;
        return false;
      }
      ++used_;
      entries_[at].id = id;
      entries_[at].used = true;
    }
    entries_[at].seen += seen;
    entries_[at].errors += errors;
    return true;
  }

  std::vector<entry> entries_;
  std::uint32_t used_ = 0;
  std::uint64_t overflowed_ = 0;
};

/// A handler that counts every notice by a field of its layout, then hands it on as any other event. See counting().
template <class Layout, field_name Field, class Handler>
struct counting_handler {
  notification_counter& counter;
  Handler& on;

  void operator()(const notified& n) {
    (void)counter.note(static_cast<std::uint32_t>(Layout::leading(n.immediate).template get<Field>()));
    on(n);
  }
  template <class Event>
  requires(!std::same_as<Event, notified>) decltype(auto) operator()(const Event& event) { return on(event); }
};

/// `on`, with notices counted by a field: `counter.wait(net, 7, 64, 2s, counting<call, "id">(counter, on))`. Keeps
/// references to both.
template <class Layout, field_name Field, class Handler>
counting_handler<Layout, Field, Handler> counting(notification_counter& counter, Handler& on) noexcept {
  return {counter, on};
}
/// The same without another handler: all other events are ignored.
struct ignore_events {
  void operator()(auto&&) const noexcept {}
};
template <class Layout, field_name Field>
auto counting(notification_counter& counter) noexcept {
  static ignore_events nobody;
  return counting_handler<Layout, Field, ignore_events>{counter, nobody};
}

}  // namespace weft
