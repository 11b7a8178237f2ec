// SPDX-License-Identifier: Apache-2.0
//
// The atomics of a counted transport: those of posting/atomic_calls.hpp, counted after the post. Hot path: all of it.
// Threads: the owner's.
#pragma once

#include "../posting/atomic_calls.hpp"
#include "counting_engine.hpp"

namespace weft::detail {

/// Base of transport<counted<F>>. `Plain` is transport<F>.
template <class Transport, class Plain>
class counted_atomics {
  template <class T>
  using plain_number = std::type_identity_t<T>;

 public:
  template <atomic_number T = std::uint64_t, class Place>
  status fetch_add(peer to, const Place& at, plain_number<T> operand, void* context) noexcept {
    return posted<T>(to, plain().template fetch_add<T>(to, at, operand, context), context);
  }
  template <atomic_number T = std::uint64_t, class Place>
  status add(peer to, const Place& at, plain_number<T> operand, void* context) noexcept {
    return posted<T>(to, plain().template add<T>(to, at, operand, context), context);
  }
  template <atomic_number T = std::uint64_t, class Place>
  status swap(peer to, const Place& at, plain_number<T> operand, void* context) noexcept {
    return posted<T>(to, plain().template swap<T>(to, at, operand, context), context);
  }
  template <atomic_integer T = std::uint64_t, class Place>
  status fetch_and(peer to, const Place& at, plain_number<T> operand, void* context) noexcept {
    return posted<T>(to, plain().template fetch_and<T>(to, at, operand, context), context);
  }
  template <atomic_integer T = std::uint64_t, class Place>
  status bit_and(peer to, const Place& at, plain_number<T> operand, void* context) noexcept {
    return posted<T>(to, plain().template bit_and<T>(to, at, operand, context), context);
  }
  template <atomic_integer T = std::uint64_t, class Place>
  status fetch_or(peer to, const Place& at, plain_number<T> operand, void* context) noexcept {
    return posted<T>(to, plain().template fetch_or<T>(to, at, operand, context), context);
  }
  template <atomic_integer T = std::uint64_t, class Place>
  status bit_or(peer to, const Place& at, plain_number<T> operand, void* context) noexcept {
    return posted<T>(to, plain().template bit_or<T>(to, at, operand, context), context);
  }
  template <atomic_integer T = std::uint64_t, class Place>
  status fetch_xor(peer to, const Place& at, plain_number<T> operand, void* context) noexcept {
    return posted<T>(to, plain().template fetch_xor<T>(to, at, operand, context), context);
  }
  template <atomic_integer T = std::uint64_t, class Place>
  status bit_xor(peer to, const Place& at, plain_number<T> operand, void* context) noexcept {
    return posted<T>(to, plain().template bit_xor<T>(to, at, operand, context), context);
  }
  template <atomic_number T = std::uint64_t, class Place>
  status fetch_min(peer to, const Place& at, plain_number<T> operand, void* context) noexcept {
    return posted<T>(to, plain().template fetch_min<T>(to, at, operand, context), context);
  }
  template <atomic_number T = std::uint64_t, class Place>
  status min(peer to, const Place& at, plain_number<T> operand, void* context) noexcept {
    return posted<T>(to, plain().template min<T>(to, at, operand, context), context);
  }
  template <atomic_number T = std::uint64_t, class Place>
  status fetch_max(peer to, const Place& at, plain_number<T> operand, void* context) noexcept {
    return posted<T>(to, plain().template fetch_max<T>(to, at, operand, context), context);
  }
  template <atomic_number T = std::uint64_t, class Place>
  status max(peer to, const Place& at, plain_number<T> operand, void* context) noexcept {
    return posted<T>(to, plain().template max<T>(to, at, operand, context), context);
  }
  template <atomic_number T = std::uint64_t, class Place>
  status store(peer to, const Place& at, plain_number<T> operand, void* context) noexcept {
    return posted<T>(to, plain().template store<T>(to, at, operand, context), context);
  }
  template <atomic_integer T = std::uint64_t, class Place>
  status compare_swap(peer to, const Place& at, plain_number<T> expected, plain_number<T> desired,
                      void* context) noexcept {
    return posted<T>(to, plain().template compare_swap<T>(to, at, expected, desired, context), context);
  }
  template <atomic_number T = std::uint64_t, class Place>
  status load(peer from, const Place& at, void* context) noexcept {
    return posted<T>(from, plain().template load<T>(from, at, context), context);
  }

 private:
  Plain& plain() noexcept { return static_cast<Transport&>(*this); }
  template <class T>
  [[gnu::always_inline]] status posted(peer to, status s, const void* context) noexcept {
    return static_cast<Transport&>(*this).counts_().posted(to, traffic::atomic, sizeof(T), s, context);
  }
};

}  // namespace weft::detail
