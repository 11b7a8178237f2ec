// SPDX-License-Identifier: Apache-2.0
//
// The contender of batches over rdma-core: requests for one peer are linked by hand and posted by one call
// (ibv_post_send takes a list), with the checks of raw_verbs_careful.hpp for each. A request that the library refuses
// returns its place and the peer's receive. Hot path: all of it. Threads: one owner.
#pragma once

#include "raw_verbs_careful.hpp"

namespace weft::bench {

/// Built: ibv_wr_* calls build each member in the queue when it comes, between ibv_wr_start and ibv_wr_complete.
template <bool Built = false>
class verbs_linked : public verbs_careful<Built> {
  using base = verbs_careful<Built>;
  using base::check, base::granted_, base::living, base::marker_, base::mask_, base::places_, base::slots_key_,
      base::take;

 public:
  static constexpr std::size_t longest = 16;
  using base::base;
  using base::denied, base::failed, base::full, base::gone, base::no_receive, base::ok, base::outside;
  using typename base::handle, typename base::memory, typename base::place, typename base::record,
      typename base::send_place, typename base::slot, typename base::kind;

  /// Requires: all members until flush() go to one peer. flush() sends them.
  template <ibv_wr_opcode What>
  [[gnu::always_inline]] int add(const handle& to, const memory& from, std::size_t size, const place& at,
                                 std::uint32_t immediate) noexcept {
    constexpr bool consumes = What != IBV_WR_RDMA_WRITE;
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if constexpr (What == IBV_WR_SEND_WITH_IMM) {
      if (size > from.size || size > r->takes) [[unlikely]]
        return outside;
    } else if (const int wrong = check(from, size, at)) [[unlikely]] {
      return wrong;
    }
    if (r->posted - r->retired >= granted_.depth) [[unlikely]]
      return full;
    if constexpr (consumes)
      if (std::atomic_ref(*r->granted).load(std::memory_order_acquire) == r->spent) [[unlikely]]
        return no_receive;
    if (count_ == longest) [[unlikely]]
      if (const int wrong = flush()) return wrong;
    linked on_stack;  // where requests are built by calls
    linked& mine = next(on_stack);
    to_ = r;
    mine.piece = {reinterpret_cast<std::uint64_t>(from.data), static_cast<std::uint32_t>(size), from.key};
    send_place& kept = places_[r->posted++ & mask_];
    kept.context = marker_;
    kept.completes = false;
    mine.work.wr_id = reinterpret_cast<std::uintptr_t>(&kept) | 1U;
    mine.work.next = &links_[count_].work;
    mine.work.sg_list = &mine.piece;
    mine.work.num_sge = size != 0;
    mine.work.opcode = What;
    if constexpr (consumes) mine.work.imm_data = htonl(What == IBV_WR_SEND_WITH_IMM ? r->theirs : immediate);
    if constexpr (What != IBV_WR_SEND_WITH_IMM) mine.work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    unsigned flags = consumes ? unsigned{IBV_SEND_SOLICITED} : 0U;
    if (size <= granted_.inline_bytes) flags |= IBV_SEND_INLINE;
    if (++r->silent >= granted_.signal_one_of) {
      flags |= IBV_SEND_SIGNALED;
      r->silent = 0;
    }
    mine.work.send_flags = flags;
    if constexpr (Built) built(*r, mine);
    if constexpr (consumes) ++r->spent;
    return ok;
  }

  [[gnu::always_inline]] int add_fetch_add(const handle& to, const place& at, std::uint64_t operand,
                                           void* context) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (at.room < sizeof operand || at.address % sizeof operand != 0) [[unlikely]]
      return outside;
    if (!at.atomic) [[unlikely]]
      return denied;
    if (r->posted - r->retired >= granted_.depth) [[unlikely]]
      return full;
    if (count_ == longest) [[unlikely]]
      if (const int wrong = flush()) return wrong;
    slot* s = take(*r, kind::fetch_add, context);
    if (s == nullptr) [[unlikely]]
      return full;
    linked on_stack;  // where requests are built by calls
    linked& mine = next(on_stack);
    to_ = r;
    mine.piece = {reinterpret_cast<std::uint64_t>(&s->old), sizeof s->old, slots_key_};
    send_place& kept = places_[r->posted++ & mask_];
    kept.context = s;
    kept.completes = true;
    mine.work.wr_id = reinterpret_cast<std::uintptr_t>(&kept) | 1U;
    mine.work.next = &links_[count_].work;
    mine.work.sg_list = &mine.piece;
    mine.work.num_sge = 1;
    mine.work.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    mine.work.wr.atomic = {at.address, operand, 0, static_cast<std::uint32_t>(at.key)};
    mine.work.send_flags = IBV_SEND_SIGNALED;
    if constexpr (Built) built(*r, mine);
    r->silent = 0;
    return ok;
  }

  [[gnu::always_inline]] int flush() noexcept {
    if (count_ == 0) return ok;
    if constexpr (Built) {
      count_ = 0;
      return ibv_wr_complete(to_->extended) != 0 ? refused(nullptr) : ok;
    }
    links_[count_ - 1].work.next = nullptr;
    count_ = 0;
    ibv_send_wr* stuck = nullptr;
    if (ibv_post_send(to_->pair, &links_[0].work, &stuck) != 0) [[unlikely]]
      return refused(stuck);
    return ok;
  }

 private:
  struct linked {
    ibv_send_wr work;
    ibv_sge piece;
  };

  [[gnu::always_inline]] linked& next([[maybe_unused]] linked& on_stack) noexcept {
    if constexpr (Built) {
      ++count_;
      return on_stack;
    } else {
      return links_[count_++];
    }
  }
  [[gnu::always_inline]] void built(record& to, const linked& one) noexcept {
    if (count_ == 1) ibv_wr_start(to.extended);
    base::build(to.extended, one.work, one.piece);
  }

  [[gnu::cold, gnu::noinline]] int refused(const ibv_send_wr* stuck) noexcept {
    for (const ibv_send_wr* each = stuck; each != nullptr; each = each->next) {
      --to_->posted;
      if (each->opcode != IBV_WR_RDMA_WRITE) --to_->spent;
    }
    return failed;
  }

  std::array<linked, longest + 1> links_{};
  std::size_t count_ = 0;
  record* to_ = nullptr;
};

}  // namespace weft::bench
