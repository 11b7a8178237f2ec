// SPDX-License-Identifier: Apache-2.0
//
// A status in words: what happened, during which call, and what the reader can do about it. Set-up calls carry their
// own, more exact sentence (result<T>); this is for the statuses of the hot path, which carry no text. Hot path: no: it
// allocates. Threads: any.
#pragma once

#include "error.hpp"

#include <string>
#include <string_view>
#include <system_error>

namespace weft {

/// The code as it is spelled in C++.
constexpr std::string_view name_of(errc code) noexcept {
  constexpr std::string_view names[] = {
      "ok",        "again",    "truncated", "out_of_range", "denied",    "unreachable", "rejected", "incompatible",
      "peer_lost", "deadline", "closed",    "invalid",      "no_memory", "unsupported", "broken",   "native"};
  const auto index = static_cast<std::size_t>(code);
  return index < std::size(names) ? names[index] : "unknown";
}

/// Whose number `native_code` is.
constexpr std::string_view name_of(origin from) noexcept {
  switch (from) {
    case origin::weft:
      return "weft";
    case origin::libfabric:
      return "libfabric";
    case origin::verbs:
      return "verbs";
    case origin::system:
      return "the system";
  }
  return "unknown";
}

namespace detail {
/// Statuses in words. A template, so that libweft-<fabric>.a may have its code.
template <class Text>
struct status_text {
  /// describe() without the id.
  static Text of(const status& s);
  static Text with_id(const status& s);
  [[noreturn, gnu::cold]] static void raise(const status& s);
};
}  // namespace detail

/// One sentence: the call, the code, its meaning, the library's own number where there is one, and the code's id.
inline std::string describe(const status& s) { return detail::status_text<std::string>::with_id(s); }

/// Throws no_value with describe() of a status that is not ok. For set-up and examples; hot paths check the status.
inline void require(const status& s) {
  if (!s) [[unlikely]]
    detail::status_text<std::string>::raise(s);
}

#if WEFT_HAS_RARE_WORK
namespace detail {
constexpr std::string_view what_is_full(waits_for what) noexcept {
  switch (what) {
    case waits_for::nothing:
      break;
    case waits_for::queue:
      return "the library's queue is full";
    case waits_for::connection:
      return "the connection does not stand yet";
    case waits_for::receive_slot:
      return "the peer has not read enough of what was sent before";
    case waits_for::operation_slot:
      return "as many operations are in flight as the transport was opened for";
  }
  return "something is full";
}

constexpr std::string_view meaning_of(errc code) noexcept {
  switch (code) {
    case errc::ok:
      return "done";
    case errc::again:
      return "not now";
    case errc::truncated:
      return "the message is larger than the peer's receive slots; transport::largest_message(peer) is the bound";
    case errc::out_of_range:
      return "the transfer leaves the region";
    case errc::denied:
      return "the region does not grant this right, or its key is not valid";
    case errc::unreachable:
      return "nobody answers at that address";
    case errc::rejected:
      return "the other side answered no";
    case errc::incompatible:
      return "the other side was built for another fabric, wire version or set of rules";
    case errc::peer_lost:
      return "the peer is gone; what was outstanding may or may not have happened";
    case errc::deadline:
      return "not finished in the time given; it may or may not have happened";
    case errc::closed:
      return "closed in order";
    case errc::invalid:
      return "the arguments break the contract of the call";
    case errc::no_memory:
      return "no memory, or no free record, is left";
    case errc::unsupported:
      return "this fabric cannot do it";
    case errc::broken:
      return "the library or the peer did what the fabric's row says it does not";
    case errc::native:
      return "the library reports an error that has no closer name";
  }
  return "not a code of this version";
}

/// True for `put`, `put_notify` and `get`: the target's library checks a key.
constexpr bool uses_a_key(std::string_view operation) noexcept {
  return operation == "put" || operation == "put_notify" || operation == "get";
}

template <class Text>
Text status_text<Text>::of(const status& s) {
  Text text = s.operation == nullptr || *s.operation == '\0' ? std::string() : std::string(s.operation) + ": ";
  text += std::string(name_of(s.code)) + ": ";
  if (s.is_again()) return text + std::string(what_is_full(s.waits_for())) + "; make progress, then try once more";
  if (s.waits_for() != waits_for::nothing)
    return text + "nothing was posted in the time given: " + std::string(what_is_full(s.waits_for()));
  text += meaning_of(s.code);
  // Some targets drop a write with a wrong key and tell nobody (docs/limitations.md).
  if (s.code == errc::deadline && s.operation != nullptr && uses_a_key(s.operation))
    text += " (a peer that stopped, or a key that is not valid, ends so)";
  if (s.carries() == number_meaning::receiver_bytes)
    return text + " (" + std::to_string(s.receiver_bytes()) + " bytes)";
  const std::int32_t number = s.native();
  if (number == 0) return text;
  text += " (" + std::string(name_of(s.from)) + " says " + std::to_string(number);
  if (s.from == origin::system) text += ", " + std::generic_category().message(number < 0 ? -number : number);
  return text + ")";
}
template <class Text>
Text status_text<Text>::with_id(const status& s) {
  return weft::text_of({s, of(s)});
}
template <class Text>
void status_text<Text>::raise(const status& s) {
  throw no_value({s, with_id(s)});
}
}  // namespace detail
#endif

}  // namespace weft
