// SPDX-License-Identifier: Apache-2.0
//
// How a work request enters a send queue: check room and credit, take an entry, signal where due, then one call.
// Inside a batch, requests for one link are linked. They are posted together, in one call and one doorbell, when the
// batch ends, 16 are gathered, or a post goes to another link. Their callers already got ok. If the library then
// refuses a request, it completes as failed.
// Hot path: all of it. Threads: one owner.
#pragma once

#include "connection.hpp"
#include "extended_posting.hpp"
#include "request_list.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace weft::backends::verbs {

/// Properties of a post.
struct post_terms {
  bool reported = false;  ///< Its success is reported.
  bool consumes = false;  ///< It consumes a receive of the peer.
  bool copied = false;    ///< The caller's bytes may change as soon as the call returns.
};

/// `Extended`: with the device's own calls (extended_posting.hpp).
template <bool Extended>
class posting {
 public:
  static constexpr std::size_t longest_batch = 16;

  explicit posting(std::uint32_t inline_bytes) : inline_bytes_(inline_bytes) { refused_.reserve(longest_batch); }

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
    const status s = enter(to, work, total, context, terms, call);
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
    if (enter(to, work, sizeof to.words->offered, nullptr, {}, "ibv_post_send")) to.offer.reported();
    else to.sends.end_next_rare();
  }

  // Batches.
  void begin_batch() noexcept { batching_ = gathers_ = true; }
  void end_batch() noexcept {
    batching_ = false;
    gathers_ = lists_.any();
    flush();
  }
  /// Before a link goes: posts what was linked for it.
  void leave(const connection& gone) noexcept {
    if (linked_to_ == &gone) flush();
    if (lists_.is_to(gone)) (void)post_lists();
  }

  // Batches that are built in the posted list itself (request_list.hpp).
  /// Opens a list to this link. Posts another open list first. `again`: the queue is full.
  status open_list(connection& to, request_list& l) noexcept {
    if (lists_.any()) (void)post_lists();
    if (!l.why) [[unlikely]]
      return l.why;
    if (to.sends.full()) [[unlikely]]
      return no_room(to, "ibv_post_send");
    lists_.open(l, to, inline_bytes_);
    gathers_ = true;
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
  /// A request stored until the batch is posted, with copies of the caller's arguments.
  struct linked_post {
    ibv_send_wr work;
    ibv_sge pieces[gather_limit + 1];  // With a header in front.
    std::array<std::byte, 256> bytes;
    post_terms terms;
    void* context;
  };

  [[gnu::cold, gnu::noinline]] static status no_room(const connection& to, const char* call) noexcept {
    if (to.phase == link_phase::opening) return again(waits_for::connection, call);
    if (to.phase != link_phase::established) return error(errc::peer_lost, call);
    return again(waits_for::queue, call);
  }

  /// Takes an entry and posts, or links. Requires: there is room.
  [[gnu::always_inline]] status enter(connection& to, ibv_send_wr& work, std::size_t total, void* context,
                                      post_terms terms, const char* call) noexcept {
    if (gathers_) [[unlikely]] {
      if (lists_.any()) (void)post_lists();
      if (batching_) {
        if (linked_to_ != &to || linked_ == longest_batch) flush();
        if (!terms.copied || total <= sizeof linked_post::bytes)
          return link(to, work, context, terms.reported, terms.consumes, terms.copied);
        flush();  // Too long to store: posted at once, after the others.
      }
    }
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
    gathers_ = batching_;
    const auto give = [](connection& to, ibv_send_wr* first, ibv_send_wr** stuck) {
      return ring<Extended>(to.pair, to.extended, first, stuck);
    };
    return lists_.post(give, refused_, mine);
  }

  [[gnu::noinline]] status link(connection& to, const ibv_send_wr& work, void* context, bool reported, bool consumes,
                                bool copied) noexcept {
    linked_post& kept = links_[linked_++];
    linked_to_ = &to;
    // Field by field: fields that this kind of request does not use were never set.
    kept.work.num_sge = work.num_sge;
    kept.work.opcode = work.opcode;
    kept.work.send_flags = work.send_flags;
    kept.work.imm_data = work.imm_data;
    kept.work.wr.atomic = work.wr.atomic;  // The longest member: writes and reads overlap it.
    kept.terms = {reported, consumes, copied};
    kept.context = context;
    if (work.num_sge == 1) [[likely]]
      kept.pieces[0] = work.sg_list[0];
    else std::copy_n(work.sg_list, work.num_sge, kept.pieces);
    kept.work.sg_list = kept.pieces;
    if (copied && work.num_sge > 0) {  // Inlined by contract: one piece.
      std::memcpy(kept.bytes.data(), reinterpret_cast<const void*>(kept.pieces[0].addr), kept.pieces[0].length);
      kept.pieces[0].addr = reinterpret_cast<std::uint64_t>(kept.bytes.data());
    }
    auto& place = to.sends.take(context, reported);
    kept.work.wr_id = reinterpret_cast<std::uintptr_t>(&place) | 1u;
    if (place.signalled) kept.work.send_flags |= IBV_SEND_SIGNALED;
    return {};
  }

  [[gnu::noinline]] void flush() noexcept {
    if (linked_ == 0) return;
    const std::size_t count = std::exchange(linked_, 0);
    connection& to = *std::exchange(linked_to_, nullptr);
    for (std::size_t i = 0; i < count; ++i) links_[i].work.next = i + 1 < count ? &links_[i + 1].work : nullptr;
    ibv_send_wr* stuck = nullptr;
    if (const int r = ring<Extended>(to.pair, to.extended, &links_[0].work, &stuck); r != 0 && r != doorbell_refused)
        [[unlikely]]
      take_back(to, count, stuck, r);
  }

  /// The library took the requests before `stuck`. The others lose their entries, and fail.
  [[gnu::cold, gnu::noinline]] void take_back(connection& to, std::size_t count, const ibv_send_wr* stuck,
                                              int number) noexcept {
    std::size_t first = 0;
    while (first < count && &links_[first].work != stuck) ++first;
    if (first == count) first = 0;  // Null: none was taken.
    to.sends.take_back(static_cast<std::uint32_t>(count - first));
    for (std::size_t i = first; i < count; ++i) {
      if (links_[i].terms.consumes) to.credit.give_back();
      if (links_[i].context != nullptr) refused_.push_back({links_[i].context, failed(number, "ibv_post_send")});
    }
  }

  std::uint32_t inline_bytes_;
  bool gathers_ = false;  ///< A batch of either kind is open: posts test one flag.
  bool batching_ = false;
  bool starved_ = false;
  std::size_t linked_ = 0;
  connection* linked_to_ = nullptr;
  std::array<linked_post, longest_batch> links_{};
  request_lists lists_;
  std::vector<refused_post> refused_;
};

}  // namespace weft::backends::verbs
