// SPDX-License-Identifier: Apache-2.0
//
// What a transport tells its owner: plain values, handed to the handler given to progress(), one overload per kind.
// Nothing here is stored and nothing is allocated: spans are valid until the handler returns.
// Hot path: yes. Threads: the owner's.
#pragma once

#include "../core/atomics.hpp"
#include "../core/error.hpp"
#include "../core/memory.hpp"

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace weft {

/// What every peer record starts with. `live` changes when the peer is lost or closed, so a handle kept too long is
/// recognised.
struct peer_header {
  static constexpr std::uint32_t dead = ~std::uint32_t{0};  ///< No connection has this number.
  std::uint32_t live = dead;
};

namespace detail {
/// Whom handles of nobody point at: alive under a number that no handle has, so that one comparison answers for all.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): handles point at headers that change; nobody writes to this one
inline constinit peer_header nobody{};
}  // namespace detail

/// A handle of a peer: cheap to copy, safe to keep. Operations on a lost or closed peer are answered `peer_lost`.
class peer {
 public:
  constexpr peer() = default;
  constexpr peer(peer_header* record, std::uint32_t number) noexcept : record_(record), number_(number) {}
  /// False for "nobody": a default handle, or the sender of a notice on a fabric that does not say who wrote.
  constexpr explicit operator bool() const noexcept { return record_ != &detail::nobody; }
  constexpr bool alive() const noexcept { return record_->live == number_; }
  /// Null for nobody.
  constexpr peer_header* record() const noexcept { return *this ? record_ : nullptr; }
  /// Requires: alive.
  constexpr peer_header* living() const noexcept { return record_; }
  constexpr std::uint32_t number() const noexcept { return number_; }
  friend constexpr bool operator==(const peer&, const peer&) = default;

 private:
  peer_header* record_ = &detail::nobody;
  std::uint32_t number_ = 0;
};

enum class operation : std::uint8_t {
  send,
  put,
  put_notify,
  get,
  flush,
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
/// True of those that read or change a word where it is.
constexpr bool is_atomic(operation o) noexcept { return o >= operation::fetch_add; }
const char* name_of(operation) noexcept;
inline const char* name_of(operation o) noexcept {
  static constexpr const char* names[] = {
      "send",    "put",       "put_notify", "get",       "flush",    "fetch_add", "compare_swap",
      "add",     "swap",      "fetch_and",  "bit_and",   "fetch_or", "bit_or",    "fetch_xor",
      "bit_xor", "fetch_min", "min",        "fetch_max", "max",      "load",      "store"};
  return names[static_cast<std::size_t>(o)];
}

/// An operation ended well. `context` is what was given when it was posted; `old` is the value before an atomic that
/// fetches: `old.as<std::int32_t>()`, or for words of 64 bits without a sign just `old`.
struct completed {
  operation what{};
  weft::peer peer;
  void* context = nullptr;
  atomic_value old{};
};

/// An operation ended badly. It may or may not have happened where `why` is peer_lost or deadline. Unsignalled ones
/// arrive here too, with a null context.
struct failed {
  operation what{};
  weft::peer peer;
  void* context = nullptr;
  status why;
};

/// A message. The bytes lie in the transport's receive slot: copy what must outlive the handler. A handler that returns
/// false for it leaves it there: each next progress() offers all that were left, in the order in which they came and
/// before anything newer, so that a handler may leave one and take another.
struct received {
  weft::peer peer;
  const_bytes message;
};

/// A put_notify landed: its bytes are visible. `peer` is nobody where the fabric does not say who wrote.
struct notified {
  weft::peer peer;
  std::uint32_t immediate = 0;
};

/// Somebody wants to connect: answer with accept() or reject(), now or later.
struct requested {
  weft::peer peer;
  bool has_private_data = false;
  const_bytes private_data;
};

/// A connection that this side asked for stands.
struct connected {
  weft::peer peer;
  bool has_private_data = false;
  const_bytes private_data;
};

/// A peer is gone: closed in order (errc::closed), refused (rejected, incompatible, unreachable) or dead (peer_lost).
/// Every operation outstanding on it has been told as failed before this.
struct lost {
  weft::peer peer;
  status why;
};

/// A handler takes every kind of event; `[](auto&&) {}` as the last overload ignores the rest explicitly.
template <class H>
concept event_handler = std::invocable<H&, const completed&> && std::invocable<H&, const failed&> &&
    std::invocable<H&, const received&> && std::invocable<H&, const notified&> &&
    std::invocable<H&, const requested&> && std::invocable<H&, const connected&> && std::invocable<H&, const lost&>;

/// Hands a message to a handler. True when it was taken: a handler that returns nothing takes all.
template <class Handler>
bool offer(Handler& on, const received& message) {
  if constexpr (std::same_as<std::invoke_result_t<Handler&, const received&>, bool>) {
    return on(message);
  } else {
    on(message);
    return true;
  }
}

/// Puts several lambdas into one handler.
template <class... Fs>
struct overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
overloaded(Fs...) -> overloaded<Fs...>;

}  // namespace weft
