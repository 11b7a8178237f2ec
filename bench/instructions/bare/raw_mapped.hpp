// SPDX-License-Identifier: Apache-2.0
//
// The bare program over mapped memory: one peer, loads, stores and a ring of lines, no checks. It has no handles, keys,
// bounds, rights, tables of receives or prefetches, and wakes nobody. A full ring refuses, because its lines would be
// overwritten. An operation with a context ends at a later poll, as in weft. A handler reads a message in its line. Hot
// path: all of it. Threads: one owner.
#pragma once

#include "../shared_pages.hpp"

#include <array>
#include <atomic>
#include <cstring>

namespace weft::bench {

class raw_mapped_bare {
 public:
  raw_mapped_bare(const channel& to, bool first, std::size_t /*size*/) : pages_(to, first) {}

  [[gnu::always_inline]] bool send(std::size_t size) noexcept {
    if (!out_.has_room()) [[unlikely]]
      return false;
    hand_ring::line& l = out_.next();
    l.size = static_cast<std::uint32_t>(size);
    l.immediate = message;
    copy(l.inside.data(), from_, size);
    out_.commit(l);
    return true;
  }
  [[gnu::always_inline]] bool send(std::size_t size, void* context) noexcept { return send(size) && ended(context); }
  [[gnu::always_inline]] bool put(std::size_t size) noexcept {
    std::atomic_thread_fence(std::memory_order_release);
    copy(there_, from_, size);
    return true;
  }
  [[gnu::always_inline]] bool put_notify(std::size_t size, std::uint32_t immediate) noexcept {
    if (!out_.has_room()) [[unlikely]]
      return false;
    copy(there_, from_, size);
    hand_ring::line& l = out_.next();
    l.immediate = immediate;
    out_.commit(l);
    return true;
  }
  template <bool Delivered>
  [[gnu::always_inline]] bool put_notify(std::size_t size, std::uint32_t immediate, void* context) noexcept {
    return put_notify(size, immediate) && ended(context);
  }
  [[gnu::always_inline]] bool get(std::size_t size, void* context) noexcept {
    copy(from_, there_, size);
    std::atomic_thread_fence(std::memory_order_acquire);
    return ended(context);
  }
  static constexpr bool has_atomics = true;
  template <class T>
  [[gnu::always_inline]] bool fetch_add(T operand, void* context) noexcept {
    auto& word = *reinterpret_cast<T*>(there_);
    return ended(context, std::atomic_ref(word).fetch_add(operand, std::memory_order_acq_rel));
  }
  template <class T>
  [[gnu::always_inline]] bool fetch_max(T operand, void* context) noexcept {
    std::atomic_ref word(*reinterpret_cast<T*>(there_));
    T found = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(found, found < operand ? operand : found, std::memory_order_acq_rel)) {
    }
    return ended(context, static_cast<std::uint64_t>(found));
  }

  /// `ended(context, old)` for own operations, `landed(immediate)` for notices, `heard(data, size)` for messages.
  template <class Ended, class Landed, class Heard>
  [[gnu::always_inline]] int poll_once(Ended&& ended, Landed&& landed, Heard&& heard) {
    if (first_end_ == next_end_ && in_.front() == nullptr) [[likely]]
      return 0;
    return found(*this, ended, landed, heard);
  }

 private:
  struct end_of {
    void* context = nullptr;
    std::uint64_t old = 0;
  };
  template <class Ended, class Landed, class Heard>
  [[gnu::noinline]] static int found(raw_mapped_bare& here, Ended& ended, Landed& landed, Heard& heard) {
    int reported = 0;
    for (; here.first_end_ != here.next_end_; ++reported) {
      const end_of e = here.ends_[here.first_end_++ % most_ends];
      ended(e.context, e.old);
    }
    for (const hand_ring::line* l = here.in_.front(); l != nullptr; l = here.in_.front(), ++reported) {
      if ((l->immediate & message) == 0) landed(static_cast<std::uint32_t>(l->immediate));
      else heard(l->inside.data(), l->size);
      here.in_.pop();
    }
    return reported;
  }
  [[gnu::always_inline]] bool ended(void* context, std::uint64_t old = 0) noexcept {
    ends_[next_end_++ % most_ends] = {context, old};
    return true;
  }
  /// A word is seen whole.
  [[gnu::always_inline]] static void copy(std::byte* to, const std::byte* from, std::size_t size) noexcept {
    if (size == 8) [[likely]] {
      std::uint64_t word = 0;
      std::memcpy(&word, from, sizeof word);
      std::atomic_ref(*reinterpret_cast<std::uint64_t*>(to)).store(word, std::memory_order_relaxed);
    } else {
      std::memcpy(to, from, size);
    }
  }

  static constexpr std::uint64_t message = std::uint64_t{1} << 63;
  static constexpr std::uint32_t most_ends = 256;
  shared_pages pages_;
  hand_sender out_ = pages_.out();
  hand_taker in_ = pages_.in();
  std::byte* there_ = pages_.there();
  alignas(8) std::array<std::byte, 64> own_{};
  std::byte* from_ = own_.data();
  std::uint32_t first_end_ = 0, next_end_ = 0;
  std::array<end_of, most_ends> ends_;
};

}  // namespace weft::bench
