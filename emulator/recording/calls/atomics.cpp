// SPDX-License-Identifier: Apache-2.0
//
// Atomics (fi_atomic(3)).
#include "posting.hpp"

#include <array>
#include <complex>

namespace weft::recording {
namespace {

/// Bytes of one element; 0 for a type of a later release.
std::size_t size_of_type(fi_datatype type) {
  constexpr std::array<std::size_t, 16> sizes{
      1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16, sizeof(long double), sizeof(std::complex<long double>), 16, 16};
  return static_cast<std::size_t>(type) < sizes.size() ? sizes.at(static_cast<std::size_t>(type)) : 0;
}

/// What is common to all: `what` has been said of the buffers.
struct atomic_call : post_call {
  using post_call::post_call;
  atomic_call& kind(fi_datatype type, fi_op operation) {
    in("type", static_cast<std::uint64_t>(type));
    in("operation", static_cast<std::uint64_t>(operation));
    return *this;
  }
  atomic_call& operands(const fi_ioc* from, std::size_t count, void** d, fi_datatype type) {
    std::vector<iovec> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back({from[i].addr, from[i].count * size_of_type(type)});
    buffers(all.data(), all.size(), d);
    return *this;
  }
  atomic_call& results(const fi_ioc* into, std::size_t count, fi_datatype type) {
    in("results", count);
    for (std::size_t i = 0; i < count; ++i) result(into[i].addr, into[i].count * size_of_type(type));
    return *this;
  }
  atomic_call& message(const fi_msg_atomic* m, std::uint64_t flag_bits) {
    flags(flag_bits);
    operands(m->msg_iov, m->iov_count, m->desc, m->datatype).kind(m->datatype, m->op).to(m->addr);
    for (std::size_t i = 0; i < m->rma_iov_count; ++i) {
      remote(m->rma_iov[i].addr, m->rma_iov[i].key);
      in("elements", m->rma_iov[i].count);
    }
    if ((flag_bits & FI_REMOTE_CQ_DATA) != 0) data(m->data);
    return *this;
  }
};

ssize_t update(fid_ep* e, const void* b, std::size_t n, void* d, fi_addr_t to, std::uint64_t at, std::uint64_t key,
               fi_datatype t, fi_op o, void* x) {
  atomic_call c(e, "atomic");
  c.buffer(b, n * size_of_type(t), d).to(to).remote(at, key);
  c.kind(t, o);
  return c.post(x, [&] { return fi_atomic(real(e), b, n, d, to, at, key, t, o, x); });
}
ssize_t update_list(fid_ep* e, const fi_ioc* v, void** d, std::size_t n, fi_addr_t to, std::uint64_t at,
                    std::uint64_t key, fi_datatype t, fi_op o, void* x) {
  atomic_call c(e, "atomicv");
  c.operands(v, n, d, t).kind(t, o).to(to).remote(at, key);
  return c.post(x, [&] { return fi_atomicv(real(e), v, d, n, to, at, key, t, o, x); });
}
ssize_t update_message(fid_ep* e, const fi_msg_atomic* m, std::uint64_t flags) {
  atomic_call c(e, "atomicmsg");
  c.message(m, flags);
  return c.post(m->context, [&] { return fi_atomicmsg(real(e), m, flags); });
}
ssize_t inject(fid_ep* e, const void* b, std::size_t n, fi_addr_t to, std::uint64_t at, std::uint64_t key,
               fi_datatype t, fi_op o) {
  atomic_call c(e, "inject_atomic");
  c.silent().buffer(b, n * size_of_type(t), nullptr).to(to).remote(at, key);
  c.kind(t, o);
  return c.post(nullptr, [&] { return fi_inject_atomic(real(e), b, n, to, at, key, t, o); });
}
ssize_t fetch(fid_ep* e, const void* b, std::size_t n, void* d, void* r, void* rd, fi_addr_t to, std::uint64_t at,
              std::uint64_t key, fi_datatype t, fi_op o, void* x) {
  atomic_call c(e, "fetch_atomic");
  c.buffer(b, n * size_of_type(t), d).result(r, n * size_of_type(t)).to(to).remote(at, key);
  c.kind(t, o);
  return c.post(x, [&] { return fi_fetch_atomic(real(e), b, n, d, r, rd, to, at, key, t, o, x); });
}
ssize_t fetch_list(fid_ep* e, const fi_ioc* v, void** d, std::size_t n, fi_ioc* r, void** rd, std::size_t rn,
                   fi_addr_t to, std::uint64_t at, std::uint64_t key, fi_datatype t, fi_op o, void* x) {
  atomic_call c(e, "fetch_atomicv");
  c.operands(v, n, d, t).results(r, rn, t).kind(t, o).to(to).remote(at, key);
  return c.post(x, [&] { return fi_fetch_atomicv(real(e), v, d, n, r, rd, rn, to, at, key, t, o, x); });
}
ssize_t fetch_message(fid_ep* e, const fi_msg_atomic* m, fi_ioc* r, void** rd, std::size_t rn, std::uint64_t flags) {
  atomic_call c(e, "fetch_atomicmsg");
  c.message(m, flags).results(r, rn, m->datatype);
  return c.post(m->context, [&] { return fi_fetch_atomicmsg(real(e), m, r, rd, rn, flags); });
}
ssize_t compare(fid_ep* e, const void* b, std::size_t n, void* d, const void* old, void* od, void* r, void* rd,
                fi_addr_t to, std::uint64_t at, std::uint64_t key, fi_datatype t, fi_op o, void* x) {
  atomic_call c(e, "compare_atomic");
  c.buffer(b, n * size_of_type(t), d).result(r, n * size_of_type(t)).to(to).remote(at, key);
  c.kind(t, o);
  return c.post(x, [&] { return fi_compare_atomic(real(e), b, n, d, old, od, r, rd, to, at, key, t, o, x); });
}
ssize_t compare_list(fid_ep* e, const fi_ioc* v, void** d, std::size_t n, const fi_ioc* old, void** od, std::size_t on,
                     fi_ioc* r, void** rd, std::size_t rn, fi_addr_t to, std::uint64_t at, std::uint64_t key,
                     fi_datatype t, fi_op o, void* x) {
  atomic_call c(e, "compare_atomicv");
  c.operands(v, n, d, t).results(r, rn, t).kind(t, o).to(to).remote(at, key);
  return c.post(x, [&] { return fi_compare_atomicv(real(e), v, d, n, old, od, on, r, rd, rn, to, at, key, t, o, x); });
}
ssize_t compare_message(fid_ep* e, const fi_msg_atomic* m, const fi_ioc* old, void** od, std::size_t on, fi_ioc* r,
                        void** rd, std::size_t rn, std::uint64_t flags) {
  atomic_call c(e, "compare_atomicmsg");
  c.message(m, flags).results(r, rn, m->datatype);
  return c.post(m->context, [&] { return fi_compare_atomicmsg(real(e), m, old, od, on, r, rd, rn, flags); });
}

using validity = int (*)(fid_ep*, fi_datatype, fi_op, std::size_t*);
template <validity Ask>
int valid(const char* verb, fid_ep* e, fi_datatype t, fi_op o, std::size_t* count) {
  call c(&of(e), verb);
  c.in("type", static_cast<std::uint64_t>(t)).in("operation", static_cast<std::uint64_t>(o));
  const auto answered = c.answer([&] { return Ask(real(e), t, o, count); });
  if (answered == 0) c.out("count", *count);
  return static_cast<int>(answered);
}
int update_valid(fid_ep* e, fi_datatype t, fi_op o, std::size_t* count) {
  return valid<fi_atomicvalid>("atomicvalid", e, t, o, count);
}
int fetch_valid(fid_ep* e, fi_datatype t, fi_op o, std::size_t* count) {
  return valid<fi_fetch_atomicvalid>("fetch_atomicvalid", e, t, o, count);
}
int compare_valid(fid_ep* e, fi_datatype t, fi_op o, std::size_t* count) {
  return valid<fi_compare_atomicvalid>("compare_atomicvalid", e, t, o, count);
}

}  // namespace

fi_ops_atomic atomic_calls{
    sizeof(fi_ops_atomic), update,  update_list,  update_message,  inject,       fetch,       fetch_list,
    fetch_message,         compare, compare_list, compare_message, update_valid, fetch_valid, compare_valid};

}  // namespace weft::recording
