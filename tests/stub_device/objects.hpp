// SPDX-License-Identifier: Apache-2.0
//
// Objects of the device: rdma-core's structures, each with the device's own state.
// Hot path: no. Threads: one.
#pragma once

#include "stub_device.hpp"

#include <rdma/rdma_cma.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace weft::stub_device {

struct completions : ibv_cq {
  std::deque<ibv_wc> entries;
};

/// A posted receive.
struct posted_receive {
  std::uint64_t id = 0;
  std::byte* into = nullptr;
  std::size_t size = 0;
};

struct shared_queue : ibv_srq {
  std::deque<posted_receive> receives;
};

struct pair;
/// The extended interface of a queue pair: the work that was built since its start.
struct extended_pair : ibv_qp_ex {
  struct request {
    ibv_send_wr work{};
    std::vector<ibv_sge> pieces;
    std::vector<std::byte> copied;  ///< Copies of inline bytes, made at the call.
  };
  pair* of = nullptr;
  bool started = false;
  std::deque<request> built;
};

struct pair : ibv_qp {
  extended_pair extended{};
  pair* peer = nullptr;
  std::uint32_t depth = 0;
  std::deque<posted_receive> receives;
  bool broken = false;
};

struct region : ibv_mr {
  int access = 0;
};

struct channel : rdma_event_channel {
  std::deque<rdma_cm_event*> events;
};

/// An event, with its private data.
struct private_event : rdma_cm_event {
  std::vector<std::byte> bytes;
};

struct connection_id : rdma_cm_id {
  connection_id* peer = nullptr;
  bool listening = false;
  bool answered = false;
};

/// The whole state of the device.
struct state {
  verbs_context whole{};
  ibv_device device{};
  tally counted;
  int queue_depth = 16384;
  bool extends = true;
  std::uint32_t next_key = 0x1000;
  std::uint32_t next_number = 1;
  std::uint16_t next_port = 20000;
  std::vector<region*> regions;
  std::vector<connection_id*> ids;

  bool ends_badly = false;
  ibv_wc_status how = IBV_WC_SUCCESS;
  std::uint32_t vendor_number = 0, after = 0;
  bool refuses = false;
  int refusal = 0;
  std::uint32_t taken = 0;
};
state& here() noexcept;

/// Breaks a queue pair: its posted work is flushed.
void break_pair(pair& broken);
void complete(ibv_cq* queue, const ibv_wc& entry);

/// Makes a queue pair with ibv_wr_* calls for the work that `ask` names, or null.
ibv_qp* create_extended(ibv_context* of, ibv_qp_init_attr_ex* ask) noexcept;
int post_send(ibv_qp* to, ibv_send_wr* work, ibv_send_wr** stuck) noexcept;
int post_recv(ibv_qp* to, ibv_recv_wr* work, ibv_recv_wr** stuck) noexcept;
int post_srq_recv(ibv_srq* to, ibv_recv_wr* work, ibv_recv_wr** stuck) noexcept;
int poll_cq(ibv_cq* from, int most, ibv_wc* into) noexcept;

}  // namespace weft::stub_device
