// SPDX-License-Identifier: Apache-2.0
//
// The end of a peer. Each outstanding operation is reported as failed, once; then the peer is reported as lost. After
// that nothing on the peer succeeds. The library need not report these ends: on shm and udp_rxd operations towards a
// dead peer never complete, so their slots are abandoned. Hot path: no. Threads: the owner's.
#pragma once

#include "../../core/if_memory.hpp"
#include "../engine/engine.hpp"
#include "../engine/erased_handler.hpp"
#include "../events.hpp"
#include "../posting/notice_batching.hpp"
#include "links.hpp"

namespace weft::detail {

template <class Engine>
class teardown {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;

  explicit teardown(Engine& e) noexcept : e_(e) {}

  /// Reports an event that may end the connection. `why`: the reason for `lost`, where the table names no other.
  void end(record& r, peer_event what, status why, erased_handler on) { carry_out(r, advance(e_, r, what), why, on); }
  /// Carries out an action that ends the connection. Does nothing for other actions.
  void carry_out(record& r, peer_action what, status why, erased_handler on) {
    switch (what) {
      case peer_action::report_lost:
        return report(r, why, on);
      case peer_action::report_unreachable:
        return report(r, {errc::unreachable, why.from, why.native(), "connect"}, on);
      case peer_action::report_closed:
        return report(r, error(errc::closed, "goodbye"), on);
      case peer_action::release:
      case peer_action::drop:
        return give_back(r);
      default:
        return;
    }
  }
  /// The peer is dead, or sent bytes that are no message.
  void gone(record& r, status why, erased_handler on) { end(r, peer_event::peer_dies, why, on); }
  /// Gives the record back and reports nothing.
  void forget(record& r) {
    if (advance(e_, r, peer_event::owner_releases) == peer_action::release) give_back(r);
  }

  /// The peer said goodbye. The queue may still hold completions of earlier operations. The record waits for them until
  /// a timer ends (progress/timers.hpp).
  void left(record& r, [[maybe_unused]] const_bytes body, erased_handler on) {
    release_held_posts(r);
    [[maybe_unused]] const auto said = [&body](std::uint32_t otherwise) {
      const std::size_t size = std::min<std::size_t>(body.size(), 4);
      const auto number = wire::parse_number(body.first(size));
      body = body.subspan(size);
      return number.value_or(otherwise);
    };
    if constexpr (Engine::goodbye_overtakes) r.messages_taken -= said(r.messages_taken);
    if constexpr (Engine::uses_ring) {
      r.ring_ends = said(r.ring_read);
      e_.rings_are_due = true;
    }
    if (all_taken(r) && all_ended(r) && !waits(r)) end(r, peer_event::patience_over, {}, on);
  }
  /// Whether handlers have taken as many messages, and notices of a ring, as the goodbye announced.
  static bool all_taken([[maybe_unused]] const record& r) noexcept {
    if constexpr (Engine::goodbye_overtakes)
      if (r.messages_taken != 0) return false;
    if constexpr (Engine::uses_ring) return r.ring_read == r.ring_ends;
    else return true;
  }
  /// Whether a message of this peer waits for its handler.
  bool waits(const record& r) const noexcept { return receives<Engine>(e_).any_waits(r); }
  bool all_ended(const record& r) const {
    return e_.operations.count([&r](const slot& s) {
      return s.record == &r && (s.use == slot_use::user || s.use == slot_use::silent);
    }) == 0;
  }

  /// Ends one operation early (its deadline passed) while its peer lives.
  void end_early(slot& s) {
    e_.deferred.forget([&s](const slot& x) { return &x == &s; });
    s.parent = nullptr;
    if constexpr (Engine::batches_notices) notice_batching<Engine>(e_).leave(s);
    for (std::uint32_t i = 0; i < e_.operations.size(); ++i)
      if (slot* child = e_.operations.at(i); child->parent == &s) child->parent = nullptr;
    end_slot(s);
  }
  /// Reports each outstanding operation of the peer as failed. The handler may end the peer, and begin a connection
  /// that gets the same record: its operations are not of this peer.
  void fail_all(record& r, status why, erased_handler on) {
    const std::uint32_t number = r.number;
    for (std::uint32_t i = 0; i < e_.operations.size() && r.number == number; ++i) {
      slot& s = *e_.operations.at(i);
      if (s.record != &r) continue;
      if (s.use == slot_use::user) {
        const slot ended = s;
        end_slot(s);
        on(failed{ended.what, e_.handle(r), ended.user, why});
      } else if (s.use == slot_use::silent || s.use == slot_use::control) {
        end_slot(s);
      }
    }
  }

 private:
  /// The library may hold members of an open batch until a post without FI_MORE (posting/more_hints.hpp). This batch
  /// makes no such post any more, so the goodbye is that post.
  void release_held_posts(record& r) noexcept {
    if (!Engine::connected && e_.batch_hints != batch_hints::none) (void)e_.say_goodbye(r);
  }
  static bool awaits_reply(const slot& s) noexcept { return s.stage == stage::replying; }
  /// The bytes are delivered. The library holds only the message with the notice.
  static bool shares_message(const slot& s) noexcept { return Engine::batches_notices && s.stage == stage::noticing; }

  /// Requires: the state is `lost`.
  void report(record& r, status why, erased_handler on) {
    const peer handle = e_.handle(r);
    e_.deferred.forget([&r](const slot& s) { return s.record == &r; });
    const bool was_known = r.theirs.value != 0;  // the peer had introduced itself
    if (e_.in_set != nullptr) e_.in_set->last_reason = &e_.last_reason;
    const bool has_reason = if_memory([&] {
      e_.last_reason = r.reason();
      if (e_.last_reason.empty() && was_known) e_.last_reason = sentence_of(why);
    });
    if (!has_reason) e_.last_reason.clear();  // the loss is reported without a sentence
    release_held_posts(r);
    links<Engine>(e_).hang_up(r);
    fail_all(r, why, on);
    e_.tagged.peer_ends(r, why);
    e_.tagged.report_ends(on);
    on(lost{handle, why});
    forget(r);
  }
  /// Requires: the state is `free`.
  void give_back(record& r) {
    e_.deferred.forget([&r](const slot& s) { return s.record == &r; });
    links<Engine>(e_).hang_up(r);
    for (std::uint32_t i = 0; i < e_.operations.size(); ++i) {
      slot& s = *e_.operations.at(i);
      if (s.record == &r && (s.use == slot_use::user || s.use == slot_use::silent || s.use == slot_use::control))
        end_slot(s);
    }
    if constexpr (requires { r.watch; }) {
      if constexpr (requires { e_.port->process_ended(r.process); })  // also of a process whose end nobody noticed yet
        if (r.watch.gone()) e_.port->process_ended(r.process);
      r.watch = {};
    }
    e_.coalescer.peer_ends(r);
    e_.tagged.peer_ends(r, error(errc::closed, "close"));
    r.words.reset();
    e_.peers.give(r);
  }

  /// Why an established peer is gone, where neither side gave a reason.
  std::string sentence_of(status why) const {
    const std::string_view found = why.operation == nullptr ? "" : why.operation;
    if (why.code == errc::closed) return "the peer closed the connection";
    if (found == "process ended") return "the peer's process ended";
    if (found == "silent")
      return "the peer said nothing for " + std::to_string(Engine::ticks(e_.options.silence_limit)) +
             " ms (transport_options::silence_limit)";
    if (found == "link") return "the connection broke: the peer's process ended, or the network failed";
    if (found == "heartbeat")
      return "the peer cannot be reached: its process ended, or the network failed (the library refused a heartbeat)";
    return "the peer is gone: " + std::string(found);
  }

  /// The library may still complete the operation: on connected links until the queue was seen empty once, on addressed
  /// fabrics at any time, or never.
  void end_slot(slot& s) {
    s.parent = nullptr;
    const bool held = s.pending > 0 && s.stage != stage::splitting && !awaits_reply(s) && !shares_message(s);
    if (s.stage == stage::splitting)
      e_.plans.give(static_cast<std::uint32_t>(s.scratch[2]));  // the library holds its parts, not this slot
    if (held) e_.abandon(s);
    else e_.release(s);
  }

  Engine& e_;
};

}  // namespace weft::detail
