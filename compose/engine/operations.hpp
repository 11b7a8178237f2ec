// SPDX-License-Identifier: Apache-2.0
//
// Operations in flight. A post takes a slot, and the end of the operation gives the slot back. The slot is the context
// that the library holds, not the caller's memory. It has the space that some libraries overwrite (fi_getinfo(3),
// FI_CONTEXT2). It outlives an operation that ended early (peer lost, deadline), because the library may still complete
// that one. The size of the pool bounds the operations in flight. Hot path: take() and give(), a free list. Threads:
// the owner's.
#pragma once

#include "../../core/memory.hpp"
#include "../events.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace weft::detail {

enum class slot_use : std::uint8_t {
  free,
  user,       ///< An operation of the user. The handler gets its end.
  silent,     ///< An unsignalled operation that needs a slot. The handler gets its failure only.
  control,    ///< A message of weft's own.
  abandoned,  ///< The handler has got its end, and the library may still complete it.
};

/// The progress of an operation that takes several calls, or what it waits for. From `delivering` on, the end of a call
/// starts the next call.
enum class stage : std::uint8_t {
  single,
  buffered,  ///< As single, with bytes in a buffer that the slot holds.
  staged,    ///< As buffered, with a buffer of tagged messages (compose/tagged/staging.hpp).
  writing,   ///< A write, then a second write into the target's ring.
  noticing,  ///< A write and its notice; the notice is posted or deferred.
  replying,  ///< The target's reply ends it, not a completion.
  grouped,   ///< A group (posting/group_packing.hpp): the slot's buffer holds its members. An open group has no pending
             ///< call.
  delivering,  ///< The write is in flight; the notice follows its delivery.
  splitting,   ///< A transfer in parts (engine/transfer_plan.hpp).
  looping,     ///< Compare-swaps, until one hits.
  confirming,  ///< A write, and a question whether the write is visible. Both answers are still to come.
  ending,      ///< Has ended; the next poll reports the end.
};

/// The state of an atomic operation that is a loop of compare-swaps.
struct swap_loop {
  remote_memory cell;         ///< The word to swap, or the 8 bytes that hold it.
  std::uint64_t operand = 0;  ///< The bits of the type's value.
  std::uint64_t expected = 0;
  std::uint64_t guess = 0;  ///< The expected content of `cell`.
  atomic_operation what{};
  bool narrow = false;     ///< `cell` has 4 bytes.
  std::uint8_t shift = 0;  ///< Offset of the word in `cell`, in bits.
};
struct no_swap_loop {};

template <std::size_t LibraryBytes>
struct library_space {
  alignas(16) std::byte bytes[LibraryBytes];
};
template <>
struct library_space<0> {};

inline constexpr std::uint32_t no_index = ~std::uint32_t{0};

/// The type of a context that the library returns. Error entries of some providers do not say whether a receive or an
/// operation failed.
enum class context_kind : std::uint8_t { operation, receive, peer };

/// The start of every context. The space that the library overwrites comes first, so the object's address is the
/// context.
template <std::size_t LibraryBytes>
struct library_context {
  explicit library_context(context_kind k) noexcept : kind(k) {}
  [[no_unique_address]] library_space<LibraryBytes> space;
  context_kind kind;
};

/// The progress of an operation in one word: one store sets it, and one comparison finds the usual end.
struct alignas(4) operation_state {
  slot_use use = slot_use::free;
  weft::detail::stage stage = stage::single;
  std::uint8_t pending = 0;  ///< Completions that the library has not reported.
  errc fault = errc::ok;     ///< The first error of several calls.

  constexpr std::uint32_t word() const noexcept { return std::bit_cast<std::uint32_t>(*this); }
};
/// An operation of one call that was posted.
constexpr operation_state under_way(slot_use use) noexcept { return {use, stage::single, 1, errc::ok}; }

/// The name of a slot in messages and tokens. It is one word, so the next name is one addition.
struct alignas(8) slot_name {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  ///< Counts the names of the slot: see named().

  /// A new name of the slot, which equals no earlier one. The generation is in the upper half, the index in the lower.
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
  operation_slot* parent = nullptr;  ///< control: the operation that waits for this message.
  std::uint64_t scratch[3] = {};     ///< Atomics: the old value, and room for the library's operands.
  [[no_unique_address]] std::conditional_t<Loops, swap_loop, no_swap_loop> loop;
  std::uint32_t posted = 0;         ///< Tick of the post, or of its last part's end.
  std::uint32_t next = no_index;    ///< The next slot of its list: deferred operations, or notices of one message.
  std::uint32_t buffer = no_index;  ///< The control buffer of the slot.
  std::uint32_t immediate = 0;
  std::uint32_t sequence = 0;  ///< Sequence of its entry in the target's ring.
  std::uint32_t stamp = 0;     ///< Where writes are tracked: the number of earlier flushes.
  operation what{};
  number_type type = number_type::uint64;  ///< Type of an atomic's word.
  void* descriptor = nullptr;              ///< Descriptor of the slot's memory, where local buffers must be registered.
  operation_slot* after = nullptr;         ///< Free list.

  using slot_name::named;
  /// The usual end: one event, and the slot is free. True for a user's operation of one call without a buffer.
  bool is_plain() const noexcept { return this->word() == under_way(slot_use::user).word(); }
};

/// What the report of an operation's end needs, without its slot.
template <class Record>
struct ended_operation {
  slot_use use{};
  operation what{};
  number_type type{};
  Record* of = nullptr;
  void* user = nullptr;
  std::uint64_t value = 0;  ///< Of an atomic.
  status outcome;

  template <class Slot>
  static ended_operation of_slot(const Slot& s, status outcome) noexcept {
    return {s.use, s.what, s.type, s.record, s.user, s.scratch[0], reported_as(*s.record, outcome)};
  }
  /// The library flushes the operations of a broken link as "cancelled". This side closed nothing, so the peer is lost.
  static status reported_as(const Record& r, status outcome) noexcept {
    if (outcome.code == errc::closed && r.state != decltype(r.state)::free) outcome.code = errc::peer_lost;
    return outcome;
  }
};

/// All slots. The pool grows when slots were abandoned (cold), never in a post. Some slots are reserved for control
/// messages.
template <class Slot>
class operation_pool {
 public:
  /// Reserves `count` slots, which take() gets and take_above() does not. Requires: called once, before use.
  void keep_back(std::uint32_t count) noexcept {
    kept_back_ = static_cast<std::int32_t>(count);
    room_ -= kept_back_;
  }
  /// Adds slots. `register_memory` registers their memory and returns its descriptor.
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

  /// Reserves more slots. The bound of take_above() stays, although slots were added.
  void withhold(std::uint32_t count) noexcept {
    kept_back_ += static_cast<std::int32_t>(count);
    room_ -= static_cast<std::int32_t>(count);
  }

  /// Any slot; null when all are taken.
  Slot* take() noexcept {
    if (free_ == nullptr) return nullptr;
    --room_;
    return first_free();
  }
  /// A slot that is not reserved; null when there is none. This bounds the operations of callers.
  Slot* take_above() noexcept {
    if (--room_ < 0) [[unlikely]] {
      took_none();
      return nullptr;
    }
    return first_free();
  }
  /// Requires: taken, and not given since.
  void give(Slot& slot) noexcept {
    ++room_;
    slot.use = slot_use::free;
    slot.after = free_;
    free_ = &slot;
  }
  Slot* at(std::uint32_t index) noexcept { return index < slots_.size() ? slots_[index] : nullptr; }
  /// Slots that are taken, with abandoned ones and control messages.
  std::uint32_t in_flight() const noexcept { return size() - left(); }
  /// Slots for which `which(slot)` is true. Reads every slot: cold.
  template <class Which>
  std::uint32_t count(Which&& which) const {
    std::uint32_t found = 0;
    for (const Slot* const each : slots_) found += std::uint32_t{static_cast<bool>(which(*each))};
    return found;
  }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(slots_.size()); }
  /// Slots that take() can return.
  std::uint32_t left() const noexcept { return static_cast<std::uint32_t>(room_ + kept_back_); }

 private:
  [[gnu::cold, gnu::noinline]] void took_none() noexcept { ++room_; }  // out of line: the usual path counts in memory
  Slot* first_free() noexcept {
    Slot* slot = free_;
    free_ = slot->after;
    return slot;
  }

  std::vector<std::unique_ptr<Slot[]>> chunks_;
  std::vector<Slot*> slots_;
  Slot* free_ = nullptr;
  std::int32_t room_ =
      0;  ///< Free slots that are not reserved. Below 0 while control messages hold more slots than are reserved.
  std::int32_t kept_back_ = 0;
};

/// Operations that ended before their post returned (core/port.hpp, ends_at_return). They wait in order for the next
/// poll, because no handler runs inside a post. A slot on the list is on no other list.
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
  Slot start_;  ///< Only `after` is used, so that add() has no special case for the first.
  Slot* last_ = &start_;
};

/// Ports whose library reports every end.
template <class Slot>
struct none_ended {
  static constexpr bool empty() noexcept { return true; }
  static Slot& take() noexcept { __builtin_unreachable(); }
};

}  // namespace weft::detail
