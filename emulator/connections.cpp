// SPDX-License-Identifier: Apache-2.0
#include "connections.hpp"

#include "native.hpp"
#include "rules.hpp"

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace weft::emulator {
namespace {

constexpr std::size_t most_private_data = 56;

endpoint& of(fid* handle) { return endpoint_of(handle); }

void tell(event_queue* queue, std::uint32_t kind, fid* about, std::string data = {}, int error = 0) {
  if (queue != nullptr) queue->events.push_back({kind, about, nullptr, std::move(data), error});
}

sent send(carrier& by, std::uint64_t to, packet_kind kind, const void* data, std::size_t size) {
  packet_header head;
  head.kind = kind;
  return by.send(to, head, {static_cast<const char*>(data), size});
}

/// Opens a listener's carrier, which its event queue watches from then on.
int listen_as(passive_endpoint& listener) {
  const int fault = listener.wire.open(number_at(listener.at));
  if (fault == 0) watch(listener.events, listener.wire);
  return fault;
}

// ---- a listener
int bind_passive(fid* handle, fid* to, std::uint64_t /*flags*/) {
  if (to->fclass != FI_CLASS_EQ) return -FI_EINVAL;
  auto* listener = reinterpret_cast<passive_endpoint*>(handle);
  listener->events = reinterpret_cast<event_queue*>(to);
  listener->events->listeners.push_back(listener);
  return 0;
}

int close_passive(fid* handle) {
  const locked hold(process_lock());
  auto* closed = reinterpret_cast<passive_endpoint*>(handle);
  if (closed->events != nullptr) std::erase(closed->events->listeners, closed);
  fi_freeinfo(closed->info);
  delete closed;  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}

int listen(fid_pep* handle) {
  const locked hold(process_lock());
  auto& listener = *reinterpret_cast<passive_endpoint*>(handle);
  if (listener.events == nullptr) return -FI_ENOEQ;
  if (listener.at.sin6_port != 0) return -listen_as(listener);
  chance ports(static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  for (int tries = 0; tries < 1000; ++tries) {
    listener.at.sin6_port = htons(static_cast<std::uint16_t>(32768 + ports.below(28000)));
    if (listen_as(listener) == 0) return 0;
  }
  return -FI_EADDRINUSE;
}

int reject(fid_pep* handle, fid_t request, const void* data, std::size_t size) {
  const locked hold(process_lock());
  auto& listener = *reinterpret_cast<passive_endpoint*>(handle);
  auto* asked = reinterpret_cast<connection_request*>(request);
  (void)send(listener.wire, asked->from, packet_kind::rejected, data, size);
  delete asked;  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}

/// As fi_getname(3): without any room (a null pointer) it returns the needed size.
int copy_name(const void* name, std::size_t length, void* into, std::size_t* size) {
  const std::size_t had = std::exchange(*size, length);
  if (had > 0) std::memcpy(into, name, std::min(had, length));
  return had < length ? -FI_ETOOSMALL : 0;
}
int name_of_listener(fid_t handle, void* into, std::size_t* size) {
  const socket_address& at = reinterpret_cast<passive_endpoint*>(handle)->at;
  return copy_name(&at, size_of(at), into, size);
}

fi_ops passive_base{sizeof(fi_ops), close_passive, bind_passive, none, none, none, none};
fi_ops_cm passive_calls{sizeof(fi_ops_cm), none, name_of_listener, none, none, listen, none, reject, none, none};

// ---- a link
int name_of_endpoint(fid_t handle, void* into, std::size_t* size) {
  const sockaddr_in nothing{};
  if (emulated()->connected) return copy_name(&nothing, sizeof nothing, into, size);
  const auto own = address_of(*emulated(), of(handle).number);
  return copy_name(own.data(), own.size(), into, size);
}

int dial(fid_ep* handle, const void* address, const void* data, std::size_t size) {
  const locked hold(process_lock());
  endpoint& by = of(&handle->fid);
  if (size > most_private_data) return -FI_EINVAL;
  if (!by.enabled)
    if (const int refused = fi_enable(handle)) return refused;
  socket_address to{};
  std::memcpy(&to, address, sizeof(sockaddr_in));  // the port is in it
  if (send(by.wire, number_at(to), packet_kind::dial, data, size) != sent::yes)
    tell(by.events, 0, &handle->fid, {}, FI_ECONNREFUSED);
  return 0;
}

int accept(fid_ep* handle, const void* data, std::size_t size) {
  const locked hold(process_lock());
  endpoint& by = of(&handle->fid);
  if (size > most_private_data) return -FI_EINVAL;
  if (!by.enabled)
    if (const int refused = fi_enable(handle)) return refused;
  if (!std::exchange(by.asked, false)) return -FI_EINVAL;
  by.linked = send(by.wire, by.peer, packet_kind::accepted, data, size) != sent::nobody;
  if (by.linked) tell(by.events, FI_CONNECTED, &handle->fid);
  else tell(by.events, FI_SHUTDOWN, &handle->fid);
  return 0;
}

int shut_down(fid_ep* handle, std::uint64_t /*flags*/) {
  const locked hold(process_lock());
  endpoint& by = of(&handle->fid);
  if (!std::exchange(by.linked, false)) return 0;
  (void)send(by.wire, by.peer, packet_kind::closed, nullptr, 0);
  return 0;
}

}  // namespace

fi_ops_cm connection_calls{sizeof(fi_ops_cm), none, name_of_endpoint, none, dial, none, accept, none, shut_down, none};

std::uint64_t number_at(const socket_address& at) {
  // One host: every local address is the same place, and a port is found by any of them.
  return (std::uint64_t{0x11} << 56U) | ntohs(at.sin6_port);
}

void take_connection_packet(endpoint& by, const packet& p) {
  if (p.head.kind == packet_kind::accepted && !by.linked) {
    by.peer = p.head.source;
    by.linked = true;
    tell(by.events, FI_CONNECTED, &by.fid.fid, p.payload);
  } else if (p.head.kind == packet_kind::rejected) {
    tell(by.events, 0, &by.fid.fid, p.payload, FI_ECONNREFUSED);
  } else if (p.head.kind == packet_kind::closed && p.head.source == by.peer) {
    report_shutdown(by);
  }
}

void report_shutdown(endpoint& of) {
  if (std::exchange(of.linked, false)) tell(of.events, FI_SHUTDOWN, &of.fid.fid);
}

void leave_connection(endpoint& closed) {
  if (closed.linked) (void)shut_down(&closed.fid, 0);
  if (closed.asked && (closed.enabled || closed.wire.open(closed.number) == 0))
    (void)send(closed.wire, closed.peer, packet_kind::rejected, nullptr, 0);
  if (closed.events == nullptr) return;
  std::erase(closed.events->endpoints, &closed);
  std::erase_if(closed.events->events, [&](const connection_event& each) { return each.about == &closed.fid.fid; });
}

int open_passive(fid_fabric* /*fabric*/, fi_info* info, fid_pep** opened, void* context) {
  if (!emulated()->connected) return -FI_ENOSYS;
  auto* made = new passive_endpoint;
  made->fid.fid = {FI_CLASS_PEP, context, &passive_base};
  made->fid.ops = nullptr;
  made->fid.cm = &passive_calls;
  made->info = fi_dupinfo(info);
  if (info->src_addr != nullptr) std::memcpy(&made->at, info->src_addr, std::min(info->src_addrlen, sizeof made->at));
  if (made->at.sin6_family != AF_INET6) made->at.sin6_family = AF_INET;
  *opened = &made->fid;
  return 0;
}

void serve_requests(passive_endpoint& by) {
  std::vector<std::uint64_t> gone;
  by.wire.pump(by.arrived, gone);
  while (!by.arrived.empty()) {
    const packet asked = std::move(by.arrived.front());
    by.arrived.pop_front();
    if (asked.head.kind != packet_kind::dial) continue;
    auto* request = new connection_request;
    request->handle = {FI_CLASS_CONNREQ, nullptr, nullptr};
    request->from = asked.head.source;
    connection_event event;
    event.kind = FI_CONNREQ;
    event.about = &by.fid.fid;
    event.info = fi_dupinfo(by.info);
    event.info->handle = &request->handle;
    event.data = asked.payload;
    by.events->events.push_back(std::move(event));
  }
}

}  // namespace weft::emulator
