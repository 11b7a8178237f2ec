// SPDX-License-Identifier: Apache-2.0
//
// The contender of the instruction count over rdma-core: verbs by hand, with what a careful author adds because a
// program needs it. weft has all of it too. Each is here in its cheapest form:
// - A peer's handle is a record and a number.
// - The bytes are inside the source and the region, and the region grants the access.
// - The peer has a receive for what consumes one (its card writes its count here), and the send queue has room.
// - Each request has a place with its context, so that a failure finds its operation. One of N is signalled even if no
//   caller asks.
// - The device's grants are known at run time: depth, N, the largest transfer and the inline size.
// - An operation with a context has a slot with kind, peer and context, from a bounded table.
// - Short bytes travel inline. Messages and immediates are solicited.
// - A poll inside of a handler finds nothing. Every 32nd poll does the housekeeping.
// - A failed entry does not count as success.
// Receiving: raw_verbs_receives.hpp. Hot path: all of it. Threads: one owner.
#pragma once

#include "raw_verbs_receives.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace weft::bench {

/// Built: by ibv_wr_* calls, else as requests.
template <bool Built = false>
class verbs_careful : public verbs_receives {
 public:
  /// What the device granted.
  struct grants {
    std::uint32_t depth = 256, signal_one_of = 64, inline_bytes = 256;
    std::uint64_t largest = 1U << 30;
  };
  using verbs_receives::record, verbs_receives::handle;
  struct memory {
    std::byte* data = nullptr;
    std::size_t size = 0;
    std::uint32_t key = 0;
  };
  struct place {
    std::uint64_t address = 0, key = 0, room = 0;
    bool writable = false, atomic = false;
  };
  enum class kind : std::uint8_t { send, put, put_notify, fetch_add };
  struct slot {
    record* of = nullptr;
    void* user = nullptr;
    kind what{};
    slot* next = nullptr;
    std::uint64_t old = 0;
  };
  struct send_place {
    void* context = nullptr;
    record* of = nullptr;
    bool completes = false;
  };
  enum outcome : int { ok = 0, gone, outside, denied, full, no_receive, failed };

  explicit verbs_careful(ibv_pd* domain)
      : verbs_receives(domain), slots_(256), places_(granted_.depth), marker_(other.of) {
    const int local = IBV_ACCESS_LOCAL_WRITE;
    slots_key_ = ibv_reg_mr(domain, slots_.data(), slots_.size() * sizeof(slot), local)->lkey;
    for (slot& s : slots_) give(s);
    for (send_place& each : places_) each.of = other.of;
  }

  [[gnu::always_inline]] int send(const handle& to, const memory& from, std::size_t size) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (size > from.size || size > r->takes) [[unlikely]]
      return outside;
    ibv_sge piece{reinterpret_cast<std::uint64_t>(from.data), static_cast<std::uint32_t>(size), from.key};
    ibv_send_wr work{};
    work.opcode = IBV_WR_SEND_WITH_IMM;
    work.imm_data = htonl(r->theirs);
    return post<true>(*r, work, piece, marker_, false);
  }
  template <bool Signalled>
  [[gnu::always_inline]] int put(const handle& to, const memory& from, std::size_t size, const place& at,
                                 void* context) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (const int wrong = check(from, size, at)) [[unlikely]]
      return wrong;
    void* mine = marker_;
    if constexpr (Signalled) {
      slot* s = take(*r, kind::put, context);
      if (s == nullptr) [[unlikely]]
        return full;
      mine = s;
    }
    ibv_sge piece{reinterpret_cast<std::uint64_t>(from.data), static_cast<std::uint32_t>(size), from.key};
    ibv_send_wr work{};
    work.opcode = IBV_WR_RDMA_WRITE;
    work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    const int r2 = post<false>(*r, work, piece, mine, Signalled);
    if constexpr (Signalled)
      if (r2 != ok) [[unlikely]]
        give(*static_cast<slot*>(mine));
    return r2;
  }
  template <bool Signalled>
  [[gnu::always_inline]] int put_notify(const handle& to, const memory& from, std::size_t size, const place& at,
                                        std::uint32_t immediate, void* context) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (const int wrong = check(from, size, at)) [[unlikely]]
      return wrong;
    void* mine = marker_;
    if constexpr (Signalled) {
      slot* s = take(*r, kind::put_notify, context);
      if (s == nullptr) [[unlikely]]
        return full;
      mine = s;
    }
    ibv_sge piece{reinterpret_cast<std::uint64_t>(from.data), static_cast<std::uint32_t>(size), from.key};
    ibv_send_wr work{};
    work.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    work.imm_data = htonl(immediate);
    work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    const int r2 = post<true>(*r, work, piece, mine, Signalled);
    if constexpr (Signalled)
      if (r2 != ok) [[unlikely]]
        give(*static_cast<slot*>(mine));
    return r2;
  }
  [[gnu::always_inline]] int fetch_add(const handle& to, const place& at, std::uint64_t operand,
                                       void* context) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (at.room < sizeof operand || at.address % sizeof operand != 0) [[unlikely]]
      return outside;
    if (!at.atomic) [[unlikely]]
      return denied;
    slot* s = take(*r, kind::fetch_add, context);
    if (s == nullptr) [[unlikely]]
      return full;
    ibv_sge piece{reinterpret_cast<std::uint64_t>(&s->old), sizeof s->old, slots_key_};
    ibv_send_wr work{};
    work.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    work.wr.atomic = {at.address, operand, 0, static_cast<std::uint32_t>(at.key)};
    const int r2 = post<false, false>(*r, work, piece, s, true);
    if (r2 != ok) [[unlikely]]
      give(*s);
    return r2;
  }

  /// `ended(kind, peer, user, old)` for own operations, `landed(peer, immediate)` for notices, `heard(peer, data,
  /// size)` for messages. One word says whether more than the queue needs attention. A function of its own handles what
  /// is found.
  template <class Ended, class Landed, class Heard>
  [[gnu::always_inline]] int poll_once(ibv_cq* queue, Ended&& ended, Landed&& landed, Heard&& heard) {
    if (static_cast<std::int32_t>(--quick_polls_) < 0) [[unlikely]]
      if (!is_owner_polling()) return 0;
    poll_frame l;
    l.from = this;
    const int count = ibv_poll_cq(queue, static_cast<int>(l.entries.size()), l.entries.data());
    if (count > 0) return found(l, count, ended, landed, heard);
    if (count < 0) [[unlikely]]
      broken();
    return 0;
  }

 protected:
  /// The path of a poll: one that finds nothing keeps nothing in registers.
  struct poll_frame {
    verbs_careful* from;
    std::array<ibv_wc, 16> entries;
  };
  template <class Ended, class Landed, class Heard>
  [[gnu::noinline]] static int found(const poll_frame& l, int count, Ended& ended, Landed& landed, Heard& heard) {
    l.from->report_entries(l.entries.data(), count, ended, landed, heard);
    return count;
  }
  template <class Ended, class Landed, class Heard>
  [[gnu::always_inline]] void report_entries(const ibv_wc* w, int count, Ended& ended, Landed& landed, Heard& heard) {
    quick_polls_ |= handling;
    const ibv_wc* const end = w + count;
    do {
      if (w->status != IBV_WC_SUCCESS) [[unlikely]]
        broken();
      if ((w->wr_id & 1U) == 0) {
        if (arrived(*w, landed, heard)) [[unlikely]]
          offer(*reinterpret_cast<receive*>(w->wr_id)->from);
        continue;
      }
      const auto& done = *reinterpret_cast<const send_place*>(w->wr_id & ~std::uint64_t{1});
      done.of->retired += ((static_cast<std::uint32_t>(&done - places_.data()) - done.of->retired) & mask_) + 1;
      if (!done.completes) continue;
      slot& s = *static_cast<slot*>(done.context);
      const auto [what, of, user, old] = std::tuple(s.what, s.of, s.user, s.old);
      give(s);
      ended(what, of, user, old);
    } while (++w != end);
    quick_polls_ &= ~handling;
  }
  /// Reports the number of posted receives to the peer, by a write into the peer's word.
  [[gnu::cold, gnu::noinline]] void offer(record& to) noexcept {
    std::uint32_t& count = counts_[1];
    count = to.offered;
    ibv_sge piece{reinterpret_cast<std::uint64_t>(&count), sizeof count, counts_key_};
    ibv_send_wr work{};
    work.opcode = IBV_WR_RDMA_WRITE;
    work.wr.rdma = {to.theirs_of_ours.address, to.theirs_of_ours.key};
    if (post<false>(to, work, piece, marker_, false) == ok) to.offers = count;
  }
  /// False: a handler is running. Every 32nd poll does the housekeeping.
  [[gnu::cold, gnu::noinline]] bool is_owner_polling() noexcept {
    if (static_cast<std::int32_t>(++quick_polls_) < 0) return false;
    quick_polls_ = 31;
    return true;
  }

  int check(const memory& from, std::size_t size, const place& at) const noexcept {
    if (size > from.size || size > at.room || size > granted_.largest) [[unlikely]]
      return outside;
    if (!at.writable) [[unlikely]]
      return denied;
    return ok;
  }

  template <bool Consumes, bool Outgoing = true>
  [[gnu::always_inline]] int post(record& to, ibv_send_wr& work, ibv_sge& piece, void* context,
                                  bool signalled) noexcept {
    if (to.posted - to.retired >= granted_.depth) [[unlikely]]
      return full;
    if constexpr (Consumes)
      if (std::atomic_ref(*to.granted).load(std::memory_order_acquire) == to.spent) [[unlikely]]
        return no_receive;
    send_place& mine = places_[to.posted & mask_];
    mine.context = context;
    mine.completes = signalled;
    work.wr_id = reinterpret_cast<std::uintptr_t>(&mine) | 1U;
    work.sg_list = &piece;
    work.num_sge = piece.length != 0;
    unsigned flags = Consumes ? unsigned{IBV_SEND_SOLICITED} : 0U;
    if (Outgoing && piece.length <= granted_.inline_bytes) flags |= IBV_SEND_INLINE;
    if (signalled || ++to.silent >= granted_.signal_one_of) {
      flags |= IBV_SEND_SIGNALED;
      to.silent = 0;
    }
    work.send_flags = flags;
    if constexpr (Built) {
      ibv_wr_start(to.extended);
      build(to.extended, work, piece);
      if (ibv_wr_complete(to.extended) != 0) [[unlikely]]
        return failed;
    } else {
      ibv_send_wr* stuck = nullptr;
      if (ibv_post_send(to.pair, &work, &stuck) != 0) [[unlikely]]
        return failed;
    }
    ++to.posted;
    if constexpr (Consumes) ++to.spent;
    return ok;
  }

  /// What `work` says; its kind is known where this is called, so that no request is ever written.
  [[gnu::always_inline]] static void build(ibv_qp_ex* qp, const ibv_send_wr& work, const ibv_sge& piece) noexcept {
    qp->wr_id = work.wr_id;
    qp->wr_flags = work.send_flags & ~unsigned{IBV_SEND_INLINE};
    if (work.opcode == IBV_WR_SEND_WITH_IMM) ibv_wr_send_imm(qp, work.imm_data);
    if (work.opcode == IBV_WR_RDMA_WRITE) ibv_wr_rdma_write(qp, work.wr.rdma.rkey, work.wr.rdma.remote_addr);
    if (work.opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
      ibv_wr_rdma_write_imm(qp, work.wr.rdma.rkey, work.wr.rdma.remote_addr, work.imm_data);
    if (work.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
      ibv_wr_atomic_fetch_add(qp, work.wr.atomic.rkey, work.wr.atomic.remote_addr, work.wr.atomic.compare_add);
    if ((work.send_flags & IBV_SEND_INLINE) != 0)
      ibv_wr_set_inline_data(qp, reinterpret_cast<void*>(piece.addr), piece.length);
    else ibv_wr_set_sge(qp, piece.lkey, piece.addr, piece.length);
  }

  slot* take(record& of, kind what, void* context) noexcept {
    slot* s = free_;
    if (s == nullptr) [[unlikely]]
      return nullptr;
    free_ = s->next;
    s->of = &of;
    s->what = what;
    s->user = context;
    return s;
  }
  void give(slot& s) noexcept {
    s.next = free_;
    free_ = &s;
  }

  grants granted_;
  std::uint32_t mask_ = granted_.depth - 1;
  std::vector<slot> slots_;
  std::vector<send_place> places_;
  slot* free_ = nullptr;
  std::uint32_t slots_key_ = 0;
  record* marker_;
  static constexpr std::uint32_t handling = 0xc0000000U;
  std::uint32_t quick_polls_ = 32;  ///< Below 0: a handler is running, and polls inside of it find nothing.
};

}  // namespace weft::bench
