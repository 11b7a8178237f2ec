// SPDX-License-Identifier: Apache-2.0
//
// The device executes posted work: each request at once, in order, by copying into the peer's memory.
// Hot path: no. Threads: one.
#include "objects.hpp"

#include <algorithm>
#include <cstring>

namespace weft::stub_device {

namespace {
std::size_t length_of(const ibv_send_wr& w) noexcept {
  std::size_t all = 0;
  for (int i = 0; i < w.num_sge; ++i) all += w.sg_list[i].length;
  return all;
}
void gather(const ibv_send_wr& w, std::byte* into) noexcept {
  for (int i = 0; i < w.num_sge; into += w.sg_list[i].length, ++i)
    std::memcpy(into, reinterpret_cast<const void*>(w.sg_list[i].addr), w.sg_list[i].length);
}
void scatter(const ibv_send_wr& w, const std::byte* from) noexcept {
  for (int i = 0; i < w.num_sge; from += w.sg_list[i].length, ++i)
    std::memcpy(reinterpret_cast<void*>(w.sg_list[i].addr), from, w.sg_list[i].length);
}

/// The peer's memory, if the key grants it.
std::byte* reach(std::uint64_t address, std::uint32_t key, std::size_t size, int access) noexcept {
  for (const region* each : here().regions) {
    const auto base = reinterpret_cast<std::uint64_t>(each->addr);
    if (each->rkey == key && (each->access & access) != 0 && address >= base && size <= each->length &&
        address - base <= each->length - size)
      return reinterpret_cast<std::byte*>(address);
  }
  return nullptr;
}

/// Consumes a receive of the peer. Returns the sender's status.
ibv_wc_status arrive(pair& at, ibv_wc_opcode what, const ibv_send_wr& w, bool has_immediate, bool has_bytes) {
  auto& queue = at.srq != nullptr ? static_cast<shared_queue*>(at.srq)->receives : at.receives;
  if (queue.empty()) return IBV_WC_RNR_RETRY_EXC_ERR;
  const posted_receive into = queue.front();
  queue.pop_front();
  const std::size_t size = length_of(w);
  ibv_wc entry{};
  entry.wr_id = into.id;
  entry.opcode = what;
  entry.qp_num = at.qp_num;
  entry.byte_len = static_cast<std::uint32_t>(size);
  if (has_immediate) {
    entry.imm_data = w.imm_data;
    entry.wc_flags = IBV_WC_WITH_IMM;
  }
  if (has_bytes && size > into.size) {
    entry.status = IBV_WC_LOC_LEN_ERR;
    complete(at.recv_cq, entry);
    break_pair(at);
    return IBV_WC_REM_INV_REQ_ERR;
  }
  if (has_bytes) gather(w, into.into);
  complete(at.recv_cq, entry);
  return IBV_WC_SUCCESS;
}

ibv_wc_status atomic(const ibv_send_wr& w) noexcept {
  std::byte* const at =
      reach(w.wr.atomic.remote_addr, w.wr.atomic.rkey, sizeof(std::uint64_t), IBV_ACCESS_REMOTE_ATOMIC);
  if (at == nullptr) return IBV_WC_REM_ACCESS_ERR;
  std::uint64_t old = 0;
  std::memcpy(&old, at, sizeof old);
  std::uint64_t next = old + w.wr.atomic.compare_add;
  if (w.opcode == IBV_WR_ATOMIC_CMP_AND_SWP) next = old == w.wr.atomic.compare_add ? w.wr.atomic.swap : old;
  std::memcpy(at, &next, sizeof next);
  scatter(w, reinterpret_cast<const std::byte*>(&old));
  return IBV_WC_SUCCESS;
}

ibv_wc_status carry_out(pair& from, const ibv_send_wr& w) {
  pair& to = *from.peer;
  switch (w.opcode) {
    case IBV_WR_SEND:
      return arrive(to, IBV_WC_RECV, w, false, true);
    case IBV_WR_SEND_WITH_IMM:
      return arrive(to, IBV_WC_RECV, w, true, true);
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM: {
      const std::size_t size = length_of(w);
      std::byte* const at =
          size == 0 ? nullptr : reach(w.wr.rdma.remote_addr, w.wr.rdma.rkey, size, IBV_ACCESS_REMOTE_WRITE);
      if (size > 0 && at == nullptr) return IBV_WC_REM_ACCESS_ERR;
      if (size > 0) gather(w, at);
      return w.opcode == IBV_WR_RDMA_WRITE ? IBV_WC_SUCCESS : arrive(to, IBV_WC_RECV_RDMA_WITH_IMM, w, true, false);
    }
    case IBV_WR_RDMA_READ: {
      const std::byte* const at = reach(w.wr.rdma.remote_addr, w.wr.rdma.rkey, length_of(w), IBV_ACCESS_REMOTE_READ);
      if (at == nullptr) return IBV_WC_REM_ACCESS_ERR;
      scatter(w, at);
      return IBV_WC_SUCCESS;
    }
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return atomic(w);
    default:
      return IBV_WC_LOC_QP_OP_ERR;
  }
}

void execute(pair& from, const ibv_send_wr& w) {
  state& s = here();
  ibv_wc entry{};
  entry.wr_id = w.wr_id;
  entry.qp_num = from.qp_num;
  if (from.broken || from.peer == nullptr) {
    entry.status = IBV_WC_WR_FLUSH_ERR;
  } else if (s.ends_badly && s.after == 0) {
    s.ends_badly = false;
    entry.status = s.how;
    entry.vendor_err = s.vendor_number;
  } else {
    if (s.ends_badly) --s.after;
    entry.status = carry_out(from, w);
    entry.byte_len = static_cast<std::uint32_t>(length_of(w));
  }
  if (entry.status != IBV_WC_SUCCESS || (w.send_flags & IBV_SEND_SIGNALED) != 0) complete(from.send_cq, entry);
  if (entry.status != IBV_WC_SUCCESS) break_pair(from);
}
}  // namespace

void complete(ibv_cq* queue, const ibv_wc& entry) { static_cast<completions*>(queue)->entries.push_back(entry); }

void break_pair(pair& broken) {
  if (std::exchange(broken.broken, true)) return;
  for (const posted_receive& each : broken.receives) {
    ibv_wc entry{};
    entry.wr_id = each.id;
    entry.status = IBV_WC_WR_FLUSH_ERR;
    entry.qp_num = broken.qp_num;
    complete(broken.recv_cq, entry);
  }
  broken.receives.clear();
}

int post_send(ibv_qp* to, ibv_send_wr* work, ibv_send_wr** stuck) noexcept {
  state& s = here();
  ++s.counted.doorbells;
  std::uint64_t count = 0;
  for (; work != nullptr; work = work->next) {
    if (s.refuses && count == s.taken) {
      s.refuses = false;
      *stuck = work;
      return s.refusal;
    }
    s.counted.signalled += (work->send_flags & IBV_SEND_SIGNALED) != 0;
    s.counted.inlined += (work->send_flags & IBV_SEND_INLINE) != 0;
    ++s.counted.requests;
    ++count;
    execute(*static_cast<pair*>(to), *work);
  }
  s.counted.longest = std::max(s.counted.longest, count);
  return 0;
}

namespace {
posted_receive read(const ibv_recv_wr& w) noexcept {
  return {w.wr_id, w.num_sge > 0 ? reinterpret_cast<std::byte*>(w.sg_list[0].addr) : nullptr,
          w.num_sge > 0 ? w.sg_list[0].length : 0};
}
}  // namespace

int post_recv(ibv_qp* to, ibv_recv_wr* work, ibv_recv_wr** /*stuck*/) noexcept {
  auto& at = *static_cast<pair*>(to);
  for (; work != nullptr; work = work->next) {
    ++here().counted.receives;
    at.receives.push_back(read(*work));
  }
  if (std::exchange(at.broken, false)) break_pair(at);  // flushed at once
  return 0;
}

int post_srq_recv(ibv_srq* to, ibv_recv_wr* work, ibv_recv_wr** /*stuck*/) noexcept {
  for (; work != nullptr; work = work->next) {
    ++here().counted.shared_receives;
    static_cast<shared_queue*>(to)->receives.push_back(read(*work));
  }
  return 0;
}

int poll_cq(ibv_cq* from, int most, ibv_wc* into) noexcept {
  auto& entries = static_cast<completions*>(from)->entries;
  int found = 0;
  for (; found < most && !entries.empty(); ++found) {
    into[found] = entries.front();
    entries.pop_front();
  }
  return found;
}

}  // namespace weft::stub_device
