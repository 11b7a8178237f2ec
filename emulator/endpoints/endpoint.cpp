// SPDX-License-Identifier: Apache-2.0
//
// Endpoints (fi_endpoint(3)): bound, enabled, named, closed.
#include "opening.hpp"

#include "connections.hpp"
#include "matching.hpp"
#include "native.hpp"
#include "posting.hpp"
#include "rules.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <utility>

namespace weft::emulator {
namespace {

endpoint& of(fid* handle) { return endpoint_of(handle); }

void watch(completion_queue& queue, endpoint& each) {
  if (std::find(queue.endpoints.begin(), queue.endpoints.end(), &each) != queue.endpoints.end()) return;
  queue.endpoints.push_back(&each);
  if (queue.epoll < 0) return;
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(queue.epoll, EPOLL_CTL_ADD, each.wire.descriptor(), &event);
}

/// Providers accept each of these flags; the profile says which ends they count. An end has one counter.
int bind_counter(endpoint& e, counter& bound, std::uint64_t flags) {
  const profile& row = *emulated();
  struct place {
    std::uint64_t flag;
    counter** counts;
    const char* name;
  };
  const std::array<place, 6> places{{{FI_SEND, &e.counted.sends, "send"},
                                     {FI_RECV, &e.counted.receives, "receive"},
                                     {FI_WRITE, &e.counted.writes, "write"},
                                     {FI_READ, &e.counted.reads, "read"},
                                     {FI_REMOTE_WRITE, &e.counted.remote_writes, "remote_write"},
                                     {FI_REMOTE_READ, &e.counted.remote_reads, "remote_read"}}};
  std::uint64_t known = 0;
  for (const place& each : places) known |= each.flag;
  if ((flags & known) == 0 || (flags & ~known) != 0) return -FI_EINVAL;
  for (const place& each : places) {
    if ((flags & each.flag) == 0) continue;
    const bool is_counted =
        each.flag == FI_REMOTE_WRITE ? row.remote_counter_counts_writes : row.counted.contains(each.name);
    if (is_counted && *each.counts != nullptr) return -FI_EINVAL;
    if (is_counted) *each.counts = &bound;
  }
  if (std::find(bound.endpoints.begin(), bound.endpoints.end(), &e) == bound.endpoints.end())
    bound.endpoints.push_back(&e);
  e.counters_bound.push_back(&bound);
  return 0;
}

}  // namespace

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
      return bind_counter(e, *reinterpret_cast<counter*>(to), flags);
    case FI_CLASS_STX_CTX:  // a shared context has room for all: each endpoint transmits as if alone
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
  if ((flags & FI_RECV) != 0) {
    e.receive = queue;
    e.selective_receive = (flags & FI_SELECTIVE_COMPLETION) != 0;
  }
  return 0;
}

namespace {

/// FI_GETOPSFLAG and FI_SETOPSFLAG: the flags of calls without flags, of one direction.
int operation_flags(endpoint& e, int command, std::uint64_t* flags) {
  if (flags == nullptr) return -FI_EINVAL;
  const bool transmits = (*flags & FI_TRANSMIT) != 0;
  if (transmits == ((*flags & FI_RECV) != 0)) return -FI_EINVAL;
  std::uint64_t& own = transmits ? e.transmit_flags : e.receive_flags;
  if (command == FI_GETOPSFLAG) *flags = own;
  else own = *flags & ~(std::uint64_t{FI_TRANSMIT} | FI_RECV);
  return 0;
}

/// Whether an endpoint that transmits (or receives) has a queue or a counter that tells of it.
bool tells(const endpoint& e, const completion_queue* queue) { return queue != nullptr || !e.counters_bound.empty(); }

/// `by` is the class of the handle: each direction of a context is enabled by itself.
int enable(endpoint& e, std::size_t by) {
  if (e.table == nullptr && !emulated()->connected) return -FI_ENOAV;
  const bool receives = by != FI_CLASS_TX_CTX && (e.caps & (FI_MSG | FI_TAGGED)) != 0 && (e.caps & FI_RECV) != 0;
  if ((by != FI_CLASS_RX_CTX && !tells(e, e.transmit)) || (receives && !tells(e, e.receive))) return -FI_ENOCQ;
  if (!e.enabled)
    if (const int fault = e.wire.open(e.number)) return -fault;
  const bool first = !std::exchange(e.enabled, true);
  if (e.transmit != nullptr) watch(*e.transmit, e);
  if (e.receive != nullptr) watch(*e.receive, e);
  if (first) watch(e.events, e.wire);
  return 0;
}

}  // namespace

int control_endpoint(fid* handle, int command, void* argument) {
  const locked hold(process_lock());
  endpoint& e = of(handle);
  switch (command) {
    case FI_ENABLE:
      return enable(e, handle->fclass);
    case FI_GETOPSFLAG:
    case FI_SETOPSFLAG:
      return operation_flags(e, command, static_cast<std::uint64_t*>(argument));
    default:
      return -FI_ENOSYS;
  }
}

void destroy_endpoint(endpoint* closed) {
  if (!closed->held.empty())
    broken("batch_closed", "an endpoint was closed while posts with FI_MORE were held: they never left");
  leave_connection(*closed);
  for (completion_queue* queue : {closed->transmit, closed->receive})
    if (queue != nullptr) std::erase(queue->endpoints, closed);
  for (counter* each : closed->counters_bound) std::erase(each->endpoints, closed);
  std::erase(closed->domain->endpoints, closed);
  delete closed;  // NOLINT(cppcoreguidelines-owning-memory)
}

namespace {

int close_endpoint(fid* handle) {
  const locked hold(process_lock());
  destroy_endpoint(&of(handle));
  return 0;
}

ssize_t cancel(fid* handle, void* context) {
  const locked hold(process_lock());
  const int unknown = emulated()->cancel_of_unknown;
  if (unknown == FI_ENOSYS) return -FI_ENOSYS;  // the provider cancels nothing
  return cancel_receive(of(handle), context) ? 0 : -unknown;
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

}  // namespace

fi_ops_ep endpoint_calls{sizeof(fi_ops_ep), cancel, get_option, set_option, none, none, none, none};

void give_calls(fid_ep& to) {
  to.ops = &endpoint_calls;
  to.cm = &connection_calls;
  to.msg = &message_calls;
  to.rma = &remote_calls;
  to.tagged = &tagged_calls;
  to.atomic = &atomic_calls;
}

std::uint64_t new_number() {
  std::random_device random;
  return number_that_fits(*emulated(), (static_cast<std::uint64_t>(random()) << 32U) | random());
}

endpoint* make_endpoint(fid_domain* domain, const fi_info* info, std::uint64_t number, void* context) {
  const profile& row = *emulated();
  auto* made = new endpoint;
  made->fid.fid = {FI_CLASS_EP, context, &base_calls};
  give_calls(made->fid);
  made->domain = reinterpret_cast<domain_object*>(domain);
  made->caps = info->caps;
  const bool without_messages = row.immediate_without_messages != 0 && (info->caps & (FI_MSG | FI_TAGGED)) == 0 &&
                                (info->mode & (FI_CONTEXT | FI_CONTEXT2)) == 0;
  made->context_bytes = without_messages ? 0 : row.context_bytes;
  made->immediate_bytes = without_messages ? row.immediate_without_messages : write_immediate_width(row);
  made->transmit_flags = info->tx_attr->op_flags;
  made->receive_flags = info->rx_attr->op_flags;
  made->transmit_size = info->tx_attr->size != 0 ? info->tx_attr->size : row.queue_depth;
  made->receive_size = info->rx_attr->size != 0 ? info->rx_attr->size : row.queue_depth;
  made->number = number;
  static std::uint64_t count = 0;
  made->decisions = chance(conducted().seed * 0x9e3779b97f4a7c15 + (conducted().process << 32U) + ++count);
  made->domain->endpoints.push_back(made);
  return made;
}

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** opened, void* context) {
  const locked hold(process_lock());
  const bool connected = emulated()->connected;
  if (info->ep_attr->type != (connected ? FI_EP_MSG : FI_EP_RDM) && info->ep_attr->type != FI_EP_UNSPEC)
    return -FI_EINVAL;
  endpoint* made = make_endpoint(domain, info, new_number(), context);
  if (info->handle != nullptr && info->handle->fclass == FI_CLASS_CONNREQ) {
    const std::unique_ptr<connection_request> asked(reinterpret_cast<connection_request*>(info->handle));
    made->peer = asked->from;
    made->asked = true;
  }
  *opened = &made->fid;
  return 0;
}

}  // namespace weft::emulator
