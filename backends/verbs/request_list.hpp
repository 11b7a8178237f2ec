// SPDX-License-Identifier: Apache-2.0
//
// Requests of a batch, built in the array that is posted. Its entries stay linked, and a list uses the first ones.
// ibv_post_send(3) reads a list only during the call, so one array serves a port. Opening another list, or any other
// post, posts the open list first; its owner then finds no room.
// Values that do not change between members (pointers, room in the queue) are set once per list. Signals too: where one
// is due, the last member carries it (send_queue.hpp).
// Hot path: all of it. Threads: one owner.
#pragma once

#include "connection.hpp"
#include "errors.hpp"
#include "request.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::backends::verbs {

/// libsiw's answer where the kernel refuses its doorbell because the link is closing: the work is in the queue anyway,
/// and ends with the link.
inline constexpr int doorbell_refused = -1;

/// A request that the library refused after its caller got ok.
struct refused_post {
  void* context = nullptr;
  status why{};
};

struct listed_request {
  ibv_send_wr work;  ///< First: its address is the entry's address.
  ibv_sge piece;
};

/// A list, as its owner holds it.
struct request_list {
  listed_request* next = nullptr;  ///< The place of the next request. Null: no list is open, or it is full.
  connection* to = nullptr;
  std::uint32_t inline_bytes = 0;
  std::uint32_t posted = 0;  ///< Members that the library took so far.
  status why{};              ///< Why it did not take all.

  [[gnu::always_inline]] bool has_room() const noexcept { return next != nullptr; }

  /// Builds a request in the posted array. Requires: has_room().
  template <ibv_wr_opcode What, bool Reported = false>
  [[gnu::always_inline]] ibv_send_wr& add(const local_memory& from, void* context) noexcept {
    constexpr bool comes_back_here = What == IBV_WR_ATOMIC_FETCH_AND_ADD || What == IBV_WR_ATOMIC_CMP_AND_SWP;
    constexpr unsigned wakes = What == IBV_WR_SEND || What == IBV_WR_SEND_WITH_IMM || What == IBV_WR_RDMA_WRITE_WITH_IMM
                                   ? IBV_SEND_SOLICITED
                                   : 0;
    listed_request& made = *next;
    next = reinterpret_cast<listed_request*>(made.work.next);
    auto& place = to->sends.take_listed(context, Reported);
    made.piece = {address_of(from.data), static_cast<std::uint32_t>(from.size), local_key(from.descriptor)};
    made.work.wr_id = reinterpret_cast<std::uintptr_t>(&place) | 1u;
    made.work.num_sge = from.size != 0;
    made.work.opcode = What;
    unsigned flags = wakes | (Reported ? unsigned{IBV_SEND_SIGNALED} : 0U);
    if (!comes_back_here && from.size <= inline_bytes) flags |= IBV_SEND_INLINE;
    made.work.send_flags = flags;
    return made.work;
  }
};

/// The entries of a port, and the list that uses them now.
class request_lists {
 public:
  static constexpr std::size_t longest = 16;

  request_lists() noexcept {
    for (std::size_t i = 0; i < longest; ++i) {
      entries_[i].work.sg_list = &entries_[i].piece;
      chain(i);
    }
  }
  request_lists(const request_lists&) = delete;  // It points at itself.
  request_lists& operator=(const request_lists&) = delete;
  ~request_lists() = default;

  bool any() const noexcept { return owner_ != nullptr; }
  bool is_of(const request_list& l) const noexcept { return owner_ == &l; }
  bool is_to(const connection& link) const noexcept { return owner_ != nullptr && owner_->to == &link; }
  void move(const request_list& from, request_list& to) noexcept {
    if (owner_ == &from) owner_ = &to;
  }

  /// Requires: no list is open, and the queue has room. The list gets at most that many entries.
  void open(request_list& l, connection& to, std::uint32_t inline_bytes) noexcept {
    if (to.sends.room() < longest) [[unlikely]]
      shorten(to.sends.room());
    l.next = entries_.data();
    l.to = &to;
    l.inline_bytes = inline_bytes;
    owner_ = &l;
  }
  /// Members of the open list.
  std::size_t added() const noexcept {
    return owner_->next == nullptr ? size_ : static_cast<std::size_t>(owner_->next - entries_.data());
  }
  /// The last added request of the open list, or null.
  ibv_send_wr* last() noexcept {
    const std::size_t count = added();
    return count == 0 ? nullptr : &entries_[count - 1].work;
  }

  /// Closes the open list. `ring(connection&, first, &stuck)` gives it to the library. Requests that the library does
  /// not take lose their entry and their credit. Those with a reported end, except `mine`, complete as refused. The
  /// list stores how many were taken, and why not all.
  template <class Ring>
  [[gnu::noinline]] status post(Ring&& ring, std::vector<refused_post>& refused, const void* mine = nullptr) noexcept {
    const std::size_t count = added();
    request_list& l = *std::exchange(owner_, nullptr);
    l.next = nullptr;
    if (size_ != longest) [[unlikely]]
      lengthen();
    if (count == 0) [[unlikely]]
      return {};
    l.posted += static_cast<std::uint32_t>(count);
    ibv_send_wr& end = entries_[count - 1].work;
    if (l.to->sends.close_list(static_cast<std::uint32_t>(count))) end.send_flags |= IBV_SEND_SIGNALED;
    ibv_send_wr* const next = std::exchange(end.next, nullptr);
    ibv_send_wr* stuck = nullptr;
    const int answer = ring(*l.to, &entries_[0].work, &stuck);
    end.next = next;
    if (answer == 0) [[likely]]
      return {};
    return take_back(l, count, stuck, answer, refused, mine);
  }

 private:
  void chain(std::size_t i) noexcept { entries_[i].work.next = i + 1 < longest ? &entries_[i + 1].work : nullptr; }
  [[gnu::cold, gnu::noinline]] void shorten(std::size_t size) noexcept {
    size_ = size;
    entries_[size - 1].work.next = nullptr;
  }
  [[gnu::cold, gnu::noinline]] void lengthen() noexcept { chain(std::exchange(size_, longest) - 1); }

  [[gnu::cold, gnu::noinline]] status take_back(request_list& l, std::size_t count, const ibv_send_wr* stuck,
                                                int number, std::vector<refused_post>& refused,
                                                const void* mine) noexcept {
    std::size_t first = 0;
    if (number == doorbell_refused) return {};
    while (first < count && &entries_[first].work != stuck) ++first;
    if (first == count) first = 0;  // Null: none was taken.
    l.posted -= static_cast<std::uint32_t>(count - first);
    l.why = failed(number, "ibv_post_send");
    if (l.why.is_again()) l.why.code = errc::native;  // The queue had room: a retry would fail again.
    for (std::size_t i = first; i < count; ++i) {
      const ibv_send_wr& each = entries_[i].work;
      const auto& place = *reinterpret_cast<const send_place<connection>*>(each.wr_id & ~std::uint64_t{1});
      if (each.opcode == IBV_WR_SEND_WITH_IMM || each.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) l.to->credit.give_back();
      if (place.reported && place.context != mine) refused.push_back({place.context, l.why});
    }
    l.to->sends.take_back(static_cast<std::uint32_t>(count - first));
    return l.why;
  }

  std::array<listed_request, longest> entries_{};
  std::size_t size_ = longest;  ///< Entries of the open list.
  request_list* owner_ = nullptr;
};

}  // namespace weft::backends::verbs
