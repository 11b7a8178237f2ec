// SPDX-License-Identifier: Apache-2.0
//
// Posts atomics: checks, takes a slot, then posts one native call, a loop of native compare-swaps, or a message to the
// target. The word's executor and the fabric's table (atomics_by) decide which. Cards know fetch-add and compare-swap
// of 64 bits only. Every atomic is posted as one that fetches: the fetched value proves that the target's word changed,
// without one more round trip. The completion of a plain atomic does not prove it (fi_cq(3)). A loop is lock-free, not
// wait-free: under contention it ends when a compare-swap hits, or by operation_timeout. Hot path: all of it. Threads:
// the owner's.
#pragma once

#include "initiator.hpp"

namespace weft::detail {

template <class Engine>
class atomic_posts {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;

  explicit atomic_posts(Engine& e) noexcept : e_(e), initiator_(e) {}

  /// The port itself checks the place.
  template <atomicity Who, atomic_operation What, atomic_number T>
  static constexpr bool port_checks = Engine::port_checks_places && (Who != atomicity::target) &&
                                      (Engine::fabric::atomics_by.of(What, type_of<T>) == atomic_lowering::native);
  /// The operation has ended when the call of the port returns.
  template <atomicity Who, atomic_operation What, atomic_number T>
  static constexpr bool ends_here = port_checks<Who, What, T>&& Engine::ends_at_return;

  template <atomicity Who, atomic_operation What, atomic_number T>
  [[gnu::always_inline]] status post(peer to, const remote_place& at, operation reported, T operand, T expected,
                                     void* context) noexcept {
    static_assert(offered(What, type_of<T>),
                  "weft: words of float and double have add, swap, min, max, load and store [WEFT-C025]");
    record* r = initiator_.addressed(to, name_of(reported));
    if constexpr (ends_here<Who, What, T>) {
      (void)check<Who, What, T>(at, reported);
      return post_here<What, T>(to, r, at, reported, operand, expected, context);
    }
    if (r == nullptr) [[unlikely]]
      return initiator_.dead(to, name_of(reported));
    if (status s = check<Who, What, T>(at, reported); !s) [[unlikely]]
      return s;
    if constexpr (Who == atomicity::target) {
      slot* o = initiator_.claim(r, reported, context, stage::replying);
      if (o == nullptr) [[unlikely]]
        return again(waits_for::operation_slot, name_of(reported));
      return by_message(*o, at, What, type_of<T>, to_bits(operand), to_bits(expected));
    } else {
      constexpr atomic_lowering how = Engine::fabric::atomics_by.of(What, type_of<T>);
      if constexpr (how == atomic_lowering::wide_loop)
        if (at.address % 8 == 0 && at.room < 8) [[unlikely]]
          return error(errc::out_of_range, name_of(reported));
      slot* o = claim<T>(r, reported, context);
      if (o == nullptr) [[unlikely]]
        return again(waits_for::operation_slot, name_of(reported));
      if constexpr (how == atomic_lowering::native) {
        return initiator_.posted(*o, e_.port->template fetch_atomic<What, T>(r->link, operand, expected, o->scratch,
                                                                             o->descriptor, {at.address, at.key}, o));
      } else {
        return begin<how == atomic_lowering::wide_loop, sizeof(T)>(*o, at, What, to_bits(operand), to_bits(expected));
      }
    }
  }

  /// A compare-swap of a loop completed without an error. True: the operation has ended. False: the next compare-swap
  /// is posted or deferred.
  bool step(slot& s) noexcept requires(Engine::swap_loops) {
    const std::uint64_t seen = s.scratch[0];
    const std::uint64_t old = word_of(s, seen);
    const bool over = seen == s.loop.guess || applied(s.loop.what, s.type, old, s.loop.operand, s.loop.expected) == old;
    if (over) {
      s.scratch[0] = old;
      return true;
    }
    s.loop.guess = seen;
    resume(s);
    return s.pending == 0 && s.fault != errc::ok;
  }

  /// Posts the next compare-swap, or defers it. Afterwards `pending` is 0 if no call is in flight.
  void resume(slot& s) noexcept requires(Engine::swap_loops) {
    const status posted = swap(s);
    s.pending = posted ? 1 : 0;
    if (posted) return;
    if (posted.is_again()) {
      e_.defer(s);
      return;
    }
    s.fault = posted.code;
  }

 private:
  /// Bounds, rights and alignment, where the port does not check them.
  template <atomicity Who, atomic_operation What, atomic_number T>
  [[gnu::always_inline]] static status check(const remote_place& at, operation reported) noexcept {
    constexpr bool by_port = port_checks<Who, What, T>;
    if (status s = initiator<Engine>::template check<by_port>(sizeof(T), at, rights::remote_atomic, name_of(reported));
        !s) [[unlikely]]
      return s;
    if (by_port) return {};
    return initiator<Engine>::word_is_aligned(at.address, sizeof(T), name_of(reported));
  }
  template <atomic_number T>
  [[gnu::always_inline]] slot* claim(record* r, operation reported, void* context) noexcept {
    slot* o = initiator_.claim(r, reported, context);
    if (o == nullptr) [[unlikely]]
      return nullptr;
    o->type = type_of<T>;
    if constexpr (sizeof(T) == 4) o->scratch[0] = 0;
    return o;
  }
  /// For ports whose posts end when they return. All refusals are in one call out of line.
  template <atomic_operation What, atomic_number T>
  [[gnu::always_inline]] status post_here(peer to, record* r, const remote_place& at, operation reported, T operand,
                                          T expected, void* context) noexcept {
    std::byte* word = nullptr;
    if (r == nullptr || !e_.port->template reach_word<T>(r->link, {at.address, at.key}, word)) [[unlikely]]
      return post_elsewhere<What, T>(e_, to, operand, expected, at.address, at.key, reported, context);
    slot* o = claim<T>(r, reported, context);
    if (o == nullptr) [[unlikely]]
      return again(waits_for::operation_slot, name_of(reported));
    e_.port->template change_reached<What, T>(word, operand, expected, o->scratch);
    e_.ended.add(*o);
    return {};
  }
  /// The peer is gone, or the port must check the place.
  template <atomic_operation What, atomic_number T>
  [[gnu::cold, gnu::noinline]] static status post_elsewhere(Engine& e, peer to, T operand, T expected,
                                                            std::uint64_t address, std::uint64_t key,
                                                            operation reported, void* context) noexcept {
    atomic_posts posts(e);
    record* const r = posts.initiator_.living(to);
    if (r == nullptr) return posts.initiator_.dead(to, name_of(reported));
    slot* o = posts.template claim<T>(r, reported, context);
    if (o == nullptr) return again(waits_for::operation_slot, name_of(reported));
    return posts.initiator_.ended_or_not(
        *o, e.port->template fetch_atomic<What, T, post_mode::at_return>(r->link, operand, expected, o->scratch,
                                                                         o->descriptor, {address, key}, o));
  }
  [[gnu::always_inline]] status by_message(slot& o, const remote_place& at, atomic_operation what, number_type type,
                                           std::uint64_t operand, std::uint64_t expected) noexcept {
    o.type = type;
    const wire::atomic_request asked{o.named(), at.address, at.key, operand, expected, what, type};
    return initiator_.posted(
        o, e_.template tell_of<wire::atomic_request_bytes>(
               *o.record, wire::message_kind::atomic_request, [&asked](bytes body) __attribute__((always_inline)) {
                 wire::encode(asked, body);
               }));
  }

  /// The first guess is 0: right for fresh words; otherwise the answer has the word's value, as a read has.
  template <bool Wide, std::size_t Bytes>
  status begin(slot& o, const remote_place& at, atomic_operation what, std::uint64_t operand,
               std::uint64_t expected) noexcept {
    o.stage = stage::looping;
    o.loop.operand = operand;
    o.loop.expected = expected;
    o.loop.guess = 0;
    o.loop.what = what;
    o.loop.narrow = !Wide && Bytes == 4;
    o.loop.shift = Wide ? static_cast<std::uint8_t>(at.address % 8 * 8) : std::uint8_t{0};
    o.loop.cell = {Wide ? at.address & ~std::uint64_t{7} : at.address, at.key};
    return initiator_.posted(o, swap(o));
  }

  static std::uint64_t word_of(const slot& s, std::uint64_t cell) noexcept {
    return size_of(s.type) == 4 ? cell >> s.loop.shift & 0xffff'ffffU : cell;
  }

  status swap(slot& s) noexcept {
    const std::uint64_t guess = s.loop.guess;
    const std::uint64_t old = word_of(s, guess);
    const std::uint64_t next = guess ^ (old ^ applied(s.loop.what, s.type, old, s.loop.operand, s.loop.expected))
                                           << s.loop.shift;
    if constexpr (natively(Engine::fabric::facts, atomic_operation::compare_swap, number_type::uint32)) {
      if (s.loop.narrow) {
        s.scratch[0] = 0;
        return e_.port->template fetch_atomic<atomic_operation::compare_swap>(
            s.record->link, static_cast<std::uint32_t>(next), static_cast<std::uint32_t>(guess), s.scratch,
            s.descriptor, s.loop.cell, &s);
      }
    }
    return e_.port->template fetch_atomic<atomic_operation::compare_swap>(s.record->link, next, guess, s.scratch,
                                                                          s.descriptor, s.loop.cell, &s);
  }

  Engine& e_;
  initiator<Engine> initiator_;
};

}  // namespace weft::detail
