// SPDX-License-Identifier: Apache-2.0
//
// One side of a behaviour on a device: a reliable connection of rdma-core, a page of memory that the peer may access,
// and the peer. Plain verbs: the rows of weft's own backend are checked by a program that does not use weft. Closing
// goes from the last member to the first, as the library needs it. Hot path: no. Threads: one owner.
#pragma once

#include "../channel.hpp"
#include "../demands.hpp"
#include "../findings.hpp"

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <sched.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft::probe::cards {

template <class Object, auto Close>
struct closing {
  void operator()(Object* object) const noexcept { Close(object); }
};
template <class Object, auto Close>
using owner = std::unique_ptr<Object, closing<Object, Close>>;

/// The largest inline size that is tried.
inline constexpr std::uint32_t most_inline = 4096;

/// The wishes of a behaviour.
struct wishes {
  bool sleeps = false;  ///< A completion queue with a descriptor.
  std::size_t page = std::size_t{1} << 20;
  std::uint32_t receives = 16;  ///< Posted before the peer can send.
  std::uint32_t receive_bytes = 64;
  std::uint32_t depth = 256;  ///< Of the send queue.
  std::uint32_t more_receives = 0;
  std::uint32_t pieces = 1;
  std::uint32_t inline_bytes = 0;
};

/// Memory of the peer.
struct remote_page {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint32_t key = 0;
};

/// Parameters of one post: offsets into the two pages.
struct transfer {
  ibv_wr_opcode what = IBV_WR_RDMA_WRITE;
  std::size_t from = 0;
  std::uint32_t size = 8;
  std::size_t to = 0;
  unsigned flags = IBV_SEND_SIGNALED;
  std::uint32_t context = 0;
  std::uint32_t immediate = 0;
  std::uint64_t operand = 0, compare = 0;
};

/// The context and the protection domain of the device that owns a local address. Errors: refused, with the name of the
/// failed call.
struct opened_device {
  explicit opened_device(const demands& about);
  owner<rdma_cm_id, rdma_destroy_id> id;
  ibv_context* context = nullptr;
  std::uint8_t port = 1;
  ibv_device_attr attributes{};
  ibv_port_attr port_attributes{};
  bool internet_wire = false;  ///< iWARP: no immediates, no atomics.
};
/// The largest power of two of inline bytes with which the device creates a queue pair: no attribute gives it.
std::uint32_t granted_inline_bytes(const opened_device& on);
/// The release of the running rdma-core, as "44.0": from the name of the library's file.
std::string running_release();

class card {
 public:
  /// Opens, and connects to the other side, which does the same in the other role. Errors: refused, abandoned.
  card(const demands& about, const wishes& wish, channel& side, bool initiates);
  card(const card&) = delete;
  card& operator=(const card&) = delete;
  ~card();

  static constexpr std::uint64_t first_receive = std::uint64_t{1} << 32;

  std::byte* page() { return memory_.data(); }
  std::byte* receive_memory(std::size_t index) { return memory_.data() + wish_.page + index * wish_.receive_bytes; }
  std::uint32_t local_key() const { return region_->lkey; }
  ibv_qp* pair() const { return id_->qp; }
  ibv_pd* domain() const { return domain_.get(); }
  ibv_context* context() const { return id_->verbs; }
  const ibv_qp_cap& granted() const { return granted_; }
  bool internet_wire() const { return internet_wire_; }
  ibv_comp_channel* wakes() const { return wakes_.get(); }
  ibv_cq* queue() const { return queue_.get(); }
  remote_page peer;  ///< Public: a behaviour may falsify it.
  std::vector<ibv_wc> came;
  int ends = 0;  ///< Events that report the loss of the peer.

  /// The plain calls: 0, or the library's errno.
  int post(const transfer& what);
  int receive(std::uint32_t index);

  /// Polls once. Returns whether an entry arrived.
  bool poll();
  template <class Done>
  bool until(Done done, milliseconds most = milliseconds(0)) {
    const auto end = std::chrono::steady_clock::now() + (most.count() == 0 ? patience_ : most);
    for (;;) {
      const bool busy = poll();
      if (done()) return true;
      if (std::chrono::steady_clock::now() >= end) return false;
      if (!busy) sched_yield();
    }
  }
  /// Posts; throws where the library refuses.
  void must(const transfer& what, const char* call);
  /// Polls until the peer sends a value. Returns the value.
  std::uint64_t serve();
  std::size_t ended(std::uint32_t context) const;
  /// The status of the first own operation that failed.
  ibv_wc_status failure() const;
  std::vector<std::size_t> received() const;  ///< Indices of filled receives, in their order.
  /// One write, so that the connection is set up.
  void warm_up();

 private:
  void meet(channel& side, bool initiates, const demands& about);
  void furnish();
  void exchange_pages(channel& side);
  rdma_cm_id* wait_for(rdma_cm_event_type wanted);
  bool poll_events();

  wishes wish_;
  channel& side_;
  milliseconds patience_;
  bool internet_wire_ = false;
  bool connected_ = false;
  std::vector<std::byte> memory_;
  ibv_qp_cap granted_{};
  owner<rdma_event_channel, rdma_destroy_event_channel> events_;
  owner<rdma_cm_id, rdma_destroy_id> listener_, id_;
  owner<ibv_pd, ibv_dealloc_pd> domain_;
  owner<ibv_comp_channel, ibv_destroy_comp_channel> wakes_;
  owner<ibv_cq, ibv_destroy_cq> queue_;
  owner<ibv_mr, ibv_dereg_mr> region_;
};

}  // namespace weft::probe::cards
