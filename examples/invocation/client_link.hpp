// SPDX-License-Identifier: Apache-2.0
//
// One worker as its client sees it: the connection, its memory, and its slots. A slot is free, waits for a reply, or is
// cancelled: after a deadline it waits for the worker's promise not to execute the call. Only then may its bytes be
// overwritten. Hot path: yes. Threads: the client's.
#pragma once

#include "outcome.hpp"

#include <weft/compose/events.hpp>

#include <bit>
#include <vector>

namespace weft::invocation {

struct call_slot {
  enum class use : std::uint8_t { free, waiting, cancelling };
  use state = use::free;
  std::uint32_t sequence = 0;  ///< Of the present call, or of the next.
  std::uint64_t id = 0;
  void* context = nullptr;
  instant due{};  ///< waiting: the deadline. cancelling: when to ask again.
};

struct worker_link {
  peer link;
  bool ready = false;
  bool lost = false;
  remote_region input;
  std::uint64_t free = 0;  ///< A bit per slot.
  std::vector<call_slot> slots;

  bool usable() const noexcept { return ready && !lost; }
  /// Requires: free != 0.
  std::uint8_t first_free() const noexcept { return static_cast<std::uint8_t>(std::countr_zero(free)); }
  void take(std::uint8_t s, std::uint64_t id, void* context, instant due) noexcept {
    free &= ~(std::uint64_t{1} << s);
    slots[s].state = call_slot::use::waiting;
    slots[s].id = id;
    slots[s].context = context;
    slots[s].due = due;
  }
  /// Frees the slot for the call with the next sequence number.
  void give(std::uint8_t s) noexcept {
    slots[s].state = call_slot::use::free;
    slots[s].sequence = (slots[s].sequence + 1) & call_word::sequence_mask;
    free |= std::uint64_t{1} << s;
  }
};

}  // namespace weft::invocation
