// SPDX-License-Identifier: Apache-2.0
//
// A coroutine over a transport. A task does not start by itself: `co_await` runs it inside another coroutine,
// runner::spawn() next to the others.
// Its frame comes from the pool of a parameter: the scheduler, a remote, or any type with frames(). Without such a
// parameter it does not compile.
// Errors are values: a task returns a status, or a type that is constructible from one. A task that throws ends the
// program.
// Hot path: yes. Threads: the owner's.
#pragma once

#include "../core/error.hpp"
#include "frame_pool.hpp"

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

namespace weft::coroutines {

template <class T>
concept task_value = std::movable<T> && std::constructible_from<T, status>;

template <class T>
concept has_frames = requires(T& t) {
  { t.frames() } -> std::same_as<frame_pool&>;
};

class runner;

namespace detail {

/// The common part of all promises. A spawned one is in its runner's list.
struct promise_base {
  std::coroutine_handle<> continuation{};
  runner* owner = nullptr;
  promise_base* previous = nullptr;
  promise_base* next = nullptr;
  status* result_to = nullptr;
  std::coroutine_handle<> self{};

  /// Always inlined: otherwise g++ 12 reports that a template operator new and a plain operator delete mismatch.
  template <class... Parameters>
  [[gnu::always_inline]] static inline void* operator new(std::size_t size, Parameters&... parameters) noexcept {
    static_assert((... || has_frames<Parameters>),
                  "weft: a coroutine's frame comes from a pool: give it its scheduler (or a remote of it) as a "
                  "parameter [WEFT-C038]");
    void* frame = nullptr;
    (void)(... || take(frame, size, parameters));
    return frame;
  }
  static void operator delete(void* frame, std::size_t /*size*/) noexcept { frame_pool::give(frame); }

 private:
  template <class Parameter>
  static bool take(void*& frame, std::size_t size, Parameter& from) noexcept {
    if constexpr (has_frames<Parameter>) frame = from.frames().take(size);
    return has_frames<Parameter>;
  }
};

/// Reports to the runner that a spawned coroutine ended (runner.hpp).
void ended(promise_base& which, const status& how) noexcept;

}  // namespace detail

/// `task<> ping(scheduler<F>& net, remote<F> there) { …; co_return status{}; }`
template <task_value T = status>
class [[nodiscard]] task {
 public:
  struct promise_type;
  using handle = std::coroutine_handle<promise_type>;

  /// Resumes the awaiting coroutine. A spawned task reports to its runner and destroys itself.
  struct at_the_end {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(handle h) const noexcept {
      promise_type& promise = h.promise();
      if (promise.continuation) return promise.continuation;
      if constexpr (std::same_as<T, status>)
        if (promise.owner != nullptr) {
          detail::ended(promise, *promise.value);
          h.destroy();
        }
      return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  struct promise_type : detail::promise_base {
    std::optional<T> value;
    task get_return_object() noexcept { return task(handle::from_promise(*this)); }
    static task get_return_object_on_allocation_failure() noexcept { return task(); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    at_the_end final_suspend() const noexcept { return {}; }
    template <class U>
    void return_value(U&& ended_with) noexcept {
      value.emplace(std::forward<U>(ended_with));
    }
    void unhandled_exception() const noexcept { std::terminate(); }
  };

  task(task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  task& operator=(task&& other) noexcept {
    if (this != &other) reset(std::exchange(other.handle_, {}));
    return *this;
  }
  ~task() { reset({}); }

  /// False when the pool had no frame: the task does not run, and awaiting it returns no_memory.
  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
  /// Hands the coroutine over: the caller runs and destroys it from now on.
  handle release() noexcept { return std::exchange(handle_, {}); }

  bool await_ready() const noexcept { return !handle_; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waits) noexcept {
    handle_.promise().continuation = waits;
    return handle_;
  }
  T await_resume() noexcept {
    if (!handle_) return T(error(errc::no_memory, "coroutine frame"));
    return std::move(*handle_.promise().value);
  }

 private:
  task() = default;
  explicit task(handle h) noexcept : handle_(h) {}
  void reset(handle h) noexcept {
    if (handle_) handle_.destroy();
    handle_ = h;
  }
  handle handle_{};
};

}  // namespace weft::coroutines
