// SPDX-License-Identifier: Apache-2.0
//
// Remote reads and writes (fi_rma(3)) and remote atomics (fi_atomic(3)).
#include "posting.hpp"
#include "rules.hpp"

#include <cstdlib>
#include <vector>

namespace weft::emulator {
namespace {

endpoint& of(fid_ep* handle) { return *reinterpret_cast<endpoint*>(handle); }

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

// ---- atomics
bool has_atomics(const endpoint& of, fi_datatype datatype, fi_op operation) {
  if (!emulated()->atomics) {
    broken("atomics", "an atomic operation was posted; this fabric has none", FI_ENOSYS);
    return false;
  }
  return (of.domain->caps & FI_ATOMIC) != 0 && executes(datatype, operation);
}

ssize_t atomic(fid_ep* ep, const void* operand, void* descriptor, const void* compare, void* result,
               void* result_descriptor, fi_addr_t to, std::uint64_t address, std::uint64_t key, fi_datatype datatype,
               fi_op operation, void* context, std::uint64_t flags, std::size_t count) {
  if (!has_atomics(of(ep), datatype, operation)) return emulated()->atomics ? -FI_EOPNOTSUPP : -FI_ENOSYS;
  if (count != 1) return -FI_EINVAL;
  const std::size_t size = size_of(static_cast<std::uint8_t>(datatype));
  // The operand after the compare value, as one payload: descriptors describe the operand.
  std::string operands(static_cast<const char*>(operand), operation == FI_ATOMIC_READ ? 0 : size);
  if (compare != nullptr) operands.append(static_cast<const char*>(compare), size);
  const iovec local{const_cast<void*>(operand), operation == FI_ATOMIC_READ ? 0 : size};
  if (const int refused = check_local(of(ep), &local, &descriptor, 1, "posted as an operand")) return refused;
  const iovec from{operands.data(), operands.size()};
  const iovec into{result, size};
  request what;
  what.kind = packet_kind::atomic;
  what.to = to;
  what.from = &from;
  what.count = 1;
  what.into = &into;
  what.into_count = result != nullptr ? 1 : 0;
  what.into_descriptors = &result_descriptor;
  what.address = address;
  what.key = key;
  what.length = compare != nullptr ? 1 : 0;
  what.context = context;
  what.flags = flags;
  what.taken_over = true;
  what.entry_flags = FI_ATOMIC | (result != nullptr ? FI_READ : FI_WRITE);
  what.datatype = static_cast<std::uint8_t>(datatype);
  what.operation = static_cast<std::uint8_t>(operation);
  return post(of(ep), what);
}

ssize_t change(fid_ep* ep, const void* operand, std::size_t count, void* descriptor, fi_addr_t to,
               std::uint64_t address, std::uint64_t key, fi_datatype datatype, fi_op operation, void* context) {
  return atomic(ep, operand, descriptor, nullptr, nullptr, nullptr, to, address, key, datatype, operation, context,
                usual_flags(of(ep)), count);
}
ssize_t fetch(fid_ep* ep, const void* operand, std::size_t count, void* descriptor, void* result,
              void* result_descriptor, fi_addr_t to, std::uint64_t address, std::uint64_t key, fi_datatype datatype,
              fi_op operation, void* context) {
  return atomic(ep, operand, descriptor, nullptr, result, result_descriptor, to, address, key, datatype, operation,
                context, usual_flags(of(ep)), count);
}
ssize_t compare(fid_ep* ep, const void* operand, std::size_t count, void* descriptor, const void* expected,
                void* /*expected_descriptor*/, void* result, void* result_descriptor, fi_addr_t to,
                std::uint64_t address, std::uint64_t key, fi_datatype datatype, fi_op operation, void* context) {
  return atomic(ep, operand, descriptor, expected, result, result_descriptor, to, address, key, datatype, operation,
                context, usual_flags(of(ep)), count);
}
ssize_t change_by_message(fid_ep* ep, const fi_msg_atomic* m, std::uint64_t flags) {
  if (m->iov_count != 1 || m->rma_iov_count != 1) return -FI_EINVAL;
  return atomic(ep, m->msg_iov->addr, m->desc != nullptr ? m->desc[0] : nullptr, nullptr, nullptr, nullptr, m->addr,
                m->rma_iov->addr, m->rma_iov->key, m->datatype, m->op, m->context, flags, m->msg_iov->count);
}
ssize_t fetch_by_message(fid_ep* ep, const fi_msg_atomic* m, fi_ioc* result, void** result_descriptors,
                         std::size_t count, std::uint64_t flags) {
  if (m->iov_count > 1 || m->rma_iov_count != 1 || count != 1) return -FI_EINVAL;
  const void* operand = m->iov_count == 1 ? m->msg_iov->addr : nullptr;
  return atomic(ep, operand, m->desc != nullptr && m->iov_count == 1 ? m->desc[0] : nullptr, nullptr, result->addr,
                result_descriptors != nullptr ? result_descriptors[0] : nullptr, m->addr, m->rma_iov->addr,
                m->rma_iov->key, m->datatype, m->op, m->context, flags, result->count);
}
ssize_t compare_by_message(fid_ep* ep, const fi_msg_atomic* m, const fi_ioc* expected, void** /*expected_descriptors*/,
                           std::size_t expected_count, fi_ioc* result, void** result_descriptors, std::size_t count,
                           std::uint64_t flags) {
  if (m->iov_count != 1 || m->rma_iov_count != 1 || expected_count != 1 || count != 1) return -FI_EINVAL;
  return atomic(ep, m->msg_iov->addr, m->desc != nullptr ? m->desc[0] : nullptr, expected->addr, result->addr,
                result_descriptors != nullptr ? result_descriptors[0] : nullptr, m->addr, m->rma_iov->addr,
                m->rma_iov->key, m->datatype, m->op, m->context, flags, m->msg_iov->count);
}
ssize_t inject_change(fid_ep* ep, const void* operand, std::size_t count, fi_addr_t to, std::uint64_t address,
                      std::uint64_t key, fi_datatype datatype, fi_op operation) {
  (void)ep, (void)operand, (void)count, (void)to, (void)address, (void)key, (void)datatype, (void)operation;
  return -FI_ENOSYS;
}

int valid(fid_ep* ep, fi_datatype datatype, fi_op operation, std::size_t* count) {
  if ((of(ep).domain->caps & FI_ATOMIC) == 0 || !executes(datatype, operation)) return -FI_EOPNOTSUPP;
  *count = 1;
  return 0;
}

}  // namespace

int query_atomic(fid_domain* domain, fi_datatype datatype, fi_op operation, fi_atomic_attr* attributes,
                 std::uint64_t flags) {
  const bool compares = operation >= FI_CSWAP;
  if ((reinterpret_cast<domain_object*>(domain)->caps & FI_ATOMIC) == 0 || !executes(datatype, operation))
    return -FI_EOPNOTSUPP;
  if (compares != ((flags & FI_COMPARE_ATOMIC) != 0)) return -FI_EOPNOTSUPP;
  attributes->count = 1;
  attributes->size = size_of(static_cast<std::uint8_t>(datatype));
  const auto lies = falsified();
  if (lies.contains("atomic_attr.size"))
    attributes->size = std::strtoull(lies.at("atomic_attr.size").c_str(), nullptr, 0);
  if (lies.contains("atomic_attr.count"))
    attributes->count = std::strtoull(lies.at("atomic_attr.count").c_str(), nullptr, 0);
  return 0;
}

fi_ops_rma remote_calls{sizeof(fi_ops_rma), read,   readv,     readmsg,   write, writev,
                        writemsg,           inject, writedata, injectdata};
fi_ops_atomic atomic_calls{sizeof(fi_ops_atomic), change,  none, change_by_message,  inject_change, fetch, none,
                           fetch_by_message,      compare, none, compare_by_message, valid,         valid, valid};

}  // namespace weft::emulator
