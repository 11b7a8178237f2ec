// SPDX-License-Identifier: Apache-2.0
//
// The optional members of a port as named concepts, and what weft does without each. A backend offers a member where
// its library has the ability; core/port.hpp says what each member does. Code of compose uses these concepts and writes
// no requires-expression about ports. Hot path: all is decided at compile time. Threads: values.
#pragma once

#include "../../backends/process/watch.hpp"
#include "../../core/port.hpp"
#include "random_number.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace weft::detail {

// ---- completions
/// Each entry of a message or a notice comes with the record of its link (belongs_to).
template <class Port>
concept names_links = requires(Port p, typename Port::link l, void* record) {
  {p.belongs_to(l, record)};
};
/// Some posts end before they return, and no entry reports their end.
template <class Port>
concept can_end_at_return = Port::ends_at_return;
/// A completion entry says which link brought the message.
template <class Port>
concept finds_link_of_entry = requires(const completion_entry& c) {
  {Port::link_of(c)};
};

// ---- posts
/// inject and inject_write_immediate take any size.
template <class Port>
concept injects_everything = Port::injects_all;
/// Posts refuse a remote place without room or right by their status.
template <class Port>
concept checks_every_place = Port::checks_places;
template <class Port>
concept injects_writes = requires(Port p, typename Port::link l, const_bytes from, remote_memory to) {
  {p.inject_write(l, from, to)};
};

/// Posts take a hint that another post follows (FI_MORE), and the library may hold them until a post without the hint.
template <class Port>
concept takes_more_hints = requires {
  requires Port::hints_more;
};

/// Receivers copy long messages out of memory that the port allocated.
template <class Port>
concept lends_sources = requires {
  requires Port::lends_sources;
};
/// Whether the link's peer has not copied all messages that were lent to it. Unsignalled ones belong to no operation.
template <class Port>
bool lends_to(const Port&, const typename Port::link&) noexcept {
  return false;
}
template <lends_sources Port>
bool lends_to(const Port& p, const typename Port::link& to) noexcept {
  return p.lends_to(to);
}

// ---- receives
/// One call posts several receives.
template <class Port>
concept posts_receive_lists = requires(Port p, typename Port::link l, const receive_request* all, std::uint32_t count) {
  {p.post_receives(l, all, count)};
};
/// The receive that was reported last can be posted again without its memory.
template <class Port>
concept posts_same_receive_again = requires(Port p, typename Port::link l, void* context) {
  {p.post_again(l, context)};
};
/// post_receive() calls a function where the library refuses, and returns nothing.
template <class Port>
concept reports_refused_receive = requires(Port p, typename Port::link l, local_memory m, void* context,
                                           void (*refused)(void*) noexcept) {
  {p.post_receive(l, m, context, refused)};
};
/// A buffer of many messages can be posted for one message.
template <class Port>
concept posts_single_receives = requires(Port p, typename Port::link l, local_memory m, void* context) {
  {p.post_single_receive(l, m, context)};
};

/// Posts the receive of `context` again with the memory that it had. False: nothing was posted.
template <class Port>
[[gnu::always_inline]] inline bool post_same_again(Port&, typename Port::link, void*) noexcept {
  return false;
}
template <posts_same_receive_again Port>
[[gnu::always_inline]] inline bool post_same_again(Port& p, typename Port::link l, void* context) noexcept {
  return p.post_again(l, context);
}
/// Posts a receive; calls `refused(context)` where the library has no room.
template <class Port, class Refused>
[[gnu::always_inline]] inline void post_or_refuse(Port& p, typename Port::link l, local_memory m, void* context,
                                                  Refused refused) noexcept {
  if (!p.post_receive(l, m, context)) [[unlikely]]
    refused(context);
}
template <reports_refused_receive Port, class Refused>
[[gnu::always_inline]] inline void post_or_refuse(Port& p, typename Port::link l, local_memory m, void* context,
                                                  Refused refused) noexcept {
  p.post_receive(l, m, context, refused);
}
/// False where the port has no such receives, or the library has no room.
template <class Port>
bool post_for_one_message(Port&, typename Port::link, local_memory, void*) noexcept {
  return false;
}
template <posts_single_receives Port>
bool post_for_one_message(Port& p, typename Port::link l, local_memory m, void* context) noexcept {
  return static_cast<bool>(p.post_single_receive(l, m, context));
}
/// The link that brought the message of `c`. `known` is the answer of a port that does not say.
template <class Port>
[[gnu::always_inline]] inline typename Port::link link_that_brought(const Port&, const completion_entry&,
                                                                    typename Port::link known) noexcept {
  return known;
}
template <finds_link_of_entry Port>
[[gnu::always_inline]] inline typename Port::link link_that_brought(const Port&, const completion_entry& c,
                                                                    typename Port::link) noexcept {
  return Port::link_of(c);
}

// ---- time, random numbers, processes
/// A clock that costs less than now(), and is some milliseconds late.
template <class Port>
concept has_rough_clock = requires(const Port p) {
  {p.now_roughly()};
};
template <class Port>
instant rough_now(const Port& p) noexcept {
  return p.now();
}
template <has_rough_clock Port>
instant rough_now(const Port& p) noexcept {
  return p.now_roughly();
}

/// The port draws random numbers itself: a simulated world repeats a run.
template <class Port>
concept draws_numbers = requires(Port p) {
  {p.random()};
};
template <class Port>
std::uint64_t random_of(Port&) noexcept {
  return unguessable();
}
template <draws_numbers Port>
std::uint64_t random_of(Port& p) noexcept {
  return p.random();
}

/// The port simulates processes, and has a type that watches one.
template <class Port>
concept has_processes = requires(const Port p, std::uint64_t process) {
  typename Port::process_watch;
  {p.process()};
  {p.watch_process(process)};
};
/// How this process is named to peers on the same host, and how a peer's process is watched.
template <class Port>
struct processes_of {
  using watch = backends::process::watch;
  static std::uint64_t own(const Port&) noexcept { return watch::self(); }
  static watch watch_over(const Port&, std::uint64_t process) noexcept { return watch::of(process); }
};
template <has_processes Port>
struct processes_of<Port> {
  using watch = typename Port::process_watch;
  static std::uint64_t own(const Port& p) noexcept { return p.process(); }
  static watch watch_over(const Port& p, std::uint64_t process) noexcept { return p.watch_process(process); }
};

// ---- devices
/// The fabric has several devices, and the port says which it took.
template <class Port>
concept says_devices = requires(const Port p) {
  {p.devices()};
};
template <class Port>
std::vector<device_verdict> devices_of(const Port& p) {
  if constexpr (says_devices<Port>) return p.devices();
  else return {};
}

// ---- queues
/// The object that reads a port's queue, and the entries of one read; empty types for a port without the two.
struct no_reader {};
struct no_entries {};
template <class Port>
struct reader_of {
  using type = no_reader;
  using entries = no_entries;
  static type made(const Port&) noexcept { return {}; }
};
template <reads_apart Port>
struct reader_of<Port> {
  using type = typename Port::reader;
  using entries = typename Port::entries;
  static type made(const Port& p) noexcept { return p.queue_reader(); }
};

}  // namespace weft::detail
