// SPDX-License-Identifier: Apache-2.0
//
// Two ways to give work to the card: requests that it reads (ibv_post_send(3)), or calls that build work in the
// device's own queue (ibv_wr_start(3) … ibv_wr_complete), where the row says extended_posting.
// The second way needs a queue pair that was created for these operations. One start and complete is one doorbell. Both
// are in one function, because drivers hold the queue's lock in between; a batch is therefore gathered first.
// Work that ibv_wr_complete refuses was not posted at all, so no post is given up half-way.
// Hot path: ring. Threads: one owner.
#pragma once

#include "../../core/memory.hpp"

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>

namespace weft::backends::verbs {

/// Builds one request. Requires: `qp` was started.
[[gnu::always_inline]] inline void build(ibv_qp_ex* qp, const ibv_send_wr& work) noexcept {
  qp->wr_id = work.wr_id;
  qp->wr_flags = work.send_flags & ~unsigned{IBV_SEND_INLINE};
  switch (work.opcode) {
    case IBV_WR_SEND:
      ibv_wr_send(qp);
      break;
    case IBV_WR_SEND_WITH_IMM:
      ibv_wr_send_imm(qp, work.imm_data);
      break;
    case IBV_WR_RDMA_WRITE:
      ibv_wr_rdma_write(qp, work.wr.rdma.rkey, work.wr.rdma.remote_addr);
      break;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      ibv_wr_rdma_write_imm(qp, work.wr.rdma.rkey, work.wr.rdma.remote_addr, work.imm_data);
      break;
    case IBV_WR_RDMA_READ:
      ibv_wr_rdma_read(qp, work.wr.rdma.rkey, work.wr.rdma.remote_addr);
      break;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      ibv_wr_atomic_fetch_add(qp, work.wr.atomic.rkey, work.wr.atomic.remote_addr, work.wr.atomic.compare_add);
      break;
    default:  // The port posts no other.
      ibv_wr_atomic_cmp_swp(qp, work.wr.atomic.rkey, work.wr.atomic.remote_addr, work.wr.atomic.compare_add,
                            work.wr.atomic.swap);
      break;
  }
  if ((work.send_flags & IBV_SEND_INLINE) == 0 || work.num_sge == 0) {
    if (work.num_sge == 1) ibv_wr_set_sge(qp, work.sg_list->lkey, work.sg_list->addr, work.sg_list->length);
    else ibv_wr_set_sge_list(qp, static_cast<std::size_t>(work.num_sge), work.sg_list);
    return;
  }
  std::array<ibv_data_buf, gather_limit + 1> pieces;
  const auto count = static_cast<std::size_t>(work.num_sge);
  for (std::size_t i = 0; i < count; ++i)
    pieces[i] = {reinterpret_cast<void*>(work.sg_list[i].addr), work.sg_list[i].length};
  if (count == 1) ibv_wr_set_inline_data(qp, pieces[0].addr, pieces[0].length);
  else ibv_wr_set_inline_data_list(qp, count, pieces.data());
}

/// Gives requests to the card in one call. Returns 0; or an errno, and in `stuck` the first request that was not taken.
template <bool Extended>
[[gnu::always_inline]] inline int ring(ibv_qp* pair, ibv_qp_ex* qp, ibv_send_wr* first, ibv_send_wr** stuck) noexcept {
  if constexpr (Extended) {
    (void)pair;
    ibv_wr_start(qp);
    for (const ibv_send_wr* each = first; each != nullptr; each = each->next) build(qp, *each);
    const int answer = ibv_wr_complete(qp);
    if (answer != 0) [[unlikely]]
      *stuck = first;
    return answer;
  } else {
    (void)qp;
    return ibv_post_send(pair, first, stuck);
  }
}

/// The attributes of this shape's queue pairs, for ibv_create_qp_ex(3).
template <class Shape>
ibv_qp_init_attr_ex extended(const ibv_qp_init_attr& ask, ibv_pd* domain) noexcept {
  ibv_qp_init_attr_ex made{};
  made.send_cq = ask.send_cq;
  made.recv_cq = ask.recv_cq;
  made.srq = ask.srq;
  made.cap = ask.cap;
  made.qp_type = ask.qp_type;
  made.sq_sig_all = ask.sq_sig_all;
  made.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  made.pd = domain;
  made.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ |
                        (Shape::framed ? IBV_QP_EX_WITH_SEND : IBV_QP_EX_WITH_SEND_WITH_IMM);
  if (Shape::write_immediate) made.send_ops_flags |= IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
  if (Shape::native_atomics)
    made.send_ops_flags |= IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP;
  return made;
}

/// Creates a queue pair of this shape, in the row's posting kind. Sets `ask` to the granted values. Null: see errno.
template <class Shape>
ibv_qp* trial_pair(ibv_context* context, ibv_pd* domain, ibv_qp_init_attr& ask) noexcept {
  if constexpr (Shape::facts.extended_posting) {
    ibv_qp_init_attr_ex wanted = extended<Shape>(ask, domain);
    ibv_qp* const made = ibv_create_qp_ex(context, &wanted);
    ask.cap = wanted.cap;
    return made;
  } else {
    (void)context;
    return ibv_create_qp(domain, &ask);
  }
}

}  // namespace weft::backends::verbs
