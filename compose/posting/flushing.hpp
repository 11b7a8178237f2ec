// SPDX-License-Identifier: Apache-2.0
//
// Waiting for writes to be visible: flush(peer) for all earlier ones, completes_when<states::visible> for one. The
// flush family's answer (policies/flush.hpp) says how: a message after the writes and the peer's reply, or the ends of
// tracked writes. Hot path: no, except for the stamp that tracked writes take with their slot. Threads: the owner's.
#pragma once

#include "../engine/engine.hpp"
#include "parts.hpp"

#include <cstdint>

namespace weft::detail {

template <class Engine>
class flushing {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using flush_answer = answer<typename Engine::fabric, flush_family>;

  explicit flushing(Engine& e) noexcept : e_(e) {}

  /// `again` too while an earlier transfer in parts has parts to post: the flush would overtake them.
  [[gnu::always_inline]] status begin(record& r, void* context) noexcept {
    if (e_.plans.in_use() != 0) [[unlikely]]
      if (in_parts(r)) return again(waits_for::operation_slot, "flush");
    slot* o = e_.operations.take_above();
    if (o == nullptr) [[unlikely]]
      return again(waits_for::operation_slot, "flush");
    e_.claim(*o, slot_use::user, operation::flush, &r, context, stage::replying);
    if constexpr (flush_answer::by_message) {
      const status asked = ask(*o);
      if (!asked) [[unlikely]]
        not_begun(e_, *o);
      return asked;
    } else {
      ++e_.flushes;
      ++e_.waiting_flushes;
      e_.put_off();
      return {};
    }
  }

  /// Asks the peer whether a write is visible, where the write's completion does not say so. Requires: posted,
  /// `o.pending` counts it.
  void confirm(slot& o) noexcept {
    o.stage = stage::confirming;
    ++o.pending;
    ask_or_defer(o);
  }
  /// The same for a write whose library calls have all ended.
  void confirm_ended(slot& o) noexcept {
    o.stage = stage::replying;
    o.pending = 1;
    ask_or_defer(o);
  }
  void ask_or_defer(slot& o) noexcept {
    const status asked = ask(o);
    if (asked.is_again()) {
      e_.defer(o);
    } else if (!asked) {
      o.fault = asked.code;
      --o.pending;
    }
  }

  /// The target's side. False: no room for the answer.
  bool answer_to(record& from, const_bytes body) noexcept {
    if (body.size() != wire::token_bytes) {
      ++e_.garbled;
      return true;
    }
    std::byte same[wire::token_bytes];
    std::memcpy(same, body.data(), sizeof same);
    return !e_.tell(from, wire::message_kind::flushed, same).is_again();
  }

  /// An answer came. Returns the slot that waits for it, or null if none waits any more. The caller ends one pending
  /// call of the slot.
  slot* answered(const record& from, const_bytes body) noexcept {
    const auto token = wire::parse_token(body);
    slot* s = token ? e_.operations.at(static_cast<std::uint32_t>(*token)) : nullptr;
    const bool waits = s != nullptr && s->generation == *token >> 32 && s->record == &from &&
                       (s->use == slot_use::user || s->use == slot_use::silent) &&
                       (s->what == operation::flush || s->what == operation::put) &&
                       (s->stage == stage::replying || s->stage == stage::confirming);
    if (!waits) {
      ++e_.stale;
      return nullptr;
    }
    if (s->stage == stage::confirming) s->stage = stage::single;  // the write's own end is still to come
    return s;
  }

  /// Ends the flushes whose writes have all ended.
  template <class End>
  void settle(End&& end) {
    e_.waiting_flushes = 0;
    for (std::uint32_t i = 0; i < e_.operations.size(); ++i) {
      slot& f = *e_.operations.at(i);
      if (f.what != operation::flush || f.stage != stage::replying ||
          (f.use != slot_use::user && f.use != slot_use::silent))
        continue;
      const auto before = [&f](const slot& s) {
        return s.record == f.record && (s.use == slot_use::user || s.use == slot_use::silent) &&
               (s.what == operation::put || s.what == operation::put_notify) &&
               static_cast<std::int32_t>(s.stamp - f.stamp) <= 0;
      };
      if (e_.operations.count(before) == 0) end(f);
      else ++e_.waiting_flushes;
    }
  }

 private:
  [[gnu::cold, gnu::noinline]] static void not_begun(Engine& e, slot& o) noexcept { e.release(o); }
  [[gnu::cold, gnu::noinline]] bool in_parts(const record& r) const {
    return e_.operations.count([&r](const slot& s) {
      return s.record == &r && s.stage == stage::splitting && (s.use == slot_use::user || s.use == slot_use::silent);
    }) > 0;
  }
  [[gnu::always_inline]] status ask(slot& o) noexcept {
    const std::uint64_t token = o.named();
    return e_.template tell_of<wire::token_bytes>(
        *o.record, wire::message_kind::flush, [token](bytes body) __attribute__((always_inline)) {
          wire::encode_token(token, body);
        });
  }

  Engine& e_;
};

}  // namespace weft::detail
