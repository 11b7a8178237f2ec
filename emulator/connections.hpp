// SPDX-License-Identifier: Apache-2.0
//
// Connected endpoints (fi_cm(3)): passive endpoints at socket addresses, requests with private data, and the events
// that tell of them.
#pragma once

#include "objects.hpp"

#include <netinet/in.h>

namespace weft::emulator {

/// One thing to be told by an event queue.
struct connection_event {
  std::uint32_t kind = 0;  ///< FI_CONNREQ, FI_CONNECTED, FI_SHUTDOWN; 0: an error.
  fid* about = nullptr;
  fi_info* info = nullptr;
  std::string data;
  int error = 0;
};

/// An address of either family: the family and the port stand at the same places in both, and the larger one has room
/// for the smaller.
using socket_address = sockaddr_in6;
inline std::size_t size_of(const socket_address& at) {
  return at.sin6_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

/// Who asked, until it is accepted or rejected: what fi_info::handle points to.
struct connection_request {
  fid handle{};
  std::uint64_t from = 0;
};

struct event_queue {
  fid_eq fid{};
  std::deque<connection_event> events;
  std::vector<endpoint*> endpoints;
  std::vector<struct passive_endpoint*> listeners;
  int epoll = -1;  ///< Of a queue to sleep on: readable when one of its carriers has something to do.
  doorbell bell;
};

struct passive_endpoint {
  fid_pep fid{};
  fi_info* info = nullptr;
  event_queue* events = nullptr;
  socket_address at{};
  carrier wire;
  std::deque<packet> arrived;
};

/// The number at which a listener at this address is found.
std::uint64_t number_at(const socket_address& at);
int open_passive(fid_fabric* fabric, fi_info* info, fid_pep** opened, void* context);
/// What a connected endpoint does with packets of the kinds dial, accepted, rejected and closed.
void take_connection_packet(endpoint& of, const packet& p);
/// Turns dials that arrived at a listener into requests of its event queue.
void serve_requests(passive_endpoint& by);
/// Whoever sleeps on the queue is woken by what arrives here.
void watch(const event_queue* queue, const carrier& by);
/// The peer's process is gone.
void tell_shutdown(endpoint& of);
/// Before an endpoint is closed: a caller that was not answered yet is rejected, a peer is told, and what the event
/// queue still had to tell of the endpoint is taken out (as libfabric's own queues do: a later endpoint at the same
/// place would be told of it).
void leave_connection(endpoint& closed);
extern fi_ops_cm connection_calls;

}  // namespace weft::emulator
