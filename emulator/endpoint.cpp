// SPDX-License-Identifier: Apache-2.0
//
// Endpoints (fi_endpoint(3)): bound, enabled, named, closed.
#include "connections.hpp"
#include "posting.hpp"
#include "rules.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <random>

namespace weft::emulator {
namespace {

endpoint& of(fid* handle) { return *reinterpret_cast<endpoint*>(handle); }

void watch(completion_queue& queue, endpoint& each) {
  if (std::find(queue.endpoints.begin(), queue.endpoints.end(), &each) != queue.endpoints.end()) return;
  queue.endpoints.push_back(&each);
  if (queue.epoll < 0) return;
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(queue.epoll, EPOLL_CTL_ADD, each.wire.descriptor(), &event);
}

int bind_endpoint(fid* handle, fid* to, std::uint64_t flags) {
  const locked hold(process_lock());
  endpoint& e = of(handle);
  switch (to->fclass) {
    case FI_CLASS_AV:
      e.table = reinterpret_cast<address_table*>(to);
      return 0;
    case FI_CLASS_EQ:
      e.events = reinterpret_cast<event_queue*>(to);
      e.events->endpoints.push_back(&e);
      return 0;
    case FI_CLASS_CNTR:
      if ((flags & ~(FI_REMOTE_WRITE | FI_REMOTE_READ | FI_SEND | FI_RECV | FI_WRITE | FI_READ)) != 0)
        return -FI_EINVAL;
      if ((flags & FI_REMOTE_WRITE) == 0) return -FI_ENOSYS;
      e.remote_writes = reinterpret_cast<counter*>(to);
      e.remote_writes->endpoints.push_back(&e);
      return 0;
    case FI_CLASS_CQ:
      break;
    default:
      return -FI_EINVAL;
  }
  auto* queue = reinterpret_cast<completion_queue*>(to);
  if ((flags & FI_SELECTIVE_COMPLETION) != 0 && !emulated()->selective_completion)
    return broken("selective_completion",
                  "selective completion was asked for; every operation is signalled on this fabric", FI_ENOSYS);
  if ((flags & FI_TRANSMIT) != 0) {
    e.transmit = queue;
    e.selective_transmit = (flags & FI_SELECTIVE_COMPLETION) != 0;
  }
  if ((flags & FI_RECV) != 0) e.receive = queue;
  return 0;
}

int control_endpoint(fid* handle, int command, void* /*argument*/) {
  const locked hold(process_lock());
  endpoint& e = of(handle);
  if (command != FI_ENABLE) return -FI_ENOSYS;
  if (e.enabled) return 0;
  if (e.table == nullptr && !emulated()->connected) return -FI_ENOAV;
  if (e.transmit == nullptr || e.receive == nullptr) return -FI_ENOCQ;
  if (const int fault = e.wire.open(e.number)) return -fault;
  e.enabled = true;
  watch(*e.transmit, e);
  watch(*e.receive, e);
  watch(e.events, e.wire);
  return 0;
}

int close_endpoint(fid* handle) {
  const locked hold(process_lock());
  endpoint* closed = &of(handle);
  if (!closed->held.empty())
    broken("batch_closed", "an endpoint was closed while posts with FI_MORE were held: they never left");
  leave_connection(*closed);
  for (completion_queue* queue : {closed->transmit, closed->receive})
    if (queue != nullptr) std::erase(queue->endpoints, closed);
  if (closed->remote_writes != nullptr) std::erase(closed->remote_writes->endpoints, closed);
  std::erase(closed->domain->endpoints, closed);
  delete closed;  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}

ssize_t cancel(fid* handle, void* context) {
  const locked hold(process_lock());
  endpoint& e = of(handle);
  for (auto* queue : {&e.receives, &e.tagged_receives}) {
    const auto found =
        std::find_if(queue->begin(), queue->end(), [context](const posted_receive& r) { return r.context == context; });
    if (found == queue->end()) continue;
    fi_cq_err_entry error{};
    error.op_context = context;
    error.flags = FI_RECV;
    error.err = FI_ECANCELED;
    e.receive->errors.push_back(error);
    queue->erase(found);
    return 0;
  }
  return -FI_ENOENT;
}

int set_option(fid* handle, int level, int name, const void* value, std::size_t size) {
  if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV || size != sizeof(std::size_t)) return -FI_ENOPROTOOPT;
  std::memcpy(&of(handle).least_multi, value, sizeof(std::size_t));
  return 0;
}
int get_option(fid* handle, int level, int name, void* value, std::size_t* size) {
  if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV || *size < sizeof(std::size_t)) return -FI_ENOPROTOOPT;
  std::memcpy(value, &of(handle).least_multi, sizeof(std::size_t));
  *size = sizeof(std::size_t);
  return 0;
}

fi_ops base_calls{sizeof(fi_ops), close_endpoint, bind_endpoint, control_endpoint, none, none, none};
fi_ops_ep endpoint_calls{sizeof(fi_ops_ep), cancel, get_option, set_option, none, none, none, none};

}  // namespace

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** opened, void* context) {
  const locked hold(process_lock());
  const profile& row = *emulated();
  if (info->ep_attr->type != (row.connected ? FI_EP_MSG : FI_EP_RDM) && info->ep_attr->type != FI_EP_UNSPEC)
    return -FI_EINVAL;
  auto* made = new endpoint;
  made->fid.fid = {FI_CLASS_EP, context, &base_calls};
  made->fid.ops = &endpoint_calls;
  made->fid.cm = &connection_calls;
  made->fid.msg = &message_calls;
  made->fid.rma = &remote_calls;
  made->fid.tagged = &tagged_calls;
  made->fid.atomic = &atomic_calls;
  made->domain = reinterpret_cast<domain_object*>(domain);
  made->transmit_flags = info->tx_attr->op_flags;
  made->receive_flags = info->rx_attr->op_flags;
  made->transmit_size = info->tx_attr->size != 0 ? info->tx_attr->size : row.queue_depth;
  made->receive_size = info->rx_attr->size != 0 ? info->rx_attr->size : row.queue_depth;
  if (info->handle != nullptr && info->handle->fclass == FI_CLASS_CONNREQ) {
    const std::unique_ptr<connection_request> asked(reinterpret_cast<connection_request*>(info->handle));
    made->peer = asked->from;
    made->asked = true;
  }
  std::random_device random;
  made->number = (static_cast<std::uint64_t>(random()) << 32U) | random();
  static std::uint64_t count = 0;
  made->decisions = chance(conducted().seed * 0x9e3779b97f4a7c15 + ++count);
  made->domain->endpoints.push_back(made);
  *opened = &made->fid;
  return 0;
}

}  // namespace weft::emulator
