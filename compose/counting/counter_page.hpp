// SPDX-License-Identifier: Apache-2.0
//
// The memory of counters, in the form that `weft top` reads (generator/watching/pages.py): a head, the counters of the
// transport, and a place for each peer. It is private memory until expose() moves it into a file, which other processes
// of the same user may map. The owner alone writes, word by word, so a reader needs no lock and never stops the owner.
// Hot path: count(). Threads: one writer; readers in other processes.
#pragma once

#include "traffic.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace weft::detail {

/// One more, or `n` more: a whole word for a reader, and no locked instruction for the owner.
[[gnu::always_inline]] inline void count(std::uint64_t& word, std::uint64_t n = 1) noexcept {
  const std::atomic_ref<std::uint64_t> shared(word);
  shared.store(shared.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

/// The begin of a page. Numbers are in the order of bytes of the machine: a page is read where it was written.
struct counter_page_head {
  static constexpr std::uint32_t this_version = 1;
  static constexpr std::size_t name_bytes = 32, address_bytes = 96;
  char magic[8] = {'w', 'e', 'f', 't', 'c', 'n', 't', '\n'};
  std::uint32_t version = this_version;
  std::uint32_t peers = 0;       ///< Places of peers in the page.
  std::uint64_t page_bytes = 0;  ///< Bytes of the whole page.
  std::uint64_t process = 0;     ///< Its number in the process namespace of the owner.
  std::uint64_t exposed_at = 0;  ///< Nanoseconds since 1970 (CLOCK_REALTIME).
  char fabric[name_bytes] = {};
  char program[name_bytes] = {};
  char listens_at[address_bytes] = {};
};

/// The place of one peer. `connection`: the number of its connection; 0: the place is empty.
struct counter_place {
  static constexpr std::size_t address_bytes = 64;
  std::uint64_t connection = 0;
  std::uint64_t gone = 0;  ///< 1: the peer is lost or closed. Its counters stay until another takes the place.
  char address[address_bytes] = {};  ///< Where this side dialled; empty for a peer that dialled.
  peer_counters traffic;
};

/// The whole page without its places.
struct counter_page_start {
  counter_page_head head;
  transport_counters whole;  ///< `traffic`: of peers that have no place, or none any more.
};
static_assert(sizeof(counter_page_head) == 200 && sizeof(counter_page_start) == 512 && sizeof(counter_place) == 312);
static_assert(std::is_trivially_copyable_v<counter_page_start> && std::is_trivially_copyable_v<counter_place>);

/// Copies a name, cut to its room, with a zero at its end.
template <std::size_t Room>
void put_text(char (&into)[Room], std::string_view text) noexcept {
  const std::size_t size = text.size() < Room ? text.size() : Room - 1;
  std::memcpy(into, text.data(), size);
  std::memset(into + size, 0, Room - size);
}

/// Owns the mapping.
class counter_page {
 public:
  counter_page() noexcept = default;
  counter_page(counter_page&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  counter_page& operator=(counter_page&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~counter_page() {
    if (at_ != nullptr) (void)::munmap(at_, bytes_);
  }

  static constexpr std::size_t bytes_for(std::uint32_t peers) noexcept {
    return sizeof(counter_page_start) + std::size_t{peers} * sizeof(counter_place);
  }
  /// Private memory, or that of a file. Empty: the system has no memory.
  static counter_page make(std::uint32_t peers, int file = -1) noexcept {
    counter_page made;
    const std::size_t bytes = bytes_for(peers);
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED,
                            file, 0);  // mmap(2)
    if (at == MAP_FAILED) return made;
    made.at_ = at;
    made.bytes_ = bytes;
    auto* const start = new (at) counter_page_start;
    start->head.peers = peers;
    start->head.page_bytes = bytes;
    return made;
  }
  explicit operator bool() const noexcept { return at_ != nullptr; }
  counter_page_start& start() const noexcept { return *static_cast<counter_page_start*>(at_); }
  std::uint32_t peers() const noexcept { return start().head.peers; }
  counter_place& place(std::uint32_t index) const noexcept {
    void* const first = static_cast<std::byte*>(at_) + sizeof(counter_page_start);
    return static_cast<counter_place*>(first)[index];
  }
  /// Requires: the same number of places.
  void copy_from(const counter_page& other) const noexcept { std::memcpy(at_, other.at_, bytes_); }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace weft::detail
