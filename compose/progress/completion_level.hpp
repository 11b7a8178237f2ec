// SPDX-License-Identifier: Apache-2.0
//
// Writes that end when a named state is reached (states.hpp), and the wait for all earlier writes of a peer. One
// library call where the completion of a write means that state. Else a message after the write, and the peer's answer.
// Hot path: put. Threads: the owner's.
#pragma once

#include "../posting/flushing.hpp"
#include "../posting/gather.hpp"
#include "../states.hpp"
#include "blocking_calls.hpp"

#include <optional>

namespace weft::detail {

template <class Engine>
class completion_level {
 public:
  using fabric = typename Engine::fabric;
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using initiator_type = initiator<Engine>;
  using parts_of = parts<Engine>;

  explicit completion_level(Engine& e) noexcept : e_(e), initiator_(e) {}

  /// A put from one piece of memory.
  template <write_state State>
  [[gnu::always_inline]] status put(peer to, local_memory from, const remote_place& at,
                                    completes_when<State> wanted) noexcept {
    using how = checked_way<State>;
    if constexpr (std::same_as<State, states::posted>) {
      return initiator_.put(to, from, at, nullptr, false);
    } else {
      record* r = initiator_.addressed(to, "put");
      if (r == nullptr) [[unlikely]]
        return initiator_.dead(to, "put");
      if (const status s = initiator_type::check(from.size, at, rights::remote_write, "put"); !s) [[unlikely]]
        return s;
      if ((how::mode == post_mode::delivered && from.size == 0) || parts_of::too_large(e_, from.size)) [[unlikely]]
        return one_piece_otherwise<how>(e_, to, from.data, from.size, from.descriptor, at, wanted.context);
      slot* o = initiator_.claim(r, operation::put, wanted.context);
      if (o == nullptr) [[unlikely]]
        return again(waits_for::operation_slot, "put");
      return confirmed<how>(
          *o, initiator_.posted(*o, e_.port->template write<how::mode>(r->link, from, {at.address, at.key}, o)));
    }
  }
  template <write_state State>
  [[gnu::always_inline]] status put(peer to, gather_list from, const remote_place& at,
                                    completes_when<State> wanted) noexcept {
    using how = checked_way<State>;
    if constexpr (std::same_as<State, states::posted>) {
      return gather<Engine>(e_).put(to, from, at, nullptr, false);
    } else {
      if constexpr (parts_of::write_pieces > 1) {
        record* r = initiator_.addressed(to, "put");
        if (r == nullptr) [[unlikely]]
          return initiator_.dead(to, "put");
        if (typename gather<Engine>::call_pieces v; gather<Engine>(e_).one_call(from, v)) [[likely]] {
          if (const status s = initiator_type::check(v.bytes, at, rights::remote_write, "put"); !s) [[unlikely]]
            return s;
          slot* o = initiator_.claim(r, operation::put, wanted.context);
          if (o == nullptr) [[unlikely]]
            return again(waits_for::operation_slot, "put");
          return confirmed<how>(*o, initiator_.posted(*o, e_.port->template write_gather<how::mode>(
                                                              r->link, v, {at.address, at.key}, o)));
        }
      }
      return otherwise<how>(e_, to, from, at, wanted.context);
    }
  }

  [[gnu::always_inline]] status flush(peer to, void* context) noexcept {
    record* r = initiator_.living(to);
    if (r == nullptr) [[unlikely]]
      return initiator_.dead(to, "flush");
    if (const status s = e_.coalescer.before(r); !s) return s;
    return flushing<Engine>(e_).begin(*r, context);
  }

  /// Flushes and waits for the end. Other events go to `on`.
  status flush_and_wait(peer to, duration timeout, erased_handler on) {
    if (e_.handling()) return error(errc::invalid, "flush: waiting inside a handler");
    std::optional<status> ended;
    const instant end = after(e_.port->now(), timeout);
    auto watch = overloaded{[&](const completed& c) {
                              if (c.context == &ended) ended = status{};
                              else on(c);
                            },
                            [&](const failed& f) {
                              if (f.context == &ended) ended = f.why;
                              else on(f);
                            },
                            [&](const received& m) { return on(m); }, [&](const auto& other) { on(other); }};
    const erased_handler watching = erased_handler::of(watch);
    status begun = flush(to, &ended);
    (void)blocking_calls<Engine>(e_).until([&] { return !begun.is_again() || !(begun = flush(to, &ended)).is_again(); },
                                           timeout, watching);
    if (!begun) return begun.is_again() ? error(errc::deadline, "flush") : begun;
    const status waited = blocking_calls<Engine>(e_).until([&] { return ended.has_value(); },
                                                           std::max(duration(0), end - e_.port->now()), watching);
    if (ended) return *ended;
    for (std::uint32_t i = 0; i < e_.operations.size(); ++i)  // nobody waits for its end any more
      if (slot& s = *e_.operations.at(i); s.use == slot_use::user && s.user == &ended) s.use = slot_use::silent;
    return waited;
  }

 private:
  template <write_state State>
  struct checked_way : reached_by<fabric, State> {
    static_assert(reached_by<fabric, State>::native || reached_by<fabric, State>::emulated,
                  "weft: this fabric cannot say that a write reached this state: its row has no delivery_complete, and "
                  "its flush answer is refused [WEFT-C018]");
  };
  /// Asks the peer whether the write is visible, where the write's completion does not mean that.
  template <class How>
  [[gnu::always_inline]] status confirmed(slot& o, status s) noexcept {
    if constexpr (How::emulated)
      if (s) flushing<Engine>(e_).confirm(o);
    return s;
  }

  /// Lists that one call cannot carry as they are (posting/gather.hpp). Scalar arguments: passing the struct would
  /// spill it.
  template <class How>
  [[gnu::cold, gnu::noinline]] static status one_piece_otherwise(Engine& e, peer to, std::byte* data, std::size_t size,
                                                                 void* descriptor, const remote_place& at,
                                                                 void* context) noexcept {
    const local_memory from{data, size, descriptor};
    return otherwise<How>(e, to, {&from, 1}, at, context);
  }
  template <class How>
  [[gnu::noinline]] static status otherwise(Engine& e, peer to, gather_list from, remote_place at,
                                            void* context) noexcept {
    completion_level self(e);
    record* r = self.initiator_.addressed(to, "put");
    if (r == nullptr) return self.initiator_.dead(to, "put");
    piece_list pieces;
    if (!gather<Engine>::keep(from, pieces)) return error(errc::invalid, gather<Engine>::too_many);
    const std::uint64_t total = total_of(pieces.list());
    if (const status s = initiator_type::check(total, at, rights::remote_write, "put"); !s) return s;
    if (pieces.count() > std::max<std::size_t>(1, parts_of::write_pieces) || parts_of::too_large(e, total))
      return parts_of(e).begin(*r, operation::put, pieces.list(), {at.address, at.key}, 0, context, true,
                               How::mode == post_mode::delivered, How::emulated);
    slot* o = self.initiator_.claim(r, operation::put, context);
    if (o == nullptr) return again(waits_for::operation_slot, "put");
    return self.template confirmed<How>(
        *o, self.initiator_.posted(*o, self.template one_call<How::mode>(*r, pieces, {at.address, at.key}, o)));
  }

  template <post_mode M>
  status one_call(record& r, const piece_list& pieces, remote_memory at, slot* o) noexcept {
    if constexpr (parts_of::write_pieces > 1)
      if (pieces.count() > 1) return e_.port->template write_gather<M>(r.link, pieces.list(), at, o);
    if constexpr (M == post_mode::delivered)
      if (pieces.count() == 0)
        return e_.port->template write<post_mode::signalled>(r.link, {}, at, o);  // rare_posts::notice_alone
    return e_.port->template write<M>(r.link, pieces.front(), at, o);
  }

  Engine& e_;
  initiator_type initiator_;
};

}  // namespace weft::detail
