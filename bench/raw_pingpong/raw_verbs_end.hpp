// SPDX-License-Identifier: Apache-2.0
//
// The contender on fabrics of rdma-core: one end of a reliable connection as a good user of verbs writes it, without
// weft and without libfabric. One completion queue read in batches, inline data where it fits, one post of 64 signalled
// where no caller asks, receives posted again at once. Where the row has no write with an immediate (iWARP) the bytes
// travel as a message, polled in place. Hot path: post, poll. Threads: one owner.
#pragma once

#include "../../core/facts.hpp"
#include "../pingpong.hpp"
#include "../two_processes.hpp"

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::bench {

template <class F>
class raw_verbs_end {
 public:
  static constexpr const fabric_facts& facts = F::facts;
  static constexpr bool writes = facts.write_immediate_bytes >= 4;
  static constexpr bool tells_immediate = writes;
  static constexpr std::uint32_t receives = 16, depth = 256, signal_one_of = 64;

  /// Opens, and connects to the raw_verbs_end at the other end of the channel. `size`: the largest transfer.
  raw_verbs_end(const channel& to, bool first, std::size_t size) : size_(size), memory_(size * (2 + receives) + 4096) {
    events_ = rdma_create_event_channel();
    if (events_ == nullptr) refuse("rdma_create_event_channel");
    first ? dial(to) : answer(to);
    landed_ = memory_.data();
    const std::array<std::uint64_t, 2> ours{reinterpret_cast<std::uint64_t>(memory_.data()), region_->rkey};
    const std::string theirs =
        to.swap(first, {reinterpret_cast<const char*>(ours.data()), sizeof ours}, [this] { poll(); });
    std::memcpy(&address_, theirs.data(), 8);
    std::memcpy(&key_, theirs.data() + 8, 4);
  }
  raw_verbs_end(const raw_verbs_end&) = delete;
  raw_verbs_end& operator=(const raw_verbs_end&) = delete;
  ~raw_verbs_end() {
    if (id_ != nullptr) rdma_disconnect(id_);
    if (id_ != nullptr && id_->qp != nullptr) rdma_destroy_qp(id_);
    if (region_ != nullptr) ibv_dereg_mr(region_);
    if (queue_ != nullptr) ibv_destroy_cq(queue_);
    if (domain_ != nullptr) ibv_dealloc_pd(domain_);
    if (id_ != nullptr) rdma_destroy_id(id_);
    if (listener_ != nullptr) rdma_destroy_id(listener_);
    if (events_ != nullptr) rdma_destroy_event_channel(events_);
  }

  std::byte* outgoing() noexcept { return memory_.data() + size_; }
  const std::byte* incoming() const noexcept { return landed_; }
  std::uint64_t ended() const noexcept { return ended_; }
  std::uint32_t immediate() const noexcept { return immediate_; }

  /// Posts `size` bytes of outgoing() with an immediate. False: full, poll first. A read follows a delivered write, as
  /// in weft.
  template <ending M>
  bool post(std::size_t size, std::uint32_t immediate) {
    if (posted_ - retired_ >= depth) return false;
    ibv_sge piece{reinterpret_cast<std::uint64_t>(outgoing()), static_cast<std::uint32_t>(size), region_->lkey};
    ibv_send_wr work{};
    const bool completes = M != ending::unsignalled;
    work.wr_id = (std::uint64_t{++posted_} << 1) | completes;
    work.sg_list = &piece;
    work.num_sge = 1;
    work.opcode = writes ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND;
    work.imm_data = htonl(immediate);
    work.wr.rdma = {address_, key_};
    work.send_flags = IBV_SEND_SOLICITED;
    if (size <= inline_) work.send_flags |= IBV_SEND_INLINE;
    if (completes || posted_ % signal_one_of == 0) work.send_flags |= IBV_SEND_SIGNALED;
    ibv_send_wr* bad = nullptr;
    if (const int r = ibv_post_send(id_->qp, &work, &bad); r != 0) refuse("ibv_post_send", r);
    return true;
  }

  /// Polls once. Returns the number of arrived transfers; ended() counts own completions.
  int poll() {
    std::array<ibv_wc, 16> found;
    const int count = ibv_poll_cq(queue_, static_cast<int>(found.size()), found.data());
    if (count < 0) refuse("ibv_poll_cq", EIO);
    int arrived = 0;
    for (int i = 0; i < count; ++i) {
      const ibv_wc& each = found[static_cast<std::size_t>(i)];
      if (each.status != IBV_WC_SUCCESS)
        throw std::runtime_error(std::string("raw verbs, completion: ") + ibv_wc_status_str(each.status));
      if ((each.opcode & IBV_WC_RECV) == 0) {
        retired_ = static_cast<std::uint32_t>(each.wr_id >> 1);
        ended_ += each.wr_id & 1;
        continue;
      }
      ++arrived;
      immediate_ = ntohl(each.imm_data);
      if constexpr (!writes) landed_ = slot(each.wr_id);  // read before the next 15 arrive
      receive(each.wr_id);
    }
    return arrived;
  }

 private:
  [[noreturn]] static void refuse(const char* what, int error = errno) {
    throw std::runtime_error(std::string("raw verbs, ") + what + ": " + std::strerror(error));
  }
  static void must(int r, const char* what) {
    if (r != 0) refuse(what);
  }
  std::byte* slot(std::uint64_t which) noexcept { return memory_.data() + size_ * (2 + which); }

  void receive(std::uint64_t which) {
    ibv_sge piece{reinterpret_cast<std::uint64_t>(slot(which)), static_cast<std::uint32_t>(size_), region_->lkey};
    ibv_recv_wr work{which, nullptr, &piece, 1};
    ibv_recv_wr* bad = nullptr;
    if (const int r = ibv_post_recv(id_->qp, &work, &bad); r != 0) refuse("ibv_post_recv", r);
  }

  // ---- connecting
  static addrinfo* own_address() {
    addrinfo* found = nullptr;
    if (getaddrinfo(home().c_str(), nullptr, nullptr, &found) != 0) refuse("getaddrinfo", EADDRNOTAVAIL);
    return found;
  }
  rdma_cm_id* wait_for(rdma_cm_event_type wanted) {
    rdma_cm_event* event = nullptr;
    must(rdma_get_cm_event(events_, &event), "rdma_get_cm_event");
    rdma_cm_id* const of = event->id;
    const auto came = event->event;
    rdma_ack_cm_event(event);
    if (came != wanted) throw std::runtime_error(std::string("raw verbs, connecting: ") + rdma_event_str(came));
    return of;
  }
  /// Queues of the device that the id got.
  void furnish() {
    domain_ = ibv_alloc_pd(id_->verbs);
    queue_ = ibv_create_cq(id_->verbs, 2 * (depth + receives), nullptr, nullptr, 0);
    if (domain_ == nullptr || queue_ == nullptr) refuse("ibv_create_cq");
    ibv_qp_init_attr ask{};
    ask.send_cq = ask.recv_cq = queue_;
    ask.qp_type = IBV_QPT_RC;
    ask.cap = {depth, receives, 1, 1, 128};
    must(rdma_create_qp(id_, domain_, &ask), "rdma_create_qp");
    inline_ = ask.cap.max_inline_data;
    region_ = ibv_reg_mr(domain_, memory_.data(), memory_.size(),
                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    if (region_ == nullptr) refuse("ibv_reg_mr");
    for (std::uint32_t i = 0; i < receives; ++i) receive(i);
  }
  static rdma_conn_param terms() {
    rdma_conn_param p{};
    p.responder_resources = p.initiator_depth = 1;
    p.retry_count = p.rnr_retry_count = 7;
    return p;
  }
  void answer(const channel& to) {
    addrinfo* const own = own_address();
    must(rdma_create_id(events_, &listener_, nullptr, RDMA_PS_TCP), "rdma_create_id");
    must(rdma_bind_addr(listener_, own->ai_addr), "rdma_bind_addr");
    freeaddrinfo(own);
    must(rdma_listen(listener_, 1), "rdma_listen");
    to.send_text(std::to_string(ntohs(rdma_get_src_port(listener_))));
    id_ = wait_for(RDMA_CM_EVENT_CONNECT_REQUEST);
    furnish();
    rdma_conn_param p = terms();
    must(rdma_accept(id_, &p), "rdma_accept");
    wait_for(RDMA_CM_EVENT_ESTABLISHED);
  }
  void dial(const channel& to) {
    addrinfo* const there = own_address();
    reinterpret_cast<sockaddr_in*>(there->ai_addr)->sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(to.receive_text())));
    must(rdma_create_id(events_, &id_, nullptr, RDMA_PS_TCP), "rdma_create_id");
    must(rdma_resolve_addr(id_, nullptr, there->ai_addr, 2000), "rdma_resolve_addr");
    freeaddrinfo(there);
    wait_for(RDMA_CM_EVENT_ADDR_RESOLVED);
    must(rdma_resolve_route(id_, 2000), "rdma_resolve_route");
    wait_for(RDMA_CM_EVENT_ROUTE_RESOLVED);
    furnish();
    rdma_conn_param p = terms();
    must(rdma_connect(id_, &p), "rdma_connect");
    wait_for(RDMA_CM_EVENT_ESTABLISHED);
  }

  std::size_t size_;
  std::vector<std::byte> memory_;  // incoming, outgoing, then receives
  const std::byte* landed_ = nullptr;
  rdma_event_channel* events_ = nullptr;
  rdma_cm_id* listener_ = nullptr;
  rdma_cm_id* id_ = nullptr;
  ibv_pd* domain_ = nullptr;
  ibv_cq* queue_ = nullptr;
  ibv_mr* region_ = nullptr;
  std::uint64_t address_ = 0;
  std::uint32_t key_ = 0;
  std::uint32_t inline_ = 0;
  std::uint32_t posted_ = 0, retired_ = 0;
  std::uint64_t ended_ = 0;
  std::uint32_t immediate_ = 0;
};

}  // namespace weft::bench
