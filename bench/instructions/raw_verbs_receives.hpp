// SPDX-License-Identifier: Apache-2.0
//
// The receiving half of the contender over rdma-core (raw_verbs_careful.hpp), with what a careful author adds because a
// program needs it. weft has all of it too. Each is here in its cheapest form:
// - A receive knows its connection, since a failed receive must name it (a later queue pair may get the same number).
// - Notices and messages both consume receives, and each receive is posted again.
// - The handler gets a message with its sender: one of many peers, who must be at the other end of that connection.
// - Receives are counted. Every few of them are reported to the peer, which sends no more than that.
// Hot path: arrived(). Threads: one owner.
#pragma once

#include <infiniband/verbs.h>

#include <arpa/inet.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace weft::bench {

class verbs_receives {
 public:
  /// A word that the other side's card may write.
  struct word {
    std::uint64_t address = 0;
    std::uint32_t key = 0;
  };
  struct record {
    std::uint32_t live = 0;
    std::uint32_t theirs = 0;
    std::uint32_t takes = 0;  ///< Bytes of the peer's receives.
    std::uint32_t spent = 0;  ///< Used ones of the peer's receives.
    std::uint32_t* granted = nullptr;
    ibv_qp* pair = nullptr;
    ibv_qp_ex* extended = nullptr;
    std::uint32_t posted = 0, retired = 0, silent = 0;
    std::uint32_t offered = 0, offers = 0;  ///< Receives posted to the peer, and how many of them were reported.
    word theirs_of_ours{};                  ///< Where the peer reads that number.
  };
  struct handle {
    record* of = nullptr;
    std::uint32_t number = 0;
  };
  /// A posted receive; its address is the work request's id.
  struct receive {
    record* from = nullptr;
    std::byte* data = nullptr;
  };
  static constexpr std::uint32_t first_number =
      1U << 20;  ///< 20 bits of the record's index; above them the number of its uses.
  static constexpr std::size_t receives = 64, each_message = 4096;

  explicit verbs_receives(ibv_pd* domain) : messages_(each_message * receives), receives_(receives) {
    const int local = IBV_ACCESS_LOCAL_WRITE;  // a number: the call is a macro that mixes enumerations
    const int written = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    messages_key_ = ibv_reg_mr(domain, messages_.data(), messages_.size(), local)->lkey;
    const ibv_mr* counts = ibv_reg_mr(domain, counts_.get(), sizeof(std::uint32_t) * 2, written);
    counts_key_ = counts->lkey;
    own_word_ = {reinterpret_cast<std::uint64_t>(counts_.get()), counts->rkey};
    records_[0].live = records_[0].theirs = first_number;
    records_[0].takes = each_message;
    records_[0].granted = counts_.get();
    other = {&records_[0], first_number};
  }

  handle other;  ///< What a program would keep, and pass to each call.

  const word& own_word() const noexcept { return own_word_; }
  /// Adopts the connection, and posts receives to it.
  void connect(ibv_qp* pair, ibv_qp_ex* extended, const word& place) {
    record& to = records_[0];
    to.pair = pair;
    to.extended = extended;
    to.theirs_of_ours = place;
    for (std::size_t i = 0; i < receives; ++i) {
      receives_[i] = {&to, messages_.data() + i * each_message};
      post_again(receives_[i]);
    }
  }
  /// Receives that the other side posted before its first report: part of its answer.
  void met(const verbs_receives& them) noexcept { *counts_.get() = records_[0].offers = them.records_[0].offered; }

 protected:
  static record* living(const handle& h) noexcept { return h.of->live == h.number ? h.of : nullptr; }
  /// `landed(peer, immediate)` for notices, `heard(peer, data, size)` for messages. True: receives are to be reported
  /// to the peer.
  template <class Landed, class Heard>
  [[gnu::always_inline]] bool arrived(const ibv_wc& w, Landed& landed, Heard& heard) {
    receive& in = *reinterpret_cast<receive*>(w.wr_id);
    const std::uint32_t immediate = (w.wc_flags & IBV_WC_WITH_IMM) != 0 ? ntohl(w.imm_data) : 0;
    if (w.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
      landed(handle{in.from, in.from->live}, immediate);
    } else if (const handle from{in.from, immediate}; in.from->live == immediate) {
      heard(from, in.data, w.byte_len);
    }
    return post_again(in);
  }
  bool post_again(receive& in) noexcept {
    ibv_sge piece{reinterpret_cast<std::uint64_t>(in.data), each_message, messages_key_};
    ibv_recv_wr work{reinterpret_cast<std::uintptr_t>(&in), nullptr, &piece, 1};
    ibv_recv_wr* stuck = nullptr;
    if (ibv_post_recv(in.from->pair, &work, &stuck) != 0) [[unlikely]]
      broken();
    return ++in.from->offered - in.from->offers >= receives / 4;
  }
  /// Nothing may fail here.
  [[noreturn, gnu::cold, gnu::noinline]] static void broken() noexcept { std::abort(); }

  std::unique_ptr<record[]> records_ = std::make_unique<record[]>(64);
  std::unique_ptr<std::uint32_t[]> counts_ =
      std::make_unique<std::uint32_t[]>(2);  ///< The other side's card writes it; ours reads it.
  std::uint32_t counts_key_ = 0;

 private:
  word own_word_;
  std::vector<std::byte> messages_;
  std::uint32_t messages_key_ = 0;
  std::vector<receive> receives_;
};

}  // namespace weft::bench
