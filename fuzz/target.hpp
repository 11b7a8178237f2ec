// SPDX-License-Identifier: Apache-2.0
//
// What every fuzz target uses: the check of a property, a reader of choices, and the entry point.
// A target has one source file and one namespace. libFuzzer takes one target per program; a replay program takes many.
// Hot path: the parsers under test. Threads: one.
#pragma once

#include "../core/memory.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace weft::fuzz {

/// Ends the process with a sentence if a property does not hold.
inline void require(bool holds, const char* sentence) noexcept {
  if (holds) [[likely]]
    return;
  std::fprintf(stderr, "weft fuzz: this property does not hold: %s\n", sentence);
  std::abort();
}

inline bool same(const_bytes a, const_bytes b) noexcept {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}
/// Whether a view lies in the bytes that were parsed. An empty view may lie anywhere.
inline bool inside(const_bytes view, const_bytes whole) noexcept {
  return view.empty() || (view.data() >= whole.data() && view.data() + view.size() <= whole.data() + whole.size());
}

/// Turns the input into choices. Zeros follow its end.
class choices {
 public:
  explicit choices(const_bytes from) noexcept : left_(from) {}

  bool empty() const noexcept { return left_.empty(); }
  std::size_t left() const noexcept { return left_.size(); }
  template <std::unsigned_integral T>
  T number() noexcept {
    T value{};
    const const_bytes some = take(sizeof value);
    if (!some.empty()) std::memcpy(&value, some.data(), some.size());
    return value;
  }
  /// Below `n`, and 0 for an `n` of 0.
  std::uint32_t below(std::uint32_t n) noexcept { return n == 0 ? 0 : number<std::uint8_t>() % n; }
  bool flag() noexcept { return below(2) == 1; }
  /// At most `most` bytes.
  const_bytes take(std::size_t most) noexcept {
    const const_bytes some = left_.first(std::min(most, left_.size()));
    left_ = left_.subspan(some.size());
    return some;
  }

 private:
  const_bytes left_;
};

/// The properties of a strict format. What is accepted encodes to the same bytes, so each value has one form. The
/// encoder refuses a buffer that is one byte short. The parser refuses the bytes without their last one, unless
/// `open_ended`.
template <class Parse, class Encode>
void strict(const_bytes input, Parse&& parse, Encode&& encode, bool open_ended = false) {
  const auto value = parse(input);
  if (!value) return;
  std::byte again[8192];
  const std::size_t size = encode(*value, bytes(again));
  require(same(const_bytes(again, size), input), "an accepted input encodes to the same bytes");
  if (size == 0) return;
  require(encode(*value, bytes(again, size - 1)) == 0, "an encoder refuses a buffer that is too short");
  if (!open_ended) require(!parse(input.first(size - 1)), "a parser refuses an input without its last byte");
}

/// One target of a replay program.
struct listed {
  const char* name;
  void (*check)(const_bytes);
  /// Changes `size` bytes in place; at most `room`. Returns the new size. Null: the usual mutations.
  std::size_t (*mutate)(std::uint8_t* data, std::size_t size, std::size_t room, unsigned seed);
  listed* next;
  static inline listed* first = nullptr;
};

}  // namespace weft::fuzz

/// libFuzzer's own mutations, for the custom mutators of targets. Replay programs bring a simple one.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t room);

/// Makes `weft::fuzz::NAME::check` the target of this source file.
#if defined(WEFT_FUZZ_REPLAY)
#define WEFT_FUZZ_LIST(NAME, MUTATE)                                                                  \
  namespace weft::fuzz::NAME {                                                                        \
  namespace {                                                                                         \
  listed entry{#NAME, &check, MUTATE, nullptr};                                                       \
  [[maybe_unused]] const bool is_listed = (entry.next = listed::first, listed::first = &entry, true); \
  }                                                                                                   \
  }
#define WEFT_FUZZ_TARGET(NAME) WEFT_FUZZ_LIST(NAME, nullptr)
#define WEFT_FUZZ_TARGET_WITH_MUTATOR(NAME) WEFT_FUZZ_LIST(NAME, &mutate)
#else
#define WEFT_FUZZ_TARGET(NAME)                                                        \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);  \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    weft::fuzz::NAME::check({reinterpret_cast<const std::byte*>(data), size});        \
    return 0;                                                                         \
  }
#define WEFT_FUZZ_TARGET_WITH_MUTATOR(NAME)                                                              \
  WEFT_FUZZ_TARGET(NAME)                                                                                 \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t room, \
                                                 unsigned seed);                                         \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t room, \
                                                 unsigned seed) {                                        \
    return weft::fuzz::NAME::mutate(data, size, room, seed);                                             \
  }
#endif
