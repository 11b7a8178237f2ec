// SPDX-License-Identifier: Apache-2.0
//
// The atomics of a transport, as users call them: `net.fetch_add<std::int32_t>(peer, there.at(8), 1, &context)`. Words
// are std::uint64_t unless said otherwise: std::int32_t, std::uint32_t, std::int64_t, float and double (these without
// compare_swap and bits). The place is a remote_place, or a remote_word that says who executes; the call does what that
// one does, and another executor's word does not compile. Errors at the call: invalid (the word is not aligned to its
// size), out_of_range, denied (the region grants no remote_atomic), peer_lost, again. Each posted one ends once, in
// `completed` (fetching ones with `old`) or in `failed`. Hot path: all of it. Threads: the owner's.
#pragma once

#include "../words.hpp"
#include "atomics.hpp"

namespace weft::detail {

/// Base of transport<F>.
template <class Transport, class F>
class atomic_calls {
  template <class T>
  using plain = std::type_identity_t<T>;  // T is said, or std::uint64_t: never guessed from a literal

 public:
  /// Integers wrap. `completed::old` is the value before.
  template <atomic_number T = std::uint64_t, class Place>
  [[gnu::always_inline]] status fetch_add(peer to, const Place& at, plain<T> operand, void* context) noexcept {
    return post<atomic_operation::add, T>(to, at, operation::fetch_add, operand, T{}, context);
  }
  /// The same for who does not want the value before.
  template <atomic_number T = std::uint64_t, class Place>
  status add(peer to, const Place& at, plain<T> operand, void* context) noexcept {
    return post<atomic_operation::add, T>(to, at, operation::add, operand, T{}, context);
  }
  /// Writes `desired` where `expected` is found; it was where `old` equals `expected`.
  template <atomic_integer T = std::uint64_t, class Place>
  status compare_swap(peer to, const Place& at, plain<T> expected, plain<T> desired, void* context) noexcept {
    return post<atomic_operation::compare_swap, T>(to, at, operation::compare_swap, desired, expected, context);
  }
  template <atomic_number T = std::uint64_t, class Place>
  status swap(peer to, const Place& at, plain<T> desired, void* context) noexcept {
    return post<atomic_operation::swap, T>(to, at, operation::swap, desired, T{}, context);
  }
  template <atomic_integer T = std::uint64_t, class Place>
  status fetch_and(peer to, const Place& at, plain<T> operand, void* context) noexcept {
    return post<atomic_operation::bit_and, T>(to, at, operation::fetch_and, operand, T{}, context);
  }
  template <atomic_integer T = std::uint64_t, class Place>
  status bit_and(peer to, const Place& at, plain<T> operand, void* context) noexcept {
    return post<atomic_operation::bit_and, T>(to, at, operation::bit_and, operand, T{}, context);
  }
  template <atomic_integer T = std::uint64_t, class Place>
  status fetch_or(peer to, const Place& at, plain<T> operand, void* context) noexcept {
    return post<atomic_operation::bit_or, T>(to, at, operation::fetch_or, operand, T{}, context);
  }
  template <atomic_integer T = std::uint64_t, class Place>
  status bit_or(peer to, const Place& at, plain<T> operand, void* context) noexcept {
    return post<atomic_operation::bit_or, T>(to, at, operation::bit_or, operand, T{}, context);
  }
  template <atomic_integer T = std::uint64_t, class Place>
  status fetch_xor(peer to, const Place& at, plain<T> operand, void* context) noexcept {
    return post<atomic_operation::bit_xor, T>(to, at, operation::fetch_xor, operand, T{}, context);
  }
  template <atomic_integer T = std::uint64_t, class Place>
  status bit_xor(peer to, const Place& at, plain<T> operand, void* context) noexcept {
    return post<atomic_operation::bit_xor, T>(to, at, operation::bit_xor, operand, T{}, context);
  }
  /// The word becomes the lesser (greater) of itself and the operand. Not for NaN: providers differ.
  template <atomic_number T = std::uint64_t, class Place>
  status fetch_min(peer to, const Place& at, plain<T> operand, void* context) noexcept {
    return post<atomic_operation::minimum, T>(to, at, operation::fetch_min, operand, T{}, context);
  }
  template <atomic_number T = std::uint64_t, class Place>
  status min(peer to, const Place& at, plain<T> operand, void* context) noexcept {
    return post<atomic_operation::minimum, T>(to, at, operation::min, operand, T{}, context);
  }
  template <atomic_number T = std::uint64_t, class Place>
  status fetch_max(peer to, const Place& at, plain<T> operand, void* context) noexcept {
    return post<atomic_operation::maximum, T>(to, at, operation::fetch_max, operand, T{}, context);
  }
  template <atomic_number T = std::uint64_t, class Place>
  status max(peer to, const Place& at, plain<T> operand, void* context) noexcept {
    return post<atomic_operation::maximum, T>(to, at, operation::max, operand, T{}, context);
  }
  /// Reads the word whole, in order with the atomics of others: `completed::old`.
  template <atomic_number T = std::uint64_t, class Place>
  status load(peer from, const Place& at, void* context) noexcept {
    return post<atomic_operation::read, T>(from, at, operation::load, T{}, T{}, context);
  }
  template <atomic_number T = std::uint64_t, class Place>
  status store(peer to, const Place& at, plain<T> value, void* context) noexcept {
    return post<atomic_operation::swap, T>(to, at, operation::store, value, T{}, context);
  }

 private:
  friend Transport;
  atomic_calls() = default;

  template <atomic_operation What, class T, class Place>
  [[gnu::always_inline]] status post(peer to, const Place& at, operation reported, T operand, T expected,
                                     void* context) noexcept {
    constexpr atomicity who = executor_of<F, Place>;
    static_assert(executes<F, who>());
    auto posts = static_cast<Transport*>(this)->atomic_posts_();
    return static_cast<Transport*>(this)->after_waiting(
        to, [&]() __attribute__((always_inline)) {
          if constexpr (requires { at.place(); })
            return posts.template post<who, What, T>(to, at.place(), reported, operand, expected, context);
          else return posts.template post<who, What, T>(to, at, reported, operand, expected, context);
        });
  }
};

}  // namespace weft::detail
