// SPDX-License-Identifier: Apache-2.0
//
// Tagged messages (fi_tagged(3)).
#include "posting.hpp"
#include "receiving.hpp"

namespace weft::emulator {
namespace {

endpoint& of(fid_ep* handle) { return endpoint_of(handle); }

ssize_t receive_into(fid_ep* ep, const iovec* vector, void* const* descriptors, std::size_t count, fi_addr_t from,
                     std::uint64_t tag, std::uint64_t ignore, void* context, std::uint64_t flags) {
  receive_request what;
  what.into = vector;
  what.descriptors = descriptors;
  what.count = count;
  what.from = from;
  what.context = context;
  what.flags = flags;
  what.tagged = true;
  what.tag = tag;
  what.ignore = ignore;
  return receive(of(ep), what);
}
/// Many messages to one buffer (FI_MULTI_RECV among the endpoint's own flags) concern receives without tags only.
std::uint64_t receive_flags(const endpoint& of) { return of.receive_flags & ~std::uint64_t{FI_MULTI_RECV}; }

ssize_t recv(fid_ep* ep, void* buffer, std::size_t size, void* descriptor, fi_addr_t from, std::uint64_t tag,
             std::uint64_t ignore, void* context) {
  const iovec one{buffer, size};
  return receive_into(ep, &one, &descriptor, 1, from, tag, ignore, context, receive_flags(of(ep)));
}
ssize_t recvv(fid_ep* ep, const iovec* vector, void** descriptors, std::size_t count, fi_addr_t from, std::uint64_t tag,
              std::uint64_t ignore, void* context) {
  return receive_into(ep, vector, descriptors, count, from, tag, ignore, context, receive_flags(of(ep)));
}
ssize_t recvmsg(fid_ep* ep, const fi_msg_tagged* m, std::uint64_t flags) {
  return receive_into(ep, m->msg_iov, m->desc, m->iov_count, m->addr, m->tag, m->ignore, m->context, flags);
}

request message(const iovec* vector, std::size_t count, void** descriptors, fi_addr_t to, std::uint64_t tag,
                void* context, std::uint64_t flags) {
  request what;
  what.kind = packet_kind::tagged;
  what.to = to;
  what.from = vector;
  what.count = count;
  what.descriptors = descriptors;
  what.tag = tag;
  what.context = context;
  what.flags = flags;
  what.entry_flags = FI_SEND | FI_TAGGED;
  return what;
}
ssize_t send(fid_ep* ep, const void* buffer, std::size_t size, void* descriptor, fi_addr_t to, std::uint64_t tag,
             void* context) {
  const iovec one{const_cast<void*>(buffer), size};
  return post(of(ep), message(&one, 1, &descriptor, to, tag, context, usual_flags(of(ep))));
}
ssize_t sendv(fid_ep* ep, const iovec* vector, void** descriptors, std::size_t count, fi_addr_t to, std::uint64_t tag,
              void* context) {
  return post(of(ep), message(vector, count, descriptors, to, tag, context, usual_flags(of(ep))));
}
ssize_t sendmsg(fid_ep* ep, const fi_msg_tagged* m, std::uint64_t flags) {
  request what = message(m->msg_iov, m->iov_count, m->desc, m->addr, m->tag, m->context, flags);
  what.has_data = (flags & FI_REMOTE_CQ_DATA) != 0;
  what.data = m->data;
  what.listed = true;
  return post(of(ep), what);
}
ssize_t inject(fid_ep* ep, const void* buffer, std::size_t size, fi_addr_t to, std::uint64_t tag) {
  const iovec one{const_cast<void*>(buffer), size};
  request what = message(&one, 1, nullptr, to, tag, nullptr, 0);
  what.silent = true;
  return post(of(ep), what);
}
ssize_t senddata(fid_ep* ep, const void* buffer, std::size_t size, void* descriptor, std::uint64_t data, fi_addr_t to,
                 std::uint64_t tag, void* context) {
  const iovec one{const_cast<void*>(buffer), size};
  request what = message(&one, 1, &descriptor, to, tag, context, usual_flags(of(ep)));
  what.has_data = true;
  what.data = data;
  return post(of(ep), what);
}
ssize_t injectdata(fid_ep* ep, const void* buffer, std::size_t size, std::uint64_t data, fi_addr_t to,
                   std::uint64_t tag) {
  const iovec one{const_cast<void*>(buffer), size};
  request what = message(&one, 1, nullptr, to, tag, nullptr, 0);
  what.silent = what.has_data = true;
  what.data = data;
  return post(of(ep), what);
}

}  // namespace

fi_ops_tagged tagged_calls{
    sizeof(fi_ops_tagged), recv, recvv, recvmsg, send, sendv, sendmsg, inject, senddata, injectdata};

}  // namespace weft::emulator
