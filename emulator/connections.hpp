// SPDX-License-Identifier: Apache-2.0
//
// Connected endpoints (fi_cm(3)): passive endpoints at socket addresses, requests with private data, and their events.
#pragma once

#include "objects.hpp"

#include <netinet/in.h>

namespace weft::emulator {

/// One event for an event queue.
struct connection_event {
  std::uint32_t kind = 0;  ///< FI_CONNREQ, FI_CONNECTED, FI_SHUTDOWN; 0: an error.
  fid* about = nullptr;
  fi_info* info = nullptr;
  std::string data;
  int error = 0;
};

/// An address of either family: the family and the port have the same offsets in both, and the larger type has room for
/// the smaller.
using socket_address = sockaddr_in6;
inline std::size_t size_of(const socket_address& at) {
  return at.sin6_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

/// The caller, until it is accepted or rejected: fi_info::handle points to it.
struct connection_request {
  fid handle{};
  std::uint64_t from = 0;
};

struct event_queue {
  fid_eq fid{};
  std::deque<connection_event> events;
  std::vector<endpoint*> endpoints;
  std::vector<struct passive_endpoint*> listeners;
  int epoll = -1;  ///< Of a queue with a wait descriptor: readable when one of its carriers has work.
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
/// A connected endpoint's reaction to packets of the kinds dial, accepted, rejected and closed.
void take_connection_packet(endpoint& of, const packet& p);
/// Makes requests in the event queue from dials that arrived at a listener.
void serve_requests(passive_endpoint& by);
/// Packets that arrive here wake threads that sleep on the queue.
void watch(const event_queue* queue, const carrier& by);
/// The peer's process is gone.
void tell_shutdown(endpoint& of);
/// Before an endpoint is closed: rejects a caller without an answer, notifies a peer, and removes the endpoint's events
/// from the event queue. libfabric's own queues do the same: a later endpoint at the same address would get these
/// events.
void leave_connection(endpoint& closed);
extern fi_ops_cm connection_calls;

}  // namespace weft::emulator
