// SPDX-License-Identifier: Apache-2.0
//
// How every call of weft answers: errors are values, small enough for two registers.
// `status` is for the hot path (no text, no allocation); `result<T>` is for set-up, where an error carries one
// sentence. `again` is back-pressure, not failure: it says what it waits for. Text is made on the cold side, by
// describe() (core/describe.hpp). Hot path: status yes, result no. Threads: values, no sharing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// Whether this unit compiles the rare work of its fabrics: opening, meeting, registration, failures. A unit that links
/// `weft::<fabric>_compiled` has it in a library, so backends leave its headers out here. They are a good part of what
/// a unit costs. compose/progress/once_per_fabric.hpp asks for the work again, and comes before other headers of weft.
#if !defined(WEFT_HAS_RARE_WORK)
#if defined(WEFT_COMPILED)
#define WEFT_HAS_RARE_WORK 0
#else
#define WEFT_HAS_RARE_WORK 1
#endif
#endif

namespace weft {

/// What happened, in the few kinds that a caller can act upon.
enum class errc : std::uint8_t {
  ok,
  again,         ///< Nothing was posted: make progress, then try once more. status::waits_for() says what is full.
  truncated,     ///< A message is larger than the peer's receives; status::receiver_bytes() is their size.
  out_of_range,  ///< Outside the region: nothing was posted, or the target refused it.
  denied,        ///< The region does not grant this right, or the key is wrong.
  unreachable,   ///< Nobody answers at that address.
  rejected,      ///< The other side answered no.
  incompatible,  ///< The other side was built for another fabric, wire version or set of rules.
  peer_lost,  ///< The peer is gone; nothing on it succeeds any more. What was outstanding may or may not have happened.
  deadline,   ///< Not finished in the time given.
  closed,     ///< The peer, the transport or the region was closed in order.
  invalid,    ///< The caller's arguments break the contract.
  no_memory,
  unsupported,  ///< This fabric cannot do it; the row says why.
  broken,       ///< What the library or the peer did contradicts the row.
  native,       ///< An error of the library that has no closer name; status::native() is its number.
};

/// The code's id in the catalogue of errors. `weft explain WEFT-R009` says its causes, how to see them, and what mends
/// them. Empty for `ok`, and for a number that is no code.
constexpr std::string_view id_of(errc code) noexcept {
  constexpr std::string_view ids[] = {"",          "WEFT-R001", "WEFT-R002", "WEFT-R003", "WEFT-R004", "WEFT-R005",
                                      "WEFT-R006", "WEFT-R007", "WEFT-R008", "WEFT-R009", "WEFT-R010", "WEFT-R011",
                                      "WEFT-R012", "WEFT-R013", "WEFT-R014", "WEFT-R015"};
  const auto index = static_cast<std::size_t>(code);
  return index < std::size(ids) ? ids[index] : std::string_view();
}

/// Who found the error, and so whose number status::native() is.
enum class origin : std::uint8_t { weft, libfabric, verbs, system };

/// What must free up before a post that returned `again` can succeed.
enum class waits_for : std::int32_t { nothing, queue, connection, receive_slot, operation_slot };

/// What the number in a status means.
enum class number_meaning : std::uint8_t {
  nothing,         ///< No number.
  waits_for,       ///< Of `again`, and of retry() whose post never succeeded in time: status::waits_for().
  receiver_bytes,  ///< Of `truncated`, found by weft: status::receiver_bytes().
  native,          ///< The library's or the system's own number: status::native().
};

/// The answer of one call: 16 bytes, two registers. Compare `code`; describe() (core/describe.hpp) makes a sentence.
struct [[nodiscard]] status {
  errc code = errc::ok;
  origin from = origin::weft;
  std::int32_t native_code = 0;  ///< Its meaning depends on `code` and `from`: read it through the members below.
  const char* operation = "";    ///< Static text: the call that failed ("fi_write", "connect").

  constexpr explicit operator bool() const noexcept { return code == errc::ok; }
  constexpr bool is_again() const noexcept { return code == errc::again; }
  /// Which of the three numbers this status carries.
  constexpr number_meaning carries() const noexcept {
    if (code == errc::again) return number_meaning::waits_for;
    if (native_code == 0) return number_meaning::nothing;
    if (code == errc::deadline && from == origin::weft) return number_meaning::waits_for;
    return code == errc::truncated && from == origin::weft ? number_meaning::receiver_bytes : number_meaning::native;
  }
  /// What an `again` waits for. Of retry()'s `deadline`: why nothing was posted. `nothing` of other statuses.
  constexpr weft::waits_for waits_for() const noexcept {
    return carries() == number_meaning::waits_for ? static_cast<weft::waits_for>(native_code)
                                                  : weft::waits_for::nothing;
  }
  /// The largest message that the peer takes, in bytes, of a `truncated` that weft found; 0 of other statuses.
  constexpr std::int32_t receiver_bytes() const noexcept {
    return carries() == number_meaning::receiver_bytes ? native_code : 0;
  }
  /// The number that libfabric, rdma-core or the system returned (see `from`); 0 where there is none.
  constexpr std::int32_t native() const noexcept { return carries() == number_meaning::native ? native_code : 0; }
  friend constexpr bool operator==(const status& a, const status& b) noexcept {
    return a.code == b.code && a.from == b.from && a.native_code == b.native_code;
  }
};
static_assert(std::is_trivially_copyable_v<status> && sizeof(status) == 16);

/// Back-pressure: nothing was posted, `what` must free up first.
constexpr status again(waits_for what, const char* operation) noexcept {
  return {errc::again, origin::weft, static_cast<std::int32_t>(what), operation};
}
/// An error that weft itself found.
constexpr status error(errc code, const char* operation) noexcept { return {code, origin::weft, 0, operation}; }

/// The error of a set-up call: the status, and one sentence (what is wrong, where, what would be right).
struct failure {
  status why;
  std::string sentence;
};

namespace detail {
/// Failures in words. A template, so that libweft-<fabric>.a may have its code.
template <class Text>
struct failure_text {
  static Text with_id(const failure& f);
  [[noreturn, gnu::cold]] static void raise(const failure& f);
};
}  // namespace detail

/// The failure's sentence and its id: that of the sentence where it has one of its own, else that of its code.
inline std::string text_of(const failure& f) { return detail::failure_text<std::string>::with_id(f); }

/// What value() throws when there is none: its text is text_of() the failure, so that an unhandled one says what went
/// wrong.
class no_value : public std::runtime_error {
 public:
  explicit no_value(const failure& f) : std::runtime_error("weft: " + text_of(f)) {}
};

#if WEFT_HAS_RARE_WORK
namespace detail {
template <class Text>
Text failure_text<Text>::with_id(const failure& f) {
  const std::string_view id = id_of(f.why.code);
  if (id.empty() || f.sentence.find("[WEFT-") != std::string::npos) return f.sentence;
  return f.sentence + " [" + Text(id) + "]";
}
template <class Text>
void failure_text<Text>::raise(const failure& f) {
  throw no_value(f);
}
}  // namespace detail
#endif

/// A value, or a failure with a sentence. For set-up calls only.
template <class T>
class [[nodiscard]] result {
  // Completes T here: within std::optional a compiler adds lines to each of the errors of T.
  static_assert(alignof(T) != 0);

 public:
  result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  result(failure why) : why_(std::move(why)) {}  // NOLINT(google-explicit-constructor)
  result(status why, std::string sentence) : why_{why, std::move(sentence)} {}

  explicit operator bool() const noexcept { return value_.has_value(); }
  /// Requires: holds a value. Otherwise no_value is thrown: set-up only.
  T& value() & { return checked(), *value_; }
  const T& value() const& { return checked(), *value_; }
  T&& value() && { return checked(), *std::move(value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  /// Requires: holds an error.
  const failure& error() const& { return why_; }
  failure&& error() && { return std::move(why_); }
  status why() const noexcept { return value_ ? status{} : why_.why; }

 private:
  void checked() const {
    if (!value_) [[unlikely]]
      detail::failure_text<std::string>::raise(why_);
  }
  std::optional<T> value_;  // std::variant would double what a unit pays for its results
  failure why_;
};

/// A set-up call that returns nothing but success or a failure with a sentence.
template <>
class [[nodiscard]] result<void> {
 public:
  result() = default;
  result(failure why) : why_(std::move(why)) {}  // NOLINT(google-explicit-constructor)
  result(status why, std::string sentence) : why_(failure{why, std::move(sentence)}) {}
  explicit operator bool() const noexcept { return !why_; }
  /// Requires: success. Otherwise no_value is thrown: set-up only.
  void value() const {
    if (why_) [[unlikely]]
      detail::failure_text<std::string>::raise(*why_);
  }
  const failure& error() const& { return *why_; }
  failure&& error() && { return *std::move(why_); }
  status why() const noexcept { return why_ ? why_->why : status{}; }

 private:
  std::optional<failure> why_;
};

}  // namespace weft
