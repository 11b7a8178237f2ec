// SPDX-License-Identifier: Apache-2.0
//
// Work that is built by calls (ibv_wr_start … ibv_wr_complete): collected, then executed like a list of requests. A
// call outside of start and complete, or of a kind that the queue pair was not created for, ends the program: the
// behaviour of drivers is undefined then. Hot path: no. Threads: one.
#include "objects.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace weft::stub_device {
namespace {
extended_pair& at(ibv_qp_ex* of) noexcept { return *static_cast<extended_pair*>(of); }

ibv_send_wr& begin(ibv_qp_ex* of, ibv_wr_opcode what) {
  extended_pair& e = at(of);
  if (!e.started) std::abort();
  ibv_send_wr& made = e.built.emplace_back().work;
  made.wr_id = of->wr_id;
  made.send_flags = of->wr_flags;
  made.opcode = what;
  return made;
}
void start(ibv_qp_ex* of) {
  if (at(of).started) std::abort();
  at(of).started = true;
  at(of).built.clear();
}
int complete(ibv_qp_ex* of) {
  extended_pair& e = at(of);
  if (!e.started) std::abort();
  e.started = false;
  if (std::exchange(here().refuses, false)) return here().refusal;  // all or nothing
  for (std::size_t i = 0; i < e.built.size(); ++i) {
    auto& each = e.built[i];
    each.work.sg_list = each.pieces.data();
    each.work.num_sge = static_cast<int>(each.pieces.size());
    each.work.next = i + 1 < e.built.size() ? &e.built[i + 1].work : nullptr;
  }
  here().counted.built += e.built.size();
  ibv_send_wr* stuck = nullptr;
  return e.built.empty() ? 0 : post_send(e.of, &e.built[0].work, &stuck);
}
void abort_all(ibv_qp_ex* of) { at(of).started = false; }

void to_place(ibv_send_wr& w, std::uint32_t key, std::uint64_t address) noexcept { w.wr.rdma = {address, key}; }
void send(ibv_qp_ex* of) { begin(of, IBV_WR_SEND); }
void send_imm(ibv_qp_ex* of, __be32 immediate) { begin(of, IBV_WR_SEND_WITH_IMM).imm_data = immediate; }
void write(ibv_qp_ex* of, std::uint32_t key, std::uint64_t address) {
  to_place(begin(of, IBV_WR_RDMA_WRITE), key, address);
}
void write_imm(ibv_qp_ex* of, std::uint32_t key, std::uint64_t address, __be32 immediate) {
  ibv_send_wr& w = begin(of, IBV_WR_RDMA_WRITE_WITH_IMM);
  w.imm_data = immediate;
  to_place(w, key, address);
}
void read(ibv_qp_ex* of, std::uint32_t key, std::uint64_t address) {
  to_place(begin(of, IBV_WR_RDMA_READ), key, address);
}
void fetch_add(ibv_qp_ex* of, std::uint32_t key, std::uint64_t address, std::uint64_t add) {
  begin(of, IBV_WR_ATOMIC_FETCH_AND_ADD).wr.atomic = {address, add, 0, key};
}
void compare_swap(ibv_qp_ex* of, std::uint32_t key, std::uint64_t address, std::uint64_t compare, std::uint64_t swap) {
  begin(of, IBV_WR_ATOMIC_CMP_AND_SWP).wr.atomic = {address, compare, swap, key};
}

void set_pieces(ibv_qp_ex* of, std::size_t count, const ibv_sge* list) {
  at(of).built.back().pieces.assign(list, list + count);
}
void set_piece(ibv_qp_ex* of, std::uint32_t key, std::uint64_t address, std::uint32_t size) {
  const ibv_sge piece{address, size, key};
  set_pieces(of, 1, &piece);
}
void set_inline_list(ibv_qp_ex* of, std::size_t count, const ibv_data_buf* list) {
  auto& last = at(of).built.back();
  last.work.send_flags |= IBV_SEND_INLINE;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* first = static_cast<const std::byte*>(list[i].addr);
    last.copied.insert(last.copied.end(), first, first + list[i].length);
  }
  last.pieces = {
      {reinterpret_cast<std::uint64_t>(last.copied.data()), static_cast<std::uint32_t>(last.copied.size()), 0}};
}
void set_inline(ibv_qp_ex* of, void* from, std::size_t size) {
  const ibv_data_buf buffer{from, size};
  set_inline_list(of, 1, &buffer);
}
}  // namespace

ibv_qp* create_extended(ibv_context*, ibv_qp_init_attr_ex* ask) noexcept {
  if (!here().extends) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  ibv_qp_init_attr plain{};
  plain.send_cq = ask->send_cq;
  plain.recv_cq = ask->recv_cq;
  plain.srq = ask->srq;
  plain.cap = ask->cap;
  plain.qp_type = ask->qp_type;
  auto* made = static_cast<pair*>(ibv_create_qp(ask->pd, &plain));
  if (made == nullptr) return nullptr;
  const auto offers = [ask](std::uint64_t what) { return (ask->send_ops_flags & what) != 0; };
  extended_pair& e = made->extended;
  e.of = made;
  e.wr_start = start;
  e.wr_complete = complete;
  e.wr_abort = abort_all;
  e.wr_set_sge = set_piece;
  e.wr_set_sge_list = set_pieces;
  e.wr_set_inline_data = set_inline;
  e.wr_set_inline_data_list = set_inline_list;
  if (offers(IBV_QP_EX_WITH_SEND)) e.wr_send = send;
  if (offers(IBV_QP_EX_WITH_SEND_WITH_IMM)) e.wr_send_imm = send_imm;
  if (offers(IBV_QP_EX_WITH_RDMA_WRITE)) e.wr_rdma_write = write;
  if (offers(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)) e.wr_rdma_write_imm = write_imm;
  if (offers(IBV_QP_EX_WITH_RDMA_READ)) e.wr_rdma_read = read;
  if (offers(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)) e.wr_atomic_fetch_add = fetch_add;
  if (offers(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)) e.wr_atomic_cmp_swp = compare_swap;
  return made;
}
}  // namespace weft::stub_device

extern "C" {
ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* of) { return &static_cast<weft::stub_device::pair*>(of)->extended; }
}
