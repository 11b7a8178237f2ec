// SPDX-License-Identifier: Apache-2.0
//
// Event queues (fi_eq(3)): they report the events of connections, and a read makes progress.
#include "connections.hpp"
#include "rules.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace weft::emulator {
namespace {

event_queue& of(fid_eq* handle) { return *reinterpret_cast<event_queue*>(handle); }

int close_events(fid* handle) {
  const locked hold(process_lock());
  auto* closed = reinterpret_cast<event_queue*>(handle);
  if (!closed->listeners.empty()) return -FI_EBUSY;
  if (closed->epoll >= 0) close(closed->epoll);
  delete closed;  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}

ssize_t read(fid_eq* handle, std::uint32_t* kind, void* into, std::size_t size, std::uint64_t flags) {
  const locked hold(process_lock());
  event_queue& queue = of(handle);
  if (queue.events.empty()) {
    for (passive_endpoint* each : std::vector(queue.listeners)) serve_requests(*each);
    for (endpoint* each : std::vector(queue.endpoints)) progress(*each);
  }
  if (queue.events.empty()) return -FI_EAGAIN;
  const connection_event& next = queue.events.front();
  if (next.kind == 0) return -FI_EAVAIL;
  if (size < sizeof(fi_eq_cm_entry)) return -FI_ETOOSMALL;
  *kind = next.kind;
  const fi_eq_cm_entry entry{next.about, next.info};
  std::memcpy(into, &entry, sizeof entry);
  const std::size_t reported = std::min(next.data.size(), size - sizeof entry);
  if (reported > 0) std::memcpy(static_cast<std::byte*>(into) + sizeof entry, next.data.data(), reported);
  if ((flags & FI_PEEK) == 0) queue.events.pop_front();
  return static_cast<ssize_t>(sizeof entry + reported);
}

ssize_t wait(fid_eq* handle, std::uint32_t* kind, void* into, std::size_t size, int timeout, std::uint64_t flags) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
  for (;;) {
    const ssize_t found = read(handle, kind, into, size, flags);
    if (found != -FI_EAGAIN || (timeout >= 0 && std::chrono::steady_clock::now() >= end)) return found;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

ssize_t read_error(fid_eq* handle, fi_eq_err_entry* into, std::uint64_t /*flags*/) {
  const locked hold(process_lock());
  event_queue& queue = of(handle);
  if (queue.events.empty() || queue.events.front().kind != 0) return -FI_EAGAIN;
  const connection_event next = std::move(queue.events.front());
  queue.events.pop_front();
  into->fid = next.about;
  into->err = next.error;
  into->prov_errno = next.error;
  if (into->err_data != nullptr && into->err_data_size > 0) {
    const std::size_t reported = std::min(into->err_data_size, next.data.size());
    std::memcpy(into->err_data, next.data.data(), reported);
    into->err_data_size = reported;
  } else {
    into->err_data_size = 0;
  }
  return sizeof *into;
}

const char* error_text(fid_eq* /*handle*/, int code, const void* /*data*/, char* into, std::size_t size) {
  const char* text = fi_strerror(code);
  if (into != nullptr && size > 0) std::strncpy(into, text, size - 1);
  return text;
}

int control_events(fid* handle, int command, void* argument) {
  const auto* queue = reinterpret_cast<event_queue*>(handle);
  if (command != FI_GETWAIT || queue->epoll < 0) return -FI_ENOSYS;
  *static_cast<int*>(argument) = queue->epoll;
  return 0;
}

fi_ops events_base{sizeof(fi_ops), close_events, none, control_events, none, none, none};
fi_ops_eq event_calls{sizeof(fi_ops_eq), read, read_error, none, wait, error_text};

}  // namespace

void watch(const event_queue* queue, const carrier& by) {
  if (queue == nullptr || queue->epoll < 0) return;
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(queue->epoll, EPOLL_CTL_ADD, by.descriptor(), &event);
}

int open_events(fid_fabric* /*fabric*/, fi_eq_attr* attributes, fid_eq** opened, void* context) {
  const fi_wait_obj wanted = attributes == nullptr ? FI_WAIT_NONE : attributes->wait_obj;
  if (wanted == FI_WAIT_FD && !emulated()->wait_descriptor)
    return broken("completion_wait", "an event queue with a file descriptor was asked for; this fabric has none",
                  FI_ENOSYS);
  auto* made = new event_queue;
  made->fid.fid = {FI_CLASS_EQ, context, &events_base};
  made->fid.ops = &event_calls;
  if (wanted == FI_WAIT_FD) made->bell.open(made->epoll = epoll_create1(EPOLL_CLOEXEC));
  *opened = &made->fid;
  return 0;
}

}  // namespace weft::emulator
