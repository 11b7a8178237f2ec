// SPDX-License-Identifier: Apache-2.0
//
// The bare program over rdma-core: one peer, one region, no checks. It has no handles, bounds, rights, slots or
// deadlines, counts no receives of its peer, and takes each entry as a success. One of 64 requests is signalled, or the
// send queue would never have room again (ibv_post_send(3)). A request's id is the caller's context, or 0. Hot path:
// all of it. Threads: one owner.
#pragma once

#include <infiniband/verbs.h>

#include <arpa/inet.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::bench {

class verbs_bare {
 public:
  static constexpr std::size_t longest = 16;

  explicit verbs_bare(ibv_pd* domain) {
    const int local = IBV_ACCESS_LOCAL_WRITE;
    messages_key_ = ibv_reg_mr(domain, messages_.data(), messages_.size(), local)->lkey;
    results_key_ = ibv_reg_mr(domain, &result_, sizeof result_, local)->lkey;
  }
  /// `region`: the source, and the memory of the other end.
  void connect(ibv_qp* pair, const ibv_mr& region) {
    pair_ = pair;
    from_ = reinterpret_cast<std::uint64_t>(region.addr);
    from_key_ = region.lkey;
    at_ = from_;
    key_ = region.rkey;
    for (std::size_t i = 0; i < receives; ++i) post_receive(messages_.data() + i * each_message);
  }

  [[gnu::always_inline]] bool send(std::uint32_t size) noexcept {
    return one(
        [&](ibv_send_wr & work, ibv_sge & piece) __attribute__((always_inline)) { fill_send(work, piece, size); },
        nullptr);
  }
  [[gnu::always_inline]] bool put(std::uint32_t size, void* context) noexcept {
    return one(
        [&](ibv_send_wr & work, ibv_sge & piece) __attribute__((always_inline)) { fill_put(work, piece, size); },
        context);
  }
  [[gnu::always_inline]] bool put_notify(std::uint32_t size, std::uint32_t immediate, void* context) noexcept {
    return one(
        [&](ibv_send_wr & work, ibv_sge & piece)
            __attribute__((always_inline)) { fill_put_notify(work, piece, size, immediate); },
        context);
  }
  [[gnu::always_inline]] bool fetch_add(std::uint64_t operand, void* context) noexcept {
    return one(
        [&](ibv_send_wr & work, ibv_sge & piece)
            __attribute__((always_inline)) { fill_fetch_add(work, piece, operand); },
        context);
  }

  /// Members of a list, which flush() posts by one call.
  [[gnu::always_inline]] void add_send(std::uint32_t size) noexcept {
    ibv_sge& piece = pieces_[count_];
    fill_send(next(nullptr), piece, size);
  }
  [[gnu::always_inline]] void add_put(std::uint32_t size) noexcept {
    ibv_sge& piece = pieces_[count_];
    fill_put(next(nullptr), piece, size);
  }
  [[gnu::always_inline]] void add_put_notify(std::uint32_t size, std::uint32_t immediate) noexcept {
    ibv_sge& piece = pieces_[count_];
    fill_put_notify(next(nullptr), piece, size, immediate);
  }
  [[gnu::always_inline]] void add_fetch_add(std::uint64_t operand, void* context) noexcept {
    ibv_sge& piece = pieces_[count_];
    fill_fetch_add(next(context), piece, operand);
  }
  [[gnu::always_inline]] bool flush() noexcept {
    works_[count_ - 1].next = nullptr;
    count_ = 0;
    ibv_send_wr* stuck = nullptr;
    return ibv_post_send(pair_, works_.data(), &stuck) == 0;
  }

  /// `ended(context)` for own operations, `landed(immediate)` for notices, `heard(data, size)` for messages.
  template <class Ended, class Landed, class Heard>
  [[gnu::always_inline]] int poll_once(ibv_cq* queue, Ended&& ended, Landed&& landed, Heard&& heard) {
    std::array<ibv_wc, 16> entries;
    const int count = ibv_poll_cq(queue, static_cast<int>(entries.size()), entries.data());
    return count > 0 ? found(*this, entries.data(), count, ended, landed, heard) : 0;
  }

 private:
  static constexpr std::size_t receives = 64, each_message = 4096;
  static constexpr std::uint32_t inline_bytes = 256, signal_one_of = 64;

  template <class Fill>
  [[gnu::always_inline]] bool one(Fill&& fill, void* context) noexcept {
    ibv_sge piece;
    ibv_send_wr work;
    begin(work, piece, context);
    work.next = nullptr;
    fill(work, piece);
    ibv_send_wr* stuck = nullptr;
    return ibv_post_send(pair_, &work, &stuck) == 0;
  }
  /// Requires: the piece is pieces_[count_].
  [[gnu::always_inline]] ibv_send_wr& next(void* context) noexcept {
    ibv_send_wr& work = works_[count_];
    begin(work, pieces_[count_], context);
    work.next = &works_[++count_];
    return work;
  }
  [[gnu::always_inline]] void begin(ibv_send_wr& work, ibv_sge& piece, void* context) noexcept {
    work.wr_id = reinterpret_cast<std::uintptr_t>(context);
    work.sg_list = &piece;
    work.num_sge = 1;
    work.send_flags = 0;
    if (context != nullptr || ++silent_ == signal_one_of) {
      silent_ = 0;
      work.send_flags = IBV_SEND_SIGNALED;
    }
  }
  [[gnu::always_inline]] void fill_source(ibv_send_wr& work, ibv_sge& piece, std::uint32_t size) const noexcept {
    piece = {from_, size, from_key_};
    if (size <= inline_bytes) work.send_flags |= IBV_SEND_INLINE;
  }
  [[gnu::always_inline]] void fill_send(ibv_send_wr& work, ibv_sge& piece, std::uint32_t size) const noexcept {
    fill_source(work, piece, size);
    work.opcode = IBV_WR_SEND;
  }
  [[gnu::always_inline]] void fill_put(ibv_send_wr& work, ibv_sge& piece, std::uint32_t size) const noexcept {
    fill_source(work, piece, size);
    work.opcode = IBV_WR_RDMA_WRITE;
    work.wr.rdma = {at_, key_};
  }
  [[gnu::always_inline]] void fill_put_notify(ibv_send_wr& work, ibv_sge& piece, std::uint32_t size,
                                              std::uint32_t immediate) const noexcept {
    fill_put(work, piece, size);
    work.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    work.imm_data = htonl(immediate);
  }
  [[gnu::always_inline]] void fill_fetch_add(ibv_send_wr& work, ibv_sge& piece, std::uint64_t operand) noexcept {
    piece = {reinterpret_cast<std::uint64_t>(&result_), sizeof result_, results_key_};
    work.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    work.wr.atomic = {at_, operand, 0, key_};
  }

  template <class Ended, class Landed, class Heard>
  [[gnu::noinline]] static int found(verbs_bare& here, const ibv_wc* w, int count, Ended& ended, Landed& landed,
                                     Heard& heard) {
    const ibv_wc* const end = w + count;
    do {
      if ((w->opcode & IBV_WC_RECV) == 0) {
        if (w->wr_id != 0) ended(reinterpret_cast<void*>(w->wr_id));  // NOLINT(performance-no-int-to-ptr)
        continue;
      }
      auto* const data = reinterpret_cast<std::byte*>(w->wr_id);  // NOLINT(performance-no-int-to-ptr)
      if (w->opcode == IBV_WC_RECV_RDMA_WITH_IMM) landed(ntohl(w->imm_data));
      else heard(data, w->byte_len);
      here.post_receive(data);
    } while (++w != end);
    return count;
  }
  [[gnu::always_inline]] void post_receive(std::byte* data) noexcept {
    ibv_sge piece{reinterpret_cast<std::uint64_t>(data), each_message, messages_key_};
    ibv_recv_wr work{reinterpret_cast<std::uintptr_t>(data), nullptr, &piece, 1};
    ibv_recv_wr* stuck = nullptr;
    (void)ibv_post_recv(pair_, &work, &stuck);
  }

  ibv_qp* pair_ = nullptr;
  std::uint64_t from_ = 0, at_ = 0, result_ = 0;
  std::uint32_t from_key_ = 0, key_ = 0, messages_key_ = 0, results_key_ = 0;
  std::uint32_t silent_ = 0;
  std::size_t count_ = 0;
  std::array<ibv_send_wr, longest + 1> works_;
  std::array<ibv_sge, longest + 1> pieces_;
  std::vector<std::byte> messages_ = std::vector<std::byte>(each_message * receives);
};

}  // namespace weft::bench
