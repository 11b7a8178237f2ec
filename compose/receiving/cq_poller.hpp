// SPDX-License-Identifier: Apache-2.0
//
// Polls the completion queue and reports its entries to the user's handler. The usual path of a notice comes first and
// in one piece: poll(), report(), take(), the handler. Other entries go to receiving/completions.hpp and
// receiving/receive_path.hpp. Below are the rare variants: error entries, posts that ended at their return, ports that
// report inside of poll(), deferred work. Fabric fact: a poll that finds nothing is the most frequent call of an owner,
// so reading is split from reporting where a port permits it. Hot path: all of it. Threads: the owner's.
#pragma once

#include "../engine/rare_calls.hpp"
#include "../engine/receives.hpp"
#include "../events.hpp"
#include "completions.hpp"
#include "counter_rings.hpp"
#include "receive_path.hpp"

#include <type_traits>
#include <utility>

namespace weft::detail {

/// The user's handler, called with events as const lvalues. An rvalue would prefer a catch-all `[](auto&&) {}` to the
/// overload `[](const notified&) {}` of the same handler.
template <class Handler>
struct by_const_reference {
  Handler* on;
  template <class Event>
  decltype(auto) operator()(const Event& event) const {
    return (*on)(event);
  }
  operator erased_handler() const noexcept { return erased_handler::of(*on); }  // NOLINT(google-explicit-constructor)
};
/// How polls hold a handler: by reference, or as a copy where it is a reference already.
template <class User>
using held_handler = std::conditional_t<std::is_same_v<std::remove_const_t<User>, erased_handler>, erased_handler,
                                        by_const_reference<User>>;
template <class User>
[[gnu::always_inline]] inline held_handler<User> hold(User& on) noexcept {
  if constexpr (std::is_same_v<held_handler<User>, erased_handler>) return on;
  else return {&on};
}

/// `Handler` is copied: it refers to the user's handler, and hold() makes one.
template <class Engine, class Handler>
class cq_poller {
 public:
  using record = typename Engine::record;
  using receive = typename Engine::receive;
  using port_type = typename Engine::port_type;

  /// Polls the queue once. Returns how many entries and notices there were. Requires: no work is deferred, no handler
  /// is running. `Quick`: the port may skip its own maintenance.
  template <bool Quick, class User>
  [[gnu::always_inline]] static int poll(Engine& e, User& on) {
    if (!e.ended.empty()) [[unlikely]]
      return poll_with_ends(e, on);
    if constexpr (!reads_apart<port_type> || (reads_quickly<port_type> && !Quick)) {
      return poll_in_one_call(e, on);
    } else {
      entries_read l;
      l.engine = &e;
      const auto read = e.reader.read(l.all);
      counter_rings_of<Engine, Handler>(*l.engine, hold(on)).poll();
      int found = 0;
      if (read > 0) found = report(l, on, static_cast<int>(read));
      else if (l.engine->reader.failed(read)) [[unlikely]]
        found = rare_calls<Engine>::report_error(*l.engine, erased_handler::of(on));
      return found + ring_watch_of<Engine, Handler>(*l.engine, hold(on)).poll();
    }
  }

 private:
  /// The entries of one poll. The engine's address is kept here, so that an empty poll saves no register for it.
  struct entries_read {
    Engine* engine;
    typename Engine::queue::entries all;
  };
  /// Where the port makes the entries itself, they are one pointer, which stays in a register.
  using passed = std::conditional_t<makes_entries<port_type>, entries_read, const entries_read&>;

  template <class User>
  [[gnu::noinline]] static int report(passed l, User& on, int read) {
    Engine& e = *l.engine;
    e.reader.found();
    e.poll_budget.begin_handling();
    const int found = e.port->report_entries(
        l.all, read, [&e, &on ](const completion_entry& c, auto&... from) __attribute__((always_inline)) {
          cq_poller(e, hold(on)).take(c, from...);
        });
    finish(e, hold(on), found);
    return found;
  }

  [[gnu::always_inline]] void take(const completion_entry& c) {
    switch (c.kind) {
      case completion_kind::write_with_immediate: {
        if constexpr (!Engine::immediates_name_peers) return receive_path_().notice_in_receive(c);
        record* const from = e_.peers.living({static_cast<std::uint32_t>(c.immediate >> 32)});
        if (from == nullptr) [[unlikely]]
          return rare_calls<Engine>::early_notice(e_, c.immediate);
        if (!ring_watch_of<Engine, Handler>(e_, on_).drain(*from)) return;  // cells posted before this notice
        return void(on_(notified{e_.handle(*from), static_cast<std::uint32_t>(c.immediate)}));
      }
      case completion_kind::ended:
        if (c.context == nullptr || c.outcome || !of_receive(c)) [[likely]]
          return completions_().ended(c);
        return receive_path_().arrived(c);
      case completion_kind::received:
        return receive_path_().arrived(c);
      case completion_kind::released:
        return receive_path_().give_back(*static_cast<receive*>(c.context), true);
    }
  }
  /// The same where the port knows the link's record (belongs_to).
  [[gnu::always_inline]] void take(const completion_entry& c, void* link_record) {
    record& from = *static_cast<record*>(link_record);
    if (c.kind != completion_kind::write_with_immediate) return receive_path_().arrived(c, from);
    if (!from.is_live()) [[unlikely]]
      return rare_calls<Engine>::early_notice(e_, receive_path_().named(from.number, c.immediate));
    on_(notified{e_.handle(from), static_cast<std::uint32_t>(c.immediate)});
  }

  [[gnu::always_inline]] static void finish(Engine& e, Handler on, int found) {
    receives<Engine>(e).refill();
    if (!e.poll_budget.end_handling()) [[unlikely]]
      rare_calls<Engine>::run_deferred(e, on, found);
  }

  // ---- rare variants
 public:
  /// Polls while work is deferred. Messages that wait go first: the messages of a peer keep their order.
  static int poll_and_run_deferred(Engine& e, Handler on) {
    e.poll_budget.begin_handling();
    cq_poller in(e, on);
    if (!e.unexpected_messages.empty()) rare_calls<Engine>::retry_unexpected(e, on);
    int found = in.report_ended();
    e.quiet = true;  // until a link ends: only a poll after that can find its entries
    found += e.port->poll([&in](const completion_entry& c, auto&... from) { in.take_one(c, from...); });
    receives<Engine>(e).refill();
    counter_rings_of<Engine, Handler>(e, on).poll();
    const int cells = ring_watch_of<Engine, Handler>(e, on).poll();
    if (std::exchange(e.timer_ended_sleep, false) && found > 0) [[unlikely]]
      ++e.sleeps.missed_wakes;
    rare_calls<Engine>::run_deferred(e, on, found);
    return found + cells;
  }
  /// Reads and reports an error entry.
  [[gnu::cold, gnu::noinline]] static int report_error(Engine& e, Handler on) {
    e.poll_budget.begin_handling();
    cq_poller in(e, on);
    const int found =
        e.port->report_error([&in](const completion_entry& c, auto&... from) { in.take_one(c, from...); });
    finish(e, on, found);
    return found;
  }

 private:
  cq_poller(Engine& e, Handler on) noexcept : e_(e), on_(on) {}

  /// The port reports each entry where it reads it.
  template <class User>
  [[gnu::always_inline]] static int poll_in_one_call(Engine& e, User& on) {
    const int found = e.port->poll([&e, &on](const completion_entry& c, auto&... from) {
      e.poll_budget.begin_handling();
      cq_poller(e, hold(on)).take(c, from...);
    });
    counter_rings_of<Engine, Handler>(e, hold(on)).poll();
    const int cells = ring_watch_of<Engine, Handler>(e, hold(on)).poll();
    if (found != 0) finish(e, hold(on), found);
    return found + cells;
  }
  /// Some operations ended when their post returned. Their ends are reported before new entries.
  template <class User>
  [[gnu::noinline]] static int poll_with_ends(Engine& e, User& on) {
    e.poll_budget.begin_handling();
    cq_poller in(e, hold(on));
    int found = in.report_ended();
    found += e.port->poll([&in](const completion_entry& c, auto&... from) { in.take(c, from...); });
    finish(e, hold(on), found);
    return found;
  }

  /// Ends of one poll. An owner that always posts would otherwise never see what arrives.
  static constexpr int most_ended = 8;
  [[gnu::always_inline]] int report_ended() {
    int reported = 0;
    for (; reported < most_ended && !e_.ended.empty(); ++reported) completions_().ended(e_.ended.take());
    return reported;
  }

  [[gnu::noinline]] void take_one(const completion_entry& c) { take(c); }
  [[gnu::noinline]] void take_one(const completion_entry& c, void* link_record) { take(c, link_record); }

  completions<Engine, Handler> completions_() const noexcept { return {e_, on_}; }
  receive_path<Engine, Handler> receive_path_() const noexcept { return {e_, on_}; }
  /// Error entries of some providers do not say whether a receive or an operation failed.
  static bool of_receive(const completion_entry& c) noexcept {
    return static_cast<library_context<Engine::library_bytes>*>(c.context)->kind == context_kind::receive;
  }

  Engine& e_;
  Handler on_;
};

}  // namespace weft::detail
