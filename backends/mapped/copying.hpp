// SPDX-License-Identifier: Apache-2.0
//
// Access to bytes and words of a mapping.
// Writes stay in order: a fence before each, which is free where the processor orders stores. An aligned word of 8
// bytes is one store, so a watching thread sees it whole.
// Atomics are instructions of the processor: the owner may use std::atomic_ref at the same time.
// Hot path: all of it. Threads: any.
#pragma once

#include "../../core/atomics.hpp"
#include "../../core/memory.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace weft::backends::mapped {

/// Lets the compiler assume that no memory has more than PTRDIFF_MAX bytes.
[[gnu::always_inline]] inline void is_found(std::size_t size) noexcept {
  if (size > static_cast<std::size_t>(PTRDIFF_MAX)) __builtin_unreachable();
}
inline bool is_word(const std::byte* at, std::size_t size) noexcept {
  return size == 8 && reinterpret_cast<std::uintptr_t>(at) % 8 == 0;
}

/// Copies at most 48 bytes by moves that may overlap: a call would cost more than all of them.
[[gnu::always_inline]] inline void copy_short(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  const auto ends = [&]<std::size_t Each>(std::integral_constant<std::size_t, Each>) __attribute__((always_inline)) {
    std::array<std::byte, Each> first, last;
    std::memcpy(first.data(), from, Each);
    std::memcpy(last.data(), from + size - Each, Each);
    std::memcpy(to, first.data(), Each);
    std::memcpy(to + size - Each, last.data(), Each);
  };
  if (size >= 8 && size <= 16) [[likely]] {
    ends(std::integral_constant<std::size_t, 8>{});
  } else if (size > 16) {
    if (size > 32) std::memcpy(to + 16, from + 16, 16);
    ends(std::integral_constant<std::size_t, 16>{});
  } else if (size >= 4) {
    ends(std::integral_constant<std::size_t, 4>{});
  } else if (size >= 2) {
    ends(std::integral_constant<std::size_t, 2>{});
  } else if (size != 0) {
    *to = *from;
  }
}

/// Copies any number of bytes; their places do not overlap. glibc's memcpy copies more than 2 KiB by `rep movsb`. AMD
/// Zen 3 and 4 take twenty times as long for that where the target begins 1 to 31 bytes further into its page than the
/// source (sourceware bug 30994): for example a payload behind a header of 8 bytes. Vector moves copy pieces of 2 KiB.
[[gnu::noinline]] inline void copy_long(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  constexpr std::size_t page = 4096, close = 32, piece = 2048;
  const std::size_t further = (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from)) % page;
  if (further - 1 < close - 1) {
    for (; size > piece; to += piece, from += piece, size -= piece) std::memcpy(to, from, piece);
  }
  std::memcpy(to, from, size);
}

/// Copies recently written bytes, for example a header of words. A load wider than the stores before it waits until
/// they left the store buffer, so short pieces are copied word by word. Out of line, like memcpy.
[[gnu::noinline]] inline void copy_written(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  constexpr std::size_t each = sizeof(std::uint64_t), most_by_words = 128;
  if (size < each || size > most_by_words) {
    copy_long(to, from, size);
    return;
  }
  const auto move = [=](std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + at, each);
    asm("" : "+r"(word));  // NOLINT(hicpp-no-assembler): opaque, otherwise the compiler makes a wide copy of the loop
    std::memcpy(to + at, &word, each);
  };
  const std::size_t last = size - each;
  for (std::size_t at = 0; at < last; at += each) move(at);
  move(last);
}

/// Requires: is_word(to, 8).
[[gnu::always_inline]] inline void store_word(std::byte* to, const std::byte* from) noexcept {
  std::atomic_thread_fence(std::memory_order_release);
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(to)).store(word, std::memory_order_relaxed);
}
[[gnu::always_inline]] inline void store(std::byte* to, const_bytes from) noexcept {
  is_found(from.size());
  std::atomic_thread_fence(std::memory_order_release);
  if (is_word(to, from.size())) {
    store_word(to, from.data());
  } else if (!from.empty()) {
    copy_written(to, from.data(), from.size());
  }
}

[[gnu::always_inline]] inline void load(bytes into, std::byte* from) noexcept {
  is_found(into.size());
  if (is_word(from, into.size())) {
    const std::uint64_t word =
        std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(from)).load(std::memory_order_relaxed);
    std::memcpy(into.data(), &word, sizeof word);
  } else if (!into.empty()) {
    copy_long(into.data(), from, into.size());
  }
  std::atomic_thread_fence(std::memory_order_acquire);
}

/// Returns the old value. Requires: aligned.
template <atomic_operation What, atomic_number T>
[[gnu::always_inline]] inline T change(std::byte* at, T operand, T expected) noexcept {
  std::atomic_ref<T> word(*reinterpret_cast<T*>(at));
  if constexpr (What == atomic_operation::read) {
    return word.load(std::memory_order_acquire);
  } else if constexpr (What == atomic_operation::swap) {
    return word.exchange(operand, std::memory_order_acq_rel);
  } else if constexpr (What == atomic_operation::compare_swap) {
    word.compare_exchange_strong(expected, operand, std::memory_order_acq_rel, std::memory_order_acquire);
    return expected;
  } else if constexpr (What == atomic_operation::add && atomic_integer<T>) {
    return word.fetch_add(operand, std::memory_order_acq_rel);
  } else {
    T seen = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(seen, applied<T>(What, seen, operand, expected), std::memory_order_acq_rel,
                                       std::memory_order_relaxed)) {
    }
    return seen;
  }
}

}  // namespace weft::backends::mapped
