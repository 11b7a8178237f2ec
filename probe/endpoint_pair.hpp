// SPDX-License-Identifier: Apache-2.0
//
// One side of a behaviour: an endpoint of the provider, a page of memory that the peer may access, and the peer. Opened
// with the provider's needs and the behaviour's wishes only. All decisions are made at run time, because the program
// must find the facts. Closing goes from the last member to the first, as libfabric needs it. Hot path: no. Threads:
// one owner.
#pragma once

#include "asking.hpp"
#include "channel.hpp"
#include "refused.hpp"

#include <rdma/fi_cm.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>

#include <sched.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weft::probe {

template <class Fid>
struct closer {
  void operator()(Fid* object) const noexcept { fi_close(&object->fid); }
};
template <class Fid>
using owner = std::unique_ptr<Fid, closer<Fid>>;

/// The wishes of a behaviour, in addition to messages and writes.
struct wishes {
  bool atomics = false;
  bool counter = false;  ///< Of remote writes to this side.
  bool sleeps = false;   ///< A completion queue with a descriptor.
  bool orders = true;    ///< Every order that the provider grants.
  bool many = false;     ///< Buffers that take many messages.
  bool pool = false;     ///< Connected endpoints take receives from one pool.
  std::size_t page = std::size_t{1} << 20;
  std::size_t receives = 16;  ///< Posted before the peer can send.
  std::size_t receive_bytes = 64;
  std::size_t completions = 4096;
};

/// An entry of the completion queue; error is 0 for a success.
struct entry {
  void* context;
  std::uint64_t flags;
  std::size_t length;
  std::uint64_t data;
  int error;
  const void* buffer = nullptr;  ///< Where a received message lies.
};

/// Memory of the peer. `address` is the address of its first byte, in the form that the provider uses.
struct remote_page {
  std::uint64_t key;
  std::uint64_t address;
  std::uint64_t pointer;
  std::uint64_t size;
};

/// Parameters of one transfer: offsets into the two pages.
struct transfer {
  std::size_t from = 0;
  std::size_t size = 8;
  std::size_t to = 0;
  std::uint64_t flags = FI_COMPLETION;
  std::size_t context = 0;
  std::uint64_t data = 0;
};

class endpoint_pair {
 public:
  /// Opens, and connects to the other side, which does the same in the other role. Errors: refused, abandoned.
  endpoint_pair(const demands& about, const wishes& wish, channel& side, bool initiates);
  endpoint_pair(const endpoint_pair&) = delete;
  endpoint_pair& operator=(const endpoint_pair&) = delete;
  ~endpoint_pair();

  const fi_info& info() const { return *info_; }
  fid_domain* domain() const { return domain_.get(); }
  fid_fabric* fabric() const { return fabric_.get(); }
  fid_ep* endpoint() const { return endpoint_.get(); }
  fid_cq* queue() const { return queue_.get(); }
  fi_addr_t peer_address() const { return peer_address_; }
  void* descriptor() const { return describes_ ? fi_mr_desc(region_.get()) : nullptr; }
  const std::vector<std::byte>& own_name() const { return own_name_; }
  const std::vector<std::byte>& peer_name() const { return peer_name_; }
  std::uint64_t counted_writes() const { return fi_cntr_read(counter_.get()); }
  std::uint64_t requested_key() const { return requested_key_; }
  std::uint64_t used_key() const { return fi_mr_key(region_.get()); }
  std::uint64_t address_of(const void* pointer, const void* start) const;
  owner<fid_mr> register_memory(void* where, std::size_t size, std::uint64_t key) const;

  std::byte* page() const { return memory_; }
  std::byte* receive_memory(std::size_t index) const { return memory_ + wish_.page + index * wish_.receive_bytes; }
  remote_page peer;  ///< Public: a behaviour may falsify it.
  std::vector<entry> came;
  int ends = 0;  ///< Events that report the loss of the peer.

  /// A context that lives as long as the endpoint_pair, filled with 0xA5 at the start. 0 to 4095; receives use those
  /// from 4096 on.
  void* context(std::size_t index) { return &contexts_[index]; }
  std::size_t index_of(const void* context) const;
  static constexpr std::size_t first_receive = 4096;

  /// The plain calls: they return the library's result.
  ssize_t write(const transfer& what) { return write_over(endpoint_.get(), what); }
  ssize_t write_over(fid_ep* link, const transfer& what);
  ssize_t send(const transfer& what) { return send_over(endpoint_.get(), what); }
  ssize_t send_over(fid_ep* link, const transfer& what);
  ssize_t receive(std::size_t index);
  /// Posts a buffer of the page for many messages.
  ssize_t receive_many(std::size_t at, std::size_t size, std::size_t context);

  /// Polls once. Returns whether an entry arrived.
  bool poll();
  /// Polls until done() or the end of the time. Returns done().
  template <class Done>
  bool until(Done done, milliseconds most = milliseconds(2000)) {
    const auto end = std::chrono::steady_clock::now() + most * slowness_;
    for (;;) {
      const bool busy = poll();
      if (done()) return true;
      if (std::chrono::steady_clock::now() >= end) return false;
      if (!busy) sched_yield();
    }
  }
  /// Posts, and again while the library answers `again`; polls only then, so that posts come in bursts. Returns the
  /// last answer.
  template <class Post>
  ssize_t insist(Post post, milliseconds most = milliseconds(2000)) {
    ssize_t returned = post();
    if (returned != -FI_EAGAIN) return returned;
    until([&] { return (returned = post()) != -FI_EAGAIN; }, most);
    return returned;
  }
  /// Polls until the peer sends a value. Returns the value.
  std::uint64_t serve();

  /// Completions of own operations with this context so far; the error of the first that failed, else 0.
  std::size_t ended(std::size_t context) const;
  int failure() const;
  /// Messages received so far, in their order: indices of receives.
  std::vector<std::size_t> received() const;
  /// Writes with immediate that completed here so far.
  std::vector<entry> landed() const;
  /// Addressed endpoints: adds the peer to the address vector, and removes it.
  void know_peer();
  /// Connected endpoints: one more connection to the same peer, which does the same in the other role.
  void connect_again(bool initiates) { initiates ? dial() : accept_one(); }
  fid_ep* second_link() const { return second_.get(); }
  bool forget_peer() { return peers_ && fi_av_remove(peers_.get(), &peer_address_, 1, 0) == 0; }
  /// Initiator: one write there and back, so that lazy connections are made. The target calls serve() meanwhile.
  void warm_up();

 private:
  void open(const demands& about);
  owner<fid_ep> open_endpoint(fi_info& info);
  void meet(bool initiates);
  void listen();
  void accept_one();
  void dial();
  owner<fid_ep>& next_link() { return endpoint_ ? second_ : endpoint_; }
  void begin_receiving();
  void wait_connected();
  bool poll_events();
  void exchange_pages();

  wishes wish_;
  channel& side_;
  /// A behaviour with more time than the usual 9 s runs on a slow machine: each of its waits is longer by this factor.
  int slowness_;
  bool connected_;
  bool describes_ = false;
  std::uint64_t requested_key_ = 0x1234;
  owned_info info_;
  std::byte* memory_ = nullptr;
  std::size_t memory_size_ = 0;
  std::vector<fi_context2> contexts_;
  std::vector<std::byte> own_name_, peer_name_;
  fi_addr_t peer_address_ = FI_ADDR_UNSPEC;
  bool established_ = false;
  fid* request_ = nullptr;
  owned_info requested_;
  owner<fid_fabric> fabric_;
  owner<fid_domain> domain_;
  owner<fid_eq> events_;
  owner<fid_cq> queue_;
  owner<fid_cntr> counter_;
  owner<fid_av> peers_;
  owner<fid_mr> region_;
  owner<fid_pep> listener_;
  owner<fid_ep> pool_;
  owner<fid_ep> endpoint_, second_;
};

}  // namespace weft::probe
