// SPDX-License-Identifier: Apache-2.0
//
// A transfer that needs several library calls: pieces of local memory, a remote place, and what was posted so far.
// Fabric fact: rows bound the bytes of one write (max_msg_size) and the pieces of one call (iov_limit, rma_iov_limit;
// fi_getinfo(3)). Plans are made at open. An operation takes one and gives it back before it ends. Hot path: only of
// transfers that need a plan. Threads: the owner's.
#pragma once

#include "../../core/memory.hpp"
#include "../events.hpp"
#include "operations.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::detail {

/// Pieces for one call.
class piece_list {
 public:
  void add(local_memory piece) noexcept { pieces_[count_++] = piece; }
  std::size_t count() const noexcept { return count_; }
  gather_list list() const noexcept { return {pieces_.data(), count_}; }
  const local_memory& front() const noexcept { return pieces_.front(); }

 private:
  std::array<local_memory, gather_limit + 1> pieces_{};  // one more for the header
  std::size_t count_ = 0;
};

/// The end of a put_notify, as the notify answers see it (policies/notify.hpp).
template <class Engine>
struct last_write {
  typename Engine::slot* slot;
  const piece_list* from;
  remote_memory to;
};

/// How much of its pieces a transfer has posted so far.
struct transfer_cursor {
  std::uint32_t piece = 0;
  std::uint64_t offset = 0;  ///< Into that piece.
  std::uint64_t left = 0;    ///< Bytes not yet posted.
  remote_memory to{};        ///< Remote place of the next byte.
};

struct transfer_plan {
  std::array<local_memory, gather_limit> pieces{};
  std::uint32_t count = 0;
  std::uint32_t immediate = 0;
  std::uint32_t next = no_index;  ///< Free list.
  operation what{};
  bool confirm = false;           ///< When all parts ended, ask the peer whether they are visible.
  bool deferred = false;          ///< On the list of deferred operations.
  bool delivered = false;         ///< Post the parts of a put in mode `delivered`.
  bool ends_with_notice = false;  ///< The last post is a notice or a message, and is still to be made.
  transfer_cursor at{};

  void set(gather_list from, remote_memory to) noexcept {
    count = 0;
    at = {0, 0, 0, to};
    for (const local_memory& each : from) {
      if (each.size == 0) continue;
      pieces[count++] = each;
      at.left += each.size;
    }
  }

  /// Makes the next part of at most `most_pieces` pieces and `most_bytes` bytes. Returns the cursor after that part.
  transfer_cursor cut(std::size_t most_pieces, std::uint64_t most_bytes, piece_list& part) const noexcept {
    transfer_cursor c = at;
    for (std::uint64_t room = most_bytes; c.left != 0 && room != 0 && part.count() < most_pieces;) {
      const local_memory& from = pieces[c.piece];
      const std::uint64_t size = std::min<std::uint64_t>(from.size - c.offset, room);
      part.add({from.data + c.offset, static_cast<std::size_t>(size), from.descriptor});
      room -= size;
      c.left -= size;
      c.offset += size;
      c.to.address += size;
      if (c.offset != from.size) continue;
      c.offset = 0;
      ++c.piece;
    }
    return c;
  }
};

/// The plans of one transport.
class plan_table {
 public:
  /// Adds plans: at open, or where a batch must leave its last member to the transport (cold).
  void fill(std::uint32_t count) {
    const auto first = static_cast<std::uint32_t>(plans_.size());
    plans_.resize(first + count);
    in_use_ += count;
    for (std::uint32_t i = 0; i < count; ++i) give(first + i);
  }
  std::uint32_t take() noexcept {
    if (free_ == no_index) return no_index;
    ++in_use_;
    return std::exchange(free_, plans_[free_].next);
  }
  void give(std::uint32_t index) noexcept {
    --in_use_;
    plans_[index].next = std::exchange(free_, index);
  }
  std::uint32_t in_use() const noexcept { return in_use_; }
  transfer_plan& at(std::uint32_t index) noexcept { return plans_[index]; }

 private:
  std::vector<transfer_plan> plans_;
  std::uint32_t free_ = no_index;
  std::uint32_t in_use_ = 0;
};

}  // namespace weft::detail
