// SPDX-License-Identifier: Apache-2.0
//
// The objects behind libfabric's handles (fi_fabric(3), fi_domain(3), fi_av(3), fi_cq(3), fi_cntr(3), fi_mr(3),
// fi_endpoint(3)). Each begins with its fid, so a handle is a pointer to the object. All calls take the process' one
// lock: an emulator need not be fast.
#pragma once

#include "carrier.hpp"
#include "chance.hpp"
#include "doorbell.hpp"
#include "not_implemented.hpp"
#include "profile.hpp"

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace weft::emulator {

std::recursive_mutex& process_lock();
using locked = std::lock_guard<std::recursive_mutex>;

struct endpoint;

struct fabric_object {
  fid_fabric fid{};
};

struct region {
  fid_mr fid{};
  struct domain_object* domain = nullptr;
  std::byte* base = nullptr;
  std::size_t size = 0;
  std::uint64_t access = 0;
  bool enabled = false;
  bool bound = false;
  /// Whether remote operations and local descriptors may use it.
  bool usable() const { return enabled; }
};

/// A page that a provider shares with processes of its node. Unmapped at the end; the kernel frees it with the process.
class shared_page {
 public:
  shared_page() = default;
  shared_page(const shared_page&) = delete;
  shared_page& operator=(const shared_page&) = delete;
  ~shared_page();
  void map();

 private:
  void* at_ = nullptr;
};

struct domain_object {
  fid_domain fid{};
  shared_page own_node;
  std::uint64_t caps = 0;
  std::map<std::uint64_t, region*> regions;  ///< By key.
  std::set<const void*> descriptors;         ///< Of open regions.
  std::vector<endpoint*> endpoints;
  std::uint64_t next_key = 1;
  chance keys{0};
  std::thread mover;  ///< On rows whose data moves without a poll.
  bool stop = false;
};

struct address_table {
  fid_av fid{};
  std::vector<std::uint64_t> numbers;  ///< By fi_addr_t; 0 where removed.
  unsigned context_bits = 0;           ///< The highest bits of a fi_addr_t: the receive context of a scalable endpoint.

  /// The endpoint at an address; 0 where there is none.
  std::uint64_t number_at(fi_addr_t to) const {
    const std::uint64_t context = context_bits == 0 ? 0 : to >> (64U - context_bits);
    const std::uint64_t place = context_bits == 0 ? to : to & (~std::uint64_t{0} >> context_bits);
    return place < numbers.size() && numbers[place] != 0 ? numbers[place] + context : 0;
  }
};

struct entry {
  void* context = nullptr;
  std::uint64_t flags = 0;
  std::size_t length = 0;
  void* buffer = nullptr;
  std::uint64_t data = 0;
  std::uint64_t tag = 0;
  fi_addr_t source = FI_ADDR_NOTAVAIL;
};

struct completion_queue {
  fid_cq fid{};
  fi_cq_format format = FI_CQ_FORMAT_CONTEXT;
  std::deque<entry> entries;
  std::deque<fi_cq_err_entry> errors;
  std::vector<endpoint*> endpoints;
  std::size_t size = 0;  ///< Entries that were asked for; 0: the provider's own choice.
  bool has_descriptor = false;
  int epoll = -1;
  doorbell bell;
  unsigned idle_polls = 0;  ///< One after the other.
  bool signalled = false;
};

struct counter {
  fid_cntr fid{};
  std::uint64_t value = 0;
  std::uint64_t errors = 0;
  std::vector<endpoint*> endpoints;
};

/// The counters of an endpoint (fi_endpoint(3)), by what they count.
struct counters {
  counter* sends = nullptr;
  counter* receives = nullptr;
  counter* writes = nullptr;
  counter* reads = nullptr;
  counter* remote_writes = nullptr;
  counter* remote_reads = nullptr;
};
/// Counts one end; a positive FI_E code counts as an error. Does nothing without a counter.
void count(counter* by, int code);

struct event_queue;

struct posted_receive {
  std::vector<iovec> into;
  std::size_t size = 0;  ///< Of all buffers.
  void* context = nullptr;
  std::uint64_t from = 0;  ///< Only messages of this endpoint (FI_DIRECTED_RECV); 0: of any.
  bool tagged = false;
  std::uint64_t tag = 0;
  std::uint64_t ignore = 0;
  bool completes = true;    ///< A success gives an entry.
  bool multi = false;       ///< One buffer for many messages (FI_MULTI_RECV).
  std::size_t used = 0;     ///< Of a multi-receive buffer.
  std::uint64_t noise = 0;  ///< The pattern that was written over the context.
};

/// A message that no receive has taken yet.
struct unexpected_message {
  packet message;
  void* claimed_by = nullptr;  ///< The context of FI_PEEK with FI_CLAIM; only a receive with it gets the message.
  std::uint64_t noise = 0;
};

/// A posted operation that has not completed yet.
struct outstanding {
  packet_kind kind{};
  std::uint64_t peer = 0;
  void* context = nullptr;
  std::uint64_t flags = 0;  ///< Of its completion entry.
  bool completes = false;   ///< A success gives an entry.
  bool silent = false;      ///< fi_inject and its like: no entry, but it is counted.
  bool reported = false;    ///< Reported already, before its answer.
  bool delivered = false;   ///< FI_DELIVERY_COMPLETE was requested.
  std::vector<iovec> into;  ///< The target of the answer's payload.
  std::uint64_t noise = 0;
};

struct endpoint {
  fid_ep fid{};
  domain_object* domain = nullptr;
  address_table* table = nullptr;
  completion_queue* transmit = nullptr;
  completion_queue* receive = nullptr;
  counters counted;
  std::vector<counter*> counters_bound;
  std::uint64_t caps = 0;
  std::size_t context_bytes = 0;    ///< The library's, in the context of each operation.
  std::size_t immediate_bytes = 0;  ///< Of a write.
  bool selective_transmit = false;
  bool selective_receive = false;
  bool enabled = false;
  event_queue* events = nullptr;
  std::uint64_t peer = 0;  ///< Of a connected endpoint.
  bool linked = false;
  bool asked = false;  ///< Its peer waits for accept or reject.
  std::uint64_t transmit_flags = 0;
  std::uint64_t receive_flags = 0;
  std::size_t transmit_size = 0;
  std::size_t receive_size = 0;
  std::size_t least_multi = 64;  ///< FI_OPT_MIN_MULTI_RECV
  std::uint64_t number = 0;
  carrier wire;
  chance decisions{0};
  unsigned again_left = 0;
  std::deque<posted_receive> receives;
  std::deque<posted_receive> tagged_receives;
  std::deque<unexpected_message> unexpected;  ///< In the order of their arrival.
  std::deque<packet> pending;
  std::deque<packet> answers;  ///< In flight back, where WEFT_EMULATOR_SHAPE gives times.
  std::unordered_map<std::uint64_t, outstanding> posted;
  std::uint64_t next_operation = 1;
  unsigned handles = 0;  ///< Of a context of a scalable endpoint: the open ones.
  struct held_packet {
    std::uint64_t to;
    packet_header head;
    std::string payload;
  };
  std::vector<held_packet> held;  ///< Posted with FI_MORE; sent with the next post without it.
  std::uint64_t held_polls = 0;
  std::chrono::steady_clock::time_point last_poll = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point line_free{};
};

/// A second handle of an endpoint: one direction of a scalable endpoint's context.
struct endpoint_handle {
  fid_ep fid{};
  endpoint* real = nullptr;
};
/// The endpoint behind any handle of one.
inline endpoint& endpoint_of(fid* handle) {
  if (handle->fclass == FI_CLASS_TX_CTX || handle->fclass == FI_CLASS_RX_CTX)
    return *reinterpret_cast<endpoint_handle*>(handle)->real;
  return *reinterpret_cast<endpoint*>(handle);
}
inline endpoint& endpoint_of(fid_ep* handle) { return endpoint_of(&handle->fid); }

// ---- opening, by kind of object
int offer(std::uint32_t version, const char* node, const char* service, std::uint64_t flags, const fi_info* hints,
          fi_info** info);
int open_fabric(fi_fabric_attr* attributes, fid_fabric** opened, void* context);
int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** opened, void* context);
int open_table(fid_domain* domain, fi_av_attr* attributes, fid_av** opened, void* context);
int open_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** opened, void* context);
int open_counter(fid_domain* domain, fi_cntr_attr* attributes, fid_cntr** opened, void* context);
int open_events(fid_fabric* fabric, fi_eq_attr* attributes, fid_eq** opened, void* context);
int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** opened, void* context);
int open_scalable(fid_domain* domain, fi_info* info, fid_ep** opened, void* context);
int open_shared_transmit(fid_domain* domain, fi_tx_attr* attributes, fid_stx** opened, void* context);
int open_poll_set(fid_domain* domain, fi_poll_attr* attributes, fid_poll** opened);
extern fi_ops_mr memory_calls;

// ---- endpoint
extern fi_ops_msg message_calls;
extern fi_ops_tagged tagged_calls;
extern fi_ops_rma remote_calls;
extern fi_ops_atomic atomic_calls;
int query_atomic(fid_domain* domain, fi_datatype datatype, fi_op operation, fi_atomic_attr* attributes,
                 std::uint64_t flags);

/// Executes what is possible. Called by polls, and by the domain's thread where data moves without them.
void progress(endpoint& of);
/// Writes noise over the part of a context that belongs to the library; returns the noise, for `verify_context`.
std::uint64_t take_context(void* context);
/// The context must be unchanged; then it is overwritten once more, as libraries do at completion. Returns the new
/// noise.
std::uint64_t verify_context(void* context, std::uint64_t noise);

}  // namespace weft::emulator
