// SPDX-License-Identifier: Apache-2.0
//
// Handles of the C interface. A handle is a number, and nothing is ever read through it: a kind, a place in a table,
// and a generation that no other handle of the process has. So a closed handle is recognised, and also one of another
// transport or kind. Hot path: find(), two comparisons. Threads: a table belongs to its transport's owner.
#pragma once

#include "../core/error.hpp"

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::abi {

/// The lowest four bits of a handle. Odd, so that no handle is the address of an object.
enum class handle_kind : std::uint64_t {
  transport = 1,
  peer = 3,
  region = 5,
  remote = 7,
  prepared = 9,
  list = 11,
  tagged = 13
};

/// 32 bits of generation, 28 bits of place, 4 bits of kind.
struct handle_number {
  static constexpr std::uint64_t most_places = std::uint64_t{1} << 28;
  /// The last generation that was given away.
  static std::atomic<std::uint32_t>& last() noexcept {
    static std::atomic<std::uint32_t> number{0};
    return number;
  }
  static std::uint64_t fresh(handle_kind kind, std::uint64_t place) noexcept {
    std::uint32_t generation = 0;
    while (generation == 0) generation = ++last();
    return std::uint64_t{generation} << 32 | place << 4 | static_cast<std::uint64_t>(kind);
  }
  static constexpr std::uint64_t place(std::uint64_t handle) noexcept { return (handle & 0xffffffffU) >> 4; }
  /// Whether weft gave such a handle away at some time.
  static bool existed(handle_kind kind, std::uint64_t handle) noexcept {
    const auto generation = static_cast<std::uint32_t>(handle >> 32);
    return (handle & 15U) == static_cast<std::uint64_t>(kind) && generation != 0 &&
           generation <= last().load(std::memory_order_relaxed);
  }
};

template <class C>
std::uint64_t number_of(C* handle) noexcept {
  return reinterpret_cast<std::uint64_t>(handle);
}

/// What handles of one kind stand for.
template <handle_kind Kind, class C, class T>
class handle_table {
  struct entry {
    std::uint64_t handle = 0;  ///< 0: free.
    T value{};
  };

 public:
  /// Throws std::bad_alloc.
  C* add(T value) {
    if (free_.empty()) {
      free_.reserve(entries_.size() + 1);
      entries_.emplace_back();
      free_.push_back(entries_.size() - 1);
    }
    const std::size_t place = free_.back();
    free_.pop_back();
    entries_[place] = {handle_number::fresh(Kind, place), std::move(value)};
    return reinterpret_cast<C*>(entries_[place].handle);  // NOLINT(performance-no-int-to-ptr): never read through
  }
  /// Null: no such handle of this table.
  [[gnu::always_inline]] T* find(C* handle) noexcept {
    const std::uint64_t number = number_of(handle);
    const std::uint64_t place = handle_number::place(number);
    return place < entries_.size() && entries_[place].handle == number && number != 0 ? &entries_[place].value
                                                                                      : nullptr;
  }
  void remove(C* handle) noexcept {
    if (find(handle) == nullptr) return;
    const std::uint64_t place = handle_number::place(number_of(handle));
    entries_[place] = {};
    free_.push_back(place);  // capacity reserved by add()
  }
  /// The first handle for which `is` is true; null where there is none.
  template <class Is>
  C* first(Is&& is) noexcept {
    for (entry& each : entries_)
      if (each.handle != 0 && is(each.value))
        return reinterpret_cast<C*>(each.handle);  // NOLINT(performance-no-int-to-ptr): never read through
    return nullptr;
  }
  template <class Is>
  void remove_all(Is&& is) noexcept {
    while (C* const one = first(is)) remove(one);
  }
  /// What is wrong with a handle that find() does not know.
  static errc why(C* handle, errc gone) noexcept {
    return handle_number::existed(Kind, number_of(handle)) ? gone : errc::invalid;
  }

 private:
  std::vector<entry> entries_;
  std::vector<std::size_t> free_;
};

}  // namespace weft::abi
