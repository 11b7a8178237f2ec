// SPDX-License-Identifier: Apache-2.0
//
// Messages and tagged messages (fi_msg(3), fi_tagged(3)).
#include "posting.hpp"
#include "rules.hpp"

namespace weft::emulator {
namespace {

endpoint& of(fid_ep* handle) { return *reinterpret_cast<endpoint*>(handle); }

ssize_t post_receive(fid_ep* handle, const iovec* vector, void* const* descriptors, std::size_t count, void* context,
                     std::uint64_t flags, const std::uint64_t* tag, std::uint64_t ignore) {
  const locked hold(process_lock());
  endpoint& to = of(handle);
  if (count > 1)
    return broken("gather_limit",
                  "a receive with " + std::to_string(count) + " buffers was posted; the emulator takes one");
  if (to.receives.size() + to.tagged_receives.size() >= to.receive_size) return -FI_EAGAIN;
  if (emulated()->context_bytes > 0 && context == nullptr)
    return broken("context_bytes", "a receive was posted without a context; the library keeps its own state in " +
                                       std::to_string(emulated()->context_bytes) + " bytes of it");
  if ((flags & FI_MULTI_RECV) != 0 && !emulated()->multi_receive)
    return broken("multi_receive", "a receive for many messages was posted; on this fabric each takes one", FI_ENOSYS);
  if (const int refused = check_local(to, vector, descriptors, count, "posted for a message")) return refused;
  posted_receive made;
  if (count == 1) made.buffer = *vector;
  made.context = context;
  made.multi = (flags & FI_MULTI_RECV) != 0;
  made.noise = take_context(context);
  made.ignore = ignore;
  if (tag != nullptr) made.tag = *tag;
  (tag != nullptr ? to.tagged_receives : to.receives).push_back(made);
  return 0;
}

request message(packet_kind kind, const iovec* vector, std::size_t count, void** descriptors, fi_addr_t to,
                void* context, std::uint64_t flags) {
  request what;
  what.kind = kind;
  what.to = to;
  what.from = vector;
  what.count = count;
  what.descriptors = descriptors;
  what.context = context;
  what.flags = flags;
  what.entry_flags = FI_SEND | (kind == packet_kind::tagged ? FI_TAGGED : FI_MSG);
  return what;
}

// ---- messages
ssize_t recv(fid_ep* ep, void* buffer, std::size_t size, void* descriptor, fi_addr_t /*from*/, void* context) {
  const iovec one{buffer, size};
  return post_receive(ep, &one, &descriptor, 1, context, of(ep).receive_flags, nullptr, 0);
}
ssize_t recvv(fid_ep* ep, const iovec* vector, void** descriptors, std::size_t count, fi_addr_t /*from*/,
              void* context) {
  return post_receive(ep, vector, descriptors, count, context, of(ep).receive_flags, nullptr, 0);
}
ssize_t recvmsg(fid_ep* ep, const fi_msg* m, std::uint64_t flags) {
  return post_receive(ep, m->msg_iov, m->desc, m->iov_count, m->context, flags, nullptr, 0);
}
ssize_t send(fid_ep* ep, const void* buffer, std::size_t size, void* descriptor, fi_addr_t to, void* context) {
  const iovec one{const_cast<void*>(buffer), size};
  return post(of(ep), message(packet_kind::message, &one, 1, &descriptor, to, context, usual_flags(of(ep))));
}
ssize_t sendv(fid_ep* ep, const iovec* vector, void** descriptors, std::size_t count, fi_addr_t to, void* context) {
  return post(of(ep), message(packet_kind::message, vector, count, descriptors, to, context, usual_flags(of(ep))));
}
ssize_t sendmsg(fid_ep* ep, const fi_msg* m, std::uint64_t flags) {
  request what = message(packet_kind::message, m->msg_iov, m->iov_count, m->desc, m->addr, m->context, flags);
  what.has_data = (flags & FI_REMOTE_CQ_DATA) != 0;
  what.data = m->data;
  what.listed = true;
  return post(of(ep), what);
}
ssize_t inject(fid_ep* ep, const void* buffer, std::size_t size, fi_addr_t to) {
  const iovec one{const_cast<void*>(buffer), size};
  request what = message(packet_kind::message, &one, 1, nullptr, to, nullptr, 0);
  what.silent = true;
  return post(of(ep), what);
}
ssize_t senddata(fid_ep* ep, const void* buffer, std::size_t size, void* descriptor, std::uint64_t data, fi_addr_t to,
                 void* context) {
  const iovec one{const_cast<void*>(buffer), size};
  request what = message(packet_kind::message, &one, 1, &descriptor, to, context, usual_flags(of(ep)));
  what.has_data = true;
  what.data = data;
  return post(of(ep), what);
}
ssize_t injectdata(fid_ep* ep, const void* buffer, std::size_t size, std::uint64_t data, fi_addr_t to) {
  const iovec one{const_cast<void*>(buffer), size};
  request what = message(packet_kind::message, &one, 1, nullptr, to, nullptr, 0);
  what.silent = what.has_data = true;
  what.data = data;
  return post(of(ep), what);
}

// ---- tagged
ssize_t trecv(fid_ep* ep, void* buffer, std::size_t size, void* descriptor, fi_addr_t /*from*/, std::uint64_t tag,
              std::uint64_t ignore, void* context) {
  const iovec one{buffer, size};
  return post_receive(ep, &one, &descriptor, 1, context, 0, &tag, ignore);
}
ssize_t trecvv(fid_ep* ep, const iovec* vector, void** descriptors, std::size_t count, fi_addr_t /*from*/,
               std::uint64_t tag, std::uint64_t ignore, void* context) {
  return post_receive(ep, vector, descriptors, count, context, 0, &tag, ignore);
}
ssize_t trecvmsg(fid_ep* ep, const fi_msg_tagged* m, std::uint64_t flags) {
  if ((flags & (FI_PEEK | FI_CLAIM)) != 0) return -FI_ENOSYS;
  return post_receive(ep, m->msg_iov, m->desc, m->iov_count, m->context, flags, &m->tag, m->ignore);
}
ssize_t tsend(fid_ep* ep, const void* buffer, std::size_t size, void* descriptor, fi_addr_t to, std::uint64_t tag,
              void* context) {
  const iovec one{const_cast<void*>(buffer), size};
  request what = message(packet_kind::tagged, &one, 1, &descriptor, to, context, usual_flags(of(ep)));
  what.tag = tag;
  return post(of(ep), what);
}
ssize_t tsendv(fid_ep* ep, const iovec* vector, void** descriptors, std::size_t count, fi_addr_t to, std::uint64_t tag,
               void* context) {
  request what = message(packet_kind::tagged, vector, count, descriptors, to, context, usual_flags(of(ep)));
  what.tag = tag;
  return post(of(ep), what);
}
ssize_t tsendmsg(fid_ep* ep, const fi_msg_tagged* m, std::uint64_t flags) {
  request what = message(packet_kind::tagged, m->msg_iov, m->iov_count, m->desc, m->addr, m->context, flags);
  what.tag = m->tag;
  what.has_data = (flags & FI_REMOTE_CQ_DATA) != 0;
  what.data = m->data;
  what.listed = true;
  return post(of(ep), what);
}
ssize_t tinject(fid_ep* ep, const void* buffer, std::size_t size, fi_addr_t to, std::uint64_t tag) {
  const iovec one{const_cast<void*>(buffer), size};
  request what = message(packet_kind::tagged, &one, 1, nullptr, to, nullptr, 0);
  what.silent = true;
  what.tag = tag;
  return post(of(ep), what);
}

}  // namespace

fi_ops_msg message_calls{sizeof(fi_ops_msg), recv, recvv, recvmsg, send, sendv, sendmsg, inject, senddata, injectdata};
fi_ops_tagged tagged_calls{
    sizeof(fi_ops_tagged), trecv, trecvv, trecvmsg, tsend, tsendv, tsendmsg, tinject, none, none};

}  // namespace weft::emulator
