// SPDX-License-Identifier: Apache-2.0
//
// Operations in flight: one slot each, taken when posted and given back when ended. The slot, not the caller's memory,
// is the context that the library holds: it has the space that some libraries overwrite (fi_getinfo(3), FI_CONTEXT2),
// and it outlives an operation that ended early (peer lost, deadline) while the library may still speak of it. The pool
// is the bound of what is in flight. Hot path: take and give: a list of indices. Threads: the owner's.
#pragma once

#include "../../core/memory.hpp"
#include "../events.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace weft::detail {

enum class slot_use : std::uint8_t {
  free,
  user,     ///< An operation whose end the caller is told.
  silent,   ///< An operation posted without a context on a row that needs context space: its success is told to nobody.
  control,  ///< A message of weft's own.
  abandoned,  ///< Told as ended already; the library may still complete it.
};

/// How far an operation got that takes more than one call, or what it waits for. From `delivering` on, the end of one
/// call is the time for the next.
enum class stage : std::uint8_t {
  single,
  buffered,  ///< The same, with bytes in a buffer that the slot holds.
  writing,
  noticing,
  replying,  ///< The target's reply ends it, not a completion.
  grouped,   ///< A group (posting/coalescing.hpp): its members lie in the slot's buffer; nothing is pending while it is
             ///< open.
  delivering,
  splitting,
  looping,     ///< Compare-swaps, until one hits.
  confirming,  ///< A write, with a question behind it whether it is visible: both answers are still to come.
  ending,      ///< Has ended, and is told of at the next look.
};

/// What an atomic by compare-swaps must remember between them, on rows that have such.
struct swap_loop {
  remote_memory cell;         ///< What is swapped: the word, or the 8 bytes around it.
  std::uint64_t operand = 0;  ///< As bits of the type.
  std::uint64_t expected = 0;
  std::uint64_t guess = 0;  ///< What the cell is thought to hold.
  atomic_operation what{};
  bool narrow = false;     ///< Cells of 4 bytes.
  std::uint8_t shift = 0;  ///< Where in the cell the word lies, in bits.
};
struct no_swap_loop {};

template <std::size_t LibraryBytes>
struct library_space {
  alignas(16) std::byte bytes[LibraryBytes];
};
template <>
struct library_space<0> {};

inline constexpr std::uint32_t no_index = ~std::uint32_t{0};

/// What a context that the library gives back is. Error entries of some providers do not say whether a receive or an
/// operation failed.
enum class context_kind : std::uint8_t { operation, receive, peer };

/// How every context begins: the library's space first, so that the object's address is the context.
template <std::size_t LibraryBytes>
struct library_context {
  explicit library_context(context_kind k) noexcept : kind(k) {}
  [[no_unique_address]] library_space<LibraryBytes> space;
  context_kind kind;
};

/// How far an operation is, in one word: it is written with one store, and whether an end is an ordinary one is asked
/// with one comparison.
struct alignas(4) operation_state {
  slot_use use = slot_use::free;
  weft::detail::stage stage = stage::single;
  std::uint8_t pending = 0;  ///< Library completions still to come.
  errc fault = errc::ok;     ///< The first error of several calls.

  constexpr std::uint32_t word() const noexcept { return std::bit_cast<std::uint32_t>(*this); }
};
/// An operation of one call, under way.
constexpr operation_state under_way(slot_use use) noexcept { return {use, stage::single, 1, errc::ok}; }

/// What a slot is called in messages, and in what is kept: one word, so that the next name is one addition.
struct alignas(8) slot_name {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  ///< Of what names it elsewhere; see named().

  /// No earlier name of the slot's is equal: the generation is above, the index below.
  std::uint64_t named() noexcept {
    if constexpr (std::endian::native == std::endian::little) {
      const std::uint64_t next = std::bit_cast<std::uint64_t>(*this) + (std::uint64_t{1} << 32);
      *this = std::bit_cast<slot_name>(next);
      return next;
    } else {
      return std::uint64_t{++generation} << 32 | index;
    }
  }
};

/// One operation.
template <class Record, std::size_t LibraryBytes, bool Loops = false>
struct operation_slot : library_context<LibraryBytes>, operation_state, slot_name {
  operation_slot() noexcept : library_context<LibraryBytes>(context_kind::operation) {}
  Record* record = nullptr;
  void* user = nullptr;
  operation_slot* parent = nullptr;  ///< control: the operation that waits for it.
  std::uint64_t scratch[3] = {};     ///< Atomics: the old value, and room for the library's operands.
  [[no_unique_address]] std::conditional_t<Loops, swap_loop, no_swap_loop> loop;
  std::uint32_t posted = 0;         ///< Tick of the post.
  std::uint32_t next = no_index;    ///< The list that it is on: of what is deferred, or of the notices in one message.
  std::uint32_t buffer = no_index;  ///< The control buffer that it holds.
  std::uint32_t immediate = 0;
  std::uint32_t sequence = 0;  ///< Of its entry in the target's ring.
  std::uint32_t stamp = 0;     ///< Where writes are tracked: the flushes that came before it.
  operation what{};
  number_type type = number_type::uint64;  ///< Of an atomic's word.
  void* descriptor = nullptr;              ///< Of the slot's own memory, where local buffers must be registered.
  operation_slot* after = nullptr;         ///< Free list.

  /// What was named is over when the slot is given back, and its next use is another stage, or names it again.
  using slot_name::named;
  /// Told of with one event and given back as it is: one call of a user's, without a buffer.
  bool is_plain() const noexcept { return this->word() == under_way(slot_use::user).word(); }
};

/// All slots. Grows only when slots had to be abandoned (cold), never while posting. A number of them is kept back from
/// callers.
template <class Slot>
class operation_pool {
 public:
  /// So many slots are left to take() when take_above() refuses. Requires: called once, before use.
  void keep_back(std::uint32_t count) noexcept {
    kept_back_ = static_cast<std::int32_t>(count);
    room_ -= kept_back_;
  }
  /// Requires: called once, before use. `register_memory` registers a chunk's memory and returns its descriptor.
  template <class Register>
  void fill(std::uint32_t count, Register&& register_memory) {
    auto chunk = std::make_unique<Slot[]>(count);
    void* descriptor = register_memory(bytes(reinterpret_cast<std::byte*>(chunk.get()), sizeof(Slot) * count));
    slots_.reserve(slots_.size() + count);
    for (std::uint32_t i = 0; i < count; ++i) {
      Slot& slot = chunk[i];
      slot.index = static_cast<std::uint32_t>(slots_.size());
      slot.descriptor = descriptor;
      slots_.push_back(&slot);
      give(slot);
    }
    chunks_.push_back(std::move(chunk));
  }

  /// Any slot; null when all are taken.
  Slot* take() noexcept {
    if (free_ == nullptr) return nullptr;
    --room_;
    return first_free();
  }
  /// A slot above those kept back; null when there is none: the bound of what callers have in flight.
  Slot* take_above() noexcept {
    if (--room_ < 0) [[unlikely]] {
      took_none();
      return nullptr;
    }
    return first_free();
  }
  /// Requires: taken, and given once.
  void give(Slot& slot) noexcept {
    ++room_;
    slot.use = slot_use::free;
    slot.after = free_;
    free_ = &slot;
  }
  Slot* at(std::uint32_t index) noexcept { return index < slots_.size() ? slots_[index] : nullptr; }
  /// All that are taken, abandoned ones and messages of weft's own included.
  std::uint32_t in_flight() const noexcept { return size() - left(); }
  /// How many slots are as asked. Looks at each: cold.
  template <class Which>
  std::uint32_t count(Which&& which) const {
    return static_cast<std::uint32_t>(
        std::count_if(slots_.begin(), slots_.end(), [&](const Slot* each) { return which(*each); }));
  }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(slots_.size()); }
  /// Slots that can be taken; each post that needs one asks.
  std::uint32_t left() const noexcept { return static_cast<std::uint32_t>(room_ + kept_back_); }

 private:
  [[gnu::cold, gnu::noinline]] void took_none() noexcept {
    ++room_;
  }  // out of line: the way that takes counts in memory
  Slot* first_free() noexcept {
    Slot* slot = free_;
    free_ = slot->after;
    return slot;
  }

  std::vector<std::unique_ptr<Slot[]>> chunks_;
  std::vector<Slot*> slots_;
  Slot* free_ = nullptr;
  std::int32_t room_ =
      0;  ///< Free slots above those kept back; below 0 where weft's own messages hold callers' slots, or the reverse.
  std::int32_t kept_back_ = 0;
};

/// Operations that ended while they were posted, in their order, until the next look tells of them. A slot is on no
/// other list then.
template <class Slot>
class ended_operations {
 public:
  ended_operations() = default;
  ended_operations(const ended_operations&) = delete;
  ended_operations& operator=(const ended_operations&) = delete;

  [[gnu::always_inline]] bool empty() const noexcept { return last_ == &start_; }
  /// Requires: taken from the pool, and not added since.
  [[gnu::always_inline]] void add(Slot& s) noexcept {
    last_->after = &s;
    last_ = &s;
  }
  /// Requires: !empty().
  [[gnu::always_inline]] Slot& take() noexcept {
    Slot& s = *start_.after;
    if (&s == last_) last_ = &start_;
    else start_.after = s.after;
    return s;
  }

 private:
  Slot start_;  ///< Of which `after` is used: adding asks nothing.
  Slot* last_ = &start_;
};

}  // namespace weft::detail
