// SPDX-License-Identifier: Apache-2.0
//
// A thread of control of a node in a simulated world. It has its own stack and switches by hand, so blocking code runs
// unmodified in a single thread.
// Each switch is announced to the address and thread sanitizers. Exceptions in flight stay with their fiber.
// An abandoned fiber (its node crashed) never runs again and unwinds nothing, like a killed process.
// Hot path: the switch. Threads: all fibers of a world in one thread.
#pragma once

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_LOOPBACK_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_LOOPBACK_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define WEFT_LOOPBACK_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_LOOPBACK_TSAN 1
#endif
#endif
#if defined(WEFT_LOOPBACK_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#if defined(WEFT_LOOPBACK_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace weft::backends::loopback {

/// A body of code with its own stack. The world that runs it owns it.
class fiber {
 public:
  static constexpr std::size_t stack_bytes = std::size_t{1} << 20;  // touched lazily
  static constexpr std::size_t guard_bytes = 4096;

  explicit fiber(std::function<void()> body) : body_(std::move(body)) {
    void* at = ::mmap(nullptr, stack_bytes + guard_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    ::mprotect(at, guard_bytes, PROT_NONE);
    stack_ = static_cast<std::byte*>(at) + guard_bytes;
    ::getcontext(&own_);
    own_.uc_stack.ss_sp = stack_;
    own_.uc_stack.ss_size = stack_bytes;
    own_.uc_link = nullptr;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    ::makecontext(&own_, reinterpret_cast<void (*)()>(&fiber::enter), 2, static_cast<unsigned>(self >> 32),
                  static_cast<unsigned>(self & 0xffffffffU));
    // makecontext has read it. With a size, the address sanitizer would clear the shadow of the whole stack at each
    // switch.
    own_.uc_stack.ss_size = 0;
#if defined(WEFT_LOOPBACK_TSAN)
    tsan_own_ = __tsan_create_fiber(0);
#endif
  }
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  ~fiber() {
#if defined(WEFT_LOOPBACK_TSAN)
    __tsan_destroy_fiber(tsan_own_);
#endif
#if defined(WEFT_LOOPBACK_ASAN)
    // Frames that never returned, like that of enter(), leave red zones. The next mapping here, for example another
    // fiber's stack, would meet them.
    ASAN_UNPOISON_MEMORY_REGION(stack_, stack_bytes);
#endif
    ::munmap(stack_ - guard_bytes, stack_bytes + guard_bytes);
  }

  bool done() const noexcept { return done_; }
  bool begun() const noexcept { return begun_; }
  /// The exception that left the body, if any.
  std::exception_ptr escaped() const noexcept { return escaped_; }

  /// Runs the body until it leaves or ends. Only the scheduler calls it.
  void resume() {
    begun_ = true;
    swap_exceptions();
#if defined(WEFT_LOOPBACK_ASAN)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, stack_, stack_bytes);
#endif
#if defined(WEFT_LOOPBACK_TSAN)
    tsan_back_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_own_, 0);
#endif
    ::swapcontext(&back_, &own_);
#if defined(WEFT_LOOPBACK_ASAN)
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
    swap_exceptions();
  }

  /// Returns to the caller of resume(). Called on the fiber's own stack.
  void leave() {
#if defined(WEFT_LOOPBACK_ASAN)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(done_ ? nullptr : &fake, back_stack_, back_bytes_);
#endif
#if defined(WEFT_LOOPBACK_TSAN)
    __tsan_switch_to_fiber(tsan_back_, 0);
#endif
    ::swapcontext(&own_, &back_);
#if defined(WEFT_LOOPBACK_ASAN)
    __sanitizer_finish_switch_fiber(fake, &back_stack_, &back_bytes_);
#endif
  }

  /// Gives up a fiber that stopped in the middle. Its stack's objects are never released, because a killed process runs
  /// no destructors. The leak checker searches that stack for owners, so it reports only real leaks.
  static void abandon(fiber* left) {
    if (left == nullptr) return;
    if (!left->begun_ || left->done_) {
      delete left;
      return;
    }
#if defined(WEFT_LOOPBACK_ASAN)
    __lsan_ignore_object(left);
    __lsan_register_root_region(left->stack_, stack_bytes);
#else
    delete left;
#endif
  }

 private:
  static void enter(unsigned high, unsigned low) {
    auto* self = reinterpret_cast<fiber*>((std::uintptr_t{high} << 32) | std::uintptr_t{low});
#if defined(WEFT_LOOPBACK_ASAN)
    __sanitizer_finish_switch_fiber(nullptr, &self->back_stack_, &self->back_bytes_);
#endif
    self->run();
    self->leave();
  }
  void run() {
    try {
      body_();
    } catch (...) {
      escaped_ = std::current_exception();
    }
    body_ = nullptr;
    done_ = true;
  }

  // The C++ runtime keeps caught and uncaught exceptions per thread. A fiber may leave in the middle of a handler.
  void swap_exceptions() noexcept {
    auto* live = reinterpret_cast<exceptions_state*>(abi::__cxa_get_globals());
    std::swap(*live, exceptions_);
  }
  struct exceptions_state {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };

  std::function<void()> body_;
  std::byte* stack_ = nullptr;
  ucontext_t own_{};
  ucontext_t back_{};
  exceptions_state exceptions_{};
  std::exception_ptr escaped_;
  bool done_ = false;
  bool begun_ = false;
#if defined(WEFT_LOOPBACK_ASAN)
  const void* back_stack_ = nullptr;
  std::size_t back_bytes_ = 0;
#endif
#if defined(WEFT_LOOPBACK_TSAN)
  void* tsan_own_ = nullptr;
  void* tsan_back_ = nullptr;
#endif
};

}  // namespace weft::backends::loopback
