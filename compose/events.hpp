// SPDX-License-Identifier: Apache-2.0
//
// The events of a transport: plain values for the handler of progress(), which has one overload for each kind. Nothing
// here is stored or allocated: spans are valid until the handler returns.
// Hot path: yes. Threads: the owner's.
#pragma once

#include "../core/atomics.hpp"
#include "../core/error.hpp"
#include "../core/memory.hpp"
#include "peer.hpp"

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace weft {

enum class operation : std::uint8_t {
  send,
  put,
  put_notify,
  get,
  flush,
  receive_tagged,
  fetch_add,  // from here on: atomics
  compare_swap,
  add,
  swap,
  fetch_and,
  bit_and,
  fetch_or,
  bit_or,
  fetch_xor,
  bit_xor,
  fetch_min,
  min,
  fetch_max,
  max,
  load,
  store
};
/// True for operations on one word of the target: atomics.
constexpr bool is_atomic(operation o) noexcept { return o >= operation::fetch_add; }
const char* name_of(operation) noexcept;
inline const char* name_of(operation o) noexcept {
  static constexpr const char* names[] = {
      "send",      "put",  "put_notify", "get",     "flush",    "receive_tagged", "fetch_add", "compare_swap",
      "add",       "swap", "fetch_and",  "bit_and", "fetch_or", "bit_or",         "fetch_xor", "bit_xor",
      "fetch_min", "min",  "fetch_max",  "max",     "load",     "store"};
  return names[static_cast<std::size_t>(o)];
}

/// An operation ended well. `context` is the context of the post. `old` is the word before an atomic that fetches:
/// `old.as<std::int32_t>()`; for std::uint64_t just `old`.
struct completed {
  operation what{};
  weft::peer peer;
  void* context = nullptr;
  atomic_value old{};
};

/// An operation failed. With peer_lost or deadline, its bytes may or may not have moved. Operations without a context
/// arrive here too, with a null context. describe(why) makes a sentence.
struct failed {
  operation what{};
  weft::peer peer;
  void* context = nullptr;
  status why;
};

/// A message. The bytes are in the transport's receive: copy them if you need them after the handler. A handler that
/// returns false leaves the message there. Each later progress() offers all messages that were left, oldest first and
/// before newer ones. A handler may leave one message and take another. The end of a peer that closed comes after them.
struct received {
  weft::peer peer;
  const_bytes message;
};

/// A put_notify arrived: its bytes are visible. `peer` is nobody where the fabric does not name the writer.
struct notified {
  weft::peer peer;
  std::uint32_t immediate = 0;
};

/// A peer requests a connection: answer with accept() or reject(), now or later.
struct requested {
  weft::peer peer;
  bool has_private_data = false;
  const_bytes private_data;
};

/// A connection that this side dialled is established.
struct connected {
  weft::peer peer;
  bool has_private_data = false;
  const_bytes private_data;
};

/// A peer is gone: closed in order (errc::closed), refused (rejected, incompatible, unreachable) or dead (peer_lost).
/// Each operation that was outstanding on this peer was reported as failed before. transport::reason() is a sentence.
struct lost {
  weft::peer peer;
  status why;
};

/// A handler takes every kind of event. `[](auto&&) {}` as the last overload ignores the others explicitly.
template <class H>
concept event_handler = std::invocable<H&, const completed&> && std::invocable<H&, const failed&> &&
    std::invocable<H&, const received&> && std::invocable<H&, const notified&> &&
    std::invocable<H&, const requested&> && std::invocable<H&, const connected&> && std::invocable<H&, const lost&>;

/// Hands a message to a handler. Returns true when the handler took it: one that returns nothing takes every message.
template <class Handler>
bool offer(Handler& on, const received& message) {
  if constexpr (std::same_as<std::invoke_result_t<Handler&, const received&>, bool>) {
    return on(message);
  } else {
    on(message);
    return true;
  }
}

namespace detail {
/// One sentence for each event that a handler lacks. The trait, not the concept: g++ explains each concept at length.
template <class H>
consteval void takes_every_event() {
  static_assert(
      std::is_invocable_v<H&, const completed&>,
      "weft: the handler does not take `completed`: add [](const weft::completed& c) {…} or [](auto&&) {} [WEFT-C011]");
  static_assert(
      std::is_invocable_v<H&, const failed&>,
      "weft: the handler does not take `failed`: add [](const weft::failed& f) {…} or [](auto&&) {} [WEFT-C011]");
  static_assert(
      std::is_invocable_v<H&, const received&>,
      "weft: the handler does not take `received`: add [](const weft::received& m) {…} or [](auto&&) {} [WEFT-C011]");
  static_assert(
      std::is_invocable_v<H&, const notified&>,
      "weft: the handler does not take `notified`: add [](const weft::notified& n) {…} or [](auto&&) {} [WEFT-C011]");
  static_assert(
      std::is_invocable_v<H&, const requested&>,
      "weft: the handler does not take `requested`: add [](const weft::requested& r) {…} or [](auto&&) {} [WEFT-C011]");
  static_assert(
      std::is_invocable_v<H&, const connected&>,
      "weft: the handler does not take `connected`: add [](const weft::connected& c) {…} or [](auto&&) {} [WEFT-C011]");
  static_assert(std::is_invocable_v<H&, const lost&>,
                "weft: the handler does not take `lost`: add [](const weft::lost& l) {…} or [](auto&&) {} [WEFT-C011]");
}
}  // namespace detail

/// Puts several lambdas into one handler.
template <class... Fs>
struct overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
overloaded(Fs...) -> overloaded<Fs...>;

}  // namespace weft
