// SPDX-License-Identifier: Apache-2.0
//
// Fabrics and domains, and what they open (fi_fabric(3), fi_domain(3)); fi_close(3), fi_bind and fi_control of all.
#include "info_text.hpp"
#include "posting.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <vector>

namespace weft::recording {
namespace {

int answer_of(const object* made, const call& c) { return made != nullptr ? 0 : static_cast<int>(c.answered()); }

// ---- of a fabric
int open_domain(fid_fabric* f, fi_info* info, fid_domain** into, void* x) {
  call c(&of(f), "domain");
  c.word("info", text_of_info(info));
  object* made = opened<fid_domain>(c, "domain", x, &base_calls, FI_CLASS_DOMAIN,
                                    [&](fid_domain** d) { return fi_domain(real(f), info, d, x); });
  if (made == nullptr) return answer_of(made, c);
  made->face.domain.ops = &domain_calls;
  made->face.domain.mr = &memory_calls;
  *into = &made->face.domain;
  return 0;
}
int open_passive(fid_fabric* f, fi_info* info, fid_pep** into, void* x) {
  call c(&of(f), "passive_ep");
  c.word("info", text_of_info(info));
  object* made = opened<fid_pep>(c, "pep", x, &base_calls, FI_CLASS_PEP,
                                 [&](fid_pep** p) { return fi_passive_ep(real(f), info, p, x); });
  if (made == nullptr) return answer_of(made, c);
  made->face.pep.ops = &endpoint_calls;
  made->face.pep.cm = &connection_calls;
  *into = &made->face.pep;
  return 0;
}
int open_events(fid_fabric* f, fi_eq_attr* attributes, fid_eq** into, void* x) {
  call c(&of(f), "eq_open");
  if (attributes != nullptr) c.in("size", attributes->size).in("wait", attributes->wait_obj);
  object* made = opened<fid_eq>(c, "eq", x, &base_calls, FI_CLASS_EQ,
                                [&](fid_eq** q) { return fi_eq_open(real(f), attributes, q, x); });
  if (made == nullptr) return answer_of(made, c);
  made->face.eq.ops = &event_calls;
  *into = &made->face.eq;
  return 0;
}
int open_wait_set(fid_fabric* /*fabric*/, fi_wait_attr* /*attributes*/, fid_wait** /*into*/) {
  return not_recorded("fi_wait_open");
}
/// Not in a record: what a replay lets a program wait for is always ready, so nothing is missed.
int try_wait(fid_fabric* f, fid** handles, int count) {
  if (session::get().how() == mode::replaying) return 0;
  const inside library;
  std::vector<fid*> theirs;
  for (int i = 0; i < count; ++i) theirs.push_back(real_of(handles[i]));
  return fi_trywait(real(f), theirs.data(), count);
}

// ---- of a domain
int open_table(fid_domain* d, fi_av_attr* attributes, fid_av** into, void* x) {
  call c(&of(d), "av_open");
  c.in("type", attributes->type)
      .in("count", attributes->count)
      .in("context_bits", static_cast<std::uint64_t>(attributes->rx_ctx_bits))
      .hex("flags", attributes->flags)
      .text("name", attributes->name);
  object* made = opened<fid_av>(c, "av", x, &base_calls, FI_CLASS_AV,
                                [&](fid_av** t) { return fi_av_open(real(d), attributes, t, x); });
  if (made == nullptr) return answer_of(made, c);
  c.out("type", attributes->type);
  made->face.av.ops = &table_calls;
  *into = &made->face.av;
  return 0;
}
int open_queue(fid_domain* d, fi_cq_attr* attributes, fid_cq** into, void* x) {
  call c(&of(d), "cq_open");
  c.in("size", attributes->size).in("format", attributes->format).in("wait", attributes->wait_obj);
  c.hex("flags", attributes->flags);
  object* made = opened<fid_cq>(c, "cq", x, &base_calls, FI_CLASS_CQ,
                                [&](fid_cq** q) { return fi_cq_open(real(d), attributes, q, x); });
  if (made == nullptr) return answer_of(made, c);
  c.out("format", attributes->format);
  c.out("size", attributes->size);
  made->format = attributes->format;
  made->face.cq.ops = &queue_calls;
  *into = &made->face.cq;
  return 0;
}
int open_counter(fid_domain* d, fi_cntr_attr* attributes, fid_cntr** into, void* x) {
  call c(&of(d), "cntr_open");
  if (attributes != nullptr) c.in("wait", attributes->wait_obj);
  object* made = opened<fid_cntr>(c, "cntr", x, &base_calls, FI_CLASS_CNTR,
                                  [&](fid_cntr** n) { return fi_cntr_open(real(d), attributes, n, x); });
  if (made == nullptr) return answer_of(made, c);
  made->face.cntr.ops = &counter_calls;
  *into = &made->face.cntr;
  return 0;
}
int open_poll_set(fid_domain* d, fi_poll_attr* attributes, fid_poll** into) {
  call c(&of(d), "poll_open");
  object* made = opened<fid_poll>(c, "poll", nullptr, &base_calls, FI_CLASS_POLL, [&](fid_poll** p) {
    return of(d).real->fclass == FI_CLASS_DOMAIN ? real(d)->ops->poll_open(real(d), attributes, p) : -FI_EINVAL;
  });
  if (made == nullptr) return answer_of(made, c);
  made->face.poll.ops = &poll_calls;
  *into = &made->face.poll;
  return 0;
}
int open_endpoint_as(call& c, std::string_view kind, std::size_t fid_class, fi_info* info, fid_ep** into, void* x,
                     int (*open)(fid_domain*, fi_info*, fid_ep**, void*), fid_domain* d) {
  c.word("info", text_of_info(info));
  if (info->handle != nullptr) c.word("request", request_name(info->handle));
  object* made =
      opened<fid_ep>(c, kind, x, &base_calls, fid_class, [&](fid_ep** e) { return open(real(d), info, e, x); });
  if (made == nullptr) return answer_of(made, c);
  made->post_flags = (info->tx_attr != nullptr ? info->tx_attr->op_flags : 0) |
                     (info->rx_attr != nullptr ? info->rx_attr->op_flags & FI_MULTI_RECV : 0);
  give_endpoint_calls(made->face.ep);
  *into = &made->face.ep;
  return 0;
}
int open_endpoint(fid_domain* d, fi_info* info, fid_ep** into, void* x) {
  call c(&of(d), "endpoint");
  return open_endpoint_as(c, "ep", FI_CLASS_EP, info, into, x, fi_endpoint, d);
}
int open_scalable(fid_domain* d, fi_info* info, fid_ep** into, void* x) {
  call c(&of(d), "scalable_ep");
  return open_endpoint_as(c, "sep", FI_CLASS_SEP, info, into, x, fi_scalable_ep, d);
}
int open_shared_transmit(fid_domain* d, fi_tx_attr* attributes, fid_stx** into, void* x) {
  call c(&of(d), "stx_context");
  object* made = opened<fid_stx>(c, "stx", x, &base_calls, FI_CLASS_STX_CTX,
                                 [&](fid_stx** s) { return fi_stx_context(real(d), attributes, s, x); });
  if (made == nullptr) return answer_of(made, c);
  *into = &made->face.stx;
  return 0;
}
int open_shared_receive(fid_domain* d, fi_rx_attr* attributes, fid_ep** into, void* x) {
  call c(&of(d), "srx_context");
  object* made = opened<fid_ep>(c, "srx", x, &base_calls, FI_CLASS_SRX_CTX,
                                [&](fid_ep** e) { return fi_srx_context(real(d), attributes, e, x); });
  if (made == nullptr) return answer_of(made, c);
  give_endpoint_calls(made->face.ep);
  *into = &made->face.ep;
  return 0;
}
int query_atomic(fid_domain* d, fi_datatype type, fi_op operation, fi_atomic_attr* attributes, std::uint64_t flags) {
  call c(&of(d), "query_atomic");
  c.in("type", type).in("operation", operation).hex("flags", flags);
  const auto answered = c.answer([&] { return fi_query_atomic(real(d), type, operation, attributes, flags); });
  if (answered == 0) c.out("count", attributes->count);
  if (answered == 0) c.out("size", attributes->size);
  return static_cast<int>(answered);
}

// ---- of every object
int close(fid* handle) {
  call c(&of(handle), "close");
  const auto answered = c.answer([&] { return fi_close(of(handle).real); });
  if (answered != 0) return static_cast<int>(answered);
  if (of(handle).descriptor >= 0) ::close(of(handle).descriptor);
  forget_posts_of(of(handle));
  forget_object(&of(handle));
  return 0;
}

int bind(fid* handle, fid* to, std::uint64_t flags) {
  call c(&of(handle), "bind");
  c.word("to", name_of(to)).hex("flags", flags);
  const auto answered = c.answer([&] { return of(handle).real->ops->bind(of(handle).real, real_of(to), flags); });
  if (answered == 0 && to->fclass == FI_CLASS_CQ) {
    if ((flags & FI_TRANSMIT) != 0) of(handle).transmit_queue = &of(to);
    if ((flags & FI_RECV) != 0) of(handle).receive_queue = &of(to);
    if ((flags & FI_TRANSMIT) != 0) of(handle).selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
  }
  if (handle->fclass == FI_CLASS_MR) take_key(c, of(handle), answered == 0);
  return static_cast<int>(answered);
}

/// What a program waits for in a replay: a descriptor that is always ready.
int descriptor_of(object& o) {
  if (o.descriptor < 0) o.descriptor = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
  return o.descriptor;
}

int control(fid* handle, int command, void* argument) {
  if (command == FI_ALIAS) return not_recorded("fi_ep_alias");
  call c(&of(handle), "control");
  c.in("command", static_cast<std::uint64_t>(command));
  if (command == FI_SETOPSFLAG) {
    const std::uint64_t flags = *static_cast<std::uint64_t*>(argument);
    c.hex("flags", flags);
    if ((flags & FI_TRANSMIT) != 0) of(handle).post_flags = flags & ~FI_TRANSMIT;
  }
  const auto answered = c.answer([&] { return of(handle).real->ops->control(of(handle).real, command, argument); });
  if (command == FI_GETWAIT && answered == 0 && c.replays()) *static_cast<int*>(argument) = descriptor_of(of(handle));
  if (command == FI_GETOPSFLAG && answered == 0) c.out("flags", *static_cast<std::uint64_t*>(argument));
  if (handle->fclass == FI_CLASS_MR) take_key(c, of(handle), answered == 0);
  return static_cast<int>(answered);
}

}  // namespace

fi_ops base_calls{sizeof(fi_ops), close, bind, control, emulator::none, emulator::none, emulator::none};
fi_ops_fabric fabric_calls{sizeof(fi_ops_fabric), open_domain, open_passive,  open_events,
                           open_wait_set,         try_wait,    emulator::none};
fi_ops_domain domain_calls{sizeof(fi_ops_domain), open_table,   open_queue,     open_endpoint,
                           open_scalable,         open_counter, open_poll_set,  open_shared_transmit,
                           open_shared_receive,   query_atomic, emulator::none, emulator::none};

}  // namespace weft::recording
