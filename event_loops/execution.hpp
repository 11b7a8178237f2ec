// SPDX-License-Identifier: Apache-2.0
//
// The few names of std::execution (P2300) that senders need. Define WEFT_EXECUTION before the first header of this room
// as the namespace of a library that has them (`#define WEFT_EXECUTION stdexec`, after its header): then senders are
// that library's. Without it these types stand in, and the senders fit receivers of the same shape.
// Hot path: types only. Threads: none.
#pragma once

#include <concepts>
#include <exception>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace weft::event_loops::execution {

#if defined(WEFT_EXECUTION)
using WEFT_EXECUTION::completion_signatures;
using WEFT_EXECUTION::get_stop_token_t;
using WEFT_EXECUTION::operation_state_t;
using WEFT_EXECUTION::receiver_t;
using WEFT_EXECUTION::sender_t;
using WEFT_EXECUTION::set_error_t;
using WEFT_EXECUTION::set_stopped_t;
using WEFT_EXECUTION::set_value_t;
#else
struct sender_t {};
struct receiver_t {};
struct operation_state_t {};
struct set_value_t {};
struct set_error_t {};
struct set_stopped_t {};
struct get_stop_token_t {};
template <class... Signatures>
struct completion_signatures {};
#endif

/// A stop token that never stops.
struct never_stops {
  static constexpr bool stop_requested() noexcept { return false; }
  static constexpr bool stop_possible() noexcept { return false; }
};

/// The receiver's stop token, where its environment has one.
template <class Receiver>
auto stop_token_of(const Receiver& receiver) noexcept {
  if constexpr (requires { receiver.get_env().query(get_stop_token_t{}); })
    return receiver.get_env().query(get_stop_token_t{});
  else return never_stops{};
}
template <class Receiver>
using stop_token_of_t = decltype(stop_token_of(std::declval<const Receiver&>()));

struct no_callback {
  template <class... Ignored>
  explicit no_callback(Ignored&&... /*ignored*/) noexcept {}
};
template <class Token, class Call>
struct callback_for {
  using type = no_callback;
};
template <class Token, class Call>
requires requires { typename Token::template callback_type<Call>; }
struct callback_for<Token, Call> {
  using type = typename Token::template callback_type<Call>;
};
template <class Call>
struct callback_for<std::stop_token, Call> {
  using type = std::stop_callback<Call>;
};

/// What a receiver of a weft sender of `Value...` has.
template <class Receiver, class Error, class... Value>
concept takes_ends = std::move_constructible<Receiver> && requires(Receiver&& r, Error e, Value... v) {
  { std::move(r).set_value(std::move(v)...) }
  noexcept;
  { std::move(r).set_error(std::move(e)) }
  noexcept;
  { std::move(r).set_stopped() }
  noexcept;
};

}  // namespace weft::event_loops::execution
