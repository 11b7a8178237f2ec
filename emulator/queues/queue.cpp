// SPDX-License-Identifier: Apache-2.0
//
// Completion queues (fi_cq(3)). A read moves data on rows that must be polled.
#include "objects.hpp"
#include "rules.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace weft::emulator {
namespace {

completion_queue& of(fid_cq* handle) { return *reinterpret_cast<completion_queue*>(handle); }

int close_queue(fid* handle) {
  const locked hold(process_lock());
  auto* closed = reinterpret_cast<completion_queue*>(handle);
  if (!closed->endpoints.empty()) return -FI_EBUSY;
  if (closed->epoll >= 0) close(closed->epoll);
  delete closed;  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}

int control_queue(fid* handle, int command, void* argument) {
  auto* queue = reinterpret_cast<completion_queue*>(handle);
  if (command != FI_GETWAIT || !queue->has_descriptor) return -FI_ENOSYS;
  *static_cast<int*>(argument) = queue->epoll;
  return 0;
}

fi_ops base_calls{sizeof(fi_ops), close_queue, none, control_queue, none, none, none};

/// One entry in the layout of the queue's format.
std::size_t write_entry(fi_cq_format format, const entry& from, std::byte* into) {
  const auto put = [into](const auto& value) {
    std::memcpy(into, &value, sizeof value);
    return sizeof value;
  };
  switch (format) {
    case FI_CQ_FORMAT_MSG:
      return put(fi_cq_msg_entry{from.context, from.flags, from.length});
    case FI_CQ_FORMAT_DATA:
      return put(fi_cq_data_entry{from.context, from.flags, from.length, from.buffer, from.data});
    case FI_CQ_FORMAT_TAGGED:
      return put(fi_cq_tagged_entry{from.context, from.flags, from.length, from.buffer, from.data, from.tag});
    default:
      return put(fi_cq_entry{from.context});
  }
}

void move(completion_queue& queue) {
  for (endpoint* each : queue.endpoints) {
    progress(*each);
    if (!each->held.empty() && ++each->held_polls == 10000)
      broken("batch_closed",
             "a post with FI_MORE was never followed by one without it: nothing of that batch leaves, and its "
             "completions never come");
  }
}

ssize_t take(completion_queue& queue, void* into, std::size_t count, fi_addr_t* sources) {
  const locked hold(process_lock());
  if (queue.entries.empty()) move(queue);
  if (!queue.errors.empty()) return -FI_EAVAIL;
  if (queue.entries.empty()) return -FI_EAGAIN;
  std::size_t reported = 0;
  auto* at = static_cast<std::byte*>(into);
  while (reported < count && !queue.entries.empty()) {
    at += write_entry(queue.format, queue.entries.front(), at);
    if (sources != nullptr) sources[reported] = queue.entries.front().source;
    queue.entries.pop_front();
    ++reported;
  }
  queue.idle_polls = 0;
  return static_cast<ssize_t>(reported);
}

/// After some empty polls, each one yields the processor until an entry arrives, for 100 us at most. Both ends of an
/// emulated fabric share one machine, and a spinning end keeps the other from running.
void rest(completion_queue& queue) {
  constexpr unsigned spins = 32;
  constexpr timespec longest{0, 100'000};
  std::array<pollfd, 16> watched{};
  nfds_t count = 0;
  {
    const locked hold(process_lock());
    if (++queue.idle_polls < spins) return;
    for (const endpoint* each : queue.endpoints) {
      if (!each->pending.empty() || !each->answers.empty() || count == watched.size()) return std::this_thread::yield();
      watched[count++] = {each->wire.descriptor(), POLLIN, 0};
    }
  }
  (void)ppoll(watched.data(), count, &longest, nullptr);
}

ssize_t read_from(fid_cq* handle, void* into, std::size_t count, fi_addr_t* sources) {
  completion_queue& queue = of(handle);
  const ssize_t reported = take(queue, into, count, sources);
  if (reported == -FI_EAGAIN) rest(queue);
  return reported;
}
ssize_t read(fid_cq* handle, void* into, std::size_t count) { return read_from(handle, into, count, nullptr); }

ssize_t read_error(fid_cq* handle, fi_cq_err_entry* into, std::uint64_t /*flags*/) {
  const locked hold(process_lock());
  completion_queue& queue = of(handle);
  if (queue.errors.empty()) return -FI_EAGAIN;
  const fi_cq_err_entry& from = queue.errors.front();
  // The program may be compiled with an older release, whose structure is shorter. So only the members of all releases
  // are written.
  into->op_context = from.op_context;
  into->flags = from.flags;
  into->len = from.len;
  into->buf = from.buf;
  into->data = from.data;
  into->tag = from.tag;
  into->olen = from.olen;
  into->err = from.err;
  into->prov_errno = from.prov_errno;
  queue.errors.pop_front();
  return 1;
}

ssize_t wait_from(fid_cq* handle, void* into, std::size_t count, fi_addr_t* sources, const void* /*condition*/,
                  int timeout) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
  for (;;) {
    const ssize_t found = take(of(handle), into, count, sources);
    if (found != -FI_EAGAIN) return found;
    if (std::exchange(of(handle).signalled, false)) return -FI_EAGAIN;
    if (timeout >= 0 && std::chrono::steady_clock::now() >= end) return -FI_EAGAIN;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}
ssize_t wait(fid_cq* handle, void* into, std::size_t count, const void* condition, int timeout) {
  return wait_from(handle, into, count, nullptr, condition, timeout);
}

int wake(fid_cq* handle) {
  of(handle).signalled = true;
  return 0;
}

const char* error_text(fid_cq* /*handle*/, int code, const void* /*data*/, char* into, std::size_t size) {
  const char* text = fi_strerror(code);
  if (into != nullptr && size > 0) std::strncpy(into, text, size - 1);
  return text;
}

fi_ops_cq queue_calls{sizeof(fi_ops_cq), read, read_from, read_error, wait, wait_from, wake, error_text};

}  // namespace

int open_queue(fid_domain* /*domain*/, fi_cq_attr* attributes, fid_cq** opened, void* context) {
  const profile& row = *emulated();
  const fi_wait_obj wanted = attributes->wait_obj;
  if (wanted == FI_WAIT_FD && !row.wait_descriptor)
    return broken("completion_wait", "a queue with a file descriptor was asked for; this fabric has none", FI_ENOSYS);
  if (wanted != FI_WAIT_NONE && !row.wait_descriptor && !row.wait_yield)
    return broken("completion_wait", "a queue to sleep on was asked for; this fabric has none", FI_ENOSYS);
  auto* made = new completion_queue;
  made->fid.fid = {FI_CLASS_CQ, context, &base_calls};
  made->fid.ops = &queue_calls;
  made->format = attributes->format == FI_CQ_FORMAT_UNSPEC ? FI_CQ_FORMAT_CONTEXT : attributes->format;
  attributes->format = made->format;
  made->size = attributes->size;
  made->has_descriptor = wanted == FI_WAIT_FD || (wanted == FI_WAIT_UNSPEC && row.wait_descriptor);
  if (made->has_descriptor) made->bell.open(made->epoll = epoll_create1(EPOLL_CLOEXEC));
  *opened = &made->fid;
  return 0;
}

}  // namespace weft::emulator
