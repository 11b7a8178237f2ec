// SPDX-License-Identifier: Apache-2.0
//
// A function object of any type, called through one pointer. The suites hold hundreds of lambdas: with std::function
// clang compiled them a quarter longer. Copies share the function object. Hot path: no. Threads: one at a time.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace weft::conformance {

template <class Signature>
class stored_call;

/// Choose it where a suite would hold a std::function. An empty one is false, and must not be called.
template <class Result, class... Arguments>
class stored_call<Result(Arguments...)> {
 public:
  stored_call() = default;
  stored_call(std::nullptr_t) noexcept {}
  template <class Call>
  requires(!std::same_as<std::remove_cvref_t<Call>, stored_call>) stored_call(Call&& call)
      : held_(new holder<std::decay_t<Call>>(std::forward<Call>(call))) {}
  stored_call(const stored_call& other) noexcept : held_(other.held_) {
    if (held_ != nullptr) ++held_->owners;
  }
  stored_call(stored_call&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  stored_call& operator=(stored_call other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~stored_call() {
    if (held_ != nullptr && --held_->owners == 0) delete held_;
  }

  explicit operator bool() const noexcept { return held_ != nullptr; }
  Result operator()(Arguments... arguments) const { return held_->call(std::forward<Arguments>(arguments)...); }

 private:
  struct base {
    std::size_t owners = 1;
    base() = default;
    base(const base&) = delete;
    base& operator=(const base&) = delete;
    virtual ~base() = default;
    virtual Result call(Arguments... arguments) = 0;
  };
  template <class Call>
  struct holder final : base {
    Call held;
    explicit holder(const Call& call) : held(call) {}
    explicit holder(Call&& call) : held(std::move(call)) {}
    Result call(Arguments... arguments) override { return held(std::forward<Arguments>(arguments)...); }
  };

  base* held_ = nullptr;
};

}  // namespace weft::conformance
