// SPDX-License-Identifier: Apache-2.0
//
// The entry points of librdmacm: two ids of this process connect by the port that one of them listens at. Every answer
// is an event. Hot path: no. Threads: one.
#include "objects.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace weft::stub_device {
namespace {
sockaddr_in& source(rdma_cm_id* of) noexcept { return of->route.addr.src_sin; }
sockaddr_in& target(rdma_cm_id* of) noexcept { return of->route.addr.dst_sin; }

void tell(rdma_cm_event_type what, rdma_cm_id* about, const rdma_conn_param* with = nullptr,
          rdma_cm_id* listener = nullptr) {
  rdma_event_channel* over = listener != nullptr ? listener->channel : about->channel;
  if (over == nullptr) return;
  auto* made = new told_event;
  static_cast<rdma_cm_event&>(*made) = {};
  made->event = what;
  made->id = about;
  made->listen_id = listener;
  if (with != nullptr) {
    made->param.conn = *with;
    const auto* first = static_cast<const std::byte*>(with->private_data);
    if (first != nullptr) made->bytes.assign(first, first + with->private_data_len);
    made->param.conn.private_data = made->bytes.data();
  }
  static_cast<channel*>(over)->events.push_back(made);
}
}  // namespace
}  // namespace weft::stub_device

using namespace weft::stub_device;

extern "C" {
ibv_context** rdma_get_devices(int* count) {
  *count = 1;
  return new ibv_context* [2] { context(), nullptr };
}
void rdma_free_devices(ibv_context** list) { delete[] list; }
rdma_event_channel* rdma_create_event_channel() {
  auto* made = new weft::stub_device::channel;
  made->fd = ::eventfd(0, EFD_CLOEXEC);
  return made;
}
void rdma_destroy_event_channel(rdma_event_channel* gone) {
  ::close(gone->fd);
  for (rdma_cm_event* each : static_cast<weft::stub_device::channel*>(gone)->events)
    delete static_cast<told_event*>(each);
  delete static_cast<weft::stub_device::channel*>(gone);
}
int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** into, void* user, rdma_port_space space) {
  auto* made = new connection_id;
  static_cast<rdma_cm_id&>(*made) = {};
  made->channel = channel;
  made->context = user;
  made->ps = space;
  here().ids.push_back(made);
  *into = made;
  return 0;
}
int rdma_destroy_id(rdma_cm_id* gone) {
  auto* id = static_cast<connection_id*>(gone);
  std::erase(here().ids, id);
  for (connection_id* each : here().ids)
    if (each->peer == id) each->peer = nullptr;
  if (gone->channel != nullptr) {
    auto& events = static_cast<weft::stub_device::channel*>(gone->channel)->events;
    std::erase_if(events, [&](rdma_cm_event* each) {
      if (each->id != gone) return false;
      delete static_cast<told_event*>(each);
      return true;
    });
  }
  delete id;
  return 0;
}
int rdma_bind_addr(rdma_cm_id* id, sockaddr* at) {
  std::memcpy(&id->route.addr.src_storage, at, at->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  if (source(id).sin_port == 0) source(id).sin_port = htons(here().next_port++);
  id->verbs = context();
  id->port_num = 1;
  return 0;
}
int rdma_listen(rdma_cm_id* id, int) {
  static_cast<connection_id*>(id)->listening = true;
  return 0;
}
int rdma_resolve_addr(rdma_cm_id* id, sockaddr*, sockaddr* to, int) {
  std::memcpy(&id->route.addr.dst_storage, to, to->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  tell(RDMA_CM_EVENT_ADDR_RESOLVED, id);
  return 0;
}
int rdma_resolve_route(rdma_cm_id* id, int) {
  tell(RDMA_CM_EVENT_ROUTE_RESOLVED, id);
  return 0;
}
int rdma_create_qp(rdma_cm_id* id, ibv_pd* in, ibv_qp_init_attr* ask) {
  id->qp = ibv_create_qp(in, ask);
  return id->qp == nullptr ? -1 : 0;
}
int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* ask) {
  id->qp = ibv_create_qp_ex(context(), ask);
  return id->qp == nullptr ? -1 : 0;
}
void rdma_destroy_qp(rdma_cm_id* id) {
  ibv_destroy_qp(id->qp);
  id->qp = nullptr;
}
int rdma_connect(rdma_cm_id* id, rdma_conn_param* with) {
  for (connection_id* each : here().ids) {
    if (!each->listening || source(each).sin_port != target(id).sin_port) continue;
    rdma_cm_id* arrived = nullptr;
    rdma_create_id(each->channel, &arrived, nullptr, RDMA_PS_TCP);
    auto* theirs = static_cast<connection_id*>(arrived);
    theirs->verbs = context();
    theirs->port_num = 1;
    theirs->route = each->route;
    theirs->peer = static_cast<connection_id*>(id);
    static_cast<connection_id*>(id)->peer = theirs;
    tell(RDMA_CM_EVENT_CONNECT_REQUEST, theirs, with, each);
    return 0;
  }
  tell(RDMA_CM_EVENT_REJECTED, id);
  return 0;
}
int rdma_accept(rdma_cm_id* id, rdma_conn_param* with) {
  connection_id* caller = static_cast<connection_id*>(id)->peer;
  if (caller == nullptr) {
    errno = ENOTCONN;
    return -1;
  }
  auto *here_end = static_cast<pair*>(id->qp), *there = static_cast<pair*>(caller->qp);
  here_end->peer = there;
  there->peer = here_end;
  tell(RDMA_CM_EVENT_ESTABLISHED, caller, with);
  tell(RDMA_CM_EVENT_ESTABLISHED, id);
  return 0;
}
int rdma_reject(rdma_cm_id* id, const void*, std::uint8_t) {
  if (connection_id* caller = static_cast<connection_id*>(id)->peer) tell(RDMA_CM_EVENT_REJECTED, caller);
  return 0;
}
int rdma_disconnect(rdma_cm_id* id) {
  auto* of = static_cast<connection_id*>(id);
  if (id->qp != nullptr) break_pair(*static_cast<pair*>(id->qp));
  tell(RDMA_CM_EVENT_DISCONNECTED, id);
  if (of->peer != nullptr) {
    if (of->peer->qp != nullptr) break_pair(*static_cast<pair*>(of->peer->qp));
    tell(RDMA_CM_EVENT_DISCONNECTED, of->peer);
  }
  return 0;
}
int rdma_set_option(rdma_cm_id*, int, int, void*, std::size_t) { return 0; }
int rdma_get_cm_event(rdma_event_channel* from, rdma_cm_event** into) {
  auto& events = static_cast<weft::stub_device::channel*>(from)->events;
  if (events.empty()) {
    errno = EAGAIN;
    return -1;
  }
  *into = events.front();
  events.pop_front();
  return 0;
}
int rdma_ack_cm_event(rdma_cm_event* seen) {
  delete static_cast<told_event*>(seen);
  return 0;
}
std::uint16_t rdma_get_src_port(rdma_cm_id* id) { return source(id).sin_port; }
std::uint16_t rdma_get_dst_port(rdma_cm_id* id) { return target(id).sin_port; }
}
