// SPDX-License-Identifier: Apache-2.0
//
// A look at the queue: what it brings goes to receiving/completions.hpp or receiving/receive_path.hpp, and then what
// was put off is done as far as it can be now. Hot path: all of it. Threads: the owner's.
#pragma once

#include "../connecting/connection_manager.hpp"
#include "../events.hpp"
#include "../posting/flushing.hpp"
#include "completions.hpp"
#include "receive_path.hpp"
#include "ring_watch.hpp"
#include "target_executed.hpp"

namespace weft::detail {

struct no_entries {};
template <class Port>
struct entries_of {
  using type = no_entries;
};
template <reads_apart Port>
struct entries_of<Port> {
  using type = typename Port::entries;
};

template <class Engine, class Handler>
class cq_poller {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using receive = typename Engine::receive;

  /// The handler is copied: a reference to the user's (by_const_reference).
  cq_poller(Engine& e, Handler on) noexcept : e_(e), on_(on) {}

  /// A look on its way: what was read, and for whom. A function that reads a queue and finds nothing keeps nothing
  /// else.
  struct poll_state {
    Engine* engine;
    typename detail::entries_of<typename Engine::port_type>::type all;
  };
  /// One look at the queue. Returns what the library had. Requires: nothing is put off, no handler is running. Where
  /// the port reads apart from telling, what is found is told in a function of its own: a look that finds nothing then
  /// saves no register. `Quick`: the port may leave out what it sees to now and then.
  template <bool Quick, class User>
  [[gnu::always_inline]] static int poll(Engine& e, User& on) {
    if constexpr (Engine::ends_at_return)
      if (!e.ended.empty()) [[unlikely]]
        return poll_with_ends(e, on);
    if constexpr (makes_entries<typename Engine::port_type> && Quick) {
      typename Engine::port_type::entries all;
      return e.reader.read(all) > 0 ? take_made(e, on, all) : 0;
    } else if constexpr (reads_apart<typename Engine::port_type> &&
                         (Quick || !reads_quickly<typename Engine::port_type>)) {
      return poll_apart(e, on);
    } else {
      const int found = e.port->poll([&e, &on](const completion_entry& c, auto&... whose) {
        e.poll_budget.begin_handling();
        cq_poller(e, {&on}).take(c, whose...);
      });
      if constexpr (Engine::uses_ring) cq_poller(e, {&on}).read_rings();
      const int watched = poll_cells(e, {&on});
      if (found != 0) finish(e, {&on}, found);
      return found + watched;
    }
  }

  /// The same while something is put off.
  static int poll_and_run_deferred(Engine& e, Handler on) {
    e.poll_budget.begin_handling();
    cq_poller in(e, on);
    if (!e.unexpected_messages.empty())
      in.receive_path_().retry_unexpected();  // first: messages of a peer are told in order
    int found = in.tell_ended();
    found += e.port->poll([&in](const completion_entry& c, auto&... whose) { in.take_one(c, whose...); });
    if constexpr (Engine::chains_receives) receives<Engine>(e).refill();
    if constexpr (Engine::uses_ring) in.read_rings();
    const int watched = poll_cells(e, on);
    run_deferred(e, on, found);
    return found + watched;
  }

 private:
  /// A look of a port that reads apart from telling.
  template <class User>
  [[gnu::always_inline]] static int poll_apart(Engine& e, User& on) {
    poll_state l;
    l.engine = &e;
    const auto read = e.reader.read(l.all);
    if constexpr (Engine::uses_ring) cq_poller(*l.engine, {&on}).read_rings();
    if constexpr (Engine::watches_cells) {
      int found = 0;
      if (read > 0) [[unlikely]]
        found = take_all(l, on, static_cast<int>(read));
      else if (e.reader.failed(read)) [[unlikely]] found = take_error(*l.engine, on);
      return found + poll_cells(*l.engine, {&on});
    } else {
      if (read > 0) return take_all(l, on, static_cast<int>(read));
      if (e.reader.failed(read)) [[unlikely]]
        return take_error(*l.engine, on);
      return 0;
    }
  }
  [[gnu::always_inline]] static int poll_cells([[maybe_unused]] Engine& e, [[maybe_unused]] Handler on) {
    if constexpr (Engine::watches_cells) return cell_watch<Engine, Handler>(e, on).poll();
    else return 0;
  }

  /// Tells what a look found.
  template <class User>
  [[gnu::noinline]] static int take_all(const poll_state& l, User& on, int read) {
    Engine& e = *l.engine;
    e.reader.found();
    e.poll_budget.begin_handling();
    const auto each = [&e, &on ](const completion_entry& c) __attribute__((always_inline)) {
      cq_poller(e, {&on}).take(c);
    };
    const int found = e.port->report_entries(l.all, read, each);
    finish(e, {&on}, found);
    return found;
  }
  /// The same where reading calls nobody, so that what it found travels in registers.
  template <class User>
  [[gnu::noinline]] static int take_made(Engine& e, User& on,
                                         typename detail::entries_of<typename Engine::port_type>::type all) {
    static_assert(!Engine::uses_ring && !Engine::watches_cells,
                  "weft: nothing is looked at besides entries that a port makes");
    e.reader.found();
    e.poll_budget.begin_handling();
    const int found = e.port->report_entries(
        all, 1, [&e, &on ](const completion_entry& c, auto&... whose) __attribute__((always_inline)) {
          cq_poller(e, {&on}).take(c, whose...);
        });
    finish(e, {&on}, found);
    return found;
  }
  /// The same of operations that ended in their posts, before what the port has.
  template <class User>
  [[gnu::noinline]] static int poll_with_ends(Engine& e, User& on) {
    e.poll_budget.begin_handling();
    cq_poller in(e, {&on});
    int found = in.tell_ended();
    found += e.port->poll([&in](const completion_entry& c, auto&... whose) { in.take(c, whose...); });
    finish(e, {&on}, found);
    return found;
  }
  static constexpr int most_ended =
      8;  ///< Whoever posts without rest has ends without end: what arrives has its part of a look.
  [[gnu::always_inline]] int tell_ended() {
    int told = 0;
    if constexpr (Engine::ends_at_return)
      for (; told < most_ended && !e_.ended.empty(); ++told) completions_().ended(e_.ended.take());
    return told;
  }
  template <class User>
  [[gnu::cold, gnu::noinline]] static int take_error(Engine& e, User& on) {
    e.poll_budget.begin_handling();
    cq_poller in(e, {&on});
    const int found =
        e.port->report_error([&in](const completion_entry& c, auto&... whose) { in.take_one(c, whose...); });
    finish(e, {&on}, found);
    return found;
  }
  [[gnu::always_inline]] static void finish(Engine& e, Handler on, int found) {
    if constexpr (Engine::chains_receives) receives<Engine>(e).refill();
    if (!e.poll_budget.end_handling()) [[unlikely]]
      run_deferred(e, on, found);
  }

  /// Does what was put off, as far as it can be done now.
  [[gnu::noinline]] static void run_deferred(Engine& e, Handler on, int found) {
    if (!e.poll_budget.is_put_off()) return;  // timers is due, at the next look
    e.poll_budget.begin_handling();
    cq_poller in(e, on);
    if constexpr (Engine::connected)
      if (found == 0 && e.draining) in.settle();
    if (!e.unposted.empty()) in.repost_left();
    if (!e.deferred.empty()) in.completions_().send_deferred();
    if constexpr (answer<typename Engine::fabric, atomics_family>::executed_by_target)
      if (!e.deferred_replies.empty()) target<Engine>(e).settle();
    if constexpr (Engine::notice_is_message || Engine::watches_cells)
      if (!e.deferred_fused_replies.empty()) fused_notices<Engine>(e).settle();
    if constexpr (Engine::tracks_writes)
      if (e.waiting_flushes != 0) flushing<Engine>(e).settle([&in](slot& s) { in.completions_().end_of(s, {}); });
    if constexpr (Engine::coalesces)
      if (!e.gathering.empty()) coalescing<Engine>(e).poll(found > 0);
    e.settle_poll_budget();
    (void)e.poll_budget.end_handling();
  }
  void read_rings() {
    e_.poll_budget.begin_handling();
    target<Engine>(e_).read_rings([this](record& r, std::uint32_t immediate) {
      on_(notified{e_.handle(r), immediate});
    });
    (void)e_.poll_budget.end_handling();
  }

  /// Of a link whose record is known.
  [[gnu::always_inline]] void take(const completion_entry& c, void* whose) {
    record& from = *static_cast<record*>(whose);
    if (c.kind == completion_kind::write_with_immediate) receive_path_().write_arrived(c, from);
    else receive_path_().arrived(c, from);
  }
  [[gnu::always_inline]] void take(const completion_entry& c) {
    switch (c.kind) {
      case completion_kind::ended:
        if (c.context == nullptr || c.outcome || !of_receive(c)) [[likely]]
          return completions_().ended(c);
        return receive_path_().arrived(c);
      case completion_kind::received:
        return receive_path_().arrived(c);
      case completion_kind::write_with_immediate:
        return receive_path_().write_arrived(c);
      case completion_kind::released:
        if constexpr (Engine::many_in_one) receive_path_().give_back(*static_cast<receive*>(c.context), true);
        return;
    }
  }

  [[gnu::noinline]] void take_one(const completion_entry& c) { take(c); }
  [[gnu::noinline]] void take_one(const completion_entry& c, void* whose) { take(c, whose); }

  completions<Engine, Handler> completions_() const noexcept { return {e_, on_}; }
  receive_path<Engine, Handler> receive_path_() const noexcept { return {e_, on_}; }
  /// Error entries of some providers do not say what failed.
  static bool of_receive(const completion_entry& c) noexcept {
    return static_cast<library_context<Engine::library_bytes>*>(c.context)->kind == context_kind::receive;
  }

  /// What a link brought before it ended has been told by now.
  [[gnu::cold]] void settle() {
    if constexpr (Engine::watches_cells)
      for (record& r : e_.peers)
        if (r.link_is == link_state::ended && r.live != peer_header::dead)
          cell_watch<Engine, Handler>(e_, on_).drain(r);
    receives<Engine>(e_).settle();
    connection_manager<Engine>(e_).settle_links(on_);
  }

  void repost_left() {
    auto left = std::size_t{0};
    for (std::size_t i = 0; i < e_.unposted.size(); ++i)
      if (e_.unposted[i]->owner != no_index && !connection_manager<Engine>(e_).try_post(*e_.unposted[i]))
        e_.unposted[left++] = e_.unposted[i];
    e_.unposted.resize(left);
  }

  Engine& e_;
  Handler on_;
};

}  // namespace weft::detail
