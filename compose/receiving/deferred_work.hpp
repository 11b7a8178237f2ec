// SPDX-License-Identifier: Apache-2.0
//
// Work that polls could not finish, tried again after each poll until it is done: receives, sends, replies, flushes,
// groups, links that ended. Fabric fact: a queue may be full at any call, and no handler waits. Hot path: no; a poll
// without deferred work never comes here. Threads: the owner's.
#pragma once

#include "../connecting/connection_manager.hpp"
#include "../posting/flushing.hpp"
#include "../posting/fused.hpp"
#include "../posting/more_hints.hpp"
#include "completions.hpp"
#include "operation_steps.hpp"
#include "ring_watch.hpp"
#include "target_atomics.hpp"

namespace weft::detail {

template <class Engine>
class deferred_work {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;

  /// Does deferred work, as far as there is room now. `found`: number of entries of the poll before.
  [[gnu::noinline]] static void run(Engine& e, erased_handler on, int found) {
    if (!e.poll_budget.is_put_off()) return;  // the timers are due, at the next poll
    e.poll_budget.begin_handling();
    deferred_work(e, on).run_all(found);
    e.settle_poll_budget();
    (void)e.poll_budget.end_handling();
  }

 private:
  deferred_work(Engine& e, erased_handler on) noexcept : e_(e), on_(on) {}

  [[gnu::always_inline]] void run_all(int found) {
    completions<Engine, erased_handler> ends(e_, on_);
    if (Engine::connected && found == 0 && e_.draining && e_.quiet) settle_links();
    if (!e_.unposted.empty()) post_again();
    if (!e_.deferred.empty()) continue_deferred(ends);
    if (!e_.deferred_replies.empty()) target_atomics<Engine>(e_).settle();
    if (!e_.deferred_fused_replies.empty()) fused_notices<Engine>(e_).settle();
    if (e_.waiting_flushes != 0) flushing<Engine>(e_).settle([&ends](slot& s) { ends.end_of(s, {}); });
    e_.coalescer.post_due(found > 0);
    if (!e_.tagged.settled()) e_.tagged.settle(on_);
    if constexpr (takes_more_hints<typename Engine::port_type>)
      if (e_.batch_hints > batch_hints::in_use) more_hints<Engine>::polled(e_);
  }

  /// The queue was seen empty, so everything that arrived on an ended link has been reported.
  [[gnu::cold]] void settle_links() {
    e_.peers.each_ended_link([this](record& r) {
      if (r.live_number() != peer_header::dead) (void)ring_watch_of<Engine, erased_handler>(e_, on_).drain(r);
    });
    if (!e_.quiet) return;  // a handler closed a peer: the next empty poll settles
    receives<Engine>(e_).settle();
    connection_manager<Engine>(e_).settle_links(on_);
  }

  void continue_deferred(completions<Engine, erased_handler>& ends) {
    operation_steps<Engine> steps(e_, on_);
    e_.deferred.begin();
    while (slot* s = e_.deferred.take())
      if (ended_operation<record> done; steps.continue_deferred(*s, done)) ends.report(done);
  }
  void post_again() {
    std::erase_if(e_.unposted,
                  [this](auto* r) { return receives<Engine>(e_).is_retired(*r) || receives<Engine>(e_).try_post(*r); });
  }

  Engine& e_;
  erased_handler on_;
};

}  // namespace weft::detail
