// SPDX-License-Identifier: Apache-2.0
//
// Completion callbacks for single operations, in addition to the transport's handler: users of UCX pass a callback with
// each request, users of Asio a completion handler. The caller owns the callback object and passes its address as the
// context of a post; weft allocates nothing. The handler is wrapped in callbacks(): a program that does not do so pays
// nothing. Hot path: one test of a pointer and one indirect call for each end. Threads: the owner's.
#pragma once

#include "events.hpp"

#include <concepts>
#include <type_traits>
#include <utility>

namespace weft {

/// The part of on_completion that callbacks() calls. Use on_completion.
class completion_callback {
 public:
  completion_callback(const completion_callback&) = delete;
  completion_callback& operator=(const completion_callback&) = delete;

  void operator()(const completed& e) { ended_(*this, &e, nullptr); }
  /// Returns false where the function takes no failures: the handler gets them then.
  bool operator()(const failed& e) { return ended_(*this, nullptr, &e); }

 protected:
  using function_type = bool (*)(completion_callback&, const completed*, const failed*);
  explicit constexpr completion_callback(function_type ended) noexcept : ended_(ended) {}
  ~completion_callback() = default;

 private:
  function_type ended_;
};

/// A callback of the caller for operations that use its address as their context:
///
///     weft::on_completion done{[&](const weft::completed& c) { … }};
///     net.get(peer, into, at, &done);
///     net.progress(weft::callbacks(on));
///
/// The function takes `completed`, or both `completed` and `failed` (weft::overloaded, or `const auto&`). Failures that
/// the function does not take reach the handler. One object may serve several operations. The object must live until
/// the last of them ended, and cannot move.
template <class Function>
class on_completion final : public completion_callback {
  static_assert(std::invocable<Function&, const completed&>,
                "weft: on_completion needs a function that takes const weft::completed& [WEFT-C037]");

 public:
  explicit on_completion(Function f) noexcept(std::is_nothrow_move_constructible_v<Function>)
      : completion_callback(&on_completion::ended), function_(std::move(f)) {}

 private:
  static bool ended(completion_callback& self, const completed* well, const failed* badly) {
    auto& function = static_cast<on_completion&>(self).function_;
    if (well != nullptr) {
      function(*well);
      return true;
    }
    if constexpr (std::invocable<Function&, const failed&>) {
      function(*badly);
      return true;
    } else {
      return false;
    }
  }
  Function function_;
};

namespace detail {
template <class Handler>
struct to_callbacks {
  Handler* on;

  void operator()(const completed& e) const {
    if (e.context == nullptr) (*on)(e);
    else (*static_cast<completion_callback*>(e.context))(e);
  }
  void operator()(const failed& e) const {
    if (e.context == nullptr || !(*static_cast<completion_callback*>(e.context))(e)) (*on)(e);
  }
  bool operator()(const received& e) const { return offer(*on, e); }
  template <class Event>
  void operator()(const Event& e) const {
    (*on)(e);
  }
};
}  // namespace detail

/// Wraps a handler: an end with a context goes to the on_completion at that address, every other event to `on`. Choose
/// it only where each context of the transport's operations is the address of an on_completion, or null. The result
/// refers to `on` and is made for one call: `net.progress(weft::callbacks(on))`.
template <event_handler Handler>
detail::to_callbacks<std::remove_reference_t<Handler>> callbacks(Handler&& on) noexcept {
  return {&on};
}

}  // namespace weft
