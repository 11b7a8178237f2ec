// SPDX-License-Identifier: Apache-2.0
//
// Messages, tagged messages and remote memory (fi_msg(3), fi_tagged(3), fi_rma(3)).
#include "posting.hpp"

namespace weft::recording {
namespace {

// ---- messages
ssize_t receive(fid_ep* e, void* b, std::size_t n, void* d, fi_addr_t from, void* x) {
  post_call c(e, "recv");
  c.buffer(b, n, d).takes(true).to(from);
  return c.post(x, [&] { return fi_recv(real(e), b, n, d, from, x); });
}
ssize_t receive_list(fid_ep* e, const iovec* v, void** d, std::size_t n, fi_addr_t from, void* x) {
  post_call c(e, "recvv");
  c.buffers(v, n, d).takes(true).to(from);
  return c.post(x, [&] { return fi_recvv(real(e), v, d, n, from, x); });
}
ssize_t receive_message(fid_ep* e, const fi_msg* m, std::uint64_t flags) {
  post_call c(e, "recvmsg");
  c.flags(flags).buffers(m->msg_iov, m->iov_count, m->desc).takes(true).to(m->addr);
  return c.post(m->context, [&] { return fi_recvmsg(real(e), m, flags); });
}
ssize_t send(fid_ep* e, const void* b, std::size_t n, void* d, fi_addr_t to, void* x) {
  post_call c(e, "send");
  c.buffer(b, n, d).to(to);
  return c.post(x, [&] { return fi_send(real(e), b, n, d, to, x); });
}
ssize_t send_list(fid_ep* e, const iovec* v, void** d, std::size_t n, fi_addr_t to, void* x) {
  post_call c(e, "sendv");
  c.buffers(v, n, d).to(to);
  return c.post(x, [&] { return fi_sendv(real(e), v, d, n, to, x); });
}
ssize_t send_message(fid_ep* e, const fi_msg* m, std::uint64_t flags) {
  post_call c(e, "sendmsg");
  c.flags(flags).buffers(m->msg_iov, m->iov_count, m->desc).to(m->addr);
  if ((flags & FI_REMOTE_CQ_DATA) != 0) c.data(m->data);
  return c.post(m->context, [&] { return fi_sendmsg(real(e), m, flags); });
}
ssize_t inject(fid_ep* e, const void* b, std::size_t n, fi_addr_t to) {
  post_call c(e, "inject");
  c.silent().buffer(b, n, nullptr).to(to);
  return c.post(nullptr, [&] { return fi_inject(real(e), b, n, to); });
}
ssize_t send_data(fid_ep* e, const void* b, std::size_t n, void* d, std::uint64_t data, fi_addr_t to, void* x) {
  post_call c(e, "senddata");
  c.buffer(b, n, d).data(data).to(to);
  return c.post(x, [&] { return fi_senddata(real(e), b, n, d, data, to, x); });
}
ssize_t inject_data(fid_ep* e, const void* b, std::size_t n, std::uint64_t data, fi_addr_t to) {
  post_call c(e, "injectdata");
  c.silent().buffer(b, n, nullptr).data(data).to(to);
  return c.post(nullptr, [&] { return fi_injectdata(real(e), b, n, data, to); });
}

// ---- tagged messages
ssize_t tagged_receive(fid_ep* e, void* b, std::size_t n, void* d, fi_addr_t from, std::uint64_t tag,
                       std::uint64_t ignore, void* x) {
  post_call c(e, "trecv");
  c.buffer(b, n, d).takes(true).to(from).tag(tag).ignore(ignore);
  return c.post(x, [&] { return fi_trecv(real(e), b, n, d, from, tag, ignore, x); });
}
ssize_t tagged_receive_list(fid_ep* e, const iovec* v, void** d, std::size_t n, fi_addr_t from, std::uint64_t tag,
                            std::uint64_t ignore, void* x) {
  post_call c(e, "trecvv");
  c.buffers(v, n, d).takes(true).to(from).tag(tag).ignore(ignore);
  return c.post(x, [&] { return fi_trecvv(real(e), v, d, n, from, tag, ignore, x); });
}
ssize_t tagged_receive_message(fid_ep* e, const fi_msg_tagged* m, std::uint64_t flags) {
  post_call c(e, "trecvmsg");
  c.flags(flags).buffers(m->msg_iov, m->iov_count, m->desc).takes(true).to(m->addr).tag(m->tag).ignore(m->ignore);
  return c.post(m->context, [&] { return fi_trecvmsg(real(e), m, flags); });
}
ssize_t tagged_send(fid_ep* e, const void* b, std::size_t n, void* d, fi_addr_t to, std::uint64_t tag, void* x) {
  post_call c(e, "tsend");
  c.buffer(b, n, d).to(to).tag(tag);
  return c.post(x, [&] { return fi_tsend(real(e), b, n, d, to, tag, x); });
}
ssize_t tagged_send_list(fid_ep* e, const iovec* v, void** d, std::size_t n, fi_addr_t to, std::uint64_t tag, void* x) {
  post_call c(e, "tsendv");
  c.buffers(v, n, d).to(to).tag(tag);
  return c.post(x, [&] { return fi_tsendv(real(e), v, d, n, to, tag, x); });
}
ssize_t tagged_send_message(fid_ep* e, const fi_msg_tagged* m, std::uint64_t flags) {
  post_call c(e, "tsendmsg");
  c.flags(flags).buffers(m->msg_iov, m->iov_count, m->desc).to(m->addr).tag(m->tag);
  if ((flags & FI_REMOTE_CQ_DATA) != 0) c.data(m->data);
  return c.post(m->context, [&] { return fi_tsendmsg(real(e), m, flags); });
}
ssize_t tagged_inject(fid_ep* e, const void* b, std::size_t n, fi_addr_t to, std::uint64_t tag) {
  post_call c(e, "tinject");
  c.silent().buffer(b, n, nullptr).to(to).tag(tag);
  return c.post(nullptr, [&] { return fi_tinject(real(e), b, n, to, tag); });
}
ssize_t tagged_send_data(fid_ep* e, const void* b, std::size_t n, void* d, std::uint64_t data, fi_addr_t to,
                         std::uint64_t tag, void* x) {
  post_call c(e, "tsenddata");
  c.buffer(b, n, d).data(data).to(to).tag(tag);
  return c.post(x, [&] { return fi_tsenddata(real(e), b, n, d, data, to, tag, x); });
}
ssize_t tagged_inject_data(fid_ep* e, const void* b, std::size_t n, std::uint64_t data, fi_addr_t to,
                           std::uint64_t tag) {
  post_call c(e, "tinjectdata");
  c.silent().buffer(b, n, nullptr).data(data).to(to).tag(tag);
  return c.post(nullptr, [&] { return fi_tinjectdata(real(e), b, n, data, to, tag); });
}

// ---- remote memory
ssize_t read(fid_ep* e, void* b, std::size_t n, void* d, fi_addr_t from, std::uint64_t at, std::uint64_t key, void* x) {
  post_call c(e, "read");
  c.buffer(b, n, d).takes(false).to(from).remote(at, key);
  return c.post(x, [&] { return fi_read(real(e), b, n, d, from, at, key, x); });
}
ssize_t read_list(fid_ep* e, const iovec* v, void** d, std::size_t n, fi_addr_t from, std::uint64_t at,
                  std::uint64_t key, void* x) {
  post_call c(e, "readv");
  c.buffers(v, n, d).takes(false).to(from).remote(at, key);
  return c.post(x, [&] { return fi_readv(real(e), v, d, n, from, at, key, x); });
}
ssize_t read_message(fid_ep* e, const fi_msg_rma* m, std::uint64_t flags) {
  post_call c(e, "readmsg");
  c.flags(flags).buffers(m->msg_iov, m->iov_count, m->desc).takes(false).to(m->addr);
  c.remotes(m->rma_iov, m->rma_iov_count);
  return c.post(m->context, [&] { return fi_readmsg(real(e), m, flags); });
}
ssize_t write(fid_ep* e, const void* b, std::size_t n, void* d, fi_addr_t to, std::uint64_t at, std::uint64_t key,
              void* x) {
  post_call c(e, "write");
  c.buffer(b, n, d).to(to).remote(at, key);
  return c.post(x, [&] { return fi_write(real(e), b, n, d, to, at, key, x); });
}
ssize_t write_list(fid_ep* e, const iovec* v, void** d, std::size_t n, fi_addr_t to, std::uint64_t at,
                   std::uint64_t key, void* x) {
  post_call c(e, "writev");
  c.buffers(v, n, d).to(to).remote(at, key);
  return c.post(x, [&] { return fi_writev(real(e), v, d, n, to, at, key, x); });
}
ssize_t write_message(fid_ep* e, const fi_msg_rma* m, std::uint64_t flags) {
  post_call c(e, "writemsg");
  c.flags(flags).buffers(m->msg_iov, m->iov_count, m->desc).to(m->addr).remotes(m->rma_iov, m->rma_iov_count);
  if ((flags & FI_REMOTE_CQ_DATA) != 0) c.data(m->data);
  return c.post(m->context, [&] { return fi_writemsg(real(e), m, flags); });
}
ssize_t inject_write(fid_ep* e, const void* b, std::size_t n, fi_addr_t to, std::uint64_t at, std::uint64_t key) {
  post_call c(e, "inject_write");
  c.silent().buffer(b, n, nullptr).to(to).remote(at, key);
  return c.post(nullptr, [&] { return fi_inject_write(real(e), b, n, to, at, key); });
}
ssize_t write_data(fid_ep* e, const void* b, std::size_t n, void* d, std::uint64_t data, fi_addr_t to, std::uint64_t at,
                   std::uint64_t key, void* x) {
  post_call c(e, "writedata");
  c.buffer(b, n, d).data(data).to(to).remote(at, key);
  return c.post(x, [&] { return fi_writedata(real(e), b, n, d, data, to, at, key, x); });
}
ssize_t inject_write_data(fid_ep* e, const void* b, std::size_t n, std::uint64_t data, fi_addr_t to, std::uint64_t at,
                          std::uint64_t key) {
  post_call c(e, "inject_writedata");
  c.silent().buffer(b, n, nullptr).data(data).to(to).remote(at, key);
  return c.post(nullptr, [&] { return fi_inject_writedata(real(e), b, n, data, to, at, key); });
}

}  // namespace

fi_ops_msg message_calls{sizeof(fi_ops_msg), receive,      receive_list, receive_message, send,
                         send_list,          send_message, inject,       send_data,       inject_data};
fi_ops_tagged tagged_calls{sizeof(fi_ops_tagged), tagged_receive,    tagged_receive_list, tagged_receive_message,
                           tagged_send,           tagged_send_list,  tagged_send_message, tagged_inject,
                           tagged_send_data,      tagged_inject_data};
fi_ops_rma remote_calls{sizeof(fi_ops_rma), read,          read_list,    read_message, write,
                        write_list,         write_message, inject_write, write_data,   inject_write_data};

}  // namespace weft::recording
