// SPDX-License-Identifier: Apache-2.0
//
// Remote reads and writes (fi_rma(3)).
#include "posting.hpp"

namespace weft::emulator {
namespace {

endpoint& of(fid_ep* handle) { return endpoint_of(handle); }

// ---- writes
request writing(const iovec* vector, std::size_t count, void** descriptors, fi_addr_t to, std::uint64_t address,
                std::uint64_t key, void* context, std::uint64_t flags) {
  request what;
  what.kind = packet_kind::write;
  what.to = to;
  what.from = vector;
  what.count = count;
  what.descriptors = descriptors;
  what.address = address;
  what.key = key;
  what.context = context;
  what.flags = flags;
  what.entry_flags = FI_RMA | FI_WRITE;
  return what;
}
ssize_t write(fid_ep* ep, const void* buffer, std::size_t size, void* descriptor, fi_addr_t to, std::uint64_t address,
              std::uint64_t key, void* context) {
  const iovec one{const_cast<void*>(buffer), size};
  return post(of(ep), writing(&one, 1, &descriptor, to, address, key, context, usual_flags(of(ep))));
}
ssize_t writev(fid_ep* ep, const iovec* vector, void** descriptors, std::size_t count, fi_addr_t to,
               std::uint64_t address, std::uint64_t key, void* context) {
  return post(of(ep), writing(vector, count, descriptors, to, address, key, context, usual_flags(of(ep))));
}
ssize_t writemsg(fid_ep* ep, const fi_msg_rma* m, std::uint64_t flags) {
  if (m->rma_iov_count != 1) return -FI_EINVAL;
  request what =
      writing(m->msg_iov, m->iov_count, m->desc, m->addr, m->rma_iov->addr, m->rma_iov->key, m->context, flags);
  what.has_data = (flags & FI_REMOTE_CQ_DATA) != 0;
  what.data = m->data;
  what.listed = true;
  return post(of(ep), what);
}
ssize_t inject(fid_ep* ep, const void* buffer, std::size_t size, fi_addr_t to, std::uint64_t address,
               std::uint64_t key) {
  const iovec one{const_cast<void*>(buffer), size};
  request what = writing(&one, 1, nullptr, to, address, key, nullptr, 0);
  what.silent = true;
  return post(of(ep), what);
}
ssize_t writedata(fid_ep* ep, const void* buffer, std::size_t size, void* descriptor, std::uint64_t data, fi_addr_t to,
                  std::uint64_t address, std::uint64_t key, void* context) {
  const iovec one{const_cast<void*>(buffer), size};
  request what = writing(&one, 1, &descriptor, to, address, key, context, usual_flags(of(ep)));
  what.has_data = true;
  what.data = data;
  return post(of(ep), what);
}
ssize_t injectdata(fid_ep* ep, const void* buffer, std::size_t size, std::uint64_t data, fi_addr_t to,
                   std::uint64_t address, std::uint64_t key) {
  const iovec one{const_cast<void*>(buffer), size};
  request what = writing(&one, 1, nullptr, to, address, key, nullptr, 0);
  what.silent = what.has_data = true;
  what.data = data;
  return post(of(ep), what);
}

// ---- reads
ssize_t reading(fid_ep* ep, const iovec* vector, void** descriptors, std::size_t count, fi_addr_t from,
                std::uint64_t address, std::uint64_t key, void* context, std::uint64_t flags) {
  request what;
  what.kind = packet_kind::read;
  what.to = from;
  what.into = vector;
  what.into_count = count;
  what.into_descriptors = descriptors;
  what.address = address;
  what.key = key;
  what.context = context;
  what.flags = flags;
  what.entry_flags = FI_RMA | FI_READ;
  for (std::size_t i = 0; i < count; ++i) what.length += vector[i].iov_len;
  return post(of(ep), what);
}
ssize_t read(fid_ep* ep, void* buffer, std::size_t size, void* descriptor, fi_addr_t from, std::uint64_t address,
             std::uint64_t key, void* context) {
  const iovec one{buffer, size};
  return reading(ep, &one, &descriptor, 1, from, address, key, context, usual_flags(of(ep)));
}
ssize_t readv(fid_ep* ep, const iovec* vector, void** descriptors, std::size_t count, fi_addr_t from,
              std::uint64_t address, std::uint64_t key, void* context) {
  return reading(ep, vector, descriptors, count, from, address, key, context, usual_flags(of(ep)));
}
ssize_t readmsg(fid_ep* ep, const fi_msg_rma* m, std::uint64_t flags) {
  if (m->rma_iov_count != 1) return -FI_EINVAL;
  return reading(ep, m->msg_iov, m->desc, m->iov_count, m->addr, m->rma_iov->addr, m->rma_iov->key, m->context, flags);
}

}  // namespace

fi_ops_rma remote_calls{sizeof(fi_ops_rma), read,   readv,     readmsg,   write, writev,
                        writemsg,           inject, writedata, injectdata};

}  // namespace weft::emulator
