// SPDX-License-Identifier: Apache-2.0
//
// How a work request enters a send queue: check room and credit, take an entry, signal where due, then one call.
// A batch is a list of requests for one link (request_list.hpp): one call and one doorbell, when the batch ends, the
// list is full, or another request is posted. The callers of its members already got ok. A member that the library then
// refuses completes as failed.
// Hot path: all of it. Threads: one owner.
#pragma once

#include "connection.hpp"
#include "extended_posting.hpp"
#include "request_list.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace weft::backends::verbs {

/// Properties of a post.
struct post_terms {
  bool reported = false;  ///< Its success is reported.
  bool consumes = false;  ///< It consumes a receive of the peer.
};

/// `Extended`: with the device's own calls (extended_posting.hpp).
template <bool Extended>
class posting {
 public:
  explicit posting(std::uint32_t inline_bytes) : inline_bytes_(inline_bytes) {
    refused_.reserve(request_lists::longest);
  }

  std::uint32_t inline_bytes() const noexcept { return inline_bytes_; }

  /// Posts a request of `total` bytes.
  [[gnu::always_inline]] status post(connection& to, ibv_send_wr& work, std::size_t total, void* context,
                                     post_terms terms, const char* call) noexcept {
    if (to.sends.full()) [[unlikely]]
      return no_room(to, call);
    if (terms.consumes && to.credit.none(*to.words) && !to.has_credit()) [[unlikely]] {
      starved_ = true;
      return again(waits_for::receive_slot, call);
    }
    if (total <= inline_bytes_) work.send_flags |= IBV_SEND_INLINE;
    const status s = enter(to, work, context, terms, call);
    if (s && terms.consumes) to.credit.spend();
    return s;
  }

  /// Posts a write, then a read of a word that always exists. On a wire whose writes complete before they arrive
  /// (iWARP), the read returns after the write was placed, and fails where the write was refused. The pair ends once,
  /// with the read.
  status post_confirmed(connection& to, ibv_send_wr& write, std::size_t total, void* context,
                        const char* call) noexcept {
    if (!to.sends.has_room_for(2)) [[unlikely]]
      return no_room(to, call);
    if (const status s = post(to, write, total, nullptr, {}, call); !s) return s;
    ibv_sge word{reinterpret_cast<std::uint64_t>(&to.words->fetched), sizeof to.words->fetched, to.region->lkey};
    ibv_send_wr read{};
    read.sg_list = &word;
    read.num_sge = 1;
    read.opcode = IBV_WR_RDMA_READ;
    read.wr.rdma = {to.peer_introduction.address, to.peer_introduction.key};
    return post(to, read, comes_back, context, {.reported = true}, call);
  }

  /// Writes the count of receives into the peer's word, if that is due. Without room it is tried again at the next
  /// completion.
  void offer(connection& to) noexcept {
    if (!to.offer.due() || !to.answered) return;
    if (to.sends.reserve_full()) return to.sends.end_next_rare();
    std::atomic_ref(to.words->offered).store(to.offer.count(), std::memory_order_release);
    ibv_sge word{reinterpret_cast<std::uint64_t>(&to.words->offered), sizeof to.words->offered, to.region->lkey};
    ibv_send_wr work{};
    work.sg_list = &word;
    work.num_sge = 1;
    work.opcode = IBV_WR_RDMA_WRITE;
    work.wr.rdma = {to.peer_introduction.address, to.peer_introduction.key};
    if (sizeof to.words->offered <= inline_bytes_) work.send_flags = IBV_SEND_INLINE;
    if (enter(to, work, nullptr, {}, "ibv_post_send")) to.offer.reported();
    else to.sends.end_next_rare();
  }

  /// Before a link goes: posts the list that is open for it.
  void leave(const connection& gone) noexcept {
    if (lists_.is_to(gone)) (void)post_lists();
  }

  // Batches (request_list.hpp).
  /// Opens a list to this link. Posts another open list first. `again`: the queue is full.
  status open_list(connection& to, request_list& l) noexcept {
    if (lists_.any()) (void)post_lists();
    if (!l.why) [[unlikely]]
      return l.why;
    if (to.sends.full()) [[unlikely]]
      return no_room(to, "ibv_post_send");
    lists_.open(l, to, inline_bytes_);
    return {};
  }
  /// Whether the peer has a receive for one more member. If not, posts the list, because nothing else makes room.
  [[gnu::always_inline]] bool has_receive(request_list& l) noexcept {
    if (l.to->credit.none(*l.to->words) && !l.to->has_credit()) [[unlikely]] {
      starved_ = true;
      (void)post_list(l);
      return false;
    }
    return true;
  }
  /// Gives the list to the library; nothing if it is no longer open. `mine`: a context whose refusal the caller reports
  /// itself.
  status post_list(request_list& l, const void* mine = nullptr) noexcept {
    if (lists_.is_of(l)) return post_lists(mine);
    return l.why;
  }
  /// Members that were added and not posted.
  std::uint32_t listed(const request_list& l) const noexcept {
    return lists_.is_of(l) ? static_cast<std::uint32_t>(lists_.added()) : 0;
  }
  void move_list(const request_list& from, request_list& to) noexcept { lists_.move(from, to); }
  /// Signals the last added member. False: it is no longer in the list.
  bool signal_last(const request_list& l, void* context) noexcept {
    if (!lists_.is_of(l)) return false;
    ibv_send_wr* last = lists_.last();
    if (last == nullptr) return false;
    last->send_flags |= IBV_SEND_SIGNALED;
    l.to->sends.signal_last(context);
    return true;
  }
  /// Posts a write of no bytes. It completes after everything that was posted before it.
  status post_marker(connection& to, void* context) noexcept {
    ibv_send_wr work{};
    work.opcode = IBV_WR_RDMA_WRITE;
    work.wr.rdma = {to.peer_introduction.address, to.peer_introduction.key};
    return post(to, work, 0, context, {.reported = true}, "ibv_post_send(write)");
  }

  /// Whether a post had to wait for the peer's receives since the last call. New credit wakes no thread.
  bool was_starved() noexcept { return std::exchange(starved_, false); }
  bool has_refused() const noexcept { return !refused_.empty(); }
  /// Visits requests that failed without reaching the library.
  template <class Each>
  int report_refused(Each&& each) {
    const std::size_t count = refused_.size();
    for (std::size_t i = 0; i < count; ++i) each(refused_[i]);
    refused_.erase(refused_.begin(), refused_.begin() + static_cast<std::ptrdiff_t>(count));
    return static_cast<int>(count);
  }

 private:
  [[gnu::cold, gnu::noinline]] static status no_room(const connection& to, const char* call) noexcept {
    if (to.phase == link_phase::opening) return again(waits_for::connection, call);
    if (to.phase != link_phase::established) return error(errc::peer_lost, call);
    return again(waits_for::queue, call);
  }

  /// Takes an entry and posts, or links. Requires: there is room.
  [[gnu::always_inline]] status enter(connection& to, ibv_send_wr& work, void* context, post_terms terms,
                                      const char* call) noexcept {
    if (lists_.any()) [[unlikely]]
      (void)post_lists();
    auto& place = to.sends.take(context, terms.reported);
    work.wr_id = reinterpret_cast<std::uintptr_t>(&place) | 1u;
    if (place.signalled) work.send_flags |= IBV_SEND_SIGNALED;
    ibv_send_wr* stuck = nullptr;
    if (const int r = ring<Extended>(to.pair, to.extended, &work, &stuck); r != 0) [[unlikely]] {
      if (r == doorbell_refused) return {};
      to.sends.take_back(1);
      return not_posted(r, call);
    }
    return {};
  }

  status post_lists(const void* mine = nullptr) noexcept {
    const auto give = [](connection& to, ibv_send_wr* first, ibv_send_wr** stuck) {
      return ring<Extended>(to.pair, to.extended, first, stuck);
    };
    return lists_.post(give, refused_, mine);
  }

  std::uint32_t inline_bytes_;
  bool starved_ = false;
  request_lists lists_;
  std::vector<refused_post> refused_;
};

}  // namespace weft::backends::verbs
