// SPDX-License-Identifier: Apache-2.0
//
// The transports of the process, by their handles. A closed handle is recognised in every thread. After fork() the
// child has none: the libraries' memory and descriptors belong to the parent. Hot path: find(). Threads: any.
#pragma once

#include "open_transport.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace weft::abi {

class process_table {
 public:
  static constexpr std::size_t most = 1024;

  static process_table& one() noexcept;

  /// Null: the process has `most` transports.
  weft_transport add(std::unique_ptr<open_transport> made) noexcept {
    const std::lock_guard hold(changing_);
    forget_in_children();
    for (std::size_t place = 0; place < most; ++place) {
      entry& e = entries_[place];
      if (e.is_used) continue;
      e.is_used = true;
      e.what = made.release();
      const std::uint64_t handle = handle_number::fresh(handle_kind::transport, place);
      e.handle.store(handle, std::memory_order_release);
      return reinterpret_cast<weft_transport>(handle);  // NOLINT(performance-no-int-to-ptr): never read through
    }
    return nullptr;
  }
  [[gnu::always_inline]] open_transport* find(weft_transport handle) noexcept {
    const std::uint64_t number = number_of(handle);
    const std::uint64_t place = handle_number::place(number);
    if (place >= most || number == 0 || entries_[place].handle.load(std::memory_order_acquire) != number) [[unlikely]]
      return nullptr;
    return entries_[place].what;
  }
  /// The transport leaves the table, and the caller ends it. Null: closed before.
  std::unique_ptr<open_transport> remove(weft_transport handle) noexcept {
    const std::lock_guard hold(changing_);
    open_transport* const found = find(handle);
    if (found == nullptr) return nullptr;
    entry& e = entries_[handle_number::place(number_of(handle))];
    e.handle.store(0, std::memory_order_release);
    e.is_used = false;
    return std::unique_ptr<open_transport>(std::exchange(e.what, nullptr));
  }

 private:
  struct entry {
    std::atomic<std::uint64_t> handle{0};
    open_transport* what = nullptr;
    bool is_used = false;
  };

  void forget_in_children() noexcept {
    if (std::exchange(is_prepared_, true)) return;
    (void)::pthread_atfork([] { one().changing_.lock(); }, [] { one().changing_.unlock(); },
                           [] {
                             one().changing_.unlock();
                             one().forget_all();
                           });
  }
  void forget_all() noexcept {
    for (entry& e : entries_) {
      e.handle.store(0, std::memory_order_release);
      e.what = nullptr;  // the parent's; nothing of it may run here
      e.is_used = false;
    }
  }

  std::array<entry, most> entries_{};
  std::mutex changing_;
  bool is_prepared_ = false;
};

// Made at compile time, and with nothing to destroy: threads may still poll while the process exits.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): one table per process
inline constinit process_table table_of_process;
static_assert(std::is_trivially_destructible_v<process_table>);

inline process_table& process_table::one() noexcept { return table_of_process; }

}  // namespace weft::abi
