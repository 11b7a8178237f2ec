// SPDX-License-Identifier: Apache-2.0
//
// Writes that end when a named state is reached (states.hpp), and the wait for all earlier writes of a peer. One library call where the row's
// own completion says it; else a message behind the write and the peer's answer.
// Hot path: put. Threads: the owner's.
#pragma once

#include "awaiting.hpp"
#include "coalescing.hpp"
#include "flushing.hpp"
#include "gathering.hpp"
#include "states.hpp"

#include <algorithm>
#include <optional>

namespace weft {

template <class Engine>
class reaching {
 public:
  using fabric = typename Engine::fabric;
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using lane_type = lane<Engine>;
  using parts_of = parts<Engine>;

  explicit reaching(Engine& e) noexcept : e_(e), lane_(e) {}

  template <write_state State>
  status put(peer to, gather_list from, const remote_place& at, until<State> wanted) noexcept {
    using how = reached_by<fabric, State>;
    static_assert(how::native || how::emulated,
                  "weft: this fabric cannot say that a write reached this state: its row has no delivery_complete, and its flush answer is refused");
    if constexpr (std::same_as<State, posted>) {
      return gathering<Engine>(e_).put(to, from, at, nullptr, false);
    } else {
      piece_list pieces;
      record* r = lane_.living(to);
      if (r == nullptr) [[unlikely]]
        return lane_.dead(to, "put");
      if (!gathering<Engine>::keep(from, pieces)) [[unlikely]]
        return error(errc::invalid, gathering<Engine>::too_many);
      const std::uint64_t total = total_of(pieces.list());
      if (status s = lane_type::check(total, at, rights::remote_write, "put"); !s) [[unlikely]]
        return s;
      if (pieces.count() > std::max<std::size_t>(1, parts_of::write_pieces) || parts_of::too_large(e_, total)) [[unlikely]]
        return parts_of(e_).begin(*r, operation::put, pieces.list(), {at.address, at.key}, 0, wanted.context, true, how::mode == post_mode::delivered,
                                  how::emulated);
      slot* o = lane_.claim(r, operation::put, wanted.context);
      if (o == nullptr) [[unlikely]]
        return again(waits_for::operation_slot, "put");
      const status s = lane_.posted(*o, one_call<how::mode>(*r, pieces, {at.address, at.key}, o));
      if constexpr (how::emulated)
        if (s) flushing<Engine>(e_).confirm(*o);
      return s;
    }
  }

  status flush(peer to, void* context) noexcept {
    record* r = lane_.living(to);
    if (r == nullptr) return lane_.dead(to, "flush");
    if constexpr (Engine::coalesces)
      if (const status s = coalescing<Engine>(e_).before(r); !s) return s;
    return flushing<Engine>(e_).begin(*r, context);
  }

  /// Waits itself. Other events go to `on`.
  template <class Handler>
  status flush_and_wait(peer to, duration timeout, Handler& on) {
    if (e_.handling()) return error(errc::invalid, "flush: waiting inside a handler");
    std::optional<status> ended;
    const instant end = e_.port->now() + timeout;
    auto watch = overloaded{[&](const completed& c) {
                              if (c.context == &ended) ended = status{};
                              else on(c);
                            },
                            [&](const failed& f) {
                              if (f.context == &ended) ended = f.why;
                              else on(f);
                            },
                            [&](const received& m) { return offer(on, m); }, [&](const auto& other) { on(other); }};
    status begun = flush(to, &ended);
    (void)awaiting<Engine>(e_).until([&] { return !begun.is_again() || !(begun = flush(to, &ended)).is_again(); }, timeout, watch);
    if (!begun) return begun.is_again() ? error(errc::deadline, "flush") : begun;
    const status waited = awaiting<Engine>(e_).until([&] { return ended.has_value(); }, std::max(duration(0), end - e_.port->now()), watch);
    if (ended) return *ended;
    for (std::uint32_t i = 0; i < e_.operations.size(); ++i)  // its end is nobody's any more
      if (slot& s = *e_.operations.at(i); s.use == slot_use::user && s.user == &ended) s.use = slot_use::silent;
    return waited;
  }

 private:
  template <post_mode M>
  status one_call(record& r, const piece_list& pieces, remote_memory at, slot* o) noexcept {
    if constexpr (parts_of::write_pieces > 1)
      if (pieces.count() > 1) return e_.port->template write_gather<M>(r.link, pieces.list(), at, o);
    if constexpr (M == post_mode::delivered)
      if (pieces.count() == 0) return e_.port->template write<post_mode::signalled>(r.link, {}, at, o);  // lane.hpp, notice_alone
    return e_.port->template write<M>(r.link, pieces.front(), at, o);
  }

  Engine& e_;
  lane_type lane_;
};

}  // namespace weft
